/* The gate (gate.h) beside a twin in plain doubles: the bar, the cap, debts, episodes and what is
 * news in them; and the same as a pipeline does it. */
#include "pipelines.h"

#include "pipeline/alerts/alert_budget.h"
#include "pipeline/alerts/gate.h"

#include <float.h>

enum { CALM = OIF_CALM_ROWS };

static const oif_judge all_judges[] = {OIF_JUDGE_VALUES, OIF_JUDGE_CHANGE,   OIF_JUDGE_ENERGY,
                                       OIF_JUDGE_RUN,    OIF_JUDGE_GAP,      OIF_JUDGE_PARTNER,
                                       OIF_JUDGE_SEASON, OIF_JUDGE_CATEGORY, OIF_JUDGE_FIRST_VALUE};

/* ---- Driving a gate ---- */

typedef struct driven {
    oif_gate gate;
    uint64_t row;
    double earned; /* by each row */
} driven;

static driven new_gate(double earned)
{
    driven d = {.earned = earned};
    oif_gate_init(&d.gate);
    return d;
}

/* The next row, in which one judge finds that much, as a model passes it through. */
static oif_result pass(driven *d, oif_judge judge, double severity)
{
    oif_result result = {.threshold = oif_gate_bar(&d->gate), .score = 0.5};
    result.severity = oif_gate_severity(&d->gate, judge, severity);
    result.anomaly = result.severity > result.threshold;
    if (result.anomaly)
        result.grade = oif_grade_of(result.severity);
    d->row++;
    oif_gate_earn(&d->gate, d->earned);
    oif_gate_follow(&d->gate, judge, d->row, 1e9 + (double)d->row, &result);
    if (!oif_gate_check(&d->gate, d->row, 1))
        fail_msg("row %" PRIu64 ": the gate is refused", d->row);
    return result;
}

static void pass_calm(driven *d, int rows)
{
    for (int i = 0; i < rows; i++)
        pass(d, OIF_JUDGE_VALUES, 0);
}

/* ---- The twin ---- */

typedef struct twin {
    double overspent, debts[OIF_JUDGES], peak, paid;
    bool is_open;
    int opener;
    uint64_t row, first, last_anomaly, number;
} twin;

static bool twin_has_debt(int judge)
{
    return judge == OIF_JUDGE_RUN || judge == OIF_JUDGE_PARTNER || judge == OIF_JUDGE_SEASON;
}

static double twin_bar(const twin *t)
{
    const double owed = t->overspent - (t->is_open ? t->paid : 0),
                 at = 2.8 + (owed > 0 ? exp(owed / 10) - 1 : 0);
    return at < 16 ? at : INFINITY;
}

static double twin_severity(const twin *t, int judge, double severity)
{
    if (!twin_has_debt(judge))
        return severity;
    return fmax(0, severity - t->debts[judge] + (t->is_open && t->opener == judge ? 1 : 0));
}

static oif_episode twin_pass(twin *t, int judge, double severity, double earned)
{
    const double left = twin_severity(t, judge, severity);
    const bool is_anomaly = left > twin_bar(t);
    t->row++;
    t->overspent = fmax(-2, t->overspent - earned);
    for (int i = 0; i < OIF_JUDGES; i++)
        t->debts[i] = fmax(0, t->debts[i] - 0.6 * earned);
    if (!is_anomaly) {
        if (!t->is_open)
            return OIF_EPISODE_NONE;
        t->is_open = t->row - t->last_anomaly < CALM;
        return t->is_open ? OIF_EPISODE_LASTS : OIF_EPISODE_ENDS;
    }
    t->last_anomaly = t->row;
    if (t->is_open && !(t->row - t->first >= CALM && left > t->peak + 1)) {
        t->peak = fmax(t->peak, left);
        return OIF_EPISODE_LASTS;
    }
    t->number++;
    t->is_open = true;
    t->opener = judge;
    t->first = t->row;
    t->peak = left;
    t->paid = twin_has_debt(judge) ? 0.5 : 1.2;
    t->overspent += t->overspent < 30 ? t->paid : 0;
    t->debts[judge] += twin_has_debt(judge) && t->debts[judge] < 100 ? 1 : 0;
    return OIF_EPISODE_BEGINS;
}

