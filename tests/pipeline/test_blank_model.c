/* The model that has seen no row: the first key takes it, the last key to be removed gives it back,
 * and every key starts as if it were the only one. */
#include "pipeline/pipeline.h"
#include "pipelines.h"

#include <stdlib.h>

enum { COLUMNS = 3, ROWS = 300 };

static const char *const detectors[] = {
    "rolling-iforest", "online-iforest", "iforest-asd", "hst", "rrcf", "loda", "sdo", "loda+sdo"};
enum { DETECTORS = sizeof detectors / sizeof *detectors };

static void process_rows(oif_pipeline *pipeline, const char *key, uint64_t seed)
{
    dice from = {seed};
    double row[COLUMNS];
    for (int i = 0; i < ROWS; i++) {
        draw_row(&from, row, COLUMNS);
        process_key(pipeline, key, row);
    }
}

/* Rows of a key get the same results from both. */
static void require_same_key(oif_pipeline *a, oif_pipeline *b, const char *key, uint64_t seed)
{
    dice from = {seed};
    double row[COLUMNS];
    for (int i = 0; i < ROWS; i++) {
        draw_row(&from, row, COLUMNS);
        oif_result of_a = process_key(a, key, row), of_b = process_key(b, key, row);
        require_same_result(&of_a, &of_b);
    }
}

/* The snapshot is that of a pipeline without keys, and has the announced size. */
static oif_pipeline *load_saved(const oif_pipeline *pipeline)
{
    size_t count = oif_pipeline_snapshot_bytes(pipeline);
    void *bytes = malloc(count);
    oif_pipeline *loaded;
    oif_error error;
    require_ok_or(oif_pipeline_save_memory(pipeline, bytes, count, &error), error);
    require_ok_or(oif_pipeline_load_memory(bytes, count, &loaded, &error), error);
    free(bytes);
    return loaded;
}

/* ---- Memory ---- */

static void a_pipeline_holds_a_model_for_each_key_and_no_other(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < DETECTORS; i++) {
        oif_pipeline *pipeline = new_pipeline(detectors[i], "", COLUMNS, "");
        size_t models = 0, without_keys = oif_pipeline_memory_bytes(pipeline);
        for (uint32_t key = 0; key < 3; key++) {
            oif_key_info info;
            process_rows(pipeline, key_text(key), key);
            assert_true(oif_pipeline_key(pipeline, key_text(key), 6, &info));
            models += info.memory_bytes;
            size_t bytes = oif_pipeline_memory_bytes(pipeline);
            print_message("%s: %zu bytes without keys, %zu with %u, of which %zu are models\n",
                          detectors[i], without_keys, bytes, key + 1, models);
            assert_true(without_keys <= info.memory_bytes + 4096);
            assert_in_range(bytes, models, models + 4096);
        }
        oif_pipeline_free(pipeline);
    }
}

static void a_limit_that_a_single_model_fits_is_enough(void **unused)
{
    (void)unused;
    char options[64];
    for (size_t i = 0; i < DETECTORS; i++) {
        oif_pipeline *pipeline = new_pipeline(detectors[i], "", COLUMNS, "");
        const size_t limit = oif_pipeline_memory_bytes(pipeline) + 4096;
        oif_pipeline_free(pipeline);
        snprintf(options, sizeof options, "memory_limit=%zu", limit);
        pipeline = new_pipeline(detectors[i], "", COLUMNS, options);
        for (uint32_t key = 0; key < 5; key++) { /* an overdue key is evicted */
            process_rows(pipeline, key_text(key), key);
            assert_int_equal(oif_pipeline_keys(pipeline), 1);
            assert_in_range(oif_pipeline_memory_bytes(pipeline), 1, limit);
        }
        assert_true(oif_pipeline_evictions(pipeline) > 0);
        oif_pipeline_free(pipeline);
    }
}

/* ---- Keys start alike ---- */

static void a_second_key_starts_as_the_first_one(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < DETECTORS; i++) {
        oif_pipeline *alone = new_pipeline(detectors[i], "", COLUMNS, ""),
                     *second = new_pipeline(detectors[i], "", COLUMNS, "");
        process_rows(second, "first", 1);
        /* Changed options apply to later keys too. */
        require_ok(oif_pipeline_change_option(alone, "alert_rate", 0.02, NULL));
        require_ok(oif_pipeline_change_option(second, "alert_rate", 0.02, NULL));
        require_same_key(alone, second, "key", 2);
        oif_pipeline_free(alone);
        oif_pipeline_free(second);
    }
}

