/* Scoring and then learning a row in one call, and resetting, for detectors of every kind; and
 * calls rejected before they read past a row. */
#include "../snapshot/snapshots.h"

enum { ROWS = 400, COLUMNS = 3 };

static void fill_rows(stream *s, double *rows)
{
    for (size_t i = 0; i < ROWS; i++)
        next_row(s, &rows[i * s->dimension]);
}

static void require_same_detectors(const oif_detector *a, const oif_detector *b)
{
    snapshot of_a = take_snapshot(a), of_b = take_snapshot(b);
    require_same_bytes(of_a, of_b);
    free(of_a.bytes);
    free(of_b.bytes);
}

/* What small detectors do not cover: more than one group of trees side by side, boxes of all
 * widths, insertion, several histograms per thread, many more observers than lanes. */
static const struct {
    const char *name, *settings;
} large_detectors[] = {
    {"online-iforest", "num_trees=37 window_size=90 max_leaf_samples=4"},
    {"online-iforest", "num_trees=37 window_size=90 max_leaf_samples=4 insertion=none"},
    {"online-iforest", "num_trees=16 window_size=150 max_leaf_samples=8 growth=fixed"},
    {"online-iforest", "num_trees=37 window_size=90 max_leaf_samples=4 variant=paper"},
    {"online-iforest", "num_trees=37 window_size=90 max_leaf_samples=4 variant=reference"},
    {"online-iforest", "num_trees=10 window_size=90 max_leaf_samples=4 subsample=0.3"},
    {"online-iforest", "num_trees=33 window_size=80 max_leaf_samples=3 forgetting=turnover"},
    {"online-iforest",
     "num_trees=33 maturity=12 max_leaf_samples=20 shadow_trees=7 forgetting=turnover"},
    {"iforest-asd", "num_trees=20 window_size=60 subsample_size=16 insertion=row"},
    {"iforest-asd", "num_trees=20 window_size=60 subsample_size=16 retrain=drift drift_rate=0.4"},
    {"hst", "num_trees=21 window_size=70"},
    {"hst", "num_trees=21 window_size=70 ranges=every"},
    {"rrcf", "num_trees=12 tree_size=24 window_size=100"},
    {"rrcf", "num_trees=12 tree_size=24 sample=sliding"},
    {"loda", "num_projections=30 num_bins=8 window_size=80"},
    {"loda", "num_projections=30 num_bins=8 window_size=80 scale=none"},
    {"sdo", "num_observers=70 window_size=140"},
    {"sdo", "num_observers=300 num_neighbours=9 window_size=300 idle_share=0.8"},
    {"sdo", "num_observers=5 num_neighbours=9 window_size=40"},
    {"rolling-iforest", "num_trees=32 window_size=128 sample_size=32"},
    {"rolling-iforest", "num_trees=10 window_size=128 sample_size=32 insertion=path renew_trees=3"},
};

enum { LARGE_DETECTORS = sizeof large_detectors / sizeof large_detectors[0] };

static oif_detector *copy_with_threads(const oif_detector *detector, unsigned threads)
{
    oif_detector *copy = clone_of(detector);
    require_ok(oif_detector_set_threads(copy, threads, NULL));
    return copy;
}

static void score_learn_blocks(oif_detector *detector, const double *rows, size_t most,
                               double *scores)
{
    const size_t d = oif_detector_columns(detector);
    for (size_t first = 0, count; first < ROWS; first += count) {
        count = oif_min_size(1 + first % most, ROWS - first);
        require_ok(oif_detector_score_learn_rows(detector, &rows[first * d], count, d,
                                                 &scores[first], NULL));
    }
}