static void it_does_what_the_twin_in_plain_doubles_does(void **unused)
{
    (void)unused;
    int begun = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        dice from = {seed};
        const double rates[] = {0.0001, 0.001, 0.01, 0.1}, earned = rates[dice_below(&from, 4)],
                     busy = dice_unit(&from) * dice_unit(&from), most = 3 + 20 * dice_unit(&from);
        driven d = new_gate(earned);
        twin t = {0};
        for (int i = 0; i < 5000; i++) {
            const oif_judge judge = all_judges[dice_below(&from, OIF_JUDGES)];
            const double severity = dice_chance(&from, busy) ? most * dice_unit(&from) : 1;
            const double bar = twin_bar(&t);
            const oif_result result = pass(&d, judge, severity);
            const bool is_same_bar = bar == INFINITY ? result.threshold == INFINITY
                                                     : fabs(result.threshold - bar) < 1e-9;
            const oif_episode expected = twin_pass(&t, judge, severity, earned);
            if (!is_same_bar || result.episode != expected || d.gate.episode.number != t.number)
                fail_msg("seed %" PRIu64 ", row %d: bar %.12g, episode %d; the twin: %.12g, %d",
                         seed, i + 1, result.threshold, result.episode, bar, expected);
            begun += expected == OIF_EPISODE_BEGINS;
        }
    }
    assert_true(begun > 1000);
}

/* ---- The bar ---- */

static void the_bar_is_never_below_its_lowest(void **unused)
{
    (void)unused;
    dice from = {2};
    driven d = new_gate(0.01);
    assert_true(oif_gate_bar(&d.gate) == 2.8);
    for (int i = 0; i < 100000; i++) {
        const double severity = dice_chance(&from, 0.003) ? 10 * dice_unit(&from) : 2.8;
        const oif_result result = pass(&d, all_judges[dice_below(&from, OIF_JUDGES)], severity);
        assert_true(result.threshold >= 2.8);
        assert_true(!result.anomaly || result.severity > 2.8);
    }
}

static void each_episode_raises_the_bar_and_rows_lower_it_again(void **unused)
{
    (void)unused;
    driven d = new_gate(0.001);
    double before = 2.8;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, 8).episode, OIF_EPISODE_BEGINS);
        expect_within(oif_gate_bar(&d.gate), before - 0.01, before, "the bar of the episode");
        pass_calm(&d, CALM);
        expect_within(oif_gate_bar(&d.gate), before + 0.1, before + 0.25, "the bar after it");
        before = oif_gate_bar(&d.gate);
    }
    pass_calm(&d, 9000);
    assert_true(oif_gate_bar(&d.gate) == 2.8);
}

static void grades_are_by_severity(void **unused)
{
    (void)unused;
    assert_int_equal(oif_grade_of(2.81), OIF_GRADE_NOTE);
    assert_int_equal(oif_grade_of(3.29), OIF_GRADE_NOTE);
    assert_int_equal(oif_grade_of(3.3), OIF_GRADE_WARNING);
    assert_int_equal(oif_grade_of(4), OIF_GRADE_CRITICAL);
}

/* ---- The cap ---- */

typedef enum attack { ALL_ROWS, SPIKES, RISING, RANDOM, ONE_DEBT, LONG_CALM, ATTACKS } attack;

static double severity_of(attack by, uint64_t row, dice *from)
{
    switch (by) {
    case ALL_ROWS: return 1e6;
    case SPIKES: return row % (CALM + 1) == 0 ? 1e300 : 0;
    case RISING: return 3 + 1.1 * (double)row;
    case RANDOM: return dice_chance(from, 0.1) ? exp(6 * dice_normal(from)) : 0;
    case ONE_DEBT: return row % (CALM + 1) == 0 ? 1e300 : 0;
    case LONG_CALM: return row < 50000 || row % (CALM + 1) > 0 ? 0 : 1e300;
    case ATTACKS: break;
    }
    return 0;
}

