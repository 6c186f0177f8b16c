/* Rules hold back exactly the alerts that they describe, count them, survive snapshots, and cost
 * other alerts nothing. Mistakes in them are refused with their place. */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include "../snapshot/snapshots.h"
#include "pipeline/rules/rules.h"
#include "pipelines.h"

#include <time.h>

static oif_text text_of(const char *text)
{
    return (oif_text){text, strlen(text)};
}

static oif_rule rule_of(const char *text)
{
    oif_rule rule;
    oif_error error;
    require_ok_or(oif_rule_parse(&rule, text, strlen(text), 1, &error), error);
    return rule;
}

/* ---- Patterns ---- */

/* The obvious twin: tries everything. */
static bool matches_slowly(const char *pattern, const char *text)
{
    if (*pattern == '*')
        return matches_slowly(pattern + 1, text) || (*text && matches_slowly(pattern, text + 1));
    if (!*pattern || !*text)
        return !*pattern && !*text;
    return (*pattern == '?' || *pattern == *text) && matches_slowly(pattern + 1, text + 1);
}

static void patterns_match_as_their_twin(void **unused)
{
    (void)unused;
    dice from = {1};
    for (int i = 0; i < 100000; i++) {
        char pattern[9] = "", text[9] = "";
        for (uint32_t j = 0, end = dice_below(&from, 9); j < end; j++)
            pattern[j] = "ab*?"[dice_below(&from, 4)];
        for (uint32_t j = 0, end = dice_below(&from, 9); j < end; j++)
            text[j] = "ab"[dice_below(&from, 2)];
        assert_int_equal(oif_pattern_matches(text_of(pattern), text_of(text)),
                         matches_slowly(pattern, text));
    }
    assert_true(oif_pattern_matches(text_of("x,disk_*,y"), text_of("disk_3")));
    assert_false(oif_pattern_matches(text_of("x,disk_*,y"), text_of("disk")));
}

/* ---- Texts ---- */

static void mistakes_have_a_place(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        uint64_t column;
    } wrong[] = {
        {"hush column=a", 1},
        {"mute colum=a", 6},
        {"mute column=", 6},
        {"mute column=\"a b", 6},
        {"mute column=a,", 6},
        {"mute column=a,,b", 6},
        {"mute key=,a", 6},
        {"\"mute", 1},
        {"mute column=a direction=up", 15},
        {"mute column=a column=b", 15},
        {"mute change<20", 0},
        {"mute change<-3", 6},
        {"mute change<5ms", 6},
        {"mute change<20%%", 6},
        {"mute change<nan", 6},
        {"mute time=2:00-4:00", 6},
        {"mute time=02:00-02:00", 6},
        {"mute time=25:00-26:00", 6},
        {"mute time=02:00-04:00x", 6},
        {"mute days=mon-foo", 6},
        {"mute days=", 6},
        {"mute zone=Nowhere/Here", 6},
        {"mute zone=../../etc/passwd", 6},
        {"mute reason=odd", 6},
        {"mute from=yesterday", 6},
        {"mute from=", 6},
        {"mute from=2026-11-18 until=2026-11-17", 1},
        {"ignore column=a", 1},
        {"ignore change<3", 1},
        {"mute \x01", 6},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        oif_rule rule;
        oif_error error = {.line = 0};
        oif_status status = oif_rule_parse(&rule, wrong[i].text, strlen(wrong[i].text), 7, &error);
        if (wrong[i].column == 0) {
            assert_int_equal(status, OIF_OK);
            continue;
        }
        assert_int_equal(status, OIF_EPARAM);
        assert_int_equal(error.cause, OIF_CAUSE_BAD_RULE);
        assert_int_equal(error.line, 7);
        assert_int_equal(error.column, wrong[i].column);
    }
    char longest[OIF_RULE_TEXT_BYTES + 1];
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "mute column=", 12);
    oif_rule rule;
    assert_int_equal(oif_rule_parse(&rule, longest, sizeof longest - 2, 1, NULL), OIF_OK);
    assert_int_equal(oif_rule_parse(&rule, longest, sizeof longest - 1, 1, NULL), OIF_EPARAM);
    assert_int_equal(oif_rule_parse(&rule, "mute\0", 5, 1, NULL), OIF_EPARAM);
    assert_int_equal(oif_rule_parse(&rule, "mute #\nmute", 11, 1, NULL), OIF_EPARAM);
}

/* ---- Times ---- */

