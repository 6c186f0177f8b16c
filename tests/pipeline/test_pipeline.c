/* From rows to alerts: the rate, the episodes, what is learned, what is said to be the reason. */
#include "../detect/any_detector.h"

static oif_pipeline *new_pipeline(const char *name, const char *settings, size_t columns,
                                  oif_pipeline_options options)
{
    oif_params params = params_named(name, settings);
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require_ok_or(oif_pipeline_new(&params, columns, &options, &pipeline, &error), error);
    return pipeline;
}

static oif_result process(oif_pipeline *pipeline, const double *row)
{
    oif_result result;
    oif_error error;
    require_ok_or(oif_pipeline_process(pipeline, row, &result, &error), error);
    return result;
}

static void draw_row(dice *from, double *row, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        row[i] = dice_normal(from);
}

/* ---- Alerts ---- */

static void alerts_come_at_the_rate_and_not_before_it_is_ready(void **unused)
{
    (void)unused;
    for (size_t kind = 0; oif_detector_info_at(kind); kind++) {
        const double rate = 0.01, rows = 40000;
        oif_pipeline *pipeline =
            new_pipeline(oif_detector_info_at(kind)->name, "", 3, (oif_pipeline_options){.alert_rate = rate});
        dice from = {5};
        double row[3], alerts = 0;
        for (int i = 0; i < rows; i++) {
            draw_row(&from, row, 3);
            oif_result r = process(pipeline, row);
            assert_true(r.ready || !r.anomaly);
            assert_true(r.anomaly == (r.ready && r.score > r.threshold));
            assert_true(r.p > 0 && r.p <= 1 && (r.p <= rate || !r.anomaly));
            assert_true(r.learned);
            alerts += r.anomaly;
        }
        if (!(alerts > 0.6 * rate * rows && alerts < 1.4 * rate * rows))
            fail_msg("%s: %g alerts instead of %g", oif_detector_info_at(kind)->name, alerts, rate * rows);
        oif_pipeline_free(pipeline);
    }
}

static void a_threshold_of_the_users_own_decides_alone(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("online-iforest", "", 2, (oif_pipeline_options){.threshold = 0.6});
    dice from = {6};
    double row[2];
    bool seen[2] = {false, false};
    for (int i = 0; i < 5000; i++) {
        draw_row(&from, row, 2);
        oif_result r = process(pipeline, row);
        assert_true(r.threshold == 0.6);
        assert_true(r.anomaly == (r.ready && r.score > 0.6));
        seen[r.anomaly] = true;
    }
    assert_true(seen[0] && seen[1]);
    oif_pipeline_free(pipeline);
}

/* Two bursts of anomalies, the second with gaps shorter than `calm`. */
static void anomalies_that_follow_each_other_are_one_episode(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline =
        new_pipeline("iforest-asd", "", 2, (oif_pipeline_options){.alert_rate = 1e-3, .calm = 5});
    dice from = {7};
    double row[2];
    int begins[4] = {0}, begun = 0, ends[4] = {0}, ended = 0;
    for (int i = 0; i < 12000; i++) {
        draw_row(&from, row, 2);
        row[0] *= 0.5, row[1] *= 0.5;
        bool burst = (i >= 9000 && i < 9003) || (i >= 10000 && i < 10010 && i % 4 == 0);
        if (burst)
            row[0] = row[1] = 50;
        oif_result r = process(pipeline, row);
        if (i < 9000)
            continue;
        if (r.episode == OIF_EPISODE_BEGINS && begun < 4)
            begins[begun++] = i;
        if (r.episode == OIF_EPISODE_ENDS && ended < 4)
            ends[ended++] = i;
        if (burst)
            assert_true(r.anomaly && r.episode != OIF_EPISODE_NONE);
    }
    bool first = false, second = false;
    for (int i = 0; i < begun; i++) {
        first |= begins[i] == 9000 && ends[i] == 9007;
        second |= begins[i] == 10000 && ends[i] == 10013;
    }
    assert_true(first && second);
    oif_pipeline_free(pipeline);
}

/* ---- Learning ---- */

typedef struct shift {
    int first_not_learned, anomalies_after, accepted_at;
} shift;

/* 10,000 rows around 0, then 6,000 around 20. */
static shift meet_a_shift(oif_learn learn, uint32_t patience)
{
    oif_pipeline *pipeline =
        new_pipeline("online-iforest", "window_size=1024", 2,
                     (oif_pipeline_options){.alert_rate = 0.005, .learn = learn, .patience = patience});
    dice from = {8};
    double row[2];
    shift s = {-1, 0, -1};
    for (int i = 0; i < 16000; i++) {
        draw_row(&from, row, 2);
        if (i >= 10000)
            row[0] += 20, row[1] += 20;
        oif_result r = process(pipeline, row);
        if (i < 10000)
            continue;
        if (!r.learned && s.first_not_learned < 0)
            s.first_not_learned = i - 10000;
        if (r.learned && s.accepted_at < 0)
            s.accepted_at = i - 10000;
        s.anomalies_after += i >= 14000 && r.anomaly;
    }
    oif_pipeline_free(pipeline);
    return s;
}

