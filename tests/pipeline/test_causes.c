/* Why calls with parameters, keys, snapshots and files fail, for programs that decide by it. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "../snapshot/snapshots.h"
#include "pipelines.h"

#include <errno.h>
#include <unistd.h>

static const char *const small = "num_trees=3 window_size=60";

static void expect(oif_status is, oif_status expected, const oif_error *error, oif_cause cause)
{
    assert_int_equal(is, expected);
    if (error->status != expected || error->cause != cause)
        fail_msg("\"%s\" has the cause \"%s\" instead of \"%s\"", error->message,
                 oif_cause_name(error->cause), oif_cause_name(cause));
    assert_true((error->system_errno != 0) == (cause == OIF_CAUSE_SYSTEM));
}

static void parameters(void **state)
{
    (void)state;
    oif_params params;
    oif_error error;
    expect(oif_params_init(&params, "forest", &error), OIF_EPARAM, &error,
           OIF_CAUSE_UNKNOWN_DETECTOR);
    require_ok_or(oif_params_init(&params, OIF_DEFAULT_DETECTOR, &error), error);
    expect(oif_params_set(&params, "trees", 3, &error), OIF_EPARAM, &error,
           OIF_CAUSE_UNKNOWN_PARAMETER);
    expect(oif_params_set(&params, "num_trees", 0, &error), OIF_EPARAM, &error,
           OIF_CAUSE_PARAMETER_RANGE);
    expect(oif_params_set_text(&params, "num_trees", "many", &error), OIF_EPARAM, &error,
           OIF_CAUSE_PARAMETER_RANGE);
}

static void values_and_keys(void **state)
{
    (void)state;
    static char long_key[OIF_KEY_MAX_BYTES + 1];
    const double good[] = {1, 2}, bad[] = {1, INFINITY};
    oif_pipeline *pipeline = new_pipeline("online-iforest", "num_trees=3", 2, "");
    oif_result result;
    oif_error error;
    expect(oif_pipeline_process(pipeline, "a", 1, bad, &result, &error), OIF_EVALUE, &error,
           OIF_CAUSE_INFINITE_VALUE);
    expect(oif_pipeline_process_at(pipeline, "a", 1, INFINITY, good, &result, &error), OIF_EVALUE,
           &error, OIF_CAUSE_INFINITE_VALUE);
    expect(oif_pipeline_process(pipeline, long_key, sizeof long_key, good, &result, &error),
           OIF_EVALUE, &error, OIF_CAUSE_KEY_TOO_LONG);
    expect(oif_pipeline_remove_key(pipeline, "b", 1, &error), OIF_EVALUE, &error,
           OIF_CAUSE_UNKNOWN_KEY);
    size_t bytes;
    expect(oif_pipeline_key_snapshot_bytes(pipeline, "b", 1, &bytes, &error), OIF_EVALUE, &error,
           OIF_CAUSE_UNKNOWN_KEY);
    oif_pipeline_free(pipeline);
}

/* ---- Snapshots ---- */

typedef struct stored {
    char bytes[1 << 20];
    size_t count;
} stored;

static stored pipeline_bytes, detector_bytes, key_bytes;

static void store_all(void)
{
    const double row[] = {1, 2};
    oif_error error;
    oif_pipeline *pipeline = new_pipeline("online-iforest", small, 2, "");
    process_key(pipeline, "a", row);
    pipeline_bytes.count = oif_pipeline_snapshot_bytes(pipeline);
    require_ok_or(oif_pipeline_save_memory(pipeline, pipeline_bytes.bytes,
                                           sizeof pipeline_bytes.bytes, &error),
                  error);
    require_ok_or(oif_pipeline_key_snapshot_bytes(pipeline, "a", 1, &key_bytes.count, &error),
                  error);
    require_ok_or(oif_pipeline_save_key_memory(pipeline, "a", 1, key_bytes.bytes,
                                               sizeof key_bytes.bytes, &error),
                  error);
    oif_pipeline_free(pipeline);
    oif_params params = params_named("online-iforest", small);
    oif_detector *detector = NULL;
    require_ok_or(oif_detector_new(&params, 2, &detector, &error), error);
    detector_bytes.count = oif_detector_snapshot_bytes(detector);
    require_ok_or(oif_detector_save_memory(detector, detector_bytes.bytes,
                                           sizeof detector_bytes.bytes, &error),
                  error);
    oif_detector_free(detector);
}

static void expect_not_loaded(const stored *from, oif_status status, oif_cause cause)
{
    oif_pipeline *pipeline = NULL;
    oif_error error;
    expect(oif_pipeline_load_memory(from->bytes, from->count, &pipeline, &error), status, &error,
           cause);
}

static void snapshots_of_something_else(void **state)
{
    (void)state;
    oif_detector *detector = NULL;
    oif_error error;
    store_all();
    expect_not_loaded(&detector_bytes, OIF_EKIND, OIF_CAUSE_DETECTOR_SNAPSHOT);
    expect_not_loaded(&key_bytes, OIF_EKIND, OIF_CAUSE_KEY_SNAPSHOT);
    expect(oif_detector_load_memory(pipeline_bytes.bytes, pipeline_bytes.count, &detector, &error),
           OIF_EKIND, &error, OIF_CAUSE_PIPELINE_SNAPSHOT);
}

static void snapshots_that_are_damaged(void **state)
{
    (void)state;
    static stored changed;
    store_all();
    changed = pipeline_bytes;
    changed.count--;
    expect_not_loaded(&changed, OIF_ETRUNCATED, OIF_CAUSE_TRUNCATED_SNAPSHOT);
    changed.count += 2;
    expect_not_loaded(&changed, OIF_ECORRUPT, OIF_CAUSE_INCONSISTENT_SNAPSHOT);
    changed = pipeline_bytes;
    changed.bytes[0] ^= 1;
    expect_not_loaded(&changed, OIF_EKIND, OIF_CAUSE_NOT_A_SNAPSHOT);
    changed = pipeline_bytes;
    changed.bytes[changed.count / 2] ^= 1;
    expect_not_loaded(&changed, OIF_ECORRUPT, OIF_CAUSE_WRONG_CHECKSUM);
}

/* ---- Files ---- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void files(void **state)
{
    (void)state;
    char folder[] = "/tmp/oif-causes-XXXXXX", path[64];
    oif_pipeline *pipeline = NULL;
    oif_state_file *file = NULL, *other = NULL;
    oif_error error;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state", folder);
    expect(oif_pipeline_load_file(path, &pipeline, &error), OIF_EREAD, &error, OIF_CAUSE_SYSTEM);
    assert_int_equal(error.system_errno, ENOENT);
    write_text(path, "time,cpu,memory,disk,net,latency\n");
    expect(oif_pipeline_load_file(path, &pipeline, &error), OIF_EKIND, &error,
           OIF_CAUSE_NOT_A_SNAPSHOT);
    require_ok_or(oif_state_file_open(path, &file, &error), error);
    expect(oif_state_file_open(path, &other, &error), OIF_EBUSY, &error, OIF_CAUSE_FILE_IN_USE);
    oif_state_file_close(file);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    expect(oif_state_file_open(path, &file, &error), OIF_EWRITE, &error, OIF_CAUSE_SYSTEM);
    assert_int_equal(error.system_errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),
        cmocka_unit_test(values_and_keys),
        cmocka_unit_test(snapshots_of_something_else),
        cmocka_unit_test(snapshots_that_are_damaged),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
