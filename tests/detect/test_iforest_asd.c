/* iForestASD from outside and inside: the promises of oif.h, when it trains and on what, the drift
 * rule, degenerate cases, and that oif_detector_check detects what is broken.
 *
 * The detector's own file is included, so the tests see its state; trees are counted as they
 * grow. */
#include "any_detector.h"

#include "detect/iforest_asd/iforest_asd.c"

/* ---- Counting trees ---- */

static struct {
    uint32_t trees, last_tree; /* grown since the last look; number of the last */
    uint32_t rows;             /* it could be grown from */
    double lowest, highest;    /* in the first column of those rows */
} grown;

void __real_oif_iforest_grow(oif_iforest *f, uint32_t tree, const double *values, size_t stride,
                             uint32_t *rows, uint32_t count, oif_random *random);
void __wrap_oif_iforest_grow(oif_iforest *f, uint32_t tree, const double *values, size_t stride,
                             uint32_t *rows, uint32_t count, oif_random *random);

void __wrap_oif_iforest_grow(oif_iforest *f, uint32_t tree, const double *values, size_t stride,
                             uint32_t *rows, uint32_t count, oif_random *random)
{
    grown.trees++;
    grown.last_tree = tree;
    grown.rows = count;
    grown.lowest = INFINITY;
    grown.highest = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        grown.lowest = fmin(grown.lowest, values[rows[i] * stride]);
        grown.highest = fmax(grown.highest, values[rows[i] * stride]);
    }
    __real_oif_iforest_grow(f, tree, values, stride, rows, count, random);
}

/* ---- Detectors and streams ---- */

static oif_detector *detector_with(const char *settings, size_t dimension)
{
    return new_named("iforest-asd", settings, dimension);
}

enum { DIMENSION = PROMISE_DIMENSION, ROWS = PROMISE_ROWS };

static const char *const setups[] = {
    "num_trees=11 window_size=200 subsample_size=32",
    "num_trees=8 window_size=64 subsample_size=64 retrain=drift drift_rate=0.1",
    "num_trees=40 window_size=30 subsample_size=256 seed=7",
    "num_trees=9 window_size=600 subsample_size=100 retrain=drift drift_rate=0.02",
    "num_trees=3 window_size=2 subsample_size=2",
    "num_trees=1 window_size=101 subsample_size=7 retrain=drift drift_rate=0",
};

enum { SETUPS = sizeof setups / sizeof setups[0] };

/* ---- The promises ---- */

static void blocks_clones_and_estimates_keep_their_promises(void **state)
{
    (void)state;
    for (int number = 0; number < SETUPS; number++)
        require_promises("iforest-asd", setups[number]);
}

static void a_detector_that_no_machine_can_hold_is_refused(void **state)
{
    (void)state;
    oif_params params;
    oif_detector *detector = NULL;
    require_ok(oif_params_init(&params, "iforest-asd", NULL));
    set_param(&params, "num_trees", 4096);
    set_param(&params, "window_size", 1 << 24);
    set_param(&params, "subsample_size", 1 << 15);
    assert_int_equal(oif_detector_new(&params, UINT32_MAX / 4, &detector, NULL), OIF_EMEMORY);
    assert_null(detector);
}

/* ---- When it trains, and on what ---- */

/* Row i is (i, ...), so the first value identifies the rows that a tree is grown from. */
static void feed_numbered_row(oif_detector *detector, size_t i)
{
    double row[2] = {(double)i, (double)(i * 7919 % 1000)};
    grown.trees = 0;
    learn(detector, row);
}

static void trees_are_grown_one_a_row_from_the_last_window(void **state)
{
    (void)state;
    enum { TREES = 5, WINDOW = 64, LAST = 1000 };
    oif_detector *detector = detector_with("num_trees=5 window_size=64 subsample_size=16", 2);
    uint32_t left = 0, rows = 0;
    size_t end = 0;
    for (size_t i = 1; i <= LAST; i++) {
        feed_numbered_row(detector, i);
        if (left && i > 8 && grown.trees != 1) /* earlier, trees are small and several are grown */
            fail_msg("row %zu grows %u trees", i, grown.trees);
        if (grown.trees) {
            assert_int_equal(grown.rows, rows);
            assert_int_equal(grown.last_tree, TREES - left + grown.trees - 1);
            expect_within(grown.lowest, (double)(end - rows + 1), (double)(end - rows + 1),
                          "the oldest row");
            expect_within(grown.highest, (double)end, (double)end, "the newest row");
        }
        assert_true(grown.trees <= left);
        left -= grown.trees;
        if (i % WINDOW == 0 ||
            (i < WINDOW && i >= 2 && (i & (i - 1)) == 0)) { /* the end of a window, or a doubling */
            if (left)
                fail_msg("row %zu ends a window, and %u trees of the last have not been grown", i,
                         left);
            left = TREES;
            end = i;
            rows = i < WINDOW ? (uint32_t)i : WINDOW;
        }
        require_ok(oif_detector_check(detector, NULL));
    }
    oif_detector_free(detector);
}

