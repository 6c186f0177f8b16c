/* From rows to alerts: the rate, the episodes, what is learned, which reason is given. */
#include "../base/sanitized.h"
#include "base/block.h"
#include "pipeline/pipeline.h"
#include "pipelines.h"

/* ---- Alerts ---- */

static void healthy_rows_cost_less_than_the_cap_and_nothing_before_it_is_ready(void **unused)
{
    (void)unused;
    static const char *const options[] = {"alert_rate=0.01 learn=all",
                                          "alert_rate=0.01 learn=normal", "alert_rate=0.01"};
    for (size_t trial = 0; oif_detector_info_at(trial / 3); trial += STEP_IF_SANITIZED(5)) {
        const double rate = 0.01, rows = 40000;
        const char *name = oif_detector_info_at(trial / 3)->table.name;
        oif_pipeline *pipeline = new_pipeline(name, "", 3, options[trial % 3]);
        dice from = {5};
        double row[3], episodes = 0;
        for (int i = 0; i < rows; i++) {
            draw_row(&from, row, 3);
            oif_result r = process(pipeline, row);
            assert_true(r.ready || !r.anomaly);
            assert_true(r.anomaly == (r.ready && r.severity > r.threshold));
            if (trial % 3 < 2)
                assert_true(r.learned == (trial % 3 == 0 || !r.anomaly));
            episodes += r.episode == OIF_EPISODE_BEGINS;
        }
        if (!(episodes < rate * rows)) /* a cap, which noise does not reach */
            fail_msg("%s %s: %g episodes, more than %g", name, options[trial % 3], episodes,
                     rate * rows);
        oif_pipeline_free(pipeline);
    }
}

/* Two bursts of anomalies, the second with gaps shorter than the calm rows. */
static void anomalies_that_follow_each_other_are_one_episode(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("iforest-asd", "", 2, "");
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
        first |= begins[i] == 9000 && ends[i] >= 9002 + OIF_CALM_ROWS;
        second |= begins[i] == 10000 && ends[i] >= 10008 + OIF_CALM_ROWS;
    }
    assert_true(first && second);
    oif_pipeline_free(pipeline);
}

/* ---- Learning ---- */

typedef struct shift {
    int first_not_learned, anomalies_after, accepted_at;
} shift;

/* 10,000 rows around 0, then 6,000 around 20. */
static shift meet_a_shift(const char *options)
{
    oif_pipeline *pipeline = new_pipeline("online-iforest", "window_size=1024", 2, options);
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
        if (r.learned && s.first_not_learned >= 0 && s.accepted_at < 0)
            s.accepted_at = i - 10000;
        s.anomalies_after += i >= 14000 && r.anomaly;
    }
    oif_pipeline_free(pipeline);
    return s;
}

static void what_lasts_becomes_normal_after_the_stated_number_of_rows(void **unused)
{
    (void)unused;
    shift all = meet_a_shift("alert_rate=0.005 learn=all"),
          normal = meet_a_shift("alert_rate=0.005 learn=normal"),
          decay = meet_a_shift("alert_rate=0.005 learn=decay");
    assert_int_equal(all.first_not_learned, -1);
    assert_int_equal(normal.first_not_learned, 0);
    assert_int_equal(decay.first_not_learned, 4); /* the first ones may come back again */
    assert_true(decay.anomalies_after < 100);
}

/* Learned anomalies teach the detector that they are normal; others keep their scores. */
static void anomalies_that_are_not_learned_do_not_poison(void **unused)
{
    (void)unused;
    double last[2];
    for (int learn = 0; learn < 2; learn++) {
        oif_pipeline *pipeline =
            new_pipeline("rrcf", "", 2,
                         learn == 0 ? "alert_rate=0.05 learn=all" : "alert_rate=0.05 learn=normal");
        dice from = {9};
        double row[2];
        for (int i = 0; i < 8000; i++) {
            draw_row(&from, row, 2);
            if (i >= 6000 && i % 20 == 0)
                row[0] = 8, row[1] = -8;
            oif_result r = process(pipeline, row);
            if (i % 20 == 0)
                last[learn] = r.score;
        }
        oif_pipeline_free(pipeline);
    }
    if (!(last[1] > 1.5 * last[0]))
        fail_msg("an anomaly that is not learned scores %g, one that is %g", last[1], last[0]);
}