/* Whatever a stream does: at most 2 (earned + 29) episodes. */
static void no_stream_costs_more_than_its_bound(void **unused)
{
    (void)unused;
    static const double rates[] = {0.0001, 0.001, 0.01, 0.05};
    for (attack by = 0; by < ATTACKS; by++)
        for (size_t i = 0; i < 4; i++) {
            driven d = new_gate(rates[i]);
            dice from = {by + 1};
            uint64_t episodes = 0;
            for (uint64_t row = 1; row <= 100000; row++) {
                const oif_judge judge =
                    by == ONE_DEBT ? OIF_JUDGE_RUN : all_judges[dice_below(&from, OIF_JUDGES)];
                episodes +=
                    pass(&d, judge, severity_of(by, row, &from)).episode == OIF_EPISODE_BEGINS;
                if ((double)episodes > 2 * (rates[i] * (double)row + 29))
                    fail_msg("attack %d at %g: %" PRIu64 " episodes in %" PRIu64 " rows", by,
                             rates[i], episodes, row);
            }
            /* the cap binds, and what is earned can be spent */
            if (by == SPIKES && rates[i] < 0.05 && (double)episodes < rates[i] * 100000 * 0.8)
                fail_msg("only %" PRIu64 " episodes at %g", episodes, rates[i]);
        }
}

static void at_the_highest_bar_nothing_begins(void **unused)
{
    (void)unused;
    driven d = new_gate(0);
    int episodes = 0;
    for (int i = 0; i < 5000; i++)
        episodes += pass(&d, OIF_JUDGE_CHANGE, i % 20 ? 0 : DBL_MAX).episode == OIF_EPISODE_BEGINS;
    assert_true(oif_gate_bar(&d.gate) == INFINITY);
    expect_within(episodes, 20, 25, "episodes"); /* 26.5 / 1.2 */
    d.earned = 0.01;
    pass_calm(&d, 500);
    assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, 100).episode, OIF_EPISODE_BEGINS);
}

/* ---- Debts ---- */

static void a_judge_that_begins_one_episode_after_another_falls_silent(void **unused)
{
    (void)unused;
    static const oif_judge indebted[] = {OIF_JUDGE_RUN, OIF_JUDGE_PARTNER, OIF_JUDGE_SEASON};
    for (size_t k = 0; k < 3; k++) {
        driven d = new_gate(0.001);
        int begun = 0;
        for (int i = 0; i < 40; i++) {
            begun += pass(&d, indebted[k], 6).episode == OIF_EPISODE_BEGINS;
            pass_calm(&d, CALM);
        }
        expect_within(begun, 3, 4, "episodes");
        assert_true(oif_gate_severity(&d.gate, indebted[k], 6) < 3.2);
        assert_true(oif_gate_severity(&d.gate, OIF_JUDGE_CHANGE, 6) == 6);
        assert_true(oif_gate_severity(&d.gate, indebted[k], 1) == 0);
        pass_calm(&d, 10000);
        assert_true(oif_gate_severity(&d.gate, indebted[k], 6) == 6);
    }
}

/* The debt of the judge that began an episode does not silence it in that episode. */
static void within_its_episode_a_judge_finds_what_it_found_before(void **unused)
{
    (void)unused;
    driven d = new_gate(0.001);
    const oif_result first = pass(&d, OIF_JUDGE_RUN, 3.5), next = pass(&d, OIF_JUDGE_RUN, 3.5);
    assert_int_equal(next.episode, OIF_EPISODE_LASTS);
    expect_within(next.severity, first.severity - 0.01, first.severity + 0.01, "severity");
    expect_within(next.threshold, first.threshold, first.threshold + 0.01, "threshold");
    pass_calm(&d, CALM);
    assert_false(pass(&d, OIF_JUDGE_RUN, 3.5).anomaly);
}

