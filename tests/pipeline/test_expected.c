/* What was expected of a column: a range that covers as many values as it says, does not widen with
 * an incident, and follows the season, the partner or the row before if these found the anomaly. */
#include "base/memory.h"
#include "pipeline/judges/partner.h"
#include "pipeline/judges/season.h"
#include "pipeline/judges/watch.h"
#include "pipelines.h"

static void *zeroed(size_t bytes)
{
    void *block = oif_memory_new(bytes);
    assert_non_null(block);
    memset(block, 0, bytes);
    return block;
}

/* ---- The recent rows ---- */

enum { ROWS = 6000, COLUMNS = 2 };

/* How many of many new values are within what is expected of a column. */
static double coverage(const oif_expected *expected, style of, dice *from)
{
    enum { TRIED = 20000 };
    unsigned within = 0;
    for (uint64_t i = 0; i < TRIED; i++) {
        const double x = number_in_style(from, of, i);
        within += x >= expected->low && x <= expected->high;
    }
    return (double)within / TRIED;
}

static void recent_rows_cover_as_many_as_they_say(void **unused)
{
    (void)unused;
    static const style styles[] = {NORMAL, HEAVY_TAILS};
    for (size_t s = 0; s < sizeof styles / sizeof *styles; s++) {
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "learn=all");
        oif_expected expected[COLUMNS];
        dice from = {1 + s};
        for (uint64_t i = 0; i < ROWS; i++) {
            const double row[COLUMNS] = {number_in_style(&from, styles[s], i),
                                         number_in_style(&from, styles[s], i)};
            process(pipeline, row);
        }
        oif_pipeline_expected(pipeline, expected);
        for (size_t c = 0; c < COLUMNS; c++) {
            const double share = coverage(&expected[c], styles[s], &from);
            assert_true(share > 0.955 && share < 0.99);
            assert_int_equal(expected[c].basis, OIF_REASON_VALUES);
        }
        oif_pipeline_free(pipeline);
    }
}

static void an_incident_does_not_widen_it(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "learn=all");
    oif_expected before[COLUMNS], after[COLUMNS];
    dice from = {4};
    double row[COLUMNS];
    for (int i = 0; i < ROWS; i++) {
        draw_row(&from, row, COLUMNS);
        process(pipeline, row);
    }
    oif_pipeline_expected(pipeline, before);
    for (int i = 0; i < 200; i++) {
        draw_row(&from, row, COLUMNS);
        row[0] += i % 8 == 0 ? 1000 : 0;
        process(pipeline, row);
    }
    oif_pipeline_expected(pipeline, after);
    assert_true(after[0].high < before[0].high + 1);
    oif_pipeline_free(pipeline);
}

/* Detectors without ranges, and pipelines without rows, too. */
static void every_detector_answers(void **unused)
{
    (void)unused;
    for (size_t k = 0; oif_detector_info_at(k); k++) {
        oif_pipeline *pipeline = new_pipeline(oif_detector_info_at(k)->table.name, "", COLUMNS, "");
        oif_expected expected[COLUMNS];
        dice from = {k + 1};
        oif_pipeline_expected(pipeline, expected);
        assert_true(isnan(expected[0].low) && isnan(expected[1].high));
        for (int i = 0; i < 1500; i++) {
            double row[COLUMNS] = {NAN, 50 + dice_normal(&from)};
            process(pipeline, row);
            oif_pipeline_expected(pipeline, expected);
            for (size_t c = 0; c < COLUMNS; c++)
                assert_true(isnan(expected[c].low) ? isnan(expected[c].high)
                                                   : expected[c].low <= expected[c].high);
        }
        assert_true(isnan(expected[0].low));
        assert_true(expected[1].low > 45 && expected[1].low < 49.5);
        assert_true(expected[1].high > 50.5 && expected[1].high < 55);
        oif_pipeline_free(pipeline);
    }
}

/* ---- Judges ---- */

static void a_season_expects_what_it_predicts(void **unused)
{
    (void)unused;
    enum { PERIOD = 48 };
    const oif_season_options options = {.period = PERIOD};
    oif_season *season = zeroed(oif_season_bytes(1, &options));
    dice from = {2};
    double low, high;
    oif_season_init(season, 1, &options);
    assert_false(oif_season_expected(season, 0, &low, &high));
    for (int i = 0; i < 100 * PERIOD; i++) {
        const double usual = 1000 + 100 * sin(2 * 3.14159265 * i / PERIOD),
                     x = usual + dice_normal(&from);
        oif_finding found = {0};
        oif_season_observe(season, &x, NAN, &found);
        if (i > 99 * PERIOD) {
            assert_true(oif_season_expected(season, 0, &low, &high));
            assert_true(low > usual - 8 && low < usual && high > usual && high < usual + 8);
        }
        oif_season_learn(season, &x);
    }
    oif_memory_free(season);
}

static void a_partner_expects_what_it_predicts(void **unused)
{
    (void)unused;
    oif_partner *partner = zeroed(oif_partner_bytes(2));
    dice from = {3};
    double low, high;
    size_t column;
    int direction;
    oif_partner_init(partner, 2);
    assert_false(oif_partner_expected(partner, (double[]){1, 2}, 0, &low, &high));
    for (int i = 0; i < 3000; i++) {
        const double x = 10 * dice_normal(&from), row[] = {5 + 3 * x + dice_normal(&from), x};
        oif_partner_observe(partner, row, &column, &direction);
        oif_partner_learn(partner, row);
    }
    assert_true(oif_partner_expected(partner, (double[]){500, 10}, 0, &low, &high));
    assert_true(low > 25 && low < 35 && high > 35 && high < 45);
    assert_false(oif_partner_expected(partner, (double[]){500, NAN}, 0, &low, &high));
    oif_memory_free(partner);
}

/* Whether the step was one of 1, 2 or 4 rows: the range is around the value there, and a value that
 * jumped up is above it. */
static void a_jump_is_expected_from_where_it_began(void **unused)
{
    (void)unused;
    oif_watch *watch = zeroed(oif_watch_bytes(1));
    double x[5] = {0}, low, high;
    unsigned jumps = 0;
    dice from = {5};
    oif_watch_init(watch, 1);
    for (int i = 0; i < 4000; i++) {
        memmove(x + 1, x, 4 * sizeof *x);
        x[0] += dice_normal(&from);
        oif_finding findings[OIF_JUDGES], *change = &findings[OIF_JUDGE_CHANGE];
        oif_watch_observe(watch, x, findings);
        if (i < 2000 || change->reason != OIF_REASON_JUMP || change->severity < 2)
            continue;
        assert_true(oif_watch_jump_range(change, x[0], &low, &high));
        const double middle = (low + high) / 2;
        assert_true(fabs(middle - x[1]) < 1e-9 || fabs(middle - x[2]) < 1e-9 ||
                    fabs(middle - x[4]) < 1e-9);
        assert_true(change->direction > 0 ? x[0] > high : x[0] < low);
        jumps++;
    }
    assert_true(jumps > 10);
    oif_memory_free(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recent_rows_cover_as_many_as_they_say),
        cmocka_unit_test(an_incident_does_not_widen_it),
        cmocka_unit_test(every_detector_answers),
        cmocka_unit_test(a_season_expects_what_it_predicts),
        cmocka_unit_test(a_partner_expects_what_it_predicts),
        cmocka_unit_test(a_jump_is_expected_from_where_it_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
