/* A finished table: every row is compared with all others, so a short one gets an answer. */
#include "pipelines.h"

#include "pipeline/table/table_rarity.h"

enum { COLUMNS = 3, MOST = 600, OUTLIER = 31 };

typedef struct table {
    double rows[MOST][COLUMNS];
    oif_result results[MOST];
    oif_table_info info;
    size_t count;
    size_t explained; /* anomalies that `after` has asked about */
    double first_share;
} table;

static void draw_table(table *t, size_t count, style of, uint64_t seed)
{
    dice from = {seed};
    t->count = count;
    t->explained = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            t->rows[i][c] = number_in_style(&from, of, i);
}

static void ask_why(void *context, oif_pipeline *pipeline, size_t row, const oif_result *result)
{
    table *t = context;
    oif_attribution attributions[COLUMNS];
    if (!result->anomaly)
        return;
    oif_pipeline_explain(pipeline, attributions);
    assert_memory_equal(oif_pipeline_learned_row(pipeline), t->rows[row], sizeof t->rows[row]);
    t->first_share = attributions[0].share;
    t->explained++;
}

static oif_status judge(oif_pipeline *pipeline, table *t, oif_error *error)
{
    return oif_pipeline_process_table(pipeline, t->rows[0], t->count, COLUMNS, NULL, ask_why, t,
                                      t->results, &t->info, error);
}

static oif_pipeline *judged(table *t, const char *detector, const char *options)
{
    oif_pipeline *pipeline = new_pipeline(detector, "", COLUMNS, options);
    oif_error error;
    require_ok_or(judge(pipeline, t, &error), error);
    require_ok_or(oif_pipeline_check(pipeline, &error), error);
    return pipeline;
}

/* ---- What is found ---- */

static void an_extreme_row_of_a_short_table_is_found_and_explained(void **unused)
{
    (void)unused;
    static table t;
    static const size_t counts[] = {60, 100, 377};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        draw_table(&t, counts[i], NORMAL, 5 + i);
        t.rows[OUTLIER][0] = 1000;
        oif_pipeline *pipeline = judged(&t, "rolling-iforest", "");
        const oif_result *found = &t.results[OUTLIER];
        print_message("%zu rows: %g, threshold %g, severity %g\n", counts[i], found->score,
                      found->threshold, found->severity);
        assert_true(found->anomaly && found->ready && found->learned);
        assert_true(found->severity > found->threshold && found->severity > 3);
        assert_int_equal(found->episode, OIF_EPISODE_BEGINS);
        assert_int_equal(t.info.rows, counts[i]);
        assert_true(t.info.anomalies >= 1 && t.info.anomalies == t.explained);
        assert_true(t.first_share > 0.9 || t.info.anomalies > 1);
        oif_pipeline_free(pipeline);
    }
}

static void rows_that_are_all_equal_have_no_anomaly(void **unused)
{
    (void)unused;
    static table t;
    draw_table(&t, 80, NORMAL, 1);
    memset(t.rows, 0, sizeof t.rows);
    oif_pipeline_free(judged(&t, "rolling-iforest", ""));
    assert_int_equal(t.info.anomalies, 0);
}

static void few_rows_of_a_table_without_anomalies_are_found(void **unused)
{
    (void)unused;
    static table t;
    enum { TABLES = 40, ROWS = 60 };
    uint64_t found = 0;
    for (uint64_t seed = 0; seed < TABLES; seed++) {
        draw_table(&t, ROWS, NORMAL, 100 + seed);
        oif_pipeline_free(judged(&t, "rolling-iforest", ""));
        found += t.info.anomalies;
    }
    print_message("%d anomalies in %d rows\n", (int)found, TABLES * ROWS);
    assert_true((double)found <= t.info.chance * TABLES * ROWS);
}

/* A row is scored by detectors that have not learned it, so it cannot make itself look usual. */
static void a_row_does_not_vouch_for_itself(void **unused)
{
    (void)unused;
    static table t;
    draw_table(&t, 200, NORMAL, 3);
    for (size_t c = 0; c < COLUMNS; c++)
        t.rows[OUTLIER][c] = 12;
    oif_detector *detector = new_named("rolling-iforest", "", COLUMNS);
    double learned_score;
    oif_error error;
    for (size_t i = 0; i < 2000; i++)
        require_ok_or(oif_detector_learn(detector, t.rows[i % t.count], &error), error);
    require_ok_or(oif_detector_score(detector, t.rows[OUTLIER], &learned_score, &error), error);
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "moves=off");
    require_ok_or(judge(pipeline, &t, &error), error);
    print_message("%g, learned %g\n", t.results[OUTLIER].score, learned_score);
    assert_true(t.results[OUTLIER].score > learned_score + 0.02);
    oif_pipeline_free(pipeline);
    oif_detector_free(detector);
}