static void what_lasts_becomes_normal_after_the_stated_number_of_rows(void **unused)
{
    (void)unused;
    shift all = meet_a_shift(OIF_LEARN_ALL, 0), normal = meet_a_shift(OIF_LEARN_NORMAL, 0),
          decay = meet_a_shift(OIF_LEARN_DECAY, 300);
    assert_int_equal(all.first_not_learned, -1);
    assert_int_equal(normal.first_not_learned, 0);
    assert_int_equal(normal.accepted_at, -1); /* never: that is what was asked for */
    assert_int_equal(normal.anomalies_after, 2000);
    assert_int_equal(decay.first_not_learned, 0);
    assert_true(decay.accepted_at >= 299 && decay.accepted_at <= 310);
    assert_true(decay.anomalies_after < 100);
}

/* Anomalies that are learned teach the detector that they are normal; those that are not keep their scores. */
static void anomalies_that_are_not_learned_do_not_poison(void **unused)
{
    (void)unused;
    double last[2];
    for (int learn = OIF_LEARN_ALL; learn <= OIF_LEARN_NORMAL; learn++) {
        oif_pipeline *pipeline = new_pipeline(
            "rrcf", "", 2, (oif_pipeline_options){.alert_rate = 0.01, .learn = (oif_learn)learn});
        dice from = {9};
        double row[2];
        for (int i = 0; i < 8000; i++) {
            draw_row(&from, row, 2);
            if (i >= 6000 && i % 20 == 0)
                row[0] = 8, row[1] = -8;
            oif_result r = process(pipeline, row);
            if (i % 20 == 0)
                last[learn] = r.p;
        }
        oif_pipeline_free(pipeline);
    }
    assert_true(last[OIF_LEARN_NORMAL] < 0.002);
    assert_true(last[OIF_LEARN_ALL] > 0.01);
}

/* ---- Shingles ---- */

static void a_shingle_is_the_last_rows_as_one(void **unused)
{
    (void)unused;
    oif_pipeline *shingled =
        new_pipeline("online-iforest", "window_size=256", 2, (oif_pipeline_options){.shingle = 3});
    oif_pipeline *whole = new_pipeline("online-iforest", "window_size=256", 6, (oif_pipeline_options){0});
    dice from = {10};
    double rows[6] = {0};
    for (int i = 0; i < 1000; i++) {
        memmove(rows, rows + 2, 4 * sizeof *rows);
        draw_row(&from, rows + 4, 2);
        oif_result a = process(shingled, rows + 4);
        if (i < 2) {
            assert_true(isnan(a.score) && !a.ready && !a.anomaly && !a.learned);
            continue;
        }
        oif_result b = process(whole, rows);
        assert_memory_equal(&a.score, &b.score, sizeof a.score);
        assert_memory_equal(&a.p, &b.p, sizeof a.p);
    }
    assert_int_equal(oif_pipeline_rows(shingled), 1000);
    assert_int_equal(oif_detector_dimension(oif_pipeline_detector(shingled)), 6);
    oif_pipeline_free(shingled);
    oif_pipeline_free(whole);
}

/* ---- Explanations ---- */

enum { EXPLAINED_COLUMNS = 8 };

/* One number of a row is far off; in how many alerts it is the first reason, and in the right direction. */
static double rightly_explained(const char *detector, size_t shingle)
{
    oif_pipeline *pipeline = new_pipeline(
        detector, "", EXPLAINED_COLUMNS,
        (oif_pipeline_options){.alert_rate = 0.006, .learn = OIF_LEARN_NORMAL, .shingle = shingle});
    dice from = {11};
    double row[EXPLAINED_COLUMNS], alerts = 0, right = 0;
    for (int i = 0; i < 30000; i++) {
        uint32_t planted = dice_below(&from, EXPLAINED_COLUMNS);
        int direction = dice_chance(&from, 0.5) ? 1 : -1;
        bool anomalous = i > 6000 && dice_chance(&from, 0.005);
        for (uint32_t j = 0; j < EXPLAINED_COLUMNS; j++)
            row[j] = (j + 1) * dice_normal(&from) + 100 * j;
        if (anomalous)
            row[planted] += direction * 12.0 * (planted + 1);
        oif_result r = process(pipeline, row);
        if (!anomalous || !r.anomaly)
            continue;
        oif_attribution why[EXPLAINED_COLUMNS];
        uint32_t first = 0;
        double sum = 0;
        oif_pipeline_explain(pipeline, why);
        for (uint32_t j = 0; j < EXPLAINED_COLUMNS; j++) {
            first = why[j].share > why[first].share ? j : first;
            sum += why[j].share;
        }
        assert_true(fabs(sum - 1) < 1e-9);
        alerts++;
        right += first == planted && why[first].direction == direction;
    }
    assert_true(alerts >= 10);
    oif_pipeline_free(pipeline);
    return right / alerts;
}

