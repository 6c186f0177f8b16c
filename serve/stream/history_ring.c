#include "history_ring.h"

#include <stdlib.h>
#include <string.h>

void history_ring_free(history_ring *ring)
{
    free(ring->items);
    *ring = (history_ring){.items = NULL};
}

void *history_ring_at(const history_ring *ring, size_t item_bytes, uint32_t index)
{
    size_t place = (ring->start + index) % ring->capacity;
    return ring->items + place * item_bytes;
}

bool history_ring_resize(history_ring *ring, size_t item_bytes, uint32_t capacity)
{
    char *items = malloc(capacity * item_bytes);
    uint32_t kept = ring->count < capacity ? ring->count : capacity;
    if (!items)
        return false;
    for (uint32_t i = 0; i < kept; i++)
        memcpy(items + i * item_bytes, history_ring_at(ring, item_bytes, ring->count - kept + i),
               item_bytes);
    history_ring_free(ring);
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
