/* Scoring a row and then learning it in one call, and forgetting everything, for detectors of every
 * kind; and calls that are refused before they read past a row. */
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

static void score_learn_is_score_then_learn_bit_for_bit(void **unused)
{
    (void)unused;
    for (uint32_t trial = 0; trial < 4 * SMALL_DETECTORS; trial++) {
        stream s = new_stream((dice){trial});
        double rows[ROWS * STREAM_DIMENSION], scores[ROWS], expected, score;
        oif_detector *two_calls = new_small(trial % SMALL_DETECTORS, &s, trial % 100);
        oif_detector *one_call = NULL, *blocks = NULL;
        const size_t d = s.dimension;
        require_ok(oif_detector_clone(two_calls, &one_call, NULL));
        require_ok(oif_detector_clone(two_calls, &blocks, NULL));
        fill_rows(&s, rows);
        for (size_t first = 0, count; first < ROWS; first += count) {
            count = 1 + first % 60 < ROWS - first ? 1 + first % 60 : ROWS - first;
            require_ok(oif_detector_score_learn_rows(blocks, &rows[first * d], count, d,
                                                     &scores[first], NULL));
        }
        for (size_t i = 0; i < ROWS; i++) {
            require_ok(oif_detector_score(two_calls, &rows[i * d], &expected, NULL));
            require_ok(oif_detector_learn(two_calls, &rows[i * d], NULL));
            require_ok(oif_detector_score_learn(one_call, &rows[i * d], &score, NULL));
            assert_memory_equal(&score, &expected, sizeof score);
            assert_memory_equal(&scores[i], &expected, sizeof score);
        }
        require_same_detectors(two_calls, one_call);
        require_same_detectors(two_calls, blocks);
        oif_detector_free(two_calls);
        oif_detector_free(one_call);
        oif_detector_free(blocks);
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
        cmocka_unit_test(a_row_that_cannot_be_used_is_neither_scored_nor_learned),
        cmocka_unit_test(a_detector_that_was_reset_is_a_new_one),
        cmocka_unit_test(a_stride_that_is_too_small_is_refused),
        cmocka_unit_test(an_unknown_detector_is_answered_with_all_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
