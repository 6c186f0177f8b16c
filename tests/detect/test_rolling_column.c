/* The columns of a growing tree of rolling-iforest, against plain twins: the bits of range and
 * kurtosis, of one column and of three at once, and the rows of both sides in order, for any
 * numbers. */
#include "any_detector.h"

#include "base/vector.h"
#include "detect/rolling_iforest/rolling_column.h"

enum { MOST_ROWS = 70, WIDTH = 3 };

/* ---- The twins ---- */

/* Sums in four lanes: number i is added to lane i mod 4. */
static double plain_mean_power(const double *scaled, uint32_t count, int power)
{
    double lanes[4] = {0};
    for (uint32_t i = 0; i < count; i++) {
        double x = scaled[i], square = x * x;
        double powers[] = {x, square, square * x, square * square};
        lanes[i % 4] += powers[power - 1];
    }
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) / count;
}

static double plain_kurtosis(const double *known, uint32_t count, double low, double high)
{
    const double by = high - low > DBL_MAX ? 0.5 : 1, width = high * by - low * by;
    int exponent = ilogb(width) < -1022 ? -1023 : ilogb(width);
    double scaled[MOST_ROWS];
    for (uint32_t i = 0; i < count; i++)
        scaled[i] =
            (known[i] * by - low * by) * (exponent > 1022 ? 0x1p-1022 : ldexp(1, -exponent));
    double m = plain_mean_power(scaled, count, 1), m2 = plain_mean_power(scaled, count, 2),
           m3 = plain_mean_power(scaled, count, 3), m4 = plain_mean_power(scaled, count, 4);
    double variance = m2 - m * m;
    return ((m4 - 4 * m * m3) + (6 * (m * m) * m2 - 3 * (m * m) * (m * m))) / (variance * variance);
}

/* ---- Some rows ---- */

typedef struct some_rows {
    double values[MOST_ROWS * WIDTH]; /* the column is the second of three */
    size_t rows[MOST_ROWS];           /* in any order */
    uint32_t count;
} some_rows;

static some_rows draw_rows(dice *from)
{
    some_rows drawn = {.count = 1 + dice_below(from, MOST_ROWS)};
    const style of = (style)dice_below(from, STYLES);
    const double missing = dice_chance(from, 0.6) ? 0 : 0.6 * dice_unit(from);
    for (uint32_t i = 0; i < drawn.count; i++) {
        double number = number_in_style(from, of, i);
        drawn.values[i * WIDTH + 1] = dice_chance(from, missing) ? NAN : number;
        drawn.rows[i] = (size_t)i * WIDTH;
    }
    for (uint32_t i = drawn.count; i > 1; i--) {
        uint32_t other = dice_below(from, i);
        size_t row = drawn.rows[i - 1];
        drawn.rows[i - 1] = drawn.rows[other];
        drawn.rows[other] = row;
    }
    return drawn;
}

static double number_of(const some_rows *from, uint32_t i)
{
    return from->values[from->rows[i] + 1];
}

/* ---- The tests ---- */

static void ranges_and_tails_are_those_of_the_plain_twin(void **state)
{
    (void)state;
    dice from = {seed_from_environment()};
    print_message("seed %" PRIu64 "\n", from.state);
    for (size_t round = 0; round < 20000; round++) {
        some_rows drawn = draw_rows(&from);
        const bool weigh = dice_chance(&from, 0.9);
        double known[MOST_ROWS], low = INFINITY, high = -INFINITY, numbers[MOST_ROWS];
        uint32_t known_count = 0;
        for (uint32_t i = 0; i < drawn.count; i++)
            if (!isnan(number_of(&drawn, i)))
                known[known_count++] = number_of(&drawn, i);
        for (uint32_t i = 0; i < known_count; i++) {
            low = fmin(low, known[i]);
            high = fmax(high, known[i]);
        }
        if (known_count < drawn.count / 4) { /* too few to be cut */
            low = INFINITY;
            high = -INFINITY;
        }
        oif_rolling_column column;
        oif_rolling_read_column(drawn.values + 1, drawn.rows, drawn.count, weigh, numbers, &column);
        expect_same_bits(column.low, low, "low", round);
        expect_same_bits(column.high, high, "high", round);
        assert_int_equal(column.complete, known_count == drawn.count);
        if (weigh && low < high)
            expect_same_bits(column.kurtosis, plain_kurtosis(known, known_count, low, high),
                             "kurtosis", round);
    }
}