static void a_snapshot_without_keys_does_not_say_how_keys_start(void **unused)
{
    (void)unused;
    oif_pipeline *taught = new_pipeline("loda", "", COLUMNS, ""),
                 *fresh = new_pipeline("loda", "", COLUMNS, "");
    for (int i = 0; i < ROWS; i++) {
        oif_result result;
        oif_model_process(taught->models.blank, (double[]){i, 2, 3}, NAN, NULL, NULL, &result);
    }
    oif_pipeline *loaded = load_saved(taught);
    require_same_key(loaded, fresh, "one", 1);
    require_same_key(loaded, fresh, "two", 2);
    oif_pipeline_free(taught);
    oif_pipeline_free(fresh);
    oif_pipeline_free(loaded);
}

/* ---- The last key ---- */

static void remove_last(oif_pipeline *pipeline, const char *key)
{
    require_ok(oif_pipeline_remove_key(pipeline, key, strlen(key), NULL));
    assert_int_equal(oif_pipeline_keys(pipeline), 0);
}

static void nothing_of_the_last_key_is_left_when_it_is_removed(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < DETECTORS; i++) {
        oif_pipeline *pipeline = new_pipeline(detectors[i], "", COLUMNS, "alerts=5"),
                     *fresh = new_pipeline(detectors[i], "", COLUMNS, "");
        const size_t bytes = oif_pipeline_memory_bytes(pipeline);
        process_rows(pipeline, "old", 1);
        require_ok(oif_pipeline_change_option(pipeline, "alert_rate", 0.001, NULL));
        remove_last(pipeline, "old");
        assert_in_range(oif_pipeline_memory_bytes(pipeline), bytes, bytes + 4096);
        oif_pipeline *loaded = load_saved(pipeline), *other = load_saved(fresh);
        require_same_key(pipeline, fresh, "new", 2);
        require_same_key(loaded, other, "new", 2);
        oif_pipeline_free(pipeline);
        oif_pipeline_free(fresh);
        oif_pipeline_free(loaded);
        oif_pipeline_free(other);
    }
}

static void names_and_threads_of_a_removed_detector_are_gone(void **unused)
{
    (void)unused;
    static const char *const names[] = {"a", "b", "c"};
    oif_detector *named = new_named("online-iforest", "window_size=64", COLUMNS);
    oif_pipeline *pipeline,
        *fresh = new_pipeline("online-iforest", "window_size=64", COLUMNS, "moves=off");
    require_ok(oif_detector_name_columns(named, names, NULL));
    require_ok(oif_detector_set_threads(named, 2, NULL));
    require_ok(oif_pipeline_new_around(&named, NULL, "key", 3, &pipeline, NULL));
    remove_last(pipeline, "key");
    assert_true(oif_detector_is_one_block(pipeline->models.blank->detectors[0]));
    require_same_key(pipeline, fresh, "key", 1);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(fresh);
}

/* ---- A detector in the memory of the caller ---- */

static void *no_memory(void *context, size_t alignment, size_t bytes)
{
    (void)context, (void)alignment, (void)bytes;
    return NULL;
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static void memory_of_the_caller_is_not_used_after_its_key(void **unused)
{
    (void)unused;
    oif_params params = params_named("online-iforest", "window_size=64");
    oif_pipeline *pipeline = new_pipeline("online-iforest", "window_size=64", COLUMNS, "moves=off"),
                 *fresh = new_pipeline("online-iforest", "window_size=64", COLUMNS, "moves=off");
    oif_detector *detector;
    size_t bytes = 0;
    require_ok(oif_detector_estimate_bytes(&params, COLUMNS, &bytes, NULL));
    void *memory = aligned_alloc(OIF_MEMORY_ALIGNMENT, bytes);
    require_ok(oif_detector_init(memory, bytes, &params, COLUMNS, &detector, NULL));
    process_rows(pipeline, "key", 1);
    oif_set_allocator(&(oif_allocator){.allocate = no_memory, .release = release});
    oif_detector *given = detector;
    oif_status status = oif_pipeline_exchange_detector(pipeline, "key", 3, &given, NULL);
    oif_set_allocator(NULL);
    assert_int_equal(status, OIF_EMEMORY);
    assert_ptr_equal(given, detector);
    require_ok(oif_pipeline_exchange_detector(pipeline, "key", 3, &given, NULL));
    oif_detector_free(given);
    process_rows(pipeline, "other", 1);
    require_ok(oif_pipeline_remove_key(pipeline, "other", 5, NULL));
    remove_last(pipeline, "key");
    memset(memory, 0xA5, bytes);
    free(memory);
    oif_pipeline_free(load_saved(pipeline));
    require_same_key(pipeline, fresh, "key", 2);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_holds_a_model_for_each_key_and_no_other),
        cmocka_unit_test(a_limit_that_a_single_model_fits_is_enough),
        cmocka_unit_test(a_second_key_starts_as_the_first_one),
        cmocka_unit_test(a_snapshot_without_keys_does_not_say_how_keys_start),
        cmocka_unit_test(nothing_of_the_last_key_is_left_when_it_is_removed),
        cmocka_unit_test(names_and_threads_of_a_removed_detector_are_gone),
        cmocka_unit_test(memory_of_the_caller_is_not_used_after_its_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