/* ---- Shingles ---- */

static void a_shingle_is_the_last_rows_as_one(void **unused)
{
    (void)unused;
    oif_pipeline *shingled = new_pipeline("online-iforest", "window_size=256", 2, "shingle=3");
    oif_pipeline *whole = new_pipeline("online-iforest", "window_size=256", 6, "moves=off");
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
        oif_result b = process(whole, rows); /* whose judges see six columns */
        assert_memory_equal(&a.score, &b.score, sizeof a.score);
    }
    assert_int_equal(oif_pipeline_rows(shingled), 1000);
    assert_int_equal(oif_detector_columns(oif_pipeline_detector(shingled, NULL, 0)), 6);
    oif_pipeline_free(shingled);
    oif_pipeline_free(whole);
}

/* ---- Explanations ---- */

enum { EXPLAINED_COLUMNS = 8 };

/* One value of a row is extreme. In how many alerts it is the first reason, with the right
 * direction. */
static double rightly_explained(const char *detector, size_t shingle)
{
    oif_pipeline *pipeline = new_pipeline(detector, "", EXPLAINED_COLUMNS,
                                          shingle == 1 ? "alert_rate=0.03 learn=normal"
                                                       : "alert_rate=0.03 learn=normal shingle=2");
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
    if (alerts < 10)
        fail_msg("%s: %g alerts of anomalies", detector, alerts);
    oif_pipeline_free(pipeline);
    return right / alerts;
}

