/* The search for the period of a stream: what is found, after how many rows, and what is not. */
#include "pipelines.h"

#include "pipeline/judges/period.h"

#include <float.h>

enum { MOST_ROWS = 20000 };

static const double turn = 6.283185307179586;

static oif_period_search *new_search(size_t columns)
{
    oif_period_search *search = calloc(1, oif_period_search_bytes(columns));
    assert_non_null(search);
    oif_period_search_init(search, columns);
    return search;
}

/* The first period found; `*after` gets the number of rows, 0: none was found. */
static double find(oif_period_search *search, size_t columns, const double *rows, int count,
                   int *after)
{
    for (int i = 0; i < count; i++) {
        double found = oif_period_search_row(search, rows + (size_t)i * columns);
        assert_true(oif_period_search_check(search));
        if (found > 0) {
            *after = i + 1;
            return found;
        }
    }
    *after = 0;
    return 0;
}

static void a_period_is_found_within_a_few_of_its_length(void **unused)
{
    (void)unused;
    static const int periods[] = {24, 48, 96, 144, 200, 288, 500, 1440};
    static double rows[MOST_ROWS];
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        dice from = {i};
        int after;
        for (int row = 0; row < MOST_ROWS; row++) /* a trend, a wave that is not a sine, noise */
            rows[row] = 0.001 * row + 5 * sin(turn * row / periods[i]) +
                        2 * cos(2 * turn * row / periods[i]) + 0.5 * dice_normal(&from);
        oif_period_search *search = new_search(1);
        double found = find(search, 1, rows, MOST_ROWS, &after);
        if (!(fabs(found - periods[i]) <= 0.012 * periods[i] && after <= 512 + 12 * periods[i]))
            fail_msg("a period of %d rows: found %g after %d rows", periods[i], found, after);
        free(search);
    }
}

/* White noise, a random walk and its slow relative. */
static void noise_has_no_period(void **unused)
{
    (void)unused;
    static double rows[MOST_ROWS];
    int false_periods = 0;
    for (uint64_t trial = 0; trial < 60; trial++) {
        dice from = {100 + trial};
        const double keeps[] = {0, 0.98, 1};
        double state = 0;
        int after;
        for (int row = 0; row < MOST_ROWS; row++)
            rows[row] = state = keeps[trial % 3] * state + dice_normal(&from);
        oif_period_search *search = new_search(1);
        false_periods += find(search, 1, rows, MOST_ROWS, &after) > 0;
        free(search);
    }
    if (false_periods > 1)
        fail_msg("%d of 60 streams without a period have one", false_periods);
}

static void one_column_with_a_period_is_enough(void **unused)
{
    (void)unused;
    enum { COLUMNS = 20, ROWS = 4096 };
    static double rows[ROWS * COLUMNS];
    dice from = {7};
    int after;
    for (int row = 0; row < ROWS; row++)
        for (int j = 0; j < COLUMNS; j++)
            rows[row * COLUMNS + j] = j == 6       ? sin(turn * row / 48) + 0.2 * dice_normal(&from)
                                      : j % 5 == 0 ? 3
                                                   : dice_normal(&from);
    oif_period_search *search = new_search(COLUMNS);
    assert_int_equal(search->columns, 7); /* columns 0, 3, 6, ... */
    expect_within(find(search, COLUMNS, rows, ROWS, &after), 48, 48, "the period");
    free(search);
}

static void missing_and_huge_numbers_do_not_matter(void **unused)
{
    (void)unused;
    static double rows[MOST_ROWS];
    dice from = {8};
    int after;
    for (int row = 0; row < MOST_ROWS; row++) {
        rows[row] = sin(turn * row / 96) + 0.1 * dice_normal(&from);
        if (dice_chance(&from, 0.02))
            rows[row] = dice_chance(&from, 0.5) ? NAN : DBL_MAX;
    }
    oif_period_search *search = new_search(1);
    expect_within(find(search, 1, rows, MOST_ROWS, &after), 96, 96, "the period");
    free(search);
}

#define EXPECT_REFUSED(field, value)                                                               \
    do {                                                                                           \
        __typeof__(sound->field) kept = sound->field;                                              \
        sound->field = (value);                                                                    \
        if (oif_period_search_check(sound))                                                        \
            fail_msg("%s = %s is accepted", #field, #value);                                       \
        sound->field = kept;                                                                       \
    } while (0)

static void the_check_refuses_what_no_stream_gives(void **unused)
{
    (void)unused;
    oif_period_search *sound = new_search(3);
    assert_true(oif_period_search_check(sound));
    EXPECT_REFUSED(samples, 512);
    EXPECT_REFUSED(rows_per_sample, 0);
    EXPECT_REFUSED(rows_per_sample, 3);
    EXPECT_REFUSED(rows_per_sample, UINT64_C(1) << 25);
    EXPECT_REFUSED(rows_in_sample, 1);
    EXPECT_REFUSED(sums[1], INFINITY);
    EXPECT_REFUSED(counts[2], 1);
    EXPECT_REFUSED(values[0][5], UINT32_C(0x7f800000));
    free(sound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_period_is_found_within_a_few_of_its_length),
        cmocka_unit_test(noise_has_no_period),
        cmocka_unit_test(one_column_with_a_period_is_enough),
        cmocka_unit_test(missing_and_huge_numbers_do_not_matter),
        cmocka_unit_test(the_check_refuses_what_no_stream_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
