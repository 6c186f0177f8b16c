/* What real streams showed, in streams that need no data: rounded sensors, twins, late columns,
 * level shifts and seasons under noise. docs/measurements/reality.md has the real ones. */
#include "pipelines.h"

static const double turn = 6.283185307179586;

/* A value that remembers: x = keep x + noise, with a standard deviation of 1. */
static double wander(double *x, double keep, dice *from)
{
    return *x = keep * *x + sqrt(1 - keep * keep) * dice_normal(from);
}

static double rounded(double x, double step)
{
    return floor(x / step + 0.5) * step;
}

/* A thermometer with one decimal, counts, and numbers of up to three digits. */
static double sensor(int kind, double *state, dice *from)
{
    if (kind == 0)
        return rounded(20 + 3 * wander(state, 0.99, from), 0.1);
    return kind == 1 ? rounded(20 + 4.5 * dice_normal(from), 1) : floor(1000 * dice_unit(from));
}

static void a_frozen_value_is_found_although_values_repeat(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 3; kind++) {
        int found = 0, others = 0;
        for (uint64_t seed = 0; seed < 10; seed++) {
            oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 1, "");
            dice from = {seed};
            double state = 0, x = 0;
            bool is_found = false;
            for (int i = 0; i < 6000; i++) {
                bool is_frozen = i > 4000 && i < 4500;
                double next = sensor(kind, &state, &from);
                x = is_frozen ? x : next;
                oif_result r = process(pipeline, &x);
                is_found |= is_frozen && r.anomaly && r.reason == OIF_REASON_STUCK;
                others += !is_frozen && r.episode == OIF_EPISODE_BEGINS;
            }
            found += is_found;
            oif_pipeline_free(pipeline);
        }
        if (found < 8 || others > 10 * 12) /* 6 per stream are asked for */
            fail_msg("sensor %d: found in %d of 10 streams, %d other episodes", kind, found,
                     others);
    }
}

/* Two columns that differ by one digit in 1% of the rows. */
static void twins_that_differ_by_a_digit_keep_to_the_budget(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 5; seed++) {
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "");
        dice from = {20 + seed};
        double state = 0;
        int episodes = 0;
        for (int i = 0; i < 10000; i++) {
            double row[2];
            row[0] = row[1] = rounded(wander(&state, 0.95, &from), 0.05);
            row[1] += dice_chance(&from, 0.01) ? 0.05 : 0;
            episodes += process(pipeline, row).episode == OIF_EPISODE_BEGINS;
        }
        oif_pipeline_free(pipeline);
        if (episodes > 15)
            fail_msg("seed %d: %d episodes where 10 were asked for", (int)seed, episodes);
    }
}

static void a_column_that_starts_late_is_reported_once_as_a_note(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "");
    dice from = {30};
    int first_values = 0, critical = 0, alerts = 0;
    for (int i = 0; i < 6000; i++) {
        double row[2] = {dice_normal(&from), i < 3000 ? NAN : 50 + dice_normal(&from)};
        oif_result r = process(pipeline, row);
        if (i == 3000) {
            oif_attribution why[2];
            assert_true(r.anomaly && r.reason == OIF_REASON_FIRST_VALUE);
            oif_pipeline_explain(pipeline, why);
            assert_true(why[1].share == 1 && why[1].reason == OIF_REASON_FIRST_VALUE);
        }
        first_values += r.reason == OIF_REASON_FIRST_VALUE;
        critical += i >= 3000 && r.grade == OIF_GRADE_CRITICAL;
        alerts += i >= 3000 && i < 3300 && r.anomaly;
    }
    assert_int_equal(first_values, 1);
    assert_int_equal(critical, 0);
    assert_true(alerts <= 4);
    oif_pipeline_free(pipeline);
}

/* A value 1000 sd out is an alert at any time after a level shift of its column. */
static void a_shift_does_not_hide_a_spike(void **unused)
{
    (void)unused;
    static const int after[] = {300, 600, 1000, 2000, 4000};
    for (size_t columns = 1; columns <= 10; columns += 9)
        for (double shift = 5; shift <= 30; shift += 12.5)
            for (size_t k = 0; k < 5; k++) {
                oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", columns, "");
                dice from = {40 + k};
                double row[10];
                for (int i = 0; i < 5000 + after[k]; i++) {
                    draw_row(&from, row, columns);
                    row[0] += i >= 5000 ? shift : 0;
                    (void)process(pipeline, row);
                }
                row[0] = shift + 1000;
                if (!process(pipeline, row).anomaly)
                    fail_msg("%zu columns, %d rows after a shift of %g sd: no alert", columns,
                             after[k], shift);
                oif_pipeline_free(pipeline);
            }
}