static double moment(const char *text)
{
    oif_time_format format = {.form = OIF_TIME_FORM_NONE};
    double seconds;
    assert_int_equal(oif_time_parse(&format, text, strlen(text), &seconds, NULL), OIF_OK);
    return seconds;
}

static bool holds_at(const oif_rule *rule, const char *time)
{
    return oif_rule_is_in_force(rule, text_of(""), moment(time), NULL);
}

static void windows_follow_the_zone_and_its_summer_time(void **unused)
{
    (void)unused;
    const oif_rule berlin = rule_of("mute time=02:00-04:00 zone=CET-1CEST,M3.5.0,M10.5.0/3");
    assert_true(holds_at(&berlin, "2026-01-10T01:30:00Z"));  /* 02:30 */
    assert_false(holds_at(&berlin, "2026-01-10T03:00:00Z")); /* 04:00 */
    assert_true(holds_at(&berlin, "2026-07-10T00:00:00Z"));  /* 02:00 in summer */
    assert_false(holds_at(&berlin, "2026-07-10T02:00:00Z"));
    /* On March 29 the clock goes from 02:00 to 03:00 at 01:00 UTC. */
    assert_false(holds_at(&berlin, "2026-03-29T00:59:59Z"));
    assert_true(holds_at(&berlin, "2026-03-29T01:00:00Z"));
    assert_true(holds_at(&berlin, "2026-03-29T01:59:59Z"));
    assert_false(holds_at(&berlin, "2026-03-29T02:00:00Z"));

    const oif_rule weekend = rule_of("mute time=22:00-02:00 days=fri-sat"); /* UTC */
    assert_true(holds_at(&weekend, "2026-11-13T22:00:00Z"));                /* Friday */
    assert_true(holds_at(&weekend, "2026-11-14T01:59:00Z"));                /* the same night */
    assert_false(holds_at(&weekend, "2026-11-14T02:00:00Z"));
    assert_true(holds_at(&weekend, "2026-11-15T01:00:00Z")); /* Saturday's night */
    assert_false(holds_at(&weekend, "2026-11-15T22:30:00Z"));
    assert_false(holds_at(&weekend, "2026-11-13T01:00:00Z")); /* Thursday's night */
    const oif_rule round = rule_of("mute days=sun-mon");
    assert_true(holds_at(&round, "2026-11-15T12:00:00Z") && holds_at(&round, "2026-11-16"));
    assert_false(holds_at(&round, "2026-11-17T12:00:00Z"));

    const oif_rule once = rule_of("mute from=2026-11-17T22:00:00Z until=2026-11-18");
    assert_true(holds_at(&once, "2026-11-17T22:00:00Z"));
    assert_false(holds_at(&once, "2026-11-18T00:00:00Z"));
    assert_false(oif_rule_is_in_force(&once, text_of(""), NAN, NULL));
    assert_false(oif_rule_is_in_force(&weekend, text_of(""), NAN, NULL));
    assert_false(oif_rule_is_in_force(&weekend, text_of(""), 1e300, NULL));
    assert_false(oif_rule_is_in_force(&weekend, text_of(""), -1e300, NULL));
}

/* Against the clocks of this machine's C library, in zones on both sides of the equator. */
static void clocks_agree_with_the_c_library(void **unused)
{
    (void)unused;
    static const char *const zones[] = {"UTC0",
                                        "CET-1CEST,M3.5.0,M10.5.0/3",
                                        "EST5EDT,M3.2.0,M11.1.0",
                                        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
                                        "<-03>3",
                                        "NZST-12NZDT,M9.5.0,M4.1.0/3"};
    dice from = {4};
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        oif_zone zone;
        assert_true(oif_zone_parse(&zone, zones[i], strlen(zones[i])));
        setenv("TZ", zones[i], 1);
        tzset();
        for (int j = 0; j < 20000; j++) {
            /* from 1971 on: before, it has no summers */
            const time_t seconds = (time_t)dice_below(&from, 4000000000u) + 31536000;
            struct tm there;
            localtime_r(&seconds, &there);
            const oif_zone_clock now = oif_zone_clock_at(&zone, (double)seconds + 0.5);
            assert_int_equal(now.weekday, (there.tm_wday + 6) % 7);
            assert_int_equal(now.second, there.tm_hour * 3600 + there.tm_min * 60 + there.tm_sec);
        }
    }
    unsetenv("TZ");
    tzset();
}