static void the_planted_feature_is_the_first_reason(void **unused)
{
    (void)unused;
    for (size_t kind = 0; oif_detector_info_at(kind); kind += STEP_IF_SANITIZED(3))
        for (size_t shingle = 1; shingle <= 2; shingle++) {
            const char *name = oif_detector_info_at(kind)->table.name;
            double right = rightly_explained(name, shingle);
            if (right < 0.95)
                fail_msg("%s, shingle %zu: the planted feature is first in %.1f%% of the alerts",
                         name, shingle, 100 * right);
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
    oif_pipeline *pipeline = new_pipeline("loda", "", 2, "shingle=2"), *twin = NULL;
    dice from = {12};
    double row[2], bad[2] = {1, -INFINITY};
    for (int i = 0; i < 300; i++) {
        draw_row(&from, row, 2);
        process(pipeline, row);
    }
    require_ok(oif_pipeline_clone(pipeline, &twin, NULL));
    oif_result untouched = {.score = 42}, a, b;
    oif_error error;
    assert_int_equal(oif_pipeline_process(pipeline, NULL, 0, bad, &untouched, &error), OIF_EVALUE);
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

static oif_status try_options(const char *options, size_t columns, oif_error *error)
{
    oif_params params = params_named("loda", ""), chosen;
    oif_pipeline *none = NULL;
    oif_pipeline_options_init(&chosen);
    set_params(&chosen, options);
    oif_status status = oif_pipeline_new(&params, columns, &chosen, &none, error);
    assert_null(none);
    return status;
}

static void options_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    oif_error error;
    assert_int_equal(try_options("memory_limit=1000", 3, &error), OIF_EPARAM);
    assert_non_null(strstr(error.message, "memory_limit is too small"));
    assert_int_equal(try_options("", 0, &error), OIF_EPARAM);
    assert_int_equal(try_options("shingle=65536", SIZE_MAX / 2, &error), OIF_EPARAM);

    oif_params params = params_named("loda", ""), options;
    oif_pipeline *none = NULL;
    assert_int_equal(oif_pipeline_new(&params, 3, &params, &none, &error), OIF_EPARAM);
    oif_pipeline_options_init(&options);
    assert_int_equal(oif_params_set(&options, "alert_rate", 0.9, &error), OIF_EPARAM);
    assert_int_equal(oif_params_set_text(&options, "learn", "some", &error), OIF_EPARAM);
    assert_non_null(strstr(error.message, "learn must be one of: all, normal, decay, none"));
    options.values[0] = NAN; /* set by hand */
    assert_int_equal(oif_pipeline_new(&params, 3, &options, &none, &error), OIF_EPARAM);
    assert_null(none);
}

/* ---- Keys ---- */

/* Each key gets the results of a pipeline that sees only its rows. */
static void keys_do_not_touch_each_other(void **unused)
{
    (void)unused;
    enum { KEYS = 7 };
    oif_pipeline *together = new_pipeline("online-iforest", "window_size=128", 2, "shingle=2"),
                 *apart[KEYS];
    dice from = {13};
    double row[2];
    for (int i = 0; i < KEYS; i++)
        apart[i] = new_pipeline("online-iforest", "window_size=128", 2, "shingle=2");
    for (int i = 0; i < 4000; i++) {
        uint32_t key = dice_below(&from, KEYS);
        draw_row(&from, row, 2);
        row[0] += 100 * key;
        oif_result a = process_key(together, key_text(key), row), b = process(apart[key], row);
        assert_memory_equal(&a.score, &b.score, sizeof a.score);
        assert_memory_equal(&a.severity, &b.severity, sizeof a.severity);
    }
    assert_int_equal(oif_pipeline_keys(together), KEYS);
    assert_int_equal(oif_pipeline_rows(together), 4000);
    require_ok(oif_pipeline_check(together, NULL));
    for (int i = 0; i < KEYS; i++)
        oif_pipeline_free(apart[i]);
    oif_pipeline_free(together);
}

static void require_recent_key(const oif_pipeline *pipeline, const char *expected)
{
    size_t key_bytes;
    const char *key = oif_pipeline_recent_key(pipeline, &key_bytes);
    assert_int_equal(key_bytes, strlen(expected));
    assert_memory_equal(key, expected, key_bytes);
}

/* Either a key has a model, or the limits leave no space and its rows report that. */
static void a_key_has_a_model_or_its_rows_say_that_it_has_none(void **unused)
{
    (void)unused;
    enum { MOST = 20, KEYS = 50 };
    oif_pipeline *pipeline =
        new_pipeline("loda", "num_projections=2 num_bins=4 window_size=8", 1, "max_keys=20");
    dice from = {14};
    double number = 1;
    for (int i = 0; i < 5000; i++) {
        uint32_t key = dice_below(&from, 1 + dice_below(&from, KEYS));
        if (dice_below(&from, 10) == 0)
            key += KEYS * ((uint32_t)i / 1000); /* some come only for a while */
        const char *text = key_text(key);
        const size_t bytes = strlen(text), held = oif_pipeline_keys(pipeline);
        const uint64_t evictions = oif_pipeline_evictions(pipeline);
        const bool known = oif_pipeline_detector(pipeline, text, bytes) != NULL;
        const oif_result result = process_key(pipeline, text, &number);
        const oif_detector *detector = oif_pipeline_detector(pipeline, text, bytes);
        const bool evicts = oif_pipeline_evictions(pipeline) > evictions;
        assert_true(result.has_no_model == (detector == NULL));
        assert_true(!result.has_no_model || (!known && held == MOST));
        assert_true(!evicts || (!known && held == MOST && detector));
        assert_int_equal(oif_pipeline_keys(pipeline),
                         held + (!known && detector != NULL) - (size_t)evicts);
        if (!known && detector)
            assert_int_equal(oif_detector_rows_learned(detector), 1);
        if (detector)
            require_recent_key(pipeline, key_text(key));
    }
    assert_true(oif_pipeline_evictions(pipeline) > 20);
    assert_true(oif_pipeline_unmodelled_rows(pipeline) > 20);
    oif_pipeline_free(pipeline);
}

static void a_memory_limit_bounds_all_models(void **unused)
{
    (void)unused;
    const size_t limit = 3 * 1000 * 1000;
    oif_pipeline *pipeline =
        new_pipeline("online-iforest", "window_size=256", 4, "memory_limit=3000000");
    double row[4] = {1, 2, 3, 4};
    for (uint32_t i = 0; i < 1000; i++)
        process_key(pipeline, key_text(i), row);
    assert_true(oif_pipeline_keys(pipeline) > 10);
    assert_true(oif_pipeline_memory_bytes(pipeline) <= limit);
    oif_pipeline_free(pipeline);
}

static void a_hundred_thousand_keys_are_no_trouble(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline =
        new_pipeline("loda", "num_projections=2 num_bins=4 window_size=8", 1, "");
    double number = 1;
    for (uint32_t i = 0; i < 120000; i++)
        process_key(pipeline, key_text(i), &number);
    assert_int_equal(oif_pipeline_keys(pipeline), 100000);
    assert_int_equal(oif_pipeline_unmodelled_rows(pipeline), 20000);
    assert_null(oif_pipeline_detector(pipeline, key_text(100000), strlen(key_text(100000))));
    assert_non_null(oif_pipeline_detector(pipeline, key_text(99999), strlen(key_text(99999))));
    require_ok(oif_pipeline_check(pipeline, NULL));
    oif_pipeline_free(pipeline);
}

static void a_clone_goes_on_as_the_original(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("hst", "window_size=50", 2,
                                          "max_keys=5 alert_rate=0.02 learn=decay"),
                 *copy = NULL;
    dice from = {15};
    double row[2];
    for (int i = 0; i < 6000; i++) {
        uint32_t key = dice_below(&from, 6);
        draw_row(&from, row, 2);
        oif_result a = process_key(pipeline, key_text(key), row);
        if (i == 3000)
            require_ok(oif_pipeline_clone(pipeline, &copy, NULL));
        if (i <= 3000)
            continue;
        oif_result b = process_key(copy, key_text(key), row);
        require_same_result(&a, &b);
        oif_attribution why_a[2], why_b[2];
        oif_pipeline_explain(pipeline, why_a);
        oif_pipeline_explain(copy, why_b);
        assert_true(why_a[0].share == why_b[0].share && why_a[1].direction == why_b[1].direction);
    }
    assert_int_equal(oif_pipeline_evictions(pipeline), oif_pipeline_evictions(copy));
    oif_pipeline_free(pipeline);
    oif_pipeline_free(copy);
}

static void a_detector_that_learned_elsewhere_gives_the_alerts(void **unused)
{
    (void)unused;
    const char *options = "alert_rate=0.02 learn=all moves=off";
    oif_pipeline *whole = new_pipeline("online-iforest", "window_size=256", 2, options),
                 *lent = new_pipeline("online-iforest", "window_size=256", 2, options);
    oif_params params = params_named("online-iforest", "window_size=256");
    oif_detector *detector;
    require_ok(oif_detector_new(&params, 2, &detector, NULL));
    dice from = {16};
    double row[2];
    for (int i = 0; i < 3000; i++) {
        draw_row(&from, row, 2);
        oif_result expected = process(whole, row), result;
        require_ok(oif_pipeline_exchange_detector(lent, NULL, 0, &detector, NULL));
        assert_int_equal(oif_detector_rows_learned(detector), 0);
        result = process(lent, row);
        require_ok(oif_pipeline_exchange_detector(lent, NULL, 0, &detector, NULL));
        require_same_result(&expected, &result);
        assert_int_equal(oif_detector_rows_learned(detector), i + 1);
    }
    oif_detector_free(detector);
    oif_pipeline_free(whole);
    oif_pipeline_free(lent);
}

/* The explained row is the last one, not the model that an exchange has created since. */
static void a_key_without_a_row_is_not_that_of_the_last_row(void **unused)
{
    (void)unused;
    const double far[] = {1e6, 0};
    oif_pipeline *pipeline = new_pipeline("loda", "", 2, "max_keys=2 moves=off"), *copy;
    oif_params params = params_named("loda", "");
    oif_detector *detector;
    oif_attribution why[2];
    oif_result result;
    dice from = {18};
    double row[2];
    require_ok(oif_detector_new(&params, 2, &detector, NULL));
    for (int i = 0; i < 500; i++) {
        draw_row(&from, row, 2);
        require_ok(oif_pipeline_process(pipeline, "seen", 4, i < 499 ? row : far, &result, NULL));
    }
    require_ok(oif_pipeline_exchange_detector(pipeline, "new", 3, &detector, NULL));
    require_ok(oif_pipeline_clone(pipeline, &copy, NULL));
    oif_pipeline_explain(copy, why);
    assert_true(why[0].share > 0.9 && why[0].direction == 1);
    require_recent_key(pipeline, "seen");
    require_recent_key(copy, "seen");
    /* evicts "seen" */
    require_ok(oif_pipeline_exchange_detector(pipeline, "newer", 5, &detector, NULL));
    oif_pipeline_explain(pipeline, why);
    assert_true(why[0].share == 0 && why[0].direction == 0);
    oif_detector_free(detector);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(copy);
}

static void a_detector_that_is_not_alike_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *kind, *settings;
        size_t dimension;
    } others[] = {{"loda", "", 4},
                  {"hst", "window_size=51", 4},
                  {"hst", "window_size=50 seed=1", 4},
                  {"hst", "window_size=50", 2}};
    oif_pipeline *pipeline = new_pipeline("hst", "window_size=50", 2, "shingle=2");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        oif_params params = params_named(others[i].kind, others[i].settings);
        oif_detector *detector, *before;
        require_ok(oif_detector_new(&params, others[i].dimension, &detector, NULL));
        before = detector;
        assert_int_equal(oif_pipeline_exchange_detector(pipeline, "a", 1, &detector, NULL),
                         OIF_EPARAM);
        assert_ptr_equal(detector, before);
        assert_int_equal(oif_pipeline_keys(pipeline), 0);
        oif_detector_free(detector);
    }
    oif_pipeline_free(pipeline);
}

