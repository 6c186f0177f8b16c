/* kill -9 at any moment while a log is appended to or replaced. A child processes rows of many
 * keys, a few between saves, and acknowledges each save. The parent kills it, loads what is left
 * and compares its whole save with that of a pipeline that was never interrupted. */
#define _GNU_SOURCE

#include "../snapshot/kills.h"
#include "pipelines.h"

enum { COLUMNS = 2, KEYS = 30, ROWS_A_GENERATION = 6 };

static const char detector[] = "online-iforest",
                  settings[] = "num_trees=4 window_size=32 max_leaf_samples=2",
                  options[] = "alert_rate=0.05 max_keys=25";

/* The row with this number, and its key: recent keys are more likely. */
static const char *row_at(uint64_t number, double row[COLUMNS])
{
    dice from = {number};
    draw_row(&from, row, COLUMNS);
    return key_text(dice_chance(&from, 0.5) ? dice_below(&from, 5) : dice_below(&from, KEYS));
}

static oif_status process_next(oif_pipeline *pipeline, oif_result *result)
{
    double row[COLUMNS];
    const char *key = row_at(oif_pipeline_rows(pipeline), row);
    return oif_pipeline_process(pipeline, key, strlen(key), row, result, NULL);
}

/* ---- The child ---- */

/* Returns only if something goes wrong: a number for the cause. */
static int save_for_ever(int acknowledge)
{
    oif_state_file *file;
    oif_pipeline *pipeline;
    oif_result result;
    if (oif_state_file_open("state", &file, NULL) != OIF_OK)
        return 1;
    oif_status status = oif_state_file_load_pipeline(file, &pipeline, NULL);
    if (status == OIF_END) {
        pipeline = new_pipeline(detector, settings, COLUMNS, options);
        status = OIF_OK;
    }
    if (status != OIF_OK)
        return 2;
    for (;;) {
        for (int i = 0; i < ROWS_A_GENERATION; i++)
            if (process_next(pipeline, &result) != OIF_OK)
                return 3;
        if (oif_state_file_update_pipeline(file, pipeline, NULL) != OIF_OK)
            return 4;
        uint64_t saved = oif_pipeline_rows(pipeline);
        if (write(acknowledge, &saved, sizeof saved) != sizeof saved)
            return 5;
    }
}

/* ---- The parent ---- */

static void require_same_as_twin(const oif_pipeline *loaded, const oif_pipeline *twin)
{
    const size_t count = oif_pipeline_snapshot_bytes(twin);
    char *a = malloc(count), *b = malloc(count);
    assert_int_equal(oif_pipeline_snapshot_bytes(loaded), count);
    require_ok(oif_pipeline_save_memory(loaded, a, count, NULL));
    require_ok(oif_pipeline_save_memory(twin, b, count, NULL));
    assert_memory_equal(a, b, count);
    free(a);
    free(b);
}

/* Returns the number of rows in the state: of the last acknowledged save, or of one more that was
 * complete just before the kill. Adds to the interrupted appends. */
static uint64_t check_state(uint64_t acknowledged, oif_pipeline *twin, uint64_t *interrupted,
                            uint64_t *updates)
{
    oif_state_file *file = NULL;
    oif_pipeline *loaded;
    oif_result result;
    oif_error error;
    if (access("state", F_OK) != 0) {
        assert_int_equal(acknowledged, 0);
        return 0;
    }
    require_ok_or(oif_state_file_open("state", &file, &error), error);
    require_ok_or(oif_state_file_load_pipeline(file, &loaded, &error), error);
    uint64_t rows = oif_pipeline_rows(loaded);
    if (rows < acknowledged || rows > acknowledged + ROWS_A_GENERATION)
        fail_msg("%" PRIu64 " rows were acknowledged and the file has %" PRIu64, acknowledged,
                 rows);
    while (oif_pipeline_rows(twin) < rows)
        require_ok(process_next(twin, &result));
    require_same_as_twin(loaded, twin);
    *interrupted += oif_pipeline_log(loaded).ignored_bytes > 0;
    *updates += oif_pipeline_log(loaded).updates > 0;
    oif_pipeline_free(loaded);
    oif_state_file_close(file);
    return rows;
}

static void a_kill_at_any_moment_leaves_a_whole_save(void **unused)
{
    (void)unused;
    uint64_t trials = number_from_environment("OIF_KILL_TRIALS", 60);
    uint64_t seed = number_from_environment("OIF_KILL_SEED", 1);
    uint64_t acknowledged = 0, interrupted = 0, updates = 0, generations = 0;
    uint32_t longest_life = USUAL_LIFE_MICROSECONDS;
    dice rolled = {seed};
    oif_pipeline *twin = new_pipeline(detector, settings, COLUMNS, options);
    for (uint64_t trial = 0; trial < trials; trial++) {
        uint64_t rows_before = acknowledged;
        acknowledged = run_child(save_for_ever, dice_below(&rolled, longest_life), acknowledged);
        acknowledged = check_state(acknowledged, twin, &interrupted, &updates);
        generations += acknowledged > rows_before;
        longest_life = adapt_life(longest_life, acknowledged > rows_before);
    }
    print_message("seed %" PRIu64 ": %" PRIu64 " kills: %" PRIu64 " left half an update, %" PRIu64
                  " found updates, %" PRIu64 " children got on; %" PRIu64 " rows\n",
                  seed, trials, interrupted, updates, generations, acknowledged);
    assert_true(generations > trials / 20); /* otherwise this has tested little */
    oif_pipeline_free(twin);
    unlink("state");
    unlink("state.lock");
    unlink("state.new");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_kill_at_any_moment_leaves_a_whole_save)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