static void a_named_zone_is_kept_as_its_posix_text(void **unused)
{
    (void)unused;
    char posix[OIF_ZONE_TEXT_BYTES];
    if (!oif_zone_find("Europe/Berlin", 13, posix)) {
        print_message("this machine has no zone files\n");
        skip();
    }
    assert_string_equal(posix, "CET-1CEST,M3.5.0,M10.5.0/3");
    const oif_rule rule = rule_of("mute zone=Europe/Berlin time=02:00-04:00 # zone=UTC");
    assert_string_equal(rule.text,
                        "mute zone=CET-1CEST,M3.5.0,M10.5.0/3 time=02:00-04:00 # zone=UTC");
    assert_int_equal(rule.text_bytes, strlen(rule.text));
    assert_true(holds_at(&rule, "2026-07-10T00:00:00Z"));
    const oif_rule quoted = rule_of("mute column=\"a # zone=UTC\" zone=\"Europe/Berlin\" key=k");
    assert_string_equal(quoted.text, "mute column=\"a # zone=UTC\" "
                                     "zone=\"CET-1CEST,M3.5.0,M10.5.0/3\" key=k");
    assert_true(oif_rule_is_in_force(&quoted, text_of("k"), 0, NULL));
    assert_false(oif_rule_is_in_force(&quoted, text_of("j"), 0, NULL));
}

/* ---- Pipelines ---- */

enum { COLUMNS = 3, LEARNED_ROWS = 3000 };

static void set_rules(oif_pipeline *pipeline, const char *text)
{
    oif_error error;
    require_ok_or(oif_pipeline_set_rules(pipeline, text, strlen(text), &error), error);
}

static oif_pipeline *taught_with(const char *rules, const char *options)
{
    static const char *const names[] = {"latency", "errors", "free memory"};
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, options);
    oif_error error;
    double row[COLUMNS];
    dice from = {3};
    require_ok_or(oif_pipeline_name_columns(pipeline, names, &error), error);
    set_rules(pipeline, rules);
    for (int i = 0; i < LEARNED_ROWS; i++) {
        draw_row(&from, row, COLUMNS);
        row[0] += 100;
        process(pipeline, row);
    }
    return pipeline;
}

static oif_result try_row(oif_pipeline *pipeline, double latency, double errors)
{
    static dice from = {77}; /* a column that repeats a value would be stuck */
    return process(pipeline, (double[COLUMNS]){latency, errors, dice_normal(&from)});
}

static uint64_t held_by(const oif_pipeline *pipeline, size_t rule)
{
    oif_rule_info info;
    assert_true(oif_pipeline_rule(pipeline, rule, &info));
    return info.held;
}

static void one_direction_can_be_muted(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught_with("mute column=latency direction=low\n", "moves=off");
    const uint64_t before = held_by(pipeline, 0);
    const oif_result low = try_row(pipeline, 20, 0);
    assert_true(!low.anomaly && low.rule == 1 && low.severity > low.threshold && low.learned);
    assert_int_equal(low.grade, OIF_GRADE_NONE);
    assert_int_equal(low.episode, OIF_EPISODE_NONE);
    assert_true(held_by(pipeline, 0) == before + 1);
    const oif_result high = try_row(pipeline, 180, 0);
    assert_true(high.anomaly && high.rule == 0 && high.episode == OIF_EPISODE_BEGINS);
    oif_pipeline_free(pipeline);
}

static void small_changes_can_be_muted(void **unused)
{
    (void)unused;
    oif_expected expected[COLUMNS];
    oif_pipeline *pipeline =
        taught_with("mute column=latency change<20%\nmute column=errors change<50", "moves=off");
    oif_pipeline_expected(pipeline, expected);
    assert_true(expected[0].low > 96 && expected[0].low < 99 && expected[0].high > 101 &&
                expected[0].high < 104);
    assert_true(try_row(pipeline, 118, 0).rule == 1); /* 102.5 and a sixth */
    assert_true(try_row(pipeline, 85, 0).rule == 1);
    assert_true(try_row(pipeline, 100, 40).rule == 2);
    assert_true(try_row(pipeline, 140, 0).anomaly);
    oif_pipeline_free(pipeline);
    pipeline = taught_with("mute column=errors change<50", "moves=off");
    assert_true(try_row(pipeline, 100, 60).anomaly);
    oif_pipeline_free(pipeline);
}