/* Columns at once are those one by one, or are refused: without AVX2, and if one of them has no
 * kurtosis. */
static void three_columns_at_once_are_those_one_by_one(void **state)
{
    (void)state;
    enum { MOST = 140 };
    static const uint32_t order[OIF_ROLLING_THREE] = {2, 0, 1};
    dice from = {seed_from_environment()};
    size_t read = 0;
    for (size_t round = 0; round < 20000; round++) {
        double values[MOST * WIDTH], numbers[MOST];
        size_t rows[MOST];
        const uint32_t count = 1 + dice_below(&from, MOST);
        for (uint32_t column = 0; column < WIDTH; column++) {
            const style of = (style)dice_below(&from, STYLES);
            const double missing = dice_chance(&from, 0.9) ? 0 : 0.3 * dice_unit(&from);
            for (uint32_t i = 0; i < count; i++) {
                double number = number_in_style(&from, of, i);
                values[i * WIDTH + column] = dice_chance(&from, missing) ? NAN : number;
            }
        }
        for (uint32_t i = 0; i < count; i++)
            rows[i] = (size_t)(i * 7 % count) * WIDTH; /* some twice, in any order */
        oif_rolling_column together[OIF_ROLLING_THREE], alone;
        if (!oif_rolling_read_three(values, order, rows, count, together))
            continue;
        read++;
        for (int k = 0; k < OIF_ROLLING_THREE; k++) {
            oif_rolling_read_column(values + order[k], rows, count, true, numbers, &alone);
            expect_same_bits(together[k].low, alone.low, "low", round);
            expect_same_bits(together[k].high, alone.high, "high", round);
            expect_same_bits(together[k].kurtosis, alone.kurtosis, "kurtosis", round);
            assert_int_equal(together[k].complete, alone.complete);
        }
    }
    print_message("%zu of 20000 were read at once\n", read);
    assert_true(read > 2000 || !oif_machine_has_avx2());
}

static void both_sides_keep_their_order(void **state)
{
    (void)state;
    dice from = {seed_from_environment()};
    for (size_t round = 0; round < 20000; round++) {
        some_rows drawn = draw_rows(&from);
        double cut = number_of(&drawn, dice_below(&from, drawn.count));
        cut = isnan(cut) ? 0.5 : cut;
        uint32_t below = 0, above = 0, expected_left = 0, count = drawn.count;
        for (uint32_t i = 0; i < count; i++) {
            below += number_of(&drawn, i) < cut;
            above += number_of(&drawn, i) >= cut;
        }
        size_t expected[MOST_ROWS], spare[MOST_ROWS];
        for (int side = 0, at = 0; side < 2; side++)
            for (uint32_t i = 0; i < count; i++) {
                double number = number_of(&drawn, i);
                int goes = isnan(number) ? above > below : number >= cut;
                if (goes == side)
                    expected[at++] = drawn.rows[i];
                expected_left += goes == side && side == 0;
            }
        uint32_t left = oif_rolling_part_rows(drawn.values + 1, drawn.rows, count, cut,
                                              below + above == count, spare);
        assert_int_equal(left, expected_left);
        assert_memory_equal(drawn.rows, expected, count * sizeof *expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_and_tails_are_those_of_the_plain_twin),
        cmocka_unit_test(three_columns_at_once_are_those_one_by_one),
        cmocka_unit_test(both_sides_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
