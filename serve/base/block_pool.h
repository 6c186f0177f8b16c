/* Memory for small blocks that live long, apart from the rest of the heap.
 *
 *     slab, 256 KB   | header | block | block | block |  never used ...  |    blocks of one size
 *
 * If each block were allocated on its own, it would lie between the models of two keys. Models
 * grow, so their memory is freed, and with a block between them no two of the gaps could be merged:
 * a stream of 100,000 keys took 5 KB more of each.
 *
 * Sizes have four steps from one power of two to the next. A slab of which all blocks are free is
 * freed. Memory that was never used is not touched, so it is not resident. Large blocks have memory
 * of their own. Blocks are aligned to 8 bytes. Not thread-safe. */
#ifndef OIF_SERVE_BLOCK_POOL_H
#define OIF_SERVE_BLOCK_POOL_H

#include <stddef.h>

enum { BLOCK_POOL_SIZES = 41, BLOCK_POOL_LARGEST = 32 << 10 };

/* All zero is empty. */
typedef struct block_pool {
    struct block_slab *free[BLOCK_POOL_SIZES]; /* slabs of a size that have a free block */
    size_t slab_count;
} block_pool;

/* What a block of that many bytes takes: at most a quarter more. */
size_t block_pool_room(size_t bytes);

/* NULL: out of memory. */
void *block_pool_new(block_pool *pool, size_t bytes);

/* Frees a block of that many bytes; NULL is accepted. The pool is empty after the last one. */
void block_pool_free(block_pool *pool, void *block, size_t bytes);

#endif