/* ---- Damage ---- */

static void a_broken_field_of_a_model_is_found(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("loda", "", 2, "shingle=2");
    dice from = {31};
    double row[2];
    for (int i = 0; i < 50; i++) {
        draw_row(&from, row, 2);
        process(pipeline, row);
    }
    oif_model *m = oif_pipeline_model(pipeline, 0);
    double *recent = oif_model_recent(m);
    const oif_judges *judges = oif_block_part(m, m->at.judges);
    oif_column_watch *column = &oif_judges_watch(judges)->column[1];
    const struct {
        double *field, value;
        const char *message;
    } damages[] = {
        {&recent[0], INFINITY, "a value of the last rows is infinite"},
        {&recent[3], -INFINITY, "a value of the last rows is infinite"},
        {&column->level, INFINITY, "watched column 2: its level is none"},
        {&column->spread, -1, "watched column 2: its level is none"},
        {&m->before[1], NAN, "a severity of the last rows is impossible"},
        {&m->found.severity, NAN, "the last row was judged by no judge"},
        {&m->found.size, INFINITY, "the last row was judged by no judge"},
        {&m->gate.overspent, 99, "the last episode is inconsistent"},
        {&m->pauses.usual_pause, NAN, "the last pause is inconsistent"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        oif_error error;
        double sound = *damages[i].field;
        *damages[i].field = damages[i].value;
        assert_int_equal(oif_pipeline_check(pipeline, &error), OIF_EINVARIANT);
        expect_message(error, damages[i].message);
        *damages[i].field = sound;
    }
    require_ok(oif_pipeline_check(pipeline, NULL));
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_rows_cost_less_than_the_cap_and_nothing_before_it_is_ready),
        cmocka_unit_test(anomalies_that_follow_each_other_are_one_episode),
        cmocka_unit_test(what_lasts_becomes_normal_after_the_stated_number_of_rows),
        cmocka_unit_test(anomalies_that_are_not_learned_do_not_poison),
        cmocka_unit_test(a_shingle_is_the_last_rows_as_one),
        cmocka_unit_test(the_planted_feature_is_the_first_reason),
        cmocka_unit_test(an_explanation_needs_columns_that_fit),
        cmocka_unit_test(a_row_with_an_infinity_counts_for_nothing),
        cmocka_unit_test(options_that_do_not_fit_are_refused),
        cmocka_unit_test(keys_do_not_touch_each_other),
        cmocka_unit_test(a_key_has_a_model_or_its_rows_say_that_it_has_none),
        cmocka_unit_test(a_memory_limit_bounds_all_models),
        cmocka_unit_test(a_hundred_thousand_keys_are_no_trouble),
        cmocka_unit_test(a_clone_goes_on_as_the_original),
        cmocka_unit_test(a_detector_that_learned_elsewhere_gives_the_alerts),
        cmocka_unit_test(a_key_without_a_row_is_not_that_of_the_last_row),
        cmocka_unit_test(a_detector_that_is_not_alike_is_refused),
        cmocka_unit_test(a_broken_field_of_a_model_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