/* A wave of amplitude 10 under noise that remembers; one day is upside down. */
static void a_day_upside_down_is_found_and_its_season_too(void **unused)
{
    (void)unused;
    enum { DAY = 288, DAYS = 26, BAD_DAY = 22 };
    int found = 0, found_season = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 1, "");
        dice from = {60 + seed};
        double state = 0;
        bool is_found = false;
        for (int i = 0; i < DAY * DAYS; i++) {
            bool is_bad = i / DAY == BAD_DAY;
            double x = (is_bad ? -10 : 10) * sin(turn * i / DAY) + 3 * wander(&state, 0.98, &from);
            is_found |= process(pipeline, &x).anomaly && is_bad;
        }
        oif_season_info season;
        found_season += oif_pipeline_season(pipeline, NULL, 0, 0, &season) && season.was_found &&
                        fabs(season.rows - DAY) <= 0.03 * DAY && season.strength > 0.4;
        assert_false(oif_pipeline_season(pipeline, NULL, 0, 1, &season));
        found += is_found;
        oif_pipeline_free(pipeline);
    }
    if (found < 9 || found_season < 9)
        fail_msg("found in %d of 10 streams, the season in %d", found, found_season);
}

static void process_partners(oif_pipeline *pipeline, dice *from, int rows)
{
    for (int i = 0; i < rows; i++) {
        double x = 10 + dice_normal(from), row[2] = {x, 2 * x + 0.05 * dice_normal(from)};
        (void)process(pipeline, row);
    }
}

static oif_pipeline *with_partners(dice *from)
{
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "");
    process_partners(pipeline, from, 5000);
    return pipeline;
}

/* A value that is far too high is the reason, and not that another column does not follow it. */
static void the_column_with_the_outlier_is_the_reason(void **unused)
{
    (void)unused;
    dice from = {80};
    oif_pipeline *pipeline = with_partners(&from);
    oif_attribution why[2];
    oif_episode_info episode;
    oif_result r = process(pipeline, (double[]){10, 20000});
    oif_pipeline_explain(pipeline, why);
    assert_true(oif_pipeline_episode(pipeline, NULL, 0, &episode));
    assert_true(r.anomaly && r.reason == episode.reason);
    assert_true(r.reason == OIF_REASON_JUMP || r.reason == OIF_REASON_VALUES);
    assert_true(why[1].reason == r.reason && why[1].direction == 1 && why[1].share > 0.9);
    oif_pipeline_free(pipeline);
    pipeline = with_partners(&from);
    r = process(pipeline, (double[]){11, 18}); /* both are usual, but not together */
    assert_true(r.anomaly && r.reason == OIF_REASON_PARTNER);
    oif_pipeline_free(pipeline);
}

/* Also after rows that follow each other again. */
static void an_episode_knows_which_column_is_no_longer_followed(void **unused)
{
    (void)unused;
    dice from = {80};
    oif_pipeline *pipeline = with_partners(&from);
    oif_attribution why[2];
    oif_episode_info episode;
    oif_result r = process(pipeline, (double[]){11, 18});
    oif_pipeline_explain(pipeline, why);
    assert_true(r.anomaly && r.reason == OIF_REASON_PARTNER);
    for (int i = 0; i < 2; i++) {
        assert_true(oif_pipeline_episode(pipeline, NULL, 0, &episode));
        assert_true(episode.reason == OIF_REASON_PARTNER && episode.column < 2);
        assert_int_equal(episode.partner, 1 - episode.column);
        process_partners(pipeline, &from, 100);
    }
    assert_true(episode.is_over);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frozen_value_is_found_although_values_repeat),
        cmocka_unit_test(twins_that_differ_by_a_digit_keep_to_the_budget),
        cmocka_unit_test(a_column_that_starts_late_is_reported_once_as_a_note),
        cmocka_unit_test(a_shift_does_not_hide_a_spike),
        cmocka_unit_test(a_day_upside_down_is_found_and_its_season_too),
        cmocka_unit_test(the_column_with_the_outlier_is_the_reason),
        cmocka_unit_test(an_episode_knows_which_column_is_no_longer_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
