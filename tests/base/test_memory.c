/* Sizes that may overflow, and memory aligned to a cache line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"

static void sums_and_products_that_fit_are_exact(void **state)
{
    (void)state;
    assert_int_equal(oif_size_add(2, 3), 5);
    assert_int_equal(oif_size_add(0, 0), 0);
    assert_int_equal(oif_size_add(SIZE_MAX - 5, 4), SIZE_MAX - 1);
    assert_int_equal(oif_size_multiply(6, 7), 42);
    assert_int_equal(oif_size_multiply(0, SIZE_MAX - 1), 0);
    assert_int_equal(oif_size_multiply(SIZE_MAX / 2, 2), SIZE_MAX - 1);
}

static void what_does_not_fit_is_too_large_and_stays_so(void **state)
{
    (void)state;
    assert_int_equal(oif_size_add(SIZE_MAX - 5, 6), SIZE_MAX);
    assert_int_equal(oif_size_add(SIZE_MAX, 1), SIZE_MAX);
    assert_int_equal(oif_size_add(1, SIZE_MAX), SIZE_MAX);
    assert_int_equal(oif_size_multiply(SIZE_MAX / 2 + 1, 2), SIZE_MAX);
    assert_int_equal(oif_size_multiply(SIZE_MAX, 8), SIZE_MAX);
    assert_int_equal(oif_size_multiply(8, SIZE_MAX), SIZE_MAX);
    assert_int_equal(oif_size_align(SIZE_MAX), SIZE_MAX);
    assert_int_equal(oif_size_align(SIZE_MAX - 10), SIZE_MAX);
    assert_int_equal(oif_size_align(oif_size_add(oif_size_multiply(SIZE_MAX, 3), 1)), SIZE_MAX);
}

static void sizes_are_aligned_up_to_a_cache_line(void **state)
{
    (void)state;
    assert_int_equal(oif_size_align(0), 0);
    assert_int_equal(oif_size_align(1), 64);
    assert_int_equal(oif_size_align(64), 64);
    assert_int_equal(oif_size_align(65), 128);
    assert_int_equal(oif_size_align(SIZE_MAX - 63), SIZE_MAX - 63);
}

static void memory_begins_on_a_cache_line(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes < 5000; bytes = bytes * 3 + 1) {
        unsigned char *memory = oif_memory_new(bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % OIF_CACHE_LINE_BYTES, 0);
        memset(memory, 0xa5, bytes); /* a sanitizer sees a missing byte */
        oif_memory_free(memory);
    }
}

static void memory_that_no_machine_has_is_refused(void **state)
{
    (void)state;
    assert_null(oif_memory_new(SIZE_MAX));
    assert_null(oif_memory_new(SIZE_MAX - 1));
    assert_null(oif_memory_new(SIZE_MAX / 4));
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    oif_memory_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_that_fit_are_exact),
        cmocka_unit_test(what_does_not_fit_is_too_large_and_stays_so),
        cmocka_unit_test(sizes_are_aligned_up_to_a_cache_line),
        cmocka_unit_test(memory_begins_on_a_cache_line),
        cmocka_unit_test(memory_that_no_machine_has_is_refused),
        cmocka_unit_test(freeing_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
