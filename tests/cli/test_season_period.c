/* The search for a period: clock periods and others, with noise, trends, outliers and gaps; and
 * none if there is none. */
#include "../../cli/season_period.h"

#include "../detect/driver.h"

enum { MOST_ROWS = 8192, SEEDS = 5 };

static double series[MOST_ROWS];

/* A day with a night, a morning and a long afternoon: 0 to about 2. */
static double day(double phase)
{
    double wave = sin(6.283185307179586 * phase);
    return wave + 0.5 * (phase > 0.3 && phase < 0.4) + 0.3 * cos(12.566370614359172 * phase) + 1;
}

typedef struct shape {
    double noise, trend, walk; /* per row */
    double outliers, missing;  /* fractions of the rows */
    double scale;
} shape;

static void fill(size_t rows, size_t period, const shape *like, uint64_t seed)
{
    dice from = {.state = seed};
    double walk = 0;
    for (size_t i = 0; i < rows; i++) {
        walk += like->walk * dice_normal(&from);
        double value = period > 0 ? day((double)(i % period) / (double)period) : 0;
        value += like->noise * dice_normal(&from) + like->trend * (double)i + walk;
        if (dice_chance(&from, like->outliers))
            value += 1000 * dice_normal(&from);
        series[i] = dice_chance(&from, like->missing) ? NAN : value * like->scale;
    }
}

static void require_period(size_t rows, size_t period, const shape *like, const char *what)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        fill(rows, period, like, seed);
        season_period found = season_period_find(series, rows);
        if (found.rows != period)
            fail_msg("%s, %zu rows, seed %" PRIu64 ": found a period of %zu (%.2f, %.1f), not %zu",
                     what, rows, seed, found.rows, found.correlation, found.certainty, period);
        assert_true(period == 0 || (found.correlation > 0.3 && found.correlation < 1.01));
    }
}

static void test_periods_of_clocks_are_found_under_noise(void **state)
{
    (void)state;
    const size_t periods[] = {7, 12, 24, 48, 96, 168, 288, 1440};
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
        for (size_t rows = 2048; rows <= MOST_ROWS; rows *= 2)
            if (rows >= 3 * periods[i])
                require_period(rows, periods[i], &(shape){.noise = 0.3, .scale = 1}, "noise");
}

static void test_other_periods_are_found_as_they_are(void **state)
{
    (void)state;
    const size_t periods[] = {5, 17, 25, 47, 100, 250};
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
        require_period(4096, periods[i], &(shape){.noise = 0.1, .scale = 1}, "other");
}

/* Two sines with noise, of which the second is `ratio` times as large. */
static void fill_two(size_t rows, const size_t periods[2], double ratio, double noise,
                     uint64_t seed)
{
    dice from = {.state = seed};
    const double turn = 6.283185307179586;
    for (size_t i = 0; i < rows; i++)
        series[i] = sin(turn * (double)i / (double)periods[0]) +
                    ratio * sin(turn * (double)i / (double)periods[1] + 1) +
                    noise * dice_normal(&from);
}

static void test_of_two_periods_one_is_found_or_their_common_multiple(void **state)
{
    (void)state;
    const size_t periods[][2] = {{24, 168}, {96, 672}, {60, 25}, {67, 40}, {33, 53}, {7, 30}};
    const double ratios[] = {0.3, 0.7, 1, 2};
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++)
        for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++)
            for (uint64_t seed = 1; seed <= 2; seed++) {
                size_t first = periods[p][0], second = periods[p][1];
                fill_two(4096, periods[p], ratios[r], 0.2, seed);
                size_t found = season_period_find(series, 4096).rows;
                if (found != first && found != second &&
                    (found == 0 || found % first > 0 || found % second > 0))
                    fail_msg("%zu and %zu, the second %.1f times as large, seed %" PRIu64
                             ": found a period of %zu",
                             first, second, ratios[r], seed, found);
            }
}

static void test_a_day_and_a_week_are_found_under_much_noise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        fill_two(4096, (const size_t[]){24, 168}, 1, 1.5, seed);
        size_t found = season_period_find(series, 4096).rows;
        if (found != 24 && found != 168)
            fail_msg("seed %" PRIu64 ": found a period of %zu", seed, found);
    }
}

static void test_a_period_that_is_not_whole_is_rounded(void **state)
{
    (void)state;
    const double periods[] = {9.4, 24.3, 61.7, 200.4};
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        dice from = {.state = p + 1};
        for (size_t i = 0; i < 4096; i++)
            series[i] = day(fmod((double)i / periods[p], 1)) + 0.2 * dice_normal(&from);
        size_t found = season_period_find(series, 4096).rows;
        if (fabs((double)found - periods[p]) > 1)
            fail_msg("%.1f rows: found a period of %zu", periods[p], found);
    }
}