static void several_detectors_and_shingles_judge_a_table(void **unused)
{
    (void)unused;
    static table t;
    draw_table(&t, 300, NORMAL, 9);
    t.rows[OUTLIER][1] = -1000;
    oif_pipeline_free(judged(&t, "rolling-iforest+sdo", ""));
    assert_true(t.results[OUTLIER].anomaly);
    oif_pipeline_free(judged(&t, "rolling-iforest", "shingle=3"));
    assert_true(isnan(t.results[1].score) && !isnan(t.results[2].score));
    assert_true(t.results[OUTLIER].anomaly);
}

/* ---- What follows ---- */

static void the_same_rows_give_the_same_bits(void **unused)
{
    (void)unused;
    static table a, b;
    draw_table(&a, 150, HEAVY_TAILS, 4);
    b = a;
    oif_pipeline_free(judged(&a, "rolling-iforest", ""));
    oif_pipeline_free(judged(&b, "rolling-iforest", ""));
    for (size_t i = 0; i < a.count; i++)
        require_same_result(&a.results[i], &b.results[i]);
}

static void later_rows_continue_the_stream(void **unused)
{
    (void)unused;
    static table t;
    draw_table(&t, 600, NORMAL, 8);
    oif_pipeline *pipeline = judged(&t, "rolling-iforest", ""), *copy;
    oif_error error;
    assert_int_equal(oif_pipeline_rows(pipeline), 600);
    require_ok_or(oif_pipeline_clone(pipeline, &copy, &error), error);
    const double usual[COLUMNS] = {0}, extreme[COLUMNS] = {1000, 1000, 1000};
    const oif_result first = process(pipeline, usual), same = process(copy, usual);
    require_same_result(&first, &same);
    assert_true(first.ready && !first.anomaly);
    assert_true(process(pipeline, extreme).anomaly);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(copy);
}

/* ---- What is refused ---- */

static void refuse(oif_pipeline *pipeline, table *t, oif_status status, const char *words)
{
    oif_error error;
    const uint64_t rows = oif_pipeline_rows(pipeline);
    assert_int_equal(judge(pipeline, t, &error), status);
    assert_non_null(strstr(error.message, words));
    assert_int_equal(oif_pipeline_rows(pipeline), rows);
}

static void what_is_not_a_table_is_refused(void **unused)
{
    (void)unused;
    static table t;
    draw_table(&t, 60, NORMAL, 2);
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "");
    t.rows[7][1] = INFINITY;
    refuse(pipeline, &t, OIF_EVALUE, "infinite");
    t.rows[7][1] = NAN; /* is missing */
    t.count = OIF_TABLE_ROWS_MIN - 1;
    refuse(pipeline, &t, OIF_EPARAM, "at least 20 rows");
    t.count = (size_t)OIF_TABLE_ROWS_MAX + 1;
    refuse(pipeline, &t, OIF_EPARAM, "at most");
    t.count = 60;
    process(pipeline, t.rows[0]);
    refuse(pipeline, &t, OIF_EPARAM, "has processed rows");
    oif_pipeline_free(pipeline);
    pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "learn=none");
    refuse(pipeline, &t, OIF_EPARAM, "learn=none");
    oif_pipeline_free(pipeline);
    pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "alerts=5");
    refuse(pipeline, &t, OIF_EPARAM, "alerts per day");
    oif_pipeline_free(pipeline);
}

/* ---- Rarity ---- */

static void the_severity_rises_with_the_score_beyond_the_median(void **unused)
{
    (void)unused;
    double scores[100], sorted[100];
    for (size_t i = 0; i < 100; i++)
        scores[i] = 0.3 + 0.002 * (double)i;
    const oif_table_rarity rarity = oif_table_rarity_of(scores, 100, OIF_SCORES_UP_TO_1, sorted);
    double before = 0;
    assert_true(oif_table_severity(&rarity, scores[50]) == 0);
    for (size_t i = 51; i < 100; i++) {
        const double severity = oif_table_severity(&rarity, scores[i]);
        assert_true(severity > before && severity < oif_table_bar());
        before = severity;
    }
    assert_true(oif_table_severity(&rarity, 0.95) > oif_table_bar());
}

static void a_chance_is_that_of_heavy_tails(void **unused)
{
    (void)unused;
    assert_true(oif_table_chance(oif_table_bar()) > 0.001);
    assert_true(fabs(1 / oif_table_chance(3) - 120) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_extreme_row_of_a_short_table_is_found_and_explained),
        cmocka_unit_test(rows_that_are_all_equal_have_no_anomaly),
        cmocka_unit_test(few_rows_of_a_table_without_anomalies_are_found),
        cmocka_unit_test(a_row_does_not_vouch_for_itself),
        cmocka_unit_test(several_detectors_and_shingles_judge_a_table),
        cmocka_unit_test(the_same_rows_give_the_same_bits),
        cmocka_unit_test(later_rows_continue_the_stream),
        cmocka_unit_test(what_is_not_a_table_is_refused),
        cmocka_unit_test(the_severity_rises_with_the_score_beyond_the_median),
        cmocka_unit_test(a_chance_is_that_of_heavy_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
