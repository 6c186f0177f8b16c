/* kill -9 at any moment while models move between memory and the file. A child processes rows of
 * many keys with space for few models, saves now and then and acknowledges. The parent kills it,
 * loads what is left and compares it, key by key, with a pipeline that was never interrupted and
 * never evicted anything. */
#define _GNU_SOURCE

#include "../snapshot/kills.h"
#include "pipelines.h"

#include <dirent.h>

enum { COLUMNS = 2, KEYS = 30, ROWS_A_GENERATION = 40 };

static const char detector[] = "online-iforest",
                  settings[] = "num_trees=4 window_size=32 max_leaf_samples=2";

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
        pipeline =
            new_pipeline(detector, settings, COLUMNS, "alert_rate=0.05 max_keys=3 evicted=keep");
        status = oif_state_file_keep_evicted(file, pipeline, NULL);
    }
    if (status != OIF_OK)
        return 2;
    for (;;) {
        for (int i = 0; i < ROWS_A_GENERATION; i++)
            if (process_next(pipeline, &result) != OIF_OK)
                return 3;
        if (oif_state_file_save_pipeline(file, pipeline, NULL) != OIF_OK)
            return 4;
        if (oif_pipeline_lost(pipeline, NULL) > 0)
            return 5;
        uint64_t saved = oif_pipeline_rows(pipeline);
        if (write(acknowledge, &saved, sizeof saved) != sizeof saved)
            return 6;
    }
}

/* ---- The parent ---- */

/* Every key's next row gets the same result as from the twin, which has all models in memory. */
static void require_same_as_twin(oif_pipeline *loaded, const oif_pipeline *twin)
{
    oif_pipeline *next;
    require_ok(oif_pipeline_clone(twin, &next, NULL));
    assert_int_equal(oif_pipeline_keys(loaded) + oif_pipeline_kept(loaded),
                     oif_pipeline_keys(twin));
    for (uint32_t i = 0; i < KEYS; i++) {
        const double row[COLUMNS] = {i, 1};
        oif_result a = process_key(loaded, key_text(i), row),
                   b = process_key(next, key_text(i), row);
        require_same_result(&a, &b);
    }
    assert_int_equal(oif_pipeline_lost(loaded, NULL), 0);
    require_ok(oif_pipeline_check(loaded, NULL));
    oif_pipeline_free(next);
}

/* Returns the number of rows in the state: of the last acknowledged generation, or of one more that
 * was saved just before the kill. Nothing is saved, so the next child finds the evicted models of
 * this state. */
static uint64_t check_state(uint64_t acknowledged, oif_pipeline *twin)
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
    oif_pipeline_free(loaded);
    oif_state_file_close(file);
    return rows;
}

static void require_no_other_files(void)
{
    DIR *folder = opendir(".");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "state") != 0 &&
            strcmp(entry->d_name, "state.evicted") != 0 &&
            strcmp(entry->d_name, "state.lock") != 0 && strcmp(entry->d_name, "state.new") != 0)
            fail_msg("%s was left", entry->d_name);
    closedir(folder);
}

static void test_a_kill_at_any_moment_loses_no_model(void **unused)
{
    (void)unused;
    uint64_t trials = number_from_environment("OIF_KILL_TRIALS", 200);
    uint64_t seed = number_from_environment("OIF_KILL_SEED", 1);
    uint64_t acknowledged = 0, while_writing = 0, generations = 0;
    uint32_t longest_life = USUAL_LIFE_MICROSECONDS;
    dice rolled = {seed};
    oif_pipeline *twin = new_pipeline(detector, settings, COLUMNS, "alert_rate=0.05");
    for (uint64_t trial = 0; trial < trials; trial++) {
        uint64_t rows_before = acknowledged;
        acknowledged = run_child(save_for_ever, dice_below(&rolled, longest_life), acknowledged);
        bool is_writing = access("state.new", F_OK) == 0;
        uint64_t rows = check_state(acknowledged, twin);
        while_writing += is_writing;
        generations += rows > rows_before;
        acknowledged = rows;
        /* On a slow disk every child would die while writing; some must get further too. */
        bool is_late = rows > rows_before || (is_writing && generations * 5 > trial);
        longest_life = adapt_life(longest_life, is_late);
        require_no_other_files();
    }
    print_message("seed %" PRIu64 ": %" PRIu64 " kills: %" PRIu64
                  " while the next state was written, %" PRIu64 " children got on; %" PRIu64
                  " rows\n",
                  seed, trials, while_writing, generations, acknowledged);
    assert_true(generations > trials / 10); /* otherwise this has tested little */
    oif_pipeline_free(twin);
    unlink("state");
    unlink("state.evicted");
    unlink("state.lock");
    unlink("state.new");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_kill_at_any_moment_loses_no_model)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
