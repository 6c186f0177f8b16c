/* log2 and exp2 against the C library's, which is accurate to about half an ulp, and against
 * themselves: the bits over a grid are fixed, so a compiler or machine that gives others is
 * noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/stable_math.h"

static void expect_log2_near(double x)
{
    /* As the header promises: absolute error below 2^-50; for large results, within two ulp. Near 1
     * the relative error is as small. */
    double actual = oif_log2(x), expected = log2(x), magnitude = fabs(expected);
    double allowed = (magnitude > 1 ? magnitude : fabs(x - 1) < 0.3 ? magnitude : 1) * 0x1p-50;
    if (!(fabs(actual - expected) <= allowed))
        fail_msg("log2(%.17g) is %.17g, libm says %.17g, %g apart, %g allowed", x, actual, expected,
                 fabs(actual - expected), allowed);
}

static void expect_exp2_near(double x)
{
    double actual = oif_exp2(x), expected = exp2(x);
    if (!(fabs(actual - expected) <= 0x1p-50 * expected))
        fail_msg("exp2(%.17g) is %.17g, libm says %.17g, %g ulp apart", x, actual, expected,
                 (actual - expected) / (expected * 0x1p-52));
}

static void log2_of_what_random_numbers_can_be_is_near_libms(void **state)
{
    (void)state;
    oif_random random = {11};
    for (int i = 0; i < 400000; i++) {
        expect_log2_near(1.0 - oif_random_unit(&random));
        expect_log2_near(ldexp(1.0 - oif_random_unit(&random), -(i % 53)));
    }
    for (int i = 1; i < 2000; i++) {
        expect_log2_near(i * 0x1p-53);
        expect_log2_near(1 - i * 0x1p-53);
        expect_log2_near(1 + i * 0x1p-52);
    }
}

static void log2_of_counts_is_near_libms(void **state)
{
    (void)state;
    for (int i = 1; i < 200000; i++) {
        expect_log2_near(i);
        expect_log2_near(i / 32.0);
        expect_log2_near(i * 5369.0); /* up to 2^30 */
    }
}

static void log2_of_powers_of_two_is_exact(void **state)
{
    (void)state;
    for (int power = -1022; power <= 1023; power++) {
        double actual = oif_log2(ldexp(1, power));
        if (actual != power)
            fail_msg("log2(2^%d) is %.17g", power, actual);
    }
}

static void exp2_of_scores_is_near_libms(void **state)
{
    (void)state;
    oif_random random = {12};
    for (int i = 0; i < 400000; i++) {
        expect_exp2_near(-60 * oif_random_unit(&random));
        expect_exp2_near(-oif_random_unit(&random));
        expect_exp2_near(-ldexp(oif_random_unit(&random), -(i % 60)));
    }
    /* where rounding to the nearest power changes direction */
    for (int half = -120; half <= 0; half++) {
        expect_exp2_near(half / 2.0);
        expect_exp2_near(nextafter(half / 2.0, 1));
        expect_exp2_near(nextafter(half / 2.0, -100));
    }
}

static void exp2_of_all_exponents_is_near_libms(void **state)
{
    (void)state;
    for (double x = -1020.9; x < 1022.9; x += 0.0371)
        expect_exp2_near(x);
}

static void exp2_of_whole_numbers_is_exact(void **state)
{
    (void)state;
    for (int power = -1021; power <= 1023; power++)
        if (oif_exp2(power) != ldexp(1, power))
            fail_msg("exp2(%d) is %.17g", power, oif_exp2(power));
}

static void exp2_of_very_negative_numbers_is_zero(void **state)
{
    (void)state;
    const double numbers[] = {-1021.5, -1100, -1e9, -1e300, -INFINITY};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (oif_exp2(numbers[i]) != 0)
            fail_msg("exp2(%g) is %.17g", numbers[i], oif_exp2(numbers[i]));
}

/* A score is never above 1 and falls with depth: neighbours may only differ by rounding. */
static void exp2_of_numbers_up_to_zero_is_at_most_one(void **state)
{
    (void)state;
    oif_random random = {13};
    double highest = 0;
    for (int i = 0; i < 400000; i++) {
        double value = oif_exp2(-ldexp(oif_random_unit(&random), -(i % 64)));
        highest = value > highest ? value : highest;
    }
    if (highest > 1 || oif_exp2(0) != 1 || oif_exp2(-0.0) != 1)
        fail_msg("the highest is %.17g, that of 0 is %.17g", highest, oif_exp2(0));
}

/* ---- The same bits ---- */

static uint64_t mix(uint64_t hash, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static void the_bits_over_a_grid_are_those_of_every_other_machine(void **state)
{
    (void)state;
    /* From gcc 12 -O2 on x86-64; gcc and clang, -O0 to -O3, and other machines must agree. */
    const uint64_t expected_log2 = UINT64_C(0x4d336fc3739f5a3f),
                   expected_exp2 = UINT64_C(0x44995f0191d599a2);
    uint64_t log2_hash = 0, exp2_hash = 0;
    for (int i = 1; i <= 100000; i++) {
        log2_hash = mix(log2_hash, oif_log2(i / 131072.0));
        log2_hash = mix(log2_hash, oif_log2(i * 32.0 / 7.0));
        exp2_hash = mix(exp2_hash, oif_exp2(-i / 1666.5));
        exp2_hash = mix(exp2_hash, oif_exp2(i / 3000.25));
    }
    if (log2_hash != expected_log2 || exp2_hash != expected_exp2)
        fail_msg("the hashes are log2 %016" PRIx64 ", exp2 %016" PRIx64 ", expected %016" PRIx64
                 ", %016" PRIx64,
                 log2_hash, exp2_hash, expected_log2, expected_exp2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log2_of_what_random_numbers_can_be_is_near_libms),
        cmocka_unit_test(log2_of_counts_is_near_libms),
        cmocka_unit_test(log2_of_powers_of_two_is_exact),
        cmocka_unit_test(exp2_of_scores_is_near_libms),
        cmocka_unit_test(exp2_of_all_exponents_is_near_libms),
        cmocka_unit_test(exp2_of_whole_numbers_is_exact),
        cmocka_unit_test(exp2_of_very_negative_numbers_is_zero),
        cmocka_unit_test(exp2_of_numbers_up_to_zero_is_at_most_one),
        cmocka_unit_test(the_bits_over_a_grid_are_those_of_every_other_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
