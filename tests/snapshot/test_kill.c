/* kill -9 at any moment: a child saves one generation after another and acknowledges each. The
 * parent kills it, checks what is left, and lets the next child resume there. No acknowledged
 * generation may be lost, none may be damaged, and together they must give the same results as one
 * detector that was never interrupted. */
#define _GNU_SOURCE

#include "kills.h"
#include "snapshots.h"

#include <dirent.h>

enum { DIMENSION = 4, ROWS_A_GENERATION = 5, ROWS_AFTERWARDS = 20 };

static void row_at(uint64_t number, double row[DIMENSION])
{
    dice from = {number};
    for (int i = 0; i < DIMENSION; i++)
        row[i] = dice_normal(&from);
}

static oif_detector *new_generation_zero(void)
{
    return new_named("online-iforest", "num_trees=16 window_size=256", DIMENSION); /* some 100 KB */
}

/* ---- The child ---- */

/* Returns only if something goes wrong: a number for the cause. */
static int save_for_ever(int acknowledge)
{
    oif_state_file *file;
    oif_detector *detector;
    double row[DIMENSION];
    if (oif_state_file_open("state", &file, NULL) != OIF_OK)
        return 1;
    oif_status status = oif_state_file_load(file, &detector, NULL);
    if (status == OIF_END)
        detector = new_generation_zero();
    else if (status != OIF_OK)
        return 2;
    for (;;) {
        for (int i = 0; i < ROWS_A_GENERATION; i++) {
            row_at(oif_detector_rows_learned(detector), row);
            if (oif_detector_learn(detector, row, NULL) != OIF_OK)
                return 3;
        }
        if (oif_state_file_save(file, detector, NULL) != OIF_OK)
            return 4;
        uint64_t saved = oif_detector_rows_learned(detector);
        if (write(acknowledge, &saved, sizeof saved) != sizeof saved)
            return 5;
    }
}

/* ---- The parent ---- */

static void learn_up_to(oif_detector *detector, uint64_t rows)
{
    double row[DIMENSION];
    while (oif_detector_rows_learned(detector) < rows) {
        row_at(oif_detector_rows_learned(detector), row);
        require_ok(oif_detector_learn(detector, row, NULL));
    }
}

/* `loaded` equals the one that was never interrupted, and continues like it. */
static void require_same_as_twin(oif_detector *loaded, oif_detector *twin)
{
    snapshot a = take_snapshot(loaded), b = take_snapshot(twin);
    require_same_bytes(a, b);
    free(a.bytes);
    free(b.bytes);
    oif_detector *next = clone_of(twin);
    for (int i = 0; i < ROWS_AFTERWARDS; i++) {
        double row[DIMENSION], score_loaded, score_next;
        row_at(oif_detector_rows_learned(next), row);
        require_ok(oif_detector_learn_score(loaded, row, &score_loaded, NULL));
        require_ok(oif_detector_learn_score(next, row, &score_next, NULL));
        assert_memory_equal(&score_loaded, &score_next, sizeof score_next);
    }
    oif_detector_free(next);
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *folder = opendir(".");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void require_nothing_but_the_state(void)
{
    oif_state_file *file;
    oif_error error;
    require_ok_or(oif_state_file_open("state", &file, &error), error);
    oif_state_file_close(file);
    assert_int_equal(count_files(), access("state", F_OK) == 0);
}

/* Returns the number of rows in the file: of the last acknowledged generation, or of one more that
 * was saved just before the kill. */
static uint64_t check_state(uint64_t acknowledged, oif_detector *twin)
{
    oif_detector *loaded;
    oif_error error;
    if (access("state", F_OK) != 0) {
        assert_int_equal(acknowledged, 0);
        return 0;
    }
    require_ok_or(oif_detector_load_file("state", &loaded, &error), error);
    uint64_t rows = oif_detector_rows_learned(loaded);
    if (rows < acknowledged || rows > acknowledged + ROWS_A_GENERATION)
        fail_msg("%" PRIu64 " rows were acknowledged and the file has %" PRIu64, acknowledged,
                 rows);
    learn_up_to(twin, rows);
    require_same_as_twin(loaded, twin);
    oif_detector_free(loaded);
    return rows;
}

static void a_kill_at_any_moment_loses_nothing(void **unused)
{
    (void)unused;
    uint64_t trials = number_from_environment("OIF_KILL_TRIALS", 300);
    uint64_t seed = number_from_environment("OIF_KILL_SEED", 1);
    uint64_t acknowledged = 0, while_writing = 0, unacknowledged = 0;
    uint32_t longest_life = USUAL_LIFE_MICROSECONDS;
    dice rolled = {seed};
    oif_detector *twin = new_generation_zero();
    for (uint64_t trial = 0; trial < trials; trial++) {
        uint64_t rows_before = acknowledged;
        acknowledged = run_child(save_for_ever, dice_below(&rolled, longest_life), acknowledged);
        bool is_writing = access("state.new", F_OK) == 0;
        uint64_t rows = check_state(acknowledged, twin);
        while_writing += is_writing;
        unacknowledged += rows > acknowledged;
        acknowledged = rows;
        longest_life = adapt_life(longest_life, is_writing || rows > rows_before);
        require_nothing_but_the_state();
    }
    print_message("seed %" PRIu64 ": %" PRIu64 " kills: %" PRIu64
                  " while the next state was written, %" PRIu64
                  " between its rename and the acknowledgement; %" PRIu64 " generations\n",
                  seed, trials, while_writing, unacknowledged, acknowledged / ROWS_A_GENERATION);
    assert_true(while_writing > trials / 10); /* otherwise this has tested little */
    oif_detector_free(twin);
    unlink("state");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_kill_at_any_moment_loses_nothing)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