/* Half of the shares decide. */
static void an_alert_of_other_columns_is_not_muted(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught_with("mute column=latency", "moves=off");
    assert_true(try_row(pipeline, 180, 0).rule == 1);
    const oif_result both = try_row(pipeline, 120, 80); /* errors are farther out */
    assert_true(both.anomaly && both.rule == 0);
    oif_pipeline_free(pipeline);
}

/* Muted alerts neither spend the budget nor raise the bar for others. The flood is a season, too:
 * latency is low for its time in the last row, and that is muted, but errors are not. */
static void a_flood_of_muted_alerts_hides_no_other(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught_with("mute column=latency", "moves=off");
    dice from = {9};
    unsigned held = 0, alerts = 0;
    for (int i = 0; i < 4000; i++) {
        double row[COLUMNS];
        draw_row(&from, row, COLUMNS);
        row[0] += i % 20 == 0 ? 150 : 100;
        const oif_result result = process(pipeline, row);
        held += result.rule == 1;
        alerts += result.episode == OIF_EPISODE_BEGINS;
    }
    assert_true(held > 20);
    assert_true(alerts <= 8); /* twice the rate */
    assert_true(try_row(pipeline, 100, 12).anomaly);
    oif_pipeline_free(pipeline);
}

enum { CATEGORY = 2 };

/* Latency and errors, and a category whose usual value is 1. */
static oif_pipeline *taught_with_category(const char *detectors, const char *options)
{
    static const char *const names[] = {"latency", "errors", "kind"};
    oif_pipeline *pipeline = new_pipeline(detectors, "", COLUMNS, options);
    oif_error error;
    double row[COLUMNS];
    dice from = {3};
    require_ok_or(oif_pipeline_name_columns(pipeline, names, &error), error);
    require_ok_or(oif_pipeline_derive(pipeline, CATEGORY, OIF_DERIVE_CATEGORY, false, &error),
                  error);
    for (int i = 0; i < LEARNED_ROWS; i++) {
        draw_row(&from, row, COLUMNS);
        row[CATEGORY] = 1;
        process(pipeline, row);
    }
    return pipeline;
}

/* The result of a row after rules are set, of a copy. */
static oif_result result_with(const oif_pipeline *pipeline, const char *rules, const double *row)
{
    oif_pipeline *copy = NULL;
    oif_error error;
    require_ok_or(oif_pipeline_clone(pipeline, &copy, &error), error);
    set_rules(copy, rules);
    const oif_result result = process(copy, row);
    oif_pipeline_free(copy);
    return result;
}

/* Latency is the worst, and muted, but the row has a new category, too. */
static void a_finding_in_another_column_is_not_lost_with_muted_values(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught_with_category("rolling-iforest", "moves=off find_season=off");
    const double both[] = {1e6, 0, 2}, latency[] = {1e6, 0, 1};
    const oif_result plain = result_with(pipeline, "", both);
    assert_true(plain.anomaly && plain.reason != OIF_REASON_NEW_VALUE);
    const oif_result other = result_with(pipeline, "mute column=latency", both);
    assert_true(other.anomaly && other.rule == 0 && other.reason == OIF_REASON_NEW_VALUE);
    assert_true(other.severity > other.threshold && other.severity < plain.severity);
    assert_int_equal(other.episode, OIF_EPISODE_BEGINS);
    assert_true(result_with(pipeline, "mute column=latency", latency).rule == 1);
    assert_true(result_with(pipeline, "mute column=latency,kind", both).rule == 1);
    assert_true(result_with(pipeline, "mute column=latency\nmute reason=new", both).rule == 1);
    oif_pipeline_free(pipeline);
}

static void all_detectors_of_a_list_are_asked_after_a_muted_category(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline =
        taught_with_category("rolling-iforest+hst", "moves=off alert_rate=0.01");
    unsigned by_second = 0;
    for (int i = 0; i < 600; i++) {
        const double latency = 2.5 + i % 20 * 0.25, errors = -5 + i / 20 * 0.35;
        const double usual[] = {latency, errors, 1}, odd[] = {latency, errors, 2};
        const oif_result values = result_with(pipeline, "", usual),
                         muted = result_with(pipeline, "mute column=kind", odd);
        const bool by_category = result_with(pipeline, "", odd).reason == OIF_REASON_NEW_VALUE;
        if (!values.anomaly || !muted.anomaly || values.detector == 0 || !by_category)
            continue;
        assert_int_equal(muted.detector, values.detector);
        by_second++;
    }
    assert_true(by_second > 3);
    oif_pipeline_free(pipeline);
}

