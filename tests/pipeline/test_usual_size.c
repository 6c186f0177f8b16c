/* The usual size of a magnitude, beside the formula that it stands for. */
#include "../detect/driver.h"

#include "pipeline/judges/usual_size.h"

#include <float.h>

enum { FIRST = OIF_USUAL_FIRST };

/* ---- The formula, with exp() ---- */

typedef struct twin {
    double size, sum, above;
    uint32_t count;
} twin;

/* The counts at which the pace changes: 48, 64, 128, ... up to 8192; later it stays. */
static double pace_at(uint32_t count)
{
    double from = 48;
    for (double next = 64; next <= 8192 && next <= count; next *= 2)
        from = next;
    return count >= 8192 ? 0.03 : 0.03 * (1 + 432 / from);
}

static void twin_learn(twin *t, double magnitude, bool adapts)
{
    const double most = (t->count < FIRST ? 4 : 16) * t->size,
                 counted = t->count >= 8 && t->size > 0 ? fmin(magnitude, most) : magnitude;
    const double e = pace_at(++t->count);
    t->above += magnitude > 0;
    t->sum += counted;
    if (t->count <= FIRST)
        t->size = fmax(t->size, counted);
    else if (adapts)
        t->size *= magnitude > t->size ? exp(0.99 * e) : exp(-0.01 * e);
    if (t->above > 0)
        t->size = fmax(t->size, t->sum / t->above);
}

