/* Detectors in the caller's memory, and the caller's allocator. */
#include "oif.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 3, ROWS = 700 };

static void next_row(double row[COLUMNS], uint32_t *random)
{
    for (int i = 0; i < COLUMNS; i++) {
        *random = *random * 1664525 + 1013904223;
        row[i] = *random / 4294967296.0;
    }
}

static oif_params params_of(const char *name)
{
    oif_params params;
    assert_int_equal(oif_params_init(&params, name, NULL), OIF_OK);
    return params;
}

static void assert_same_scores(oif_detector *a, oif_detector *b)
{
    uint32_t random = 7;
    double row[COLUMNS], one, other;
    for (int i = 0; i < ROWS; i++) {
        next_row(row, &random);
        assert_int_equal(oif_detector_learn_score(a, row, &one, NULL), OIF_OK);
        assert_int_equal(oif_detector_learn_score(b, row, &other, NULL), OIF_OK);
        assert_memory_equal(&one, &other, sizeof one);
    }
}

static void a_detector_in_own_memory_scores_the_same(void **state)
{
    (void)state;
    const char *const names[COLUMNS] = {"a", "b", "c"};
    for (size_t i = 0; oif_detector_info_at(i); i++) {
        oif_params params = params_of(oif_detector_info_at(i)->table.name);
        oif_detector *usual, *own, *copy;
        size_t bytes;
        assert_int_equal(oif_detector_estimate_bytes(&params, COLUMNS, &bytes, NULL), OIF_OK);
        unsigned char *memory = aligned_alloc(OIF_MEMORY_ALIGNMENT, bytes + OIF_MEMORY_ALIGNMENT);
        assert_non_null(memory);
        memset(memory, 0xA5, bytes + OIF_MEMORY_ALIGNMENT);
        assert_int_equal(oif_detector_new(&params, COLUMNS, &usual, NULL), OIF_OK);
        assert_int_equal(oif_detector_init(memory, bytes, &params, COLUMNS, &own, NULL), OIF_OK);
        assert_ptr_equal(own, memory);
        assert_int_equal(oif_detector_name_columns(own, names, NULL), OIF_OK);
        assert_same_scores(usual, own);
        assert_int_equal(oif_detector_clone(own, &copy, NULL), OIF_OK);
        oif_detector_free(own);
        for (size_t at = bytes; at < bytes + OIF_MEMORY_ALIGNMENT; at++)
            assert_int_equal(memory[at], 0xA5);
        free(memory);
        assert_same_scores(usual, copy); /* the copy has its own memory */
        oif_detector_free(copy);
        oif_detector_free(usual);
    }
}

static void memory_that_does_not_do_is_refused(void **state)
{
    (void)state;
    oif_params params = params_of(OIF_DEFAULT_DETECTOR);
    oif_detector *detector = NULL;
    oif_error error;
    size_t bytes;
    assert_int_equal(oif_detector_estimate_bytes(&params, COLUMNS, &bytes, NULL), OIF_OK);
    unsigned char *memory = aligned_alloc(OIF_MEMORY_ALIGNMENT, bytes + OIF_MEMORY_ALIGNMENT);
    assert_non_null(memory);
    assert_int_equal(oif_detector_init(memory, bytes - 1, &params, COLUMNS, &detector, &error),
                     OIF_EPARAM);
    assert_non_null(strstr(error.message, "bytes and there are"));
    assert_int_equal(oif_detector_init(memory + 8, bytes, &params, COLUMNS, &detector, &error),
                     OIF_EPARAM);
    assert_string_equal(error.message, "the memory must be aligned to 64 bytes");
    assert_int_equal(oif_detector_init(NULL, bytes, &params, COLUMNS, &detector, NULL), OIF_EPARAM);
    assert_null(detector);
    free(memory);
}

/* ---- An allocator ---- */

typedef struct counts {
    size_t allocated, released, left;
} counts;

static void *count_allocation(void *context, size_t alignment, size_t bytes)
{
    counts *all = context;
    if (all->left == 0)
        return NULL;
    all->left--;
    all->allocated++;
    return aligned_alloc(alignment, bytes);
}

static void count_release(void *context, void *memory)
{
    assert_non_null(memory);
    ((counts *)context)->released++;
    free(memory);
}

static void an_allocator_gets_every_call(void **state)
{
    (void)state;
    counts all = {.left = SIZE_MAX};
    oif_params params = params_of(OIF_DEFAULT_DETECTOR), options;
    oif_pipeline *pipeline = NULL;
    oif_result result;
    double row[COLUMNS];
    uint32_t random = 3;
    oif_set_allocator(&(oif_allocator){count_allocation, count_release, &all, {0}});
    oif_pipeline_options_init(&options);
    assert_int_equal(oif_pipeline_new(&params, COLUMNS, &options, &pipeline, NULL), OIF_OK);
    for (int i = 0; i < ROWS; i++) {
        next_row(row, &random);
        assert_int_equal(
            oif_pipeline_process(pipeline, i % 2 ? "odd" : "even", 3, row, &result, NULL), OIF_OK);
    }
    all.left = 0; /* no more memory: a new key fails, and existing keys continue */
    assert_int_equal(oif_pipeline_process(pipeline, "new", 3, row, &result, NULL), OIF_EMEMORY);
    all.left = SIZE_MAX;
    oif_pipeline_free(pipeline);
    assert_true(all.allocated > 2);
    assert_int_equal(all.allocated, all.released);

    oif_set_allocator(NULL);
    assert_int_equal(oif_pipeline_new(&params, COLUMNS, &options, &pipeline, NULL), OIF_OK);
    oif_pipeline_free(pipeline);
    assert_int_equal(all.allocated, all.released);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_detector_in_own_memory_scores_the_same),
        cmocka_unit_test(memory_that_does_not_do_is_refused),
        cmocka_unit_test(an_allocator_gets_every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