/* Windows of all sizes, more trees than rows: a training ends before the next begins. */
static void a_training_is_over_when_the_next_begins(void **state)
{
    (void)state;
    for (uint32_t window = 2; window < 70; window++)
        for (uint32_t trees = 1; trees < 100; trees = trees * 2 + 1) {
            char settings[100];
            snprintf(settings, sizeof settings, "num_trees=%u window_size=%u subsample_size=8",
                     trees, window);
            oif_detector *detector = detector_with(settings, 2);
            uint32_t total = 0, windows = 0;
            for (size_t i = 1; i <= 5 * window; i++) {
                feed_numbered_row(detector, i);
                total += grown.trees;
                if (i > window) {
                    windows += (i - 1) % window == 0;
                    uint32_t share = (trees + window - 1) / window;
                    expect_within(grown.trees, 0, share, settings);
                    double end = (double)((i - 1) / window * window), oldest = end - window + 1;
                    if (grown.trees && (grown.lowest != oldest || grown.highest != end))
                        fail_msg("%s: row %zu grows trees from the rows %g to %g, not %g to %g",
                                 settings, i, grown.lowest, grown.highest, oldest, end);
                }
                if (i == window)
                    total = 0;
            }
            if (total != windows * trees)
                fail_msg("%s: %u trees were grown in %u windows", settings, total, windows);
            require_ok(oif_detector_check(detector, NULL));
            oif_detector_free(detector);
        }
}

static void a_detector_becomes_ready_when_all_trees_have_a_whole_subsample(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("num_trees=5 window_size=100 subsample_size=20", 2);
    size_t ready_at = 0; /* doublings at 3, 6, 12, 25: five trees later */
    for (size_t i = 1; i <= 300; i++) {
        feed_numbered_row(detector, i);
        if (!ready_at && oif_detector_ready(detector))
            ready_at = i;
        assert_true(!ready_at || oif_detector_ready(detector));
    }
    assert_int_equal(ready_at, 30);
    oif_detector_free(detector);

    /* never more than 10 rows */
    detector = detector_with("num_trees=5 window_size=10 subsample_size=20", 2);
    for (size_t i = 1; i <= 15; i++) {
        assert_false(oif_detector_ready(detector));
        feed_numbered_row(detector, i);
    }
    assert_true(oif_detector_ready(detector));
    oif_detector_free(detector);
}

/* ---- The drift rule ---- */