/* ---- Episodes ---- */

static void an_episode_ends_after_16_calm_rows(void **unused)
{
    (void)unused;
    driven d = new_gate(0.001);
    assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, 5).episode, OIF_EPISODE_BEGINS);
    pass_calm(&d, CALM - 1);
    assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, 3).episode, OIF_EPISODE_LASTS);
    for (int i = 1; i < CALM; i++)
        assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, 0).episode, OIF_EPISODE_LASTS);
    const oif_result last = pass(&d, OIF_JUDGE_CHANGE, 0);
    assert_int_equal(last.episode, OIF_EPISODE_ENDS);
    assert_int_equal(last.episode_grade, OIF_GRADE_CRITICAL);
    assert_int_equal(d.gate.episode.rows, 2 * CALM + 1);
    assert_int_equal(d.gate.episode.anomalies, 2);
    assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, 0).episode, OIF_EPISODE_NONE);
}

static void what_is_worse_by_one_in_a_long_episode_begins_the_next(void **unused)
{
    (void)unused;
    driven d = new_gate(0.001);
    pass(&d, OIF_JUDGE_CHANGE, 4);
    for (int i = 2; i <= CALM; i++) /* too early */
        assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, i == 9 ? 5.5 : 3).episode, OIF_EPISODE_LASTS);
    assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, 6.4).episode, OIF_EPISODE_LASTS); /* not by 1 */
    const oif_result worse = pass(&d, OIF_JUDGE_CHANGE, 7.5);
    assert_int_equal(worse.episode, OIF_EPISODE_BEGINS);
    assert_int_equal(worse.episode_grade, OIF_GRADE_NONE);
    assert_int_equal(d.gate.episode.number, 2);
    assert_int_equal(d.gate.episode.first_row, d.row);
    assert_int_equal(d.gate.episode.rows, 1);
    assert_true(d.gate.episode.peak_severity == 7.5);
    pass_calm(&d, CALM - 1);
    assert_int_equal(pass(&d, OIF_JUDGE_CHANGE, 0).episode, OIF_EPISODE_ENDS);
}

/* ---- Streams ---- */

static double series_at(char kind, dice *from, int row, double *state)
{
    const double noise = dice_normal(from);
    *state = 0.9 * *state + noise;
    return kind == 'n' ? 20 + noise : kind == 'a' ? *state : 20 + 3 * sin(row / 46.) + 0.3 * noise;
}

/* D2 of the first minutes: the fall after a spike, and what follows, is the same news. */
static void a_spike_alone_is_one_episode(void **unused)
{
    (void)unused;
    int alone = 0;
    for (const char *kind = "nas"; *kind; kind++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            dice from = {seed};
            oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 1, "");
            double state = 0;
            int begun = 0, anomalies = 0;
            bool is_alone = false;
            for (int r = 0; r < 1600; r++) {
                const double x = series_at(*kind, &from, r, &state) + (r == 1200 ? 40 : 0);
                const oif_result result = process(pipeline, &x);
                if (r == 1200)
                    is_alone = result.episode == OIF_EPISODE_BEGINS; /* not in another one */
                if (r < 1200 || r > 1300)
                    continue;
                begun += result.episode == OIF_EPISODE_BEGINS;
                anomalies += result.anomaly;
            }
            alone += is_alone;
            if (is_alone && (begun != 1 || anomalies > 48))
                fail_msg("%c, seed %" PRIu64 ": %d episodes, %d anomalies", *kind, seed, begun,
                         anomalies);
            oif_pipeline_free(pipeline);
        }
    assert_true(alone >= 20);
}

