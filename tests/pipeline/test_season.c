/* The judge of seasons against a twin that keeps all rows and finds those of the same phase, and
 * the cases it is meant for. */
#include "../detect/any_detector.h"

#include "base/block.h"
#include "base/memory.h"
#include "pipeline/judges/season.h"

#include <float.h>

enum { COLUMNS = 3, MAX_ROWS = 6000, NONE = 99 };

static oif_season *new_season(double period, bool in_seconds)
{
    const oif_season_options options = {period, in_seconds};
    size_t bytes = oif_season_bytes(COLUMNS, &options);
    oif_season *season = oif_memory_new(bytes);
    assert_non_null(season);
    memset(season, 0, bytes);
    oif_season_init(season, COLUMNS, &options);
    return season;
}

static void require_sound(const oif_season *season)
{
    oif_error error;
    require_ok_or(oif_season_check(season, &error), error);
}

static oif_finding observe_at(oif_season *season, const double *row, double seconds)
{
    oif_finding found = {.column = NONE};
    oif_season_observe(season, row, seconds, &found);
    return found;
}

static double observe(oif_season *season, const double *row)
{
    return observe_at(season, row, NAN).severity;
}

/* ---- The twin, for a period in rows ---- */

typedef struct twin {
    int period, phase_rows, phases, count;
    double rows[MAX_ROWS][COLUMNS];
    bool learned[MAX_ROWS];
} twin;

/* The mean of the learned values of a column in one phase of one period, as a float; NaN if there
 * is none. */
static double twin_mean(const twin *t, int period, int phase, size_t column)
{
    double mean = 0;
    int count = 0;
    for (int k = 0; k < t->phase_rows && phase * t->phase_rows + k < t->period; k++) {
        int i = period * t->period + phase * t->phase_rows + k;
        double x = t->rows[i][column] / 4;
        if (t->learned[i] && !isnan(x)) {
            count++;
            mean += (x - mean) / count;
        }
    }
    return count ? (double)(float)fmax(-FLT_MAX, fmin(FLT_MAX, mean)) : NAN;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of a phase. Of the periods 0, 3, 6, .. the last one that has the phase counts; the
 * same for 1, 4, 7, .. and 2, 5, 8, .. The current period counts if the phase is over. */
static double twin_median(const twin *t, int phase, size_t column)
{
    double found[3];
    int last = t->count - 1, count = 0, last_period = last / t->period;
    int now = last % t->period / t->phase_rows;
    for (int slot = 0; slot < 3; slot++) {
        double mean = NAN;
        for (int period = slot; period <= last_period; period += 3)
            if (period < last_period || phase < now) {
                double had = twin_mean(t, period, phase, column);
                mean = isnan(had) ? mean : had;
            }
        if (!isnan(mean))
            found[count++] = mean;
    }
    qsort(found, (size_t)count, sizeof *found, by_size);
    if (count < 2)
        return NAN;
    return count % 2 ? found[count / 2]
                     : (double)((float)found[count / 2 - 1] / 2 + (float)found[count / 2] / 2);
}

static double twin_difference(const twin *t, size_t column)
{
    int last = t->count - 1;
    double from = (last % t->period + 0.5) / t->phase_rows - 0.5;
    if (from < 0)
        from += t->phases;
    int phase = (int)from;
    double share = from - phase, a = twin_median(t, phase, column),
           b = share > 0 ? twin_median(t, (phase + 1) % t->phases, column) : a;
    double expected = isnan(a) ? b : isnan(b) ? a : a + (b - a) * share;
    double before = twin_median(t, (phase + t->phases - 1) % t->phases, column);
    double slope = share > 0 ? fmax(fabs(b - a), fabs(a - before)) : 0; /* fmax ignores NaN */
    double x = t->rows[last][column] / 4 - expected;
    if (isnan(x))
        return x;
    double size = isnan(slope) ? fabs(x) : fmax(0, fabs(x) - slope);
    return size > 0 ? copysign(fmin(size, OIF_MOST_MAGNITUDE), x) : 0;
}

static void require_same(const oif_season *season, const twin *t, int period)
{
    for (size_t j = 0; j < COLUMNS; j++) {
        double expected = twin_difference(t, j),
               found = oif_season_difference(season, j, t->rows[t->count - 1][j]);
        if (isnan(expected) ? !isnan(found) : found != expected)
            fail_msg("period %d, row %d, column %zu: differs by %.17g, by definition by %.17g",
                     period, t->count - 1, j, 4 * found, 4 * expected);
    }
}

/* Periods with one row per phase, with several, and with an incomplete last phase. */
static void differences_are_those_of_the_definition(void **state)
{
    (void)state;
    static twin t;
    const int periods[] = {2, 3, 96, 512, 513, 600, 1030};
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        const int period = periods[p],
                  phase_rows = (period + OIF_SEASON_PHASES - 1) / OIF_SEASON_PHASES;
        oif_season *season = new_season(period, false);
        t.period = period;
        t.phase_rows = phase_rows;
        t.phases = (period + phase_rows - 1) / phase_rows;
        t.count = 0;
        dice from = {(uint64_t)period};
        for (int i = 0; i < MAX_ROWS; i++) {
            const style styles[COLUMNS] = {NORMAL, (style)(p % STYLES), FAR_OFFSET};
            for (size_t j = 0; j < COLUMNS; j++)
                t.rows[i][j] =
                    dice_chance(&from, 0.2) ? NAN : number_in_style(&from, styles[j], (uint64_t)i);
            t.learned[i] = false;
            t.count++;
            observe(season, t.rows[i]);
            if (i % 7 == 0 || i % period < 2)
                require_same(season, &t, period);
            t.learned[i] = !dice_chance(&from, 0.1);
            if (t.learned[i])
                oif_season_learn(season, t.rows[i]);
            if (i % 64 == 0)
                require_sound(season);
        }
        oif_memory_free(season);
    }
}