/* The twin: score, then learn. Rows repeat now and then, because rrcf knows the last one. */
static void require_score_then_learn(oif_detector *two_calls, stream *s, const char *what)
{
    double rows[ROWS * STREAM_DIMENSION], in_blocks[ROWS], at_once[ROWS], shared[ROWS];
    oif_detector *one_call = clone_of(two_calls), *blocks = clone_of(two_calls),
                 *one_block = clone_of(two_calls), *threads = copy_with_threads(two_calls, 3);
    const size_t d = s->dimension;
    fill_rows(s, rows);
    for (size_t i = 7; i < ROWS; i += 7)
        memcpy(&rows[i * d], &rows[(i - 1) * d], d * sizeof *rows);
    score_learn_blocks(blocks, rows, 60, in_blocks);
    require_ok(oif_detector_score_learn_rows(one_block, rows, ROWS, d, at_once, NULL));
    score_learn_blocks(threads, rows, 150, shared);
    for (size_t i = 0; i < ROWS; i++) {
        double score_of_one, expected = score(two_calls, &rows[i * d]);
        learn(two_calls, &rows[i * d]);
        require_ok(oif_detector_score_learn(one_call, &rows[i * d], &score_of_one, NULL));
        expect_same_bits(score_of_one, expected, what, i);
        expect_same_bits(in_blocks[i], expected, what, i);
        expect_same_bits(at_once[i], expected, what, i);
        expect_same_bits(shared[i], expected, what, i);
    }
    oif_detector *all[] = {one_call, blocks, one_block, threads};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        require_same_detectors(two_calls, all[i]);
        oif_detector_free(all[i]);
    }
}

static void score_learn_is_score_then_learn_bit_for_bit(void **unused)
{
    (void)unused;
    for (uint32_t trial = 0; trial < 8 * SMALL_DETECTORS; trial++) {
        stream s = new_stream((dice){trial});
        oif_detector *detector = new_small(trial % SMALL_DETECTORS, &s, trial % 100);
        require_score_then_learn(detector, &s, small_detectors[trial % SMALL_DETECTORS].settings);
        oif_detector_free(detector);
    }
}

static void score_learn_of_large_detectors_is_score_then_learn(void **unused)
{
    (void)unused;
    for (uint32_t trial = 0; trial < 6 * LARGE_DETECTORS; trial++) {
        const uint32_t i = trial % LARGE_DETECTORS;
        stream s = new_stream((dice){trial});
        oif_detector *detector =
            new_named(large_detectors[i].name, large_detectors[i].settings, s.dimension);
        for (uint32_t round = 0; round < 3; round++)
            require_score_then_learn(detector, &s, large_detectors[i].settings);
        oif_detector_free(detector);
    }
}

/* Boxes of short rows have separate code for each width. */
static void score_learn_of_rows_of_any_length_is_score_then_learn(void **unused)
{
    (void)unused;
    enum { LENGTH = 250, MOST = 40 };
    static const char *const settings[] = {"num_trees=9 window_size=60 max_leaf_samples=4",
                                           "num_trees=9 maturity=20 max_leaf_samples=4 "
                                           "forgetting=turnover"};
    for (size_t d = 1; d <= MOST; d += d < 14 ? 1 : 13)
        for (size_t way = 0; way < 2; way++) {
            oif_detector *one_call = new_named("online-iforest", settings[way], d),
                         *two_calls = clone_of(one_call);
            double *rows = normal_rows(d, LENGTH, d);
            for (size_t i = 0; i < LENGTH; i++) {
                double of_one, expected = score(two_calls, &rows[i * d]);
                learn(two_calls, &rows[i * d]);
                require_ok(oif_detector_score_learn(one_call, &rows[i * d], &of_one, NULL));
                expect_same_bits(of_one, expected, settings[way], i);
            }
            require_same_detectors(two_calls, one_call);
            oif_detector_free(one_call);
            oif_detector_free(two_calls);
            free(rows);
        }
}

