#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "block_pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SLAB_BYTES = 256 << 10 };

/* In a list of the slabs of its size, as long as it has a free block. */
typedef struct block_slab {
    struct block_slab *next, *before;
    void *unused;               /* blocks that were freed; each begins with the next one */
    uint32_t used_bytes, count; /* from the start of the slab; blocks in use */
} block_slab;

/* ---- Sizes ---- */

static size_t size_at(unsigned step)
{
    return (size_t)(4 + step % 4) << (step / 4 + 3);
}

/* The first size that is large enough. */
static unsigned step_of(size_t bytes)
{
    unsigned step = 0;
    while (size_at(step + 4) < bytes)
        step += 4;
    while (size_at(step) < bytes)
        step++;
    return step;
}

size_t block_pool_room(size_t bytes)
{
    return bytes > BLOCK_POOL_LARGEST ? bytes : size_at(step_of(bytes));
}

/* ---- Slabs ---- */

static block_slab *slab_of(const void *block)
{
    return (block_slab *)((uintptr_t)block & ~(uintptr_t)(SLAB_BYTES - 1));
}

static bool is_full(const block_slab *slab, size_t room)
{
    return !slab->unused && slab->used_bytes + room > SLAB_BYTES;
}

static void link_slab(block_slab **list, block_slab *slab)
{
    slab->before = NULL;
    slab->next = *list;
    if (*list)
        (*list)->before = slab;
    *list = slab;
}

static void unlink_slab(block_slab **list, const block_slab *slab)
{
    *(slab->before ? &slab->before->next : list) = slab->next;
    if (slab->next)
        slab->next->before = slab->before;
}

static char *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

/* Memory that begins at a multiple of its size, so a block leads to its slab. */
static void *map_slab(void)
{
    char *begin = map((size_t)2 * SLAB_BYTES);
    if (!begin)
        return NULL;
    const size_t before = -(uintptr_t)begin & (SLAB_BYTES - 1);
    if (before > 0)
        munmap(begin, before);
    munmap(begin + before + SLAB_BYTES, SLAB_BYTES - before);
    return begin + before;
}

static block_slab *add_slab(block_pool *pool, block_slab **list)
{
    block_slab *slab = map_slab();
    if (!slab)
        return NULL;
    *slab = (block_slab){.used_bytes = sizeof *slab};
    link_slab(list, slab);
    pool->slab_count++;
    return slab;
}

static void *take_block(block_slab *slab, size_t room)
{
    void *block = slab->unused;
    slab->count++;
    if (block) {
        slab->unused = *(void **)block;
        return block;
    }
    block = (char *)slab + slab->used_bytes;
    slab->used_bytes += (uint32_t)room;
    return block;
}

void *block_pool_new(block_pool *pool, size_t bytes)
{
    if (bytes > BLOCK_POOL_LARGEST)
        return malloc(bytes);
    const unsigned step = step_of(bytes);
    const size_t room = size_at(step);
    block_slab **list = &pool->free[step];
    block_slab *slab = *list ? *list : add_slab(pool, list);
    if (!slab)
        return NULL;
    void *block = take_block(slab, room);
    if (is_full(slab, room))
        unlink_slab(list, slab);
    return block;
}

void block_pool_free(block_pool *pool, void *block, size_t bytes)
{
    if (bytes > BLOCK_POOL_LARGEST || !block) {
        free(block);
        return;
    }
    const unsigned step = step_of(bytes);
    block_slab *slab = slab_of(block);
    if (is_full(slab, size_at(step)))
        link_slab(&pool->free[step], slab);
    *(void **)block = slab->unused;
    slab->unused = block;
    if (--slab->count > 0)
        return;
    unlink_slab(&pool->free[step], slab);
    munmap(slab, SLAB_BYTES);
    pool->slab_count--;
}