/* ---- What it is meant for ---- */

enum { PERIOD = 96 };

/* A daily load, another one with a peak of one row, and noise. */
static void make_row(dice *from, double phase, double row[COLUMNS])
{
    row[0] = 100 + 20 * sin(6.283185307179586 * phase / PERIOD) + 2 * dice_normal(from);
    row[1] = (phase == 7 ? 50 : 0) + dice_normal(from);
    row[2] = dice_normal(from);
}

/* Learns some rows; returns the largest severity in the second half. */
static double learn_rows(oif_season *season, dice *from, int rows)
{
    double row[COLUMNS], most = 0;
    for (int i = 0; i < rows; i++) {
        make_row(from, (double)(season->rows % PERIOD), row);
        double severity = observe(season, row);
        most = i > rows / 2 ? fmax(most, severity) : most;
        oif_season_learn(season, row);
    }
    return most;
}

static void a_number_of_another_time_of_the_day_is_noticed(void **state)
{
    (void)state;
    dice from = {1};
    oif_season *season = new_season(PERIOD, false);
    double row[COLUMNS];
    expect_within(learn_rows(season, &from, 60 * PERIOD + 24), 0, 3, "ordinary severity");
    make_row(&from, 24, row);
    row[0] = 80; /* as at night */
    oif_finding found = observe_at(season, row, NAN);
    expect_within(found.severity, 4, 9, "the severity");
    expect_within(found.size, 30, 45, "the size of the difference");
    expect_within(found.usual, 4, 9, "the usual difference");
    assert_int_equal(found.column, 0);
    assert_int_equal(found.direction, -1);
    make_row(&from, 25, row);
    row[1] = 50; /* a peak at the wrong time */
    found = observe_at(season, row, NAN);
    expect_within(found.severity, 6, 19, "the severity");
    assert_int_equal(found.column, 1);
    assert_int_equal(found.direction, 1);
    oif_memory_free(season);
}

static void a_column_without_a_season_is_not_judged(void **state)
{
    (void)state;
    dice from = {2};
    oif_season *season = new_season(PERIOD, false);
    double row[COLUMNS], walk = 0;
    for (int i = 0; i < 20000; i++) {
        row[0] = dice_normal(&from);
        row[1] = walk += dice_normal(&from);
        row[2] = (double)i + (i == 19000 ? 500 : 0);
        double severity = observe(season, row);
        if (severity > 2.8) /* the bar */
            fail_msg("row %d: severity %g", i, severity);
        oif_season_learn(season, row);
    }
    oif_memory_free(season);
}

/* One bad period is learned; the next ones are as usual. */
static void one_bad_period_does_not_matter(void **state)
{
    (void)state;
    dice from = {3};
    oif_season *season = new_season(PERIOD, false);
    double row[COLUMNS], most = 0;
    learn_rows(season, &from, 40 * PERIOD);
    for (int i = 0; i < PERIOD; i++) {
        make_row(&from, i + PERIOD / 2, row);
        observe(season, row);
        oif_season_learn(season, row);
    }
    for (int i = 0; i < PERIOD; i++) {
        make_row(&from, i, row);
        const double severity = observe(season, row);
        most = i < PERIOD / 2 ? 0 : fmax(most, severity); /* then the shape is that of good rows */
    }
    expect_within(most, 0, 3, "the severity after a bad period");
    oif_memory_free(season);
}

/* Phases of 30 rows, over which the value rises by 30 times its noise. */
static void a_steep_slope_is_not_unusual(void **state)
{
    (void)state;
    enum { LONG = 30 * OIF_SEASON_PHASES };
    dice from = {4};
    oif_season *season = new_season(LONG, false);
    double most = 0;
    for (int i = 0; i < 8 * LONG; i++) {
        int at = i % LONG < LONG / 2 ? i % LONG : LONG - i % LONG;
        double row[COLUMNS] = {at + dice_normal(&from), 0, NAN};
        double severity = observe(season, row);
        most = i > 5 * LONG ? fmax(most, severity) : most;
        oif_season_learn(season, row);
    }
    expect_within(most, 0, 3, "the severity of a slope");
    double row[COLUMNS] = {900, 0, NAN}; /* at the minimum */
    expect_within(observe(season, row), 6, 30, "the severity of a wrong number");
    oif_memory_free(season);
}