static void a_row_that_cannot_be_used_is_neither_scored_nor_learned(void **unused)
{
    (void)unused;
    oif_detector *detector = new_named("loda", "", COLUMNS);
    double rows[2 * COLUMNS] = {1, 2, 3, 4, INFINITY, 6}, scores[2] = {7, 7};
    oif_error error;
    assert_int_equal(oif_detector_score_learn_rows(detector, rows, 2, COLUMNS, scores, &error),
                     OIF_EVALUE);
    assert_true(error.line == 2 && error.column == 2);
    assert_true(scores[0] == 7 && scores[1] == 7);
    assert_true(oif_detector_rows_learned(detector) == 0);
    oif_detector_free(detector);
}

static void a_detector_that_was_reset_is_a_new_one(void **unused)
{
    (void)unused;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (uint32_t i = 0; i < SMALL_DETECTORS; i++) {
        stream s = new_stream((dice){i}), other = s;
        double rows[ROWS * STREAM_DIMENSION], a[ROWS], b[ROWS];
        oif_detector *reset = new_small(i, &s, 500), *made = new_small(i, &other, 0);
        require_ok(oif_detector_name_columns(reset, names, NULL));
        require_ok(oif_detector_set_threads(reset, 2, NULL));
        oif_detector_reset(reset);
        assert_string_equal(oif_detector_column_name(reset, 0), "a");
        require_ok(oif_detector_name_columns(reset, NULL, NULL));
        assert_true(oif_detector_rows_learned(reset) == 0 && !oif_detector_ready(reset));
        require_same_detectors(reset, made);
        fill_rows(&s, rows);
        require_ok(oif_detector_learn_score_rows(reset, rows, ROWS, s.dimension, a, NULL));
        require_ok(oif_detector_learn_score_rows(made, rows, ROWS, s.dimension, b, NULL));
        assert_memory_equal(a, b, sizeof a);
        require_same_detectors(reset, made);
        oif_detector_free(reset);
        oif_detector_free(made);
    }
}

static void a_stride_that_is_too_small_is_refused(void **unused)
{
    (void)unused;
    oif_detector *detector = new_named("loda", "", COLUMNS);
    double rows[2 * COLUMNS] = {0}, scores[2];
    oif_error error;
    oif_status all[] = {
        oif_detector_learn_rows(detector, rows, 2, COLUMNS - 1, &error),
        oif_detector_score_rows(detector, rows, 2, COLUMNS - 1, scores, &error),
        oif_detector_learn_score_rows(detector, rows, 2, COLUMNS - 1, scores, &error),
        oif_detector_score_learn_rows(detector, rows, 2, COLUMNS - 1, scores, &error),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(all[i], OIF_EPARAM);
    assert_string_equal(error.message,
                        "the stride from row to row is 2, less than the 3 columns of a row");
    assert_true(oif_detector_rows_learned(detector) == 0);
    require_ok(oif_detector_learn_rows(detector, rows, 1, 0, NULL)); /* there is no next row */
    oif_detector_free(detector);
}

static void an_unknown_detector_is_answered_with_all_names(void **unused)
{
    (void)unused;
    oif_params params;
    oif_error error;
    assert_int_equal(oif_params_init(&params, "nope", &error), OIF_EPARAM);
    assert_string_equal(error.message,
                        "there is no detector 'nope'; choose one of: rolling-iforest, "
                        "online-iforest, iforest-asd, hst, rrcf, loda, sdo");
    assert_int_equal(oif_params_init(&params, NULL, &error), OIF_EPARAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(score_learn_is_score_then_learn_bit_for_bit),
        cmocka_unit_test(score_learn_of_large_detectors_is_score_then_learn),
        cmocka_unit_test(score_learn_of_rows_of_any_length_is_score_then_learn),
        cmocka_unit_test(a_row_that_cannot_be_used_is_neither_scored_nor_learned),
        cmocka_unit_test(a_detector_that_was_reset_is_a_new_one),
        cmocka_unit_test(a_stride_that_is_too_small_is_refused),
        cmocka_unit_test(an_unknown_detector_is_answered_with_all_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