/* The detectors find it as well, but it is the same news. */
static void a_muted_first_value_is_not_reported_as_a_value(void **unused)
{
    (void)unused;
    static const char *const rules[] = {"", "mute column=2 reason=first", "mute column=2"};
    for (size_t i = 0; i < 3; i++) {
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "moves=off");
        dice from = {2};
        oif_result result = {0};
        set_rules(pipeline, rules[i]);
        for (int j = 0; j <= 3000; j++)
            result = process(pipeline, (double[]){dice_normal(&from), j < 3000 ? NAN : 7});
        assert_int_equal(result.anomaly, i == 0);
        assert_int_equal(result.rule, i > 0);
        oif_pipeline_free(pipeline);
    }
}

/* The rows of a season that is counted in rows pass on while they are ignored. */
static void ignored_rows_do_not_shift_a_season(void **unused)
{
    (void)unused;
    for (int ignores = 0; ignores < 2; ignores++) {
        oif_pipeline *pipeline =
            new_pipeline("rolling-iforest", "", 1, "moves=off season_rows=50 find_season=off");
        dice from = {3};
        unsigned anomalies = 0;
        set_rules(pipeline,
                  ignores ? "ignore from=1970-01-05T04:00:00Z until=1970-01-05T04:20:00Z" : "");
        for (int j = 0; j < 9000; j++) {
            const double x = 100 * sin(j * 2 * 3.14159265 / 50) + dice_normal(&from);
            oif_result result;
            oif_error error;
            require_ok_or(oif_pipeline_process_at(pipeline, NULL, 0, j * 60, &x, &result, &error),
                          error);
            anomalies += j > 6020 && result.anomaly;
        }
        assert_true(anomalies < 20);
        oif_pipeline_free(pipeline);
    }
}

static oif_result at(oif_pipeline *pipeline, const char *key, double seconds, double value)
{
    oif_result result;
    oif_error error;
    require_ok_or(oif_pipeline_process_at(pipeline, key, strlen(key), seconds,
                                          (double[COLUMNS]){value, 0, 0}, &result, &error),
                  error);
    return result;
}

static void keys_and_times_are_conditions(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "moves=off");
    dice from = {5};
    set_rules(pipeline, "mute key=db-* from=1970-01-01T01:00:00Z until=1970-01-01T02:00:00Z # x");
    for (int i = 0; i < LEARNED_ROWS; i++) {
        at(pipeline, "db-1", i, dice_normal(&from));
        at(pipeline, "web-1", i, dice_normal(&from));
    }
    assert_true(at(pipeline, "db-1", 3599, 50).anomaly);
    assert_true(at(pipeline, "web-1", 3600, 50).anomaly);
    oif_rule_info info;
    const oif_result held = at(pipeline, "db-1", 3601, 60);
    assert_true(!held.anomaly && held.rule == 1);
    assert_true(oif_pipeline_rule(pipeline, 0, &info) && info.held == 1);
    assert_true(info.first_seconds == 3601 && info.last_seconds == 3601);
    assert_false(oif_pipeline_rule(pipeline, 1, &info));
    oif_pipeline_free(pipeline);
}

/* After the window the model is as if the rows had never been: they differ in the rows before it
 * only by what observing leaves, which no score shows. */
static void ignored_rows_teach_nothing(void **unused)
{
    (void)unused;
    oif_pipeline *ignoring = taught_with("", "moves=off learn=all find_season=off"),
                 *without = NULL;
    oif_error error;
    oif_rule_info info;
    require_ok_or(oif_pipeline_clone(ignoring, &without, &error), error);
    set_rules(ignoring, "ignore from=2026-11-17T00:00:00Z until=2026-11-18T00:00:00Z");
    const double start = moment("2026-11-17T00:00:00Z");
    const uint64_t learned = oif_detector_rows_learned(oif_pipeline_detector(ignoring, NULL, 0));
    for (int i = 0; i < 500; i++) {
        const oif_result result = at(ignoring, "", start + i, 500);
        assert_true(!result.anomaly && !result.learned && result.rule == 1 && result.score > 0.5);
        assert_int_equal(result.episode, OIF_EPISODE_NONE);
    }
    assert_true(oif_pipeline_rule(ignoring, 0, &info) && info.held == 500);
    assert_true(oif_detector_rows_learned(oif_pipeline_detector(ignoring, NULL, 0)) == learned);
    dice from = {8};
    for (int i = 0; i < 200; i++) {
        const double value = 100 + dice_normal(&from);
        const oif_result a = at(ignoring, "", start + 86400 + i, value),
                         b = at(without, "", start + 86400 + i, value);
        assert_memory_equal(&a.score, &b.score, sizeof a.score);
        assert_true(a.anomaly == b.anomaly && a.learned);
    }
    assert_true(at(ignoring, "", start + 90000, 500).anomaly);
    oif_pipeline_free(ignoring);
    oif_pipeline_free(without);
}

