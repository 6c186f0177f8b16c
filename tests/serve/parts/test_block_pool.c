/* serve/base/block_pool.c: blocks of many sizes, beside what was written into each. */
#include "serve/base/block_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static bool has_memory = true;

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return has_memory ? __real_mmap(at, bytes, protection, flags, fd, offset) : MAP_FAILED;
}

static uint32_t draw(uint32_t below)
{
    static uint64_t seed = 20261118;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

typedef struct block {
    unsigned char *at;
    size_t bytes;
    unsigned char filled;
} block;

/* Mostly small ones. */
static block new_block(block_pool *pool, unsigned char filled)
{
    const size_t bytes = 1 + draw(1u << draw(17));
    const block made = {block_pool_new(pool, bytes), bytes, filled};
    assert_non_null(made.at);
    assert_int_equal((uintptr_t)made.at % 8, 0);
    memset(made.at, filled, bytes);
    return made;
}

static void free_block(block_pool *pool, const block *one)
{
    for (size_t i = 0; i < one->bytes; i++)
        assert_int_equal(one->at[i], one->filled);
    block_pool_free(pool, one->at, one->bytes);
}

static void blocks_keep_what_is_written_into_them(void **state)
{
    enum { BLOCKS = 3000, STEPS = 100000 };
    static block blocks[BLOCKS];
    block_pool pool = {0};
    (void)state;
    for (uint32_t step = 0; step < STEPS; step++) {
        block *one = &blocks[draw(BLOCKS)];
        if (one->at)
            free_block(&pool, one);
        *one = draw(8) > 0 ? new_block(&pool, (unsigned char)step) : (block){0};
    }
    assert_true(pool.slab_count > 10);
    for (size_t i = 0; i < BLOCKS; i++)
        free_block(&pool, &blocks[i]);
    assert_int_equal(pool.slab_count, 0);
}

static void a_size_is_at_most_a_quarter_more_than_asked_for(void **state)
{
    (void)state;
    assert_int_equal(block_pool_room(1), 32);
    for (size_t bytes = 32; bytes <= 2 * BLOCK_POOL_LARGEST; bytes++) {
        const size_t room = block_pool_room(bytes);
        assert_true(room >= bytes && 4 * room <= 5 * (bytes + 8));
        assert_int_equal(block_pool_room(room), room);
    }
}

/* As when all keys get fewer points because there are many. */
static void what_blocks_of_one_size_took_serves_others(void **state)
{
    enum { BLOCKS = 5000 };
    static void *large[BLOCKS], *small[2 * BLOCKS];
    block_pool pool = {0};
    (void)state;
    for (size_t i = 0; i < BLOCKS; i++)
        large[i] = block_pool_new(&pool, 1280);
    const size_t slabs = pool.slab_count;
    for (size_t i = 0; i < BLOCKS; i++) {
        block_pool_free(&pool, large[i], 1280);
        small[2 * i] = block_pool_new(&pool, 640);
        small[2 * i + 1] = block_pool_new(&pool, 640);
        assert_true(pool.slab_count <= slabs + 2);
    }
    for (size_t i = 0; i < 2 * BLOCKS; i++)
        block_pool_free(&pool, small[i], 640);
    assert_int_equal(pool.slab_count, 0);
}

static void without_memory_there_is_no_block(void **state)
{
    block_pool pool = {0};
    (void)state;
    has_memory = false;
    void *none = block_pool_new(&pool, 100);
    has_memory = true;
    assert_null(none);
    block_pool_free(&pool, none, 100);
    assert_int_equal(pool.slab_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_what_is_written_into_them),
        cmocka_unit_test(a_size_is_at_most_a_quarter_more_than_asked_for),
        cmocka_unit_test(what_blocks_of_one_size_took_serves_others),
        cmocka_unit_test(without_memory_there_is_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