/* D3: a long incident does not hide the next one. */
static void a_later_and_worse_peak_in_a_long_episode_is_told(void **unused)
{
    (void)unused;
    dice from = {5};
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 1, "");
    bool lasts = false;
    for (int r = 0; r < 1640; r++) {
        const double burst = r >= 1600 && r % 4 == 0 ? 12 : 0, x = dice_normal(&from) + burst;
        lasts = process(pipeline, &x).episode == OIF_EPISODE_LASTS;
    }
    assert_true(lasts);
    const double far = 900;
    assert_int_equal(process(pipeline, &far).episode, OIF_EPISODE_BEGINS);
    oif_pipeline_free(pipeline);
}

/* ---- Alerts per day ---- */

static void a_day_earns_what_it_may_cost(void **unused)
{
    (void)unused;
    oif_alert_budget budget;
    oif_alert_budget_init(&budget, 6);
    assert_true(oif_alert_budget_pass(&budget, 1e9) == 0); /* the first row */
    expect_within(oif_alert_budget_pass(&budget, 1e9 + 43200), 3, 3, "half a day");
    assert_true(isnan(oif_alert_budget_pass(&budget, NAN)));
    assert_true(oif_alert_budget_pass(&budget, 1e9) == 0); /* late */
    expect_within(oif_alert_budget_pass(&budget, 1e9 + 86400), 3, 3, "the other half");
    expect_within(oif_alert_budget_pass(&budget, 2e9), 168, 168, "years: 28 days");
    assert_true(oif_alert_budget_pass(&budget, 1e9) == 0); /* the time before was wrong */
    expect_within(oif_alert_budget_pass(&budget, 1e9 + 14400), 1, 1, "four hours");
}

/* Spikes in every key: what all of them cost together stays within the bound. */
static void keys_share_the_alerts_of_a_day(void **unused)
{
    (void)unused;
    enum { KEYS = 12, DAYS = 30, ROWS = 288 };
    oif_pipeline *pipeline = new_pipeline("loda", "num_projections=2", 1, "alerts=2");
    dice from = {6};
    int begun = 0, late = 0;
    for (int r = 0; r < DAYS * ROWS; r++)
        for (uint32_t k = 0; k < KEYS; k++) {
            const double x = dice_normal(&from) + (r > 100 && dice_chance(&from, 0.01) ? 1e4 : 0);
            oif_result result;
            const char *key = key_text(k);
            require_ok(oif_pipeline_process_at(pipeline, key, strlen(key), 1e9 + 300. * r, &x,
                                               &result, NULL));
            begun += result.episode == OIF_EPISODE_BEGINS;
            late += result.episode == OIF_EPISODE_BEGINS && r > 5 * ROWS;
            if (begun > 2 * (2. * (r + 1) / ROWS + 29))
                fail_msg("%d episodes in %g days", begun, (double)(r + 1) / ROWS);
        }
    expect_within(late, 20, 60, "episodes of 25 days");
    oif_pipeline_free(pipeline);
}

static void the_check_of_a_budget_refuses_what_no_stream_gives(void **unused)
{
    (void)unused;
    static const oif_alert_budget wrong[] = {{3, INFINITY, 0}, {3, -INFINITY, 0}, {3, 0, NAN},
                                             {3, 0, INFINITY}, {3, 0, -2.1},      {3, 0, 61}};
    assert_true(oif_alert_budget_check(&(oif_alert_budget){3, NAN, 0}));
    assert_true(oif_alert_budget_check(&(oif_alert_budget){3, 1e9, 29}));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (oif_alert_budget_check(&wrong[i]))
            fail_msg("budget %zu is accepted", i);
}

/* ---- The first rows, and learning ---- */