static void count_silence(void *context, const oif_silence *silence)
{
    (void)silence;
    ++*(unsigned *)context;
}

static void silence_can_be_muted(void **unused)
{
    (void)unused;
    static const char *const rules[] = {"",
                                        "mute key=a*",
                                        "mute reason=silence",
                                        "mute key=b",
                                        "mute column=1",
                                        "ignore key=a",
                                        "mute column=*"};
    static const unsigned reports[] = {1, 0, 0, 1, 1, 0, 1};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        oif_pipeline *pipeline = new_pipeline("hst", "", COLUMNS, "silence=60");
        unsigned count = 0;
        set_rules(pipeline, rules[i]);
        at(pipeline, "a", 1000, 1);
        oif_pipeline_silent(pipeline, 2000, count_silence, &count);
        /* a column is not silent by itself: the rule is about values */
        assert_int_equal(count, reports[i]);
        oif_pipeline_free(pipeline);
    }
}

/* The end of a window in every zone and season: a second before it the rule is in force. Where the
 * clocks change between, it may be an hour later. */
static void a_rule_lasts_until_it_is_over(void **unused)
{
    (void)unused;
    static const char *const rules[] = {
        "mute time=22:00-04:00 zone=CET-1CEST,M3.5.0,M10.5.0/3",
        "mute time=01:30-02:30 zone=CET-1CEST,M3.5.0,M10.5.0/3",
        "mute time=08:00-18:00 days=mon-fri zone=EST5EDT,M3.2.0,M11.1.0",
        "mute days=sun zone=+05:30",
        "mute time=10:00-24:00 until=2026-10-25T12:00:00Z",
    };
    dice from = {7};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const oif_rule rule = rule_of(rules[i]);
        int checked = 0, changes = 0;
        for (int j = 0; j < 20000; j++) {
            const double seconds = moment("2026-01-01T00:00:00Z") + dice_below(&from, 31536000);
            if (!oif_rule_is_in_force(&rule, text_of(""), seconds, NULL))
                continue;
            const double end = oif_rule_lasts_until(&rule, seconds);
            const int32_t shown = oif_zone_clock_at(&rule.zone, end - 1).second -
                                  oif_zone_clock_at(&rule.zone, seconds).second;
            const bool is_changed = (shown + 86400) % 86400 != (int32_t)(end - 1 - seconds);
            assert_true(end > seconds && end <= seconds + 25 * 3600);
            assert_true(is_changed || oif_rule_is_in_force(&rule, text_of(""), end - 1, NULL));
            changes += is_changed;
            checked++;
        }
        assert_true(checked > 500 && changes < 50);
    }
    const oif_rule always = rule_of("mute column=a");
    assert_true(isinf(oif_rule_lasts_until(&always, 0)));
}

/* A thousand rules of a few zones find each clock once, and decide as without that. */
static void rules_that_share_clocks_decide_alike(void **unused)
{
    (void)unused;
    static const char *const zones[] = {"UTC", "+02:00", "CET-1CEST,M3.5.0,M10.5.0/3",
                                        "EST5EDT,M3.2.0,M11.1.0"};
    static char text[60 * 1000];
    size_t bytes = 0;
    oif_rules *rules = NULL;
    oif_error error;
    for (int i = 0; i < 400; i++) /* and more zones than clocks have a place */
        bytes += (size_t)snprintf(text + bytes, sizeof text - bytes,
                                  "%s time=%02d:%02d-%02d:%02d zone=%s\n",
                                  i % 3 ? "ignore" : "mute", i % 24, i % 60, (i + 1) % 24, i % 7,
                                  i < 300 ? zones[i % 4]
                                  : i % 2 ? "-07:00"
                                          : "+01:00");
    for (int i = 0; i < 50; i++)
        bytes += (size_t)snprintf(text + bytes, sizeof text - bytes,
                                  "ignore time=00:00-00:01 zone=+03:%02d\n", i);
    require_ok_or(oif_rules_new(text, bytes, NULL, NULL, &rules, &error), error);
    dice from = {3};
    for (int j = 0; j < 5000; j++) {
        const double seconds = 1.7e9 + dice_below(&from, 1u << 26);
        uint32_t slowly = 0;
        for (uint32_t i = 0; i < rules->count && slowly == 0; i++)
            if (rules->list[i].ignores &&
                oif_rule_is_in_force(&rules->list[i], text_of(""), seconds, NULL))
                slowly = i + 1;
        assert_int_equal(oif_rules_ignore(rules, text_of(""), seconds), slowly);
    }
    oif_rules_free(rules);
}