/* Rows about a quarter of an hour apart; some are missing. */
static void a_period_may_be_in_seconds(void **state)
{
    (void)state;
    for (int jitter = 0; jitter <= 200; jitter += 100) {
        dice from = {5};
        oif_season *season = new_season(86400, true);
        double row[COLUMNS], most = 0, seconds = 0;
        for (int i = 0; i < 60 * PERIOD + 24; i++) {
            seconds = 1.7e9 + 900.0 * i + jitter * dice_unit(&from);
            make_row(&from, seconds / 900 - floor(seconds / 86400) * PERIOD, row);
            row[1] = dice_normal(&from);
            if (dice_chance(&from, 0.1) && i > PERIOD)
                continue;
            double severity = observe_at(season, row, seconds).severity;
            most = i > 30 * PERIOD ? fmax(most, severity) : most;
            oif_season_learn(season, row);
        }
        expect_within(season->phases, PERIOD - 1, PERIOD + 1, "the phases");
        require_sound(season);
        expect_within(most, 0, 3, "ordinary severity");
        assert_true(observe_at(season, row, NAN).severity == 0);
        oif_season_learn(season, row);
        row[0] = row[0] > 100 ? 75 : 125;
        double severity = observe_at(season, row, seconds + 900).severity;
        expect_within(severity, 4, 12, "the severity of a wrong number");
        oif_memory_free(season);
    }
}

static void any_time_and_any_number_leave_it_sound(void **state)
{
    (void)state;
    const double times[] = {NAN,  INFINITY, -INFINITY, 1e308, -1e308, 0,  -1,
                            1e17, 5e-324,   -1e9,      1e9,   1e9,    1e9};
    for (style of = NORMAL; of < STYLES; of++) {
        dice from = {50 + of};
        oif_season *season = new_season(300, true);
        for (uint64_t i = 0; i < 5000; i++) {
            double row[COLUMNS], seconds = 10.0 * (double)i;
            for (size_t j = 0; j < COLUMNS; j++) {
                row[j] = number_in_style(&from, of, i);
                row[j] = isinf(row[j]) ? 1e308 : row[j];
            }
            if (dice_chance(&from, 0.05))
                seconds = times[dice_below(&from, 13)];
            double severity = observe_at(season, row, seconds).severity;
            if (!(severity >= 0 && severity < 1000))
                fail_msg("style %d, row %" PRIu64 ": severity %g", of, i, severity);
            if (i % 3)
                oif_season_learn(season, row);
            if (i % 16 == 0)
                require_sound(season);
        }
        oif_memory_free(season);
    }
}

/* ---- Damage ---- */

#define require_refused(season, field, damaged)                                                    \
    do {                                                                                           \
        __typeof__(field) kept = field;                                                            \
        field = damaged;                                                                           \
        if (oif_season_check(season, NULL) != OIF_EINVARIANT)                                      \
            fail_msg(#field " may be " #damaged);                                                  \
        field = kept;                                                                              \
        require_sound(season);                                                                     \
    } while (0)

static void damage_is_noticed(void **state)
{
    (void)state;
    dice from = {6};
    oif_season *season = new_season(PERIOD, false);
    learn_rows(season, &from, 10 * PERIOD);
    uint32_t *history = oif_block_part(season, season->history_at);
    oif_season_column *columns = oif_block_part(season, season->columns_at);
    require_refused(season, season->phases, 97);
    require_refused(season, season->phase, 96);
    require_refused(season, season->slot, 3);
    require_refused(season, season->first_seconds, INFINITY);
    require_refused(season, season->middle, 1.5);
    require_refused(season, season->middle, NAN);
    require_refused(season, history[5], 0x7f800000);
    require_refused(season, columns[1].mean, NAN);
    require_refused(season, columns[0].difference.size, NAN);
    require_refused(season, columns[1].unlikeness.sum, -1);
    require_refused(season, columns[1].shape.rows, -1);
    require_refused(season, columns[2].own, -1);
    require_refused(season, columns[2].other, INFINITY);
    oif_memory_free(season);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_those_of_the_definition),
        cmocka_unit_test(a_number_of_another_time_of_the_day_is_noticed),
        cmocka_unit_test(a_column_without_a_season_is_not_judged),
        cmocka_unit_test(one_bad_period_does_not_matter),
        cmocka_unit_test(a_steep_slope_is_not_unusual),
        cmocka_unit_test(a_period_may_be_in_seconds),
        cmocka_unit_test(any_time_and_any_number_leave_it_sound),
        cmocka_unit_test(damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