static void test_a_level_per_weekday_does_not_make_two_days_a_period(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        dice from = {.state = seed};
        double levels[7];
        for (size_t i = 0; i < 7; i++)
            levels[i] = 0.7 * dice_normal(&from);
        for (size_t i = 0; i < 2016; i++)
            series[i] = day((double)(i % 24) / 24) + levels[i / 24 % 7] + 0.3 * dice_normal(&from);
        size_t found = season_period_find(series, 2016).rows;
        if (found != 24 && found != 168)
            fail_msg("seed %" PRIu64 ": found a period of %zu", seed, found);
    }
}

static void test_trends_outliers_gaps_and_units_do_not_matter(void **state)
{
    (void)state;
    const shape shapes[] = {{.noise = 0.3, .trend = 0.01, .scale = 1},
                            {.noise = 0.3, .trend = -1, .scale = 1},
                            {.noise = 0.2, .walk = 0.05, .scale = 1},
                            {.noise = 0.2, .outliers = 0.01, .scale = 1},
                            {.noise = 0.2, .missing = 0.1, .scale = 1},
                            {.noise = 0.2, .scale = 1e307},
                            {.noise = 0.2, .scale = 1e-307}};
    const char *const names[] = {"a rise", "a fall", "a walk", "outliers", "gaps", "huge", "tiny"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        require_period(4096, 24, &shapes[i], names[i]);
        require_period(4096, 96, &shapes[i], names[i]);
    }
}

static void test_noise_walks_and_trends_have_no_period(void **state)
{
    (void)state;
    const shape shapes[] = {{.noise = 1, .scale = 1},
                            {.walk = 1, .scale = 1},
                            {.walk = 1, .noise = 5, .scale = 1},
                            {.trend = 1, .noise = 10, .scale = 1},
                            {.noise = 0.1, .outliers = 0.001, .scale = 1},
                            {.walk = 1, .missing = 0.2, .scale = 1e307}};
    const char *const names[] = {"noise",   "a walk",   "a noisy walk",
                                 "a trend", "outliers", "huge gaps"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t rows = 64; rows <= MOST_ROWS; rows *= 2)
            require_period(rows, 0, &shapes[i], names[i]);
}

static void test_a_series_that_does_not_change_has_no_period(void **state)
{
    (void)state;
    const double values[] = {0, 3, -1e308, INFINITY, NAN};
    for (size_t v = 0; v < sizeof values / sizeof *values; v++)
        for (size_t rows = 0; rows <= 256; rows++) {
            for (size_t i = 0; i < rows; i++)
                series[i] = values[v];
            assert_int_equal(season_period_find(series, rows).rows, 0);
        }
    for (size_t i = 0; i < MOST_ROWS; i++) /* two events are not a period */
        series[i] = i == 1000 || i == 1500;
    assert_int_equal(season_period_find(series, 4096).rows, 0);
}

static void test_a_shorter_series_has_no_such_period(void **state)
{
    (void)state;
    fill(230, 100, &(shape){.noise = 0.01, .scale = 1}, 1);
    assert_int_equal(season_period_find(series, 230).rows, 0);
    fill(300, 100, &(shape){.noise = 0.01, .scale = 1}, 1);
    assert_int_equal(season_period_find(series, 300).rows, 100);
}

static void test_a_rare_event_at_a_fixed_time_is_a_period(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4096; i++)
        series[i] = i % 144 == 30;
    assert_int_equal(season_period_find(series, 4096).rows, 144);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_periods_of_clocks_are_found_under_noise),
        cmocka_unit_test(test_other_periods_are_found_as_they_are),
        cmocka_unit_test(test_of_two_periods_one_is_found_or_their_common_multiple),
        cmocka_unit_test(test_a_day_and_a_week_are_found_under_much_noise),
        cmocka_unit_test(test_a_period_that_is_not_whole_is_rounded),
        cmocka_unit_test(test_a_level_per_weekday_does_not_make_two_days_a_period),
        cmocka_unit_test(test_trends_outliers_gaps_and_units_do_not_matter),
        cmocka_unit_test(test_noise_walks_and_trends_have_no_period),
        cmocka_unit_test(test_a_series_that_does_not_change_has_no_period),
        cmocka_unit_test(test_a_shorter_series_has_no_such_period),
        cmocka_unit_test(test_a_rare_event_at_a_fixed_time_is_a_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