/* ---- Sets of rules ---- */

static void names_are_checked_and_counts_kept(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught_with("mute column=latency\n", "moves=off");
    oif_error error;
    oif_rule_info info;
    try_row(pipeline, 180, 0);
    const uint64_t held = held_by(pipeline, 0);
    assert_true(held > 0);
    assert_int_equal(oif_pipeline_set_rules(pipeline, "mute column=latency,eror", 24, &error),
                     OIF_EPARAM);
    assert_int_equal(error.column, 21);
    static const char unknown[] = "# new ones\n\nmute column=latency\n  mute column=latenzy\r\n";
    assert_int_equal(oif_pipeline_set_rules(pipeline, unknown, strlen(unknown), &error),
                     OIF_EPARAM);
    assert_true(error.cause == OIF_CAUSE_UNKNOWN_COLUMN && error.line == 4);
    assert_true(held_by(pipeline, 0) == held); /* nothing has changed */
    set_rules(pipeline, "mute column=err*\r\n mute column=latency \n"
                        "mute column=\"free memory\" direction=high # it is fine\n");
    assert_true(held_by(pipeline, 0) == 0 && held_by(pipeline, 1) == held);
    assert_true(oif_pipeline_rule(pipeline, 2, &info) &&
                strcmp(info.text, "mute column=\"free memory\" direction=high # it is fine") == 0);
    set_rules(pipeline, "");
    assert_false(oif_pipeline_rule(pipeline, 0, &info));
    assert_true(try_row(pipeline, 250, 0).rule == 0);
    oif_pipeline_free(pipeline);
}

static void a_million_rules_are_refused(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("hst", "", COLUMNS, "");
    oif_error error;
    const size_t line = strlen("mute column=1\n");
    char *many = malloc(1000001 * line + 1);
    for (size_t i = 0; i < 1000001; i++)
        memcpy(many + i * line, "mute column=1\n", line + 1);
    require_ok_or(oif_pipeline_set_rules(pipeline, many, 1000 * line, &error), error);
    assert_int_equal(oif_pipeline_set_rules(pipeline, many, 1001 * line, &error), OIF_EPARAM);
    assert_int_equal(oif_pipeline_set_rules(pipeline, many, 1000001 * line, &error), OIF_EPARAM);
    assert_int_equal(error.cause, OIF_CAUSE_BAD_RULE);
    free(many);
    oif_pipeline_free(pipeline);
}

/* ---- Snapshots, copies and threads ---- */

static void rules_survive_a_snapshot(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught_with("mute column=latency direction=low # why\n"
                                         "ignore key=x time=01:00-02:00\n",
                                         "moves=off"),
                 *loaded = NULL, *copy = NULL;
    oif_error error;
    try_row(pipeline, 20, 0);
    require_ok_or(oif_pipeline_name_roles(pipeline, "host", NULL, &error), error);
    snapshot saved = save_all(pipeline);
    require_ok_or(oif_pipeline_load_memory(saved.bytes, saved.count, &loaded, &error), error);
    require_ok_or(oif_pipeline_clone(pipeline, &copy, &error), error);
    snapshot again = save_all(loaded), cloned = save_all(copy);
    require_same_bytes(saved, again);
    require_same_bytes(saved, cloned);
    dice from = {6};
    for (int i = 0; i < 500; i++) {
        const double value = 100 + dice_normal(&from) * (i % 10 == 0 ? 20 : 1);
        const double row[COLUMNS] = {value, 0, dice_normal(&from)};
        const oif_result a = process(pipeline, row), b = process(loaded, row);
        require_same_result(&a, &b);
        assert_int_equal(a.rule, b.rule);
    }
    assert_true(held_by(pipeline, 0) == held_by(loaded, 0) && held_by(loaded, 0) > 5);
    /* Every byte of the section may be damaged. */
    for (size_t i = again.count - 400; i < again.count; i++) {
        oif_pipeline *broken = NULL;
        again.bytes[i] ^= 0x20;
        oif_status status = oif_pipeline_load_memory(again.bytes, again.count, &broken, &error);
        assert_true(status != OIF_OK && !broken);
        again.bytes[i] ^= 0x20;
    }
    free(saved.bytes);
    free(again.bytes);
    free(cloned.bytes);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(loaded);
    oif_pipeline_free(copy);
}

