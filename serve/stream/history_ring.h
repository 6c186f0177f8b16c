/* A ring of items of one size: the latest ones, in a block of a pool that is resized from outside.
 * All zero is an empty one. */
#ifndef OIF_SERVE_HISTORY_RING_H
#define OIF_SERVE_HISTORY_RING_H

#include "serve/base/block_pool.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct history_ring {
    char *items;
    uint32_t capacity, count, start;
} history_ring;

void history_ring_free(history_ring *ring, block_pool *pool, size_t item_bytes);

/* What its items take. */
size_t history_ring_bytes(const history_ring *ring, size_t item_bytes);

/* 0 is the oldest. */
void *history_ring_at(const history_ring *ring, size_t item_bytes, uint32_t index);

/* Keeps the latest items; false: out of memory, and nothing changed. */
bool history_ring_resize(history_ring *ring, block_pool *pool, size_t item_bytes,
                         uint32_t capacity);

/* Room for the next item, which replaces the oldest of a full ring; NULL: its capacity is 0. */
void *history_ring_add(history_ring *ring, size_t item_bytes);

#endif