static void expect_close(double actual, double expected, const char *what, uint32_t at)
{
    if (!(fabs(actual - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%s after %u magnitudes: %.17g, by the formula %.17g", what, at, actual, expected);
}

/* ---- Magnitudes of every kind ---- */

typedef enum kind { UNIFORM, EXPONENTIAL, LOGNORMAL, NORMAL, SPARSE, STEPPED, WIDE, KINDS } kind;

static double draw_magnitude(dice *from, kind of, uint32_t row)
{
    switch (of) {
    case UNIFORM: return dice_unit(from);
    case EXPONENTIAL: return -log(1 - dice_unit(from));
    case LOGNORMAL: return exp(dice_normal(from));
    case NORMAL: return fabs(dice_normal(from));
    case SPARSE: return dice_chance(from, 0.97) ? 0 : dice_unit(from);
    case STEPPED: return (row / 700 % 2 ? 50 : 1) * dice_unit(from);
    case WIDE: return exp(90 * dice_normal(from));
    case KINDS: break;
    }
    return 0;
}

/* ---- Tests ---- */

/* Rises and falls by the factors of the table, which are those of the formula. */
static void the_paces_are_those_of_the_formula(void **unused)
{
    (void)unused;
    static const uint32_t counts[] = {49,   63,   64,   127,  128,  255,  256,  511,   512,    1023,
                                      1024, 2047, 2048, 4095, 4096, 8191, 8192, 16383, 1000000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int is_above = 0; is_above < 2; is_above++) {
            const double e = pace_at(counts[i]);
            oif_usual_size usual = {.size = 1, .sum = 0.1, .count = counts[i] - 1, .above = 1};
            oif_usual_learn(&usual, is_above ? 1.5 : 0, true);
            expect_close(usual.size, is_above ? exp(0.99 * e) : exp(-0.01 * e),
                         is_above ? "rises to" : "falls to", counts[i]);
        }
}

static void it_follows_every_kind_of_magnitude_as_the_formula_does(void **unused)
{
    (void)unused;
    for (kind of = 0; of < KINDS; of++)
        for (uint32_t every = 1; every <= 8; every *= 8) {
            dice from = {of + 1};
            oif_usual_size usual = {0};
            twin t = {0};
            for (uint32_t i = 1; i <= 20000; i++) {
                const double magnitude = draw_magnitude(&from, of, i);
                const double times = oif_usual_times(&usual, magnitude);
                const double expected = i <= FIRST || magnitude == 0 ? 0
                                        : t.size == 0                ? OIF_MOST_TIMES
                                                      : fmin(magnitude / t.size, OIF_MOST_TIMES);
                expect_close(times, expected, "times", i);
                oif_usual_learn(&usual, magnitude, i % every == 0);
                twin_learn(&t, magnitude, i % every == 0);
                expect_close(usual.size, t.size, "size", i);
                expect_close(oif_usual_mean(&usual), t.sum / i, "mean", i);
                assert_int_equal(usual.above, (uint32_t)t.above);
                t.size = usual.size; /* so rounding does not add up to another decision */
                assert_true(oif_usual_check(&usual));
            }
        }
}

/* From the 49th magnitude on, and again once the size has settled. */
static void one_magnitude_in_100_exceeds_it(void **unused)
{
    (void)unused;
    static const kind kinds[] = {UNIFORM, EXPONENTIAL, LOGNORMAL, NORMAL};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint32_t early = 0, late = 0;
        for (uint64_t seed = 1; seed <= 40; seed++) {
            dice from = {seed};
            oif_usual_size usual = {0};
            for (uint32_t i = 1; i <= 12000; i++) {
                const double magnitude = draw_magnitude(&from, kinds[k], i);
                const bool exceeds = oif_usual_times(&usual, magnitude) > 1;
                early += exceeds && i <= 2000;
                late += exceeds && i > 2000;
                oif_usual_learn(&usual, magnitude, true);
            }
        }
        expect_within(late / 40. / 10000, 0.0095, 0.0105, "the share that exceeds it");
        expect_within(early / 40. / 2000, 0.008, 0.013, "the share of the first 2,000");
    }
}

static void the_first_48_set_it_to_their_largest_and_are_not_compared(void **unused)
{
    (void)unused;
    dice from = {3};
    oif_usual_size usual = {0};
    double largest = 0;
    for (int i = 0; i < FIRST; i++) {
        const double magnitude = dice_unit(&from);
        assert_true(oif_usual_times(&usual, 1e9) == 0);
        oif_usual_learn(&usual, magnitude, false);
        largest = fmax(largest, magnitude);
        assert_true(usual.size == largest);
    }
    expect_within(oif_usual_times(&usual, 2 * largest), 2, 2, "times");
}

/* A column that hardly ever moves: its usual step is the mean of those that were one. */
static void it_is_never_below_the_mean_of_those_above_0(void **unused)
{
    (void)unused;
    oif_usual_size usual = {0};
    for (int i = 0; i < 100000; i++)
        oif_usual_learn(&usual, i == 7 ? 4 : i == 30 ? 6 : 0, true);
    expect_within(usual.size, 5, 5, "size");
    expect_within(oif_usual_times(&usual, 20), 4, 4, "times");
}

static void while_all_are_0_the_first_above_is_as_many_times_as_can_be(void **unused)
{
    (void)unused;
    oif_usual_size usual = {0};
    for (int i = 0; i < 1000; i++)
        oif_usual_learn(&usual, 0, true);
    assert_true(usual.size == 0);
    assert_true(oif_usual_times(&usual, 0) == 0);
    assert_true(oif_usual_times(&usual, 5e-324) == OIF_MOST_TIMES);
    oif_usual_learn(&usual, 3, true);
    assert_true(usual.size == 3);
}

static void one_extreme_magnitude_hardly_moves_it(void **unused)
{
    (void)unused;
    dice from = {4};
    oif_usual_size usual = {0};
    for (int i = 0; i < 20000; i++)
        oif_usual_learn(&usual, dice_unit(&from), true);
    const double before = usual.size;
    oif_usual_learn(&usual, 1000, true);
    assert_true(usual.size < 1.04 * before);
}

/* Neither a glitch of a million times the usual size nor one in the first rows hides what is ten
 * times as large later. */
static void one_glitch_hides_nothing_later(void **unused)
{
    (void)unused;
    static const int at[] = {20, 3000};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        dice from = {4};
        oif_usual_size usual = {0};
        for (int r = 0; r < 6000; r++)
            oif_usual_learn(&usual, r == at[i] ? 1e6 : dice_unit(&from), true);
        const double times = oif_usual_times(&usual, 10);
        if (!(times > 4))
            fail_msg("a glitch in row %d: ten is %g times the usual size", at[i], times);
    }
}

/* A billion magnitudes later, and with the largest ones, it is still finite and possible. */
static void it_stays_possible_for_ever(void **unused)
{
    (void)unused;
    for (uint32_t above = 0; above < 3; above++)
        for (int with = 0; with < 2; with++) {
            oif_usual_size usual = {
                .size = above ? 5 : 0, .sum = 5. * above, .count = 1U << 30, .above = above};
            assert_true(oif_usual_check(&usual));
            oif_usual_learn(&usual, with ? 5 : 0, true);
            assert_int_equal(usual.count, (1U << 29) + 1);
            if (!oif_usual_check(&usual))
                fail_msg("%u above 0, then %d: size %g, sum %g", above, with, usual.size,
                         usual.sum);
        }
    oif_usual_size largest = {0};
    for (int i = 0; i < 100000; i++)
        oif_usual_learn(&largest, i % 3 ? OIF_MOST_MAGNITUDE : 0, true);
    assert_true(oif_usual_check(&largest) && largest.size <= 1.4 * OIF_MOST_MAGNITUDE);
    expect_within(oif_usual_times(&largest, OIF_MOST_MAGNITUDE), 0.7, 1, "times");
    oif_usual_size smallest = {0};
    for (int i = 0; i < 100000; i++)
        oif_usual_learn(&smallest, 5e-324 * (i % 4), true);
    assert_true(oif_usual_check(&smallest) && smallest.size > 0);
}

static void what_is_impossible_is_refused(void **unused)
{
    (void)unused;
    static const oif_usual_size sound = {3, 60, 100, 30};
    static const oif_usual_size wrong[] = {
        {-1, 60, 100, 30},       {NAN, 60, 100, 30}, {INFINITY, 60, 100, 30},
        {3, -1, 100, 30},        {3, NAN, 100, 30},  {3, INFINITY, 100, 30},
        {3, 60, UINT32_MAX, 30}, {3, 60, 100, 101},  {3, 60, 100, 0},
    };
    assert_true(oif_usual_check(&sound));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (oif_usual_check(&wrong[i]))
            fail_msg("number %zu is accepted", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paces_are_those_of_the_formula),
        cmocka_unit_test(it_follows_every_kind_of_magnitude_as_the_formula_does),
        cmocka_unit_test(one_magnitude_in_100_exceeds_it),
        cmocka_unit_test(the_first_48_set_it_to_their_largest_and_are_not_compared),
        cmocka_unit_test(it_is_never_below_the_mean_of_those_above_0),
        cmocka_unit_test(while_all_are_0_the_first_above_is_as_many_times_as_can_be),
        cmocka_unit_test(one_extreme_magnitude_hardly_moves_it),
        cmocka_unit_test(one_glitch_hides_nothing_later),
        cmocka_unit_test(it_stays_possible_for_ever),
        cmocka_unit_test(what_is_impossible_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