static void rows_before_the_49th_are_never_anomalous(void **unused)
{
    (void)unused;
    static const char *const names[] = {"rolling-iforest", "online-iforest", "loda", "hst", "sdo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            dice from = {seed};
            oif_pipeline *pipeline = new_pipeline(names[i], "", 2, "");
            for (int r = 1; r <= OIF_FIRST_ROWS; r++) {
                const double row[] = {dice_chance(&from, 0.2) ? 1e300 : dice_normal(&from),
                                      dice_chance(&from, 0.2) ? NAN : (double)r};
                const oif_result result = process_key(pipeline, "a", row);
                assert_false(result.anomaly || result.ready);
                assert_true(result.severity == 0 && result.threshold == INFINITY);
                assert_int_equal(result.episode, OIF_EPISODE_NONE);
            }
            assert_true(process_key(pipeline, "a", (double[]){0, 0}).threshold >= 2.8);
            oif_pipeline_free(pipeline);
        }
}

/* In a stream that is as usual the first spike after the 48 rows may already be reported. */
static void soon_after_them_a_spike_is_told(void **unused)
{
    (void)unused;
    dice from = {7};
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 1, "");
    for (int r = 0; r < 60; r++) {
        const double x = dice_normal(&from);
        assert_false(process(pipeline, &x).anomaly);
    }
    const double far = 100;
    const oif_result result = process(pipeline, &far);
    assert_true(result.ready && result.anomaly && result.severity > result.threshold);
    oif_pipeline_free(pipeline);
}

/* How many of 100 rows of an incident, and of the 500 before it, are learned. */
static void count_learned(const char *learn, int *usual, int *incident, int *anomalies)
{
    char options[40];
    dice from = {8};
    snprintf(options, sizeof options, "learn=%s", learn);
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 1, options);
    *usual = *incident = *anomalies = 0;
    for (int r = 0; r < 600; r++) {
        const double x = dice_normal(&from) * (r < 500 ? 1 : 1e5);
        const oif_result result = process(pipeline, &x);
        *(r < 500 ? usual : incident) += result.learned;
        *anomalies += result.anomaly && r >= 500;
    }
    oif_pipeline_free(pipeline);
}

static void modes_of_learning_differ_in_the_anomalies(void **unused)
{
    (void)unused;
    int usual, incident, anomalies;
    count_learned("all", &usual, &incident, &anomalies);
    assert_int_equal(usual, 500);
    assert_int_equal(incident, 100);
    count_learned("normal", &usual, &incident, &anomalies);
    expect_within(anomalies, 5, 100, "anomalies");
    assert_int_equal(incident, 100 - anomalies);
    count_learned("decay", &usual, &incident, &anomalies);
    expect_within(incident, 100 - anomalies + 3, 100 - anomalies + 4 + (anomalies > 64 ? 36 : 0),
                  "learned rows of the incident");
    count_learned("none", &usual, &incident, &anomalies);
    assert_int_equal(usual + incident, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_does_what_the_twin_in_plain_doubles_does),
        cmocka_unit_test(the_bar_is_never_below_its_lowest),
        cmocka_unit_test(each_episode_raises_the_bar_and_rows_lower_it_again),
        cmocka_unit_test(grades_are_by_severity),
        cmocka_unit_test(no_stream_costs_more_than_its_bound),
        cmocka_unit_test(at_the_highest_bar_nothing_begins),
        cmocka_unit_test(a_judge_that_begins_one_episode_after_another_falls_silent),
        cmocka_unit_test(within_its_episode_a_judge_finds_what_it_found_before),
        cmocka_unit_test(an_episode_ends_after_16_calm_rows),
        cmocka_unit_test(what_is_worse_by_one_in_a_long_episode_begins_the_next),
        cmocka_unit_test(a_spike_alone_is_one_episode),
        cmocka_unit_test(a_later_and_worse_peak_in_a_long_episode_is_told),
        cmocka_unit_test(a_day_earns_what_it_may_cost),
        cmocka_unit_test(keys_share_the_alerts_of_a_day),
        cmocka_unit_test(the_check_of_a_budget_refuses_what_no_stream_gives),
        cmocka_unit_test(rows_before_the_49th_are_never_anomalous),
        cmocka_unit_test(soon_after_them_a_spike_is_told),
        cmocka_unit_test(modes_of_learning_differ_in_the_anomalies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