static void the_planted_feature_is_the_first_reason(void **unused)
{
    (void)unused;
    for (size_t kind = 0; oif_detector_info_at(kind); kind++)
        for (size_t shingle = 1; shingle <= 2; shingle++) {
            const char *name = oif_detector_info_at(kind)->name;
            double right = rightly_explained(name, shingle);
            if (right < 0.95)
                fail_msg("%s, shingle %zu: the planted feature is first in %.1f%% of the alerts", name,
                         shingle, 100 * right);
        }
}

static void an_explanation_needs_columns_that_fit(void **unused)
{
    (void)unused;
    oif_detector *detector = new_named("hst", "", 6);
    double row[6] = {0}, shares[6], scratch[6];
    oif_error error;
    assert_int_equal(oif_detector_explain(detector, row, 4, shares, scratch, &error), OIF_EPARAM);
    assert_int_equal(oif_detector_explain(detector, row, 0, shares, scratch, &error), OIF_EPARAM);
    require_ok(oif_detector_explain(detector, row, 2, shares, scratch, NULL));
    assert_true(shares[0] == 0 && shares[1] == 0); /* it knows nothing yet */
    row[3] = INFINITY;
    assert_int_equal(oif_detector_explain(detector, row, 6, shares, scratch, &error), OIF_EVALUE);
    oif_detector_free(detector);
}

/* ---- Bad input ---- */

static void a_row_with_an_infinity_counts_for_nothing(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("loda", "", 2, (oif_pipeline_options){.shingle = 2}), *twin = NULL;
    dice from = {12};
    double row[2], bad[2] = {1, -INFINITY};
    for (int i = 0; i < 300; i++) {
        draw_row(&from, row, 2);
        process(pipeline, row);
    }
    require_ok(oif_pipeline_clone(pipeline, &twin, NULL));
    oif_result untouched = {.score = 42}, a, b;
    oif_error error;
    assert_int_equal(oif_pipeline_process(pipeline, bad, &untouched, &error), OIF_EVALUE);
    assert_int_equal(error.column, 2);
    assert_true(untouched.score == 42);
    for (int i = 0; i < 300; i++) {
        draw_row(&from, row, 2);
        a = process(pipeline, row);
        b = process(twin, row);
        assert_memory_equal(&a.score, &b.score, sizeof a.score);
        assert_int_equal(a.episode, b.episode);
    }
    require_ok(oif_pipeline_check(pipeline, NULL));
    oif_pipeline_free(pipeline);
    oif_pipeline_free(twin);
}

static void options_out_of_range_are_refused(void **unused)
{
    (void)unused;
    oif_params params = params_named("loda", "");
    oif_pipeline *none = NULL;
    oif_error error;
    const oif_pipeline_options bad[] = {
        {.alert_rate = 1},       {.alert_rate = -0.1},    {.alert_rate = NAN},
        {.memory = 10},          {.memory = INFINITY},    {.threshold = NAN},
        {.threshold = INFINITY}, {.learn = (oif_learn)3}, {.shingle = SIZE_MAX / 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_not_equal(oif_pipeline_new(&params, 3, &bad[i], &none, &error), OIF_OK);
        assert_null(none);
    }
    assert_int_equal(oif_pipeline_new(&params, 0, &(oif_pipeline_options){0}, &none, &error), OIF_EPARAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alerts_come_at_the_rate_and_not_before_it_is_ready),
        cmocka_unit_test(a_threshold_of_the_users_own_decides_alone),
        cmocka_unit_test(anomalies_that_follow_each_other_are_one_episode),
        cmocka_unit_test(what_lasts_becomes_normal_after_the_stated_number_of_rows),
        cmocka_unit_test(anomalies_that_are_not_learned_do_not_poison),
        cmocka_unit_test(a_shingle_is_the_last_rows_as_one),
        cmocka_unit_test(the_planted_feature_is_the_first_reason),
        cmocka_unit_test(an_explanation_needs_columns_that_fit),
        cmocka_unit_test(a_row_with_an_infinity_counts_for_nothing),
        cmocka_unit_test(options_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