static void threads_hold_back_the_same_rows(void **unused)
{
    (void)unused;
    enum { ROWS = 12000, KEYS = 7 };
    oif_pipeline *pipelines[2];
    double *rows = malloc(ROWS * COLUMNS * sizeof *rows), *seconds = malloc(ROWS * sizeof *seconds);
    const char **keys = malloc(ROWS * sizeof *keys);
    static const char *const names[KEYS] = {"a", "b", "c", "d", "e", "f", "g"};
    oif_result *results = malloc(2 * ROWS * sizeof *results);
    dice from = {12};
    for (size_t i = 0; i < ROWS; i++) {
        draw_row(&from, rows + i * COLUMNS, COLUMNS);
        rows[i * COLUMNS + dice_below(&from, COLUMNS)] += i % 97 == 0 ? 30 : 0;
        seconds[i] = (double)i;
        keys[i] = names[dice_below(&from, KEYS)];
    }
    for (int t = 0; t < 2; t++) {
        oif_error error;
        size_t done;
        pipelines[t] = new_pipeline("rolling-iforest", "", COLUMNS, "moves=off");
        set_rules(pipelines[t], "mute column=2 key=a,b,c\nignore key=d from=1970-01-01T02:00:00Z");
        require_ok_or(oif_pipeline_set_threads(pipelines[t], t == 0 ? 1 : 3, &error), error);
        require_ok_or(oif_pipeline_process_rows(pipelines[t], rows, ROWS, COLUMNS, keys, NULL,
                                                seconds, results + t * ROWS, &done, &error),
                      error);
    }
    unsigned muted = 0;
    for (size_t i = 0; i < ROWS; i++) {
        require_same_result(&results[i], &results[ROWS + i]);
        assert_int_equal(results[i].rule, results[ROWS + i].rule);
        muted += results[i].rule == 1;
    }
    assert_true(muted > 3 && held_by(pipelines[0], 0) == muted);
    assert_true(held_by(pipelines[1], 0) == muted && held_by(pipelines[1], 1) > 100);
    snapshot a = save_all(pipelines[0]), b = save_all(pipelines[1]);
    require_same_bytes(a, b);
    free(a.bytes);
    free(b.bytes);
    for (int t = 0; t < 2; t++)
        oif_pipeline_free(pipelines[t]);
    free(rows);
    free(seconds);
    free(keys);
    free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_their_twin),
        cmocka_unit_test(mistakes_have_a_place),
        cmocka_unit_test(windows_follow_the_zone_and_its_summer_time),
        cmocka_unit_test(clocks_agree_with_the_c_library),
        cmocka_unit_test(a_named_zone_is_kept_as_its_posix_text),
        cmocka_unit_test(one_direction_can_be_muted),
        cmocka_unit_test(small_changes_can_be_muted),
        cmocka_unit_test(an_alert_of_other_columns_is_not_muted),
        cmocka_unit_test(a_flood_of_muted_alerts_hides_no_other),
        cmocka_unit_test(a_finding_in_another_column_is_not_lost_with_muted_values),
        cmocka_unit_test(all_detectors_of_a_list_are_asked_after_a_muted_category),
        cmocka_unit_test(a_muted_first_value_is_not_reported_as_a_value),
        cmocka_unit_test(ignored_rows_do_not_shift_a_season),
        cmocka_unit_test(keys_and_times_are_conditions),
        cmocka_unit_test(ignored_rows_teach_nothing),
        cmocka_unit_test(silence_can_be_muted),
        cmocka_unit_test(a_rule_lasts_until_it_is_over),
        cmocka_unit_test(rules_that_share_clocks_decide_alike),
        cmocka_unit_test(names_are_checked_and_counts_kept),
        cmocka_unit_test(a_million_rules_are_refused),
        cmocka_unit_test(rules_survive_a_snapshot),
        cmocka_unit_test(threads_hold_back_the_same_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
