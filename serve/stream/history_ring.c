#include "history_ring.h"

#include <string.h>

size_t history_ring_bytes(const history_ring *ring, size_t item_bytes)
{
    return ring->capacity > 0 ? block_pool_room(ring->capacity * item_bytes) : 0;
}

void history_ring_free(history_ring *ring, block_pool *pool, size_t item_bytes)
{
    block_pool_free(pool, ring->items, ring->capacity * item_bytes);
    *ring = (history_ring){.items = NULL};
}

void *history_ring_at(const history_ring *ring, size_t item_bytes, uint32_t index)
{
    size_t place = (ring->start + index) % ring->capacity;
    return ring->items + place * item_bytes;
}

bool history_ring_resize(history_ring *ring, block_pool *pool, size_t item_bytes, uint32_t capacity)
{
    char *items = block_pool_new(pool, capacity * item_bytes);
    uint32_t kept = ring->count < capacity ? ring->count : capacity;
    if (!items)
        return false;
    for (uint32_t i = 0; i < kept; i++)
        memcpy(items + i * item_bytes, history_ring_at(ring, item_bytes, ring->count - kept + i),
               item_bytes);
    history_ring_free(ring, pool, item_bytes);
    *ring = (history_ring){.items = items, .capacity = capacity, .count = kept};
    return true;
}

void *history_ring_add(history_ring *ring, size_t item_bytes)
{
    if (ring->capacity == 0)
        return NULL;
    if (ring->count == ring->capacity)
        ring->start = (ring->start + 1) % ring->capacity;
    else
        ring->count++;
    return history_ring_at(ring, item_bytes, ring->count - 1);
}