/* The rule from outside: trees are grown after a window exactly if its scores require it. */
static void on_drift_the_forest_is_trained_when_the_anomaly_rate_is_over_the_threshold(void **state)
{
    (void)state;
    enum { WINDOW = 50, TREES = 7 };
    static const double rates[] = {0, 0.1, 0.2, 0.3, 0.5, 1};
    uint32_t trainings[6] = {0};
    for (int number = 0; number < 6; number++) {
        char settings[120];
        snprintf(settings, sizeof settings,
                 "num_trees=7 window_size=50 subsample_size=25 retrain=drift drift_rate=%g",
                 rates[number]);
        oif_detector *detector = detector_with(settings, DIMENSION);
        dice rolled = {5};
        uint32_t anomalies_seen = 0, left = 0;
        for (size_t i = 1; i <= 80 * WINDOW; i++) {
            double row[DIMENSION];
            for (size_t j = 0; j < DIMENSION; j++)
                row[j] = dice_normal(&rolled) + (double)(i / 1000) * 8;
            grown.trees = 0;
            double got = learn_score(detector, row);
            if (i <= WINDOW) { /* training at each doubling */
                left = i == WINDOW ? TREES : 0;
                continue;
            }
            assert_int_equal(grown.trees, left > 0);
            left -= grown.trees;
            anomalies_seen += got > 0.5;
            if (i % WINDOW == 0) {
                left = anomalies_seen > rates[number] * WINDOW ? TREES : 0;
                trainings[number] += left > 0;
                anomalies_seen = 0;
            }
        }
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
    for (int number = 1; number < 6; number++)
        assert_true(trainings[number] <= trainings[number - 1]);
    expect_within(trainings[0], 70, 80, "trainings if any anomaly will do");
    expect_within(trainings[4], 3, 20,
                  "trainings if half of the window must be anomalous: the four jumps");
    assert_int_equal(trainings[5], 0);
}

static void the_forest_follows_a_jump_in_both_modes(void **state)
{
    (void)state;
    const char *const modes[] = {"window_size=256", "window_size=256 retrain=drift drift_rate=0.5"};
    for (int mode = 0; mode < 2; mode++) {
        oif_detector *detector = detector_with(modes[mode], 1);
        dice rolled = {6};
        double before = 0, after = 0, old_place = 0;
        for (int i = 0; i < 1024; i++)
            learn(detector, &(double){dice_normal(&rolled)});
        before = score(detector, &(double){50});
        for (int i = 0; i < 600; i++)
            learn(detector, &(double){50 + dice_normal(&rolled)});
        after = score(detector, &(double){50});
        old_place = score(detector, &(double){0});
        if (!(before > 0.6 && after < 0.5 && old_place > 0.6))
            fail_msg(
                "%s: the new place scores %g before the jump and %g after it, the old one then %g",
                modes[mode], before, after, old_place);
        oif_detector_free(detector);
    }
}

/* ---- Scores ---- */

static void the_first_rows_score_one_half_until_a_tree_is_grown(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("", 2);
    for (size_t i = 0; i < 2; i++) {
        double row[2] = {(double)i, 0};
        expect_same_bits(learn_score(detector, row), 0.5, "score", i);
    }
    oif_detector_free(detector);
}

/* A forest cannot distinguish a row far outside its sample from the outermost row in it, so a few
 * rows may score as high. */
static void an_outlier_scores_above_the_centre_soon_and_above_nearly_all_rows_later(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("num_trees=100 window_size=512", 2);
    double *rows = normal_rows(2, 3000, 2), above = 0;
    for (size_t i = 0; i < 3000; i++) {
        double own = learn_score(detector, &rows[2 * i]),
               centre = score(detector, (double[]){0, 0});
        double outlier = score(detector, (double[]){40, -40});
        if (i >= 32 && !(outlier > centre + 0.05))
            fail_msg("row %zu: the outlier scores %g, the centre %g", i, outlier, centre);
        above += i >= 512 && own >= outlier;
    }
    expect_within(above, 0, 25, "rows of 2488 that score above the outlier");
    oif_detector_free(detector);
    free(rows);
}

static void rows_without_any_number_and_equal_rows_score_one_half(void **state)
{
    (void)state;
    const double nothing[] = {NAN, NAN}, constant[] = {4, 1e15};
    const double *const rows[] = {nothing, constant};
    for (int i = 0; i < 2; i++) {
        oif_detector *detector = detector_with("window_size=64", 2);
        for (size_t row = 0; row < 300; row++)
            expect_same_bits(learn_score(detector, rows[i]), 0.5, "score", row);
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
}

static void a_column_that_is_constant_or_missing_never_matters(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("window_size=256 num_trees=64", 4);
    dice rolled = {6};
    double row[4] = {5, 0, NAN, -7};
    for (int i = 0; i < 2000; i++) {
        row[1] = (i % 40 ? 1 : 7) * dice_normal(&rolled);
        learn(detector, row);
    }
    row[1] = 0.1;
    double inlier = score(detector, row);
    double elsewhere[] = {-900, 0.1, 12, NAN};
    expect_same_bits(score(detector, elsewhere), inlier,
                     "other numbers in columns that were constant or missing", 0);
    row[1] = 15;
    if (!(score(detector, row) > inlier))
        fail_msg("the outlier scores %g, the inlier %g", score(detector, row), inlier);
    oif_detector_free(detector);
}

static void rows_with_missing_numbers_take_the_careful_walk(void **state)
{
    (void)state;
    double *rows = promise_rows(8, 0.1);
    oif_detector *detector = detector_with("window_size=128", DIMENSION);
    const asd_state *asd = oif_detector_state(detector);
    for (size_t i = 0; i < ROWS; i++) {
        double own = learn_score(detector, &rows[i * DIMENSION]);
        expect_same_bits(own, oif_iforest_score(own_forest(asd), &rows[i * DIMENSION], false),
                         "score", i);
    }
    oif_detector_free(detector);
    free(rows);
}

static void rows_of_ten_thousand_numbers_work(void **state)
{
    (void)state;
    enum { WIDE = 10000 };
    oif_detector *detector = detector_with("num_trees=9 window_size=64 subsample_size=32", WIDE);
    double *row = new_numbers(WIDE), inlier = 0, outlier = 0;
    dice rolled = {3};
    for (int i = 0; i < 200; i++) {
        bool out = i % 20 == 0;
        for (size_t j = 0; j < WIDE; j++)
            row[j] = i % 7 == 0 && j % 3 == 0 ? NAN : (out ? 40 : 1) * (dice_unit(&rolled) - 0.5);
        double own = learn_score(detector, row);
        expect_within(own, 0, 1, "score");
        *(out ? &outlier : &inlier) += i < 100 ? 0 : own / (out ? 5 : 95);
    }
    require_ok(oif_detector_check(detector, NULL));
    if (!(outlier > inlier))
        fail_msg("outliers score %g, inliers %g", outlier, inlier);
    oif_detector_free(detector);
    free(row);
}

/* ---- What the check detects ---- */

static void hold_more_rows_than_fit(asd_state *asd)
{
    asd->rows_held = asd->window_size + 1;
}

static void leave_the_ring(asd_state *asd)
{
    asd->next_slot = asd->slots;
}

static void never_end_the_window(asd_state *asd)
{
    asd->rows_to_go = 0;
}

static void end_the_window_too_late(asd_state *asd)
{
    asd->rows_to_go = asd->window_size + 1;
}

static void see_too_many_anomalies(asd_state *asd)
{
    asd->anomalies = asd->window_size - asd->rows_to_go + 1;
}

static void grow_trees_that_do_not_exist(asd_state *asd)
{
    asd->next_tree = asd->num_trees + 1;
}

static void train_on_more_rows_than_there_are(asd_state *asd)
{
    asd->training_rows = asd->window_size + 1;
}

static void train_on_a_row_outside_the_ring(asd_state *asd)
{
    ((uint32_t *)oif_block_part(asd, asd->training_at))[3] = asd->slots;
}

static void stop_growing_trees(asd_state *asd)
{
    asd->next_tree = 0;
    asd->trees_a_row = 0;
}

static void double_a_full_window(asd_state *asd)
{
    asd->doublings = 33;
}

static void hold_an_infinite_row(asd_state *asd)
{
    slot_row(asd, asd->slots - 1)[0] = INFINITY;
}

static void break_the_forest(asd_state *asd)
{
    own_forest(asd)->normal_length++;
}

static const struct {
    const char *name;
    void (*inflict)(asd_state *asd);
    const char *words;
} wounds[] = {
#define WOUND(function, words)                                                                     \
    {                                                                                              \
#function, function, words                                                                 \
    }
    WOUND(hold_more_rows_than_fit, "the window holds more rows than it has room for"),
    WOUND(leave_the_ring, "the window holds more rows than it has room for"),
    WOUND(never_end_the_window, "the window does not end within window_size rows"),
    WOUND(end_the_window_too_late, "the window does not end within window_size rows"),
    WOUND(see_too_many_anomalies, "more rows were anomalous than the window has had"),
    WOUND(grow_trees_that_do_not_exist, "more trees are to be grown than there are"),
    WOUND(train_on_more_rows_than_there_are, "trees were grown from more rows than there are"),
    WOUND(stop_growing_trees, "the trees will not be grown before the window ends"),
    WOUND(double_a_full_window, "the first window has too many doublings to go"),
    WOUND(hold_an_infinite_row, "a row is infinite"),
    WOUND(train_on_a_row_outside_the_ring, "a tree would be grown from a row outside the ring"),
    WOUND(break_the_forest, "the normal length is not the sum of the trees' averages"),
#undef WOUND
};

static void the_check_names_each_thing_that_is_broken(void **state)
{
    (void)state;
    oif_detector *sound = detector_with("window_size=64 retrain=drift", DIMENSION);
    double *rows = promise_rows(9, 0.05);
    require_ok(oif_detector_learn_rows(sound, rows, 200, DIMENSION, NULL));
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        oif_detector *broken = whole_clone_of(sound);
        wounds[i].inflict((asd_state *)(uintptr_t)oif_detector_state(broken));
        require_broken(broken, wounds[i].name, wounds[i].words);
    }
    oif_detector_free(sound);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_clones_and_estimates_keep_their_promises),
        cmocka_unit_test(a_detector_that_no_machine_can_hold_is_refused),
        cmocka_unit_test(trees_are_grown_one_a_row_from_the_last_window),
        cmocka_unit_test(a_training_is_over_when_the_next_begins),
        cmocka_unit_test(a_detector_becomes_ready_when_all_trees_have_a_whole_subsample),
        cmocka_unit_test(
            on_drift_the_forest_is_trained_when_the_anomaly_rate_is_over_the_threshold),
        cmocka_unit_test(the_forest_follows_a_jump_in_both_modes),
        cmocka_unit_test(the_first_rows_score_one_half_until_a_tree_is_grown),
        cmocka_unit_test(an_outlier_scores_above_the_centre_soon_and_above_nearly_all_rows_later),
        cmocka_unit_test(rows_without_any_number_and_equal_rows_score_one_half),
        cmocka_unit_test(a_column_that_is_constant_or_missing_never_matters),
        cmocka_unit_test(rows_with_missing_numbers_take_the_careful_walk),
        cmocka_unit_test(rows_of_ten_thousand_numbers_work),
        cmocka_unit_test(the_check_names_each_thing_that_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
