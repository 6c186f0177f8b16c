/* Random numbers: each distribution by chi-square and Kolmogorov-Smirnov tests with fixed seeds,
 * and the bits. Limits are at p = 10^-6 or so; about 130 comparisons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { DRAWS = 40000 };

/* ---- Comparing with a distribution ---- */

/* The chi-square of counts against expected ones; small expectations are pooled. */
static void expect_counts(const double *counts, const double *expected, int bins, const char *what,
                          double parameter)
{
    double chi_square = 0, pooled_count = 0, pooled_expected = 0;
    int degrees = -1;
    for (int i = 0; i < bins; i++) {
        pooled_count += counts[i];
        pooled_expected += expected[i];
        if (pooled_expected < 10 && i + 1 < bins)
            continue;
        if (pooled_expected >= 1) {
            chi_square += (pooled_count - pooled_expected) * (pooled_count - pooled_expected) /
                          pooled_expected;
            degrees++;
        }
        pooled_count = pooled_expected = 0;
    }
    if (degrees < 1)
        return;
    /* Wilson and Hilferty: the cube root is nearly normal. */
    double z = (cbrt(chi_square / degrees) - (1 - 2.0 / (9 * degrees))) / sqrt(2.0 / (9 * degrees));
    if (!(z < 5))
        fail_msg("%s %g: chi-square is %.1f for %d degrees of freedom, %.1f standard deviations",
                 what, parameter, chi_square, degrees, z);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef double (*distribution)(double x, double count);

static void expect_law(double *draws, int n, distribution cdf, double count, const char *what)
{
    double greatest = 0, at = 0;
    qsort(draws, (size_t)n, sizeof *draws, compare_numbers);
    for (int i = 0; i < n; i++) {
        double p = cdf(draws[i], count),
               apart = fmax(fabs(p - (double)i / n), fabs(p - (i + 1.0) / n));
        if (apart > greatest) {
            greatest = apart;
            at = draws[i];
        }
    }
    double limit = sqrt(-log(1e-6 / 2) / 2 / n);
    if (!(greatest < limit))
        fail_msg("%s of %g: the distribution is %.4f from its law at %.17g, %.4f allowed", what,
                 count, greatest, at, limit);
}

static void expect_near(double actual, double expected, double error, const char *what,
                        double parameter)
{
    if (!(fabs(actual - expected) <= 5 * error))
        fail_msg("%s %g: %.8g, expected %.8g with a standard error of %.2g", what, parameter,
                 actual, expected, error);
}

/* ---- Bits and units ---- */

/* Values of Vigna's splitmix64.c for the seed 1234567, as printed on Rosetta Code ("Pseudo-random
 * numbers/Splitmix64"). */
static void the_bits_are_those_of_splitmix64(void **state)
{
    (void)state;
    const uint64_t expected[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                 UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                 UINT64_C(16408922859458223821)};
    oif_random random = {1234567};
    for (int i = 0; i < 5; i++) {
        uint64_t actual = oif_random_bits(&random);
        if (actual != expected[i])
            fail_msg("number %d is %" PRIu64 ", expected %" PRIu64, i, actual, expected[i]);
    }
}

static double uniform_cdf(double x, double count)
{
    (void)count;
    return x;
}

static void units_are_uniform_and_under_one(void **state)
{
    (void)state;
    static double draws[DRAWS];
    oif_random random = oif_random_stream(1, 2);
    for (int i = 0; i < DRAWS; i++) {
        draws[i] = oif_random_unit(&random);
        assert_true(draws[i] >= 0 && draws[i] < 1);
        assert_true(draws[i] * 0x1p53 == floor(draws[i] * 0x1p53));
    }
    expect_law(draws, DRAWS, uniform_cdf, 1, "unit");
}

static void below_one_is_always_zero(void **state)
{
    (void)state;
    oif_random random = {5};
    for (int i = 0; i < 1000; i++)
        assert_int_equal(oif_random_below(&random, 1), 0);
}

static void below_is_uniform_for_small_counts(void **state)
{
    (void)state;
    const uint32_t bins[] = {2, 3, 5, 7, 10, 16, 100, 255};
    for (size_t k = 0; k < 8; k++) {
        double counts[256] = {0}, expected[256];
        oif_random random = oif_random_stream(3, bins[k]);
        for (int i = 0; i < DRAWS; i++) {
            uint32_t drawn = oif_random_below(&random, bins[k]);
            assert_true(drawn < bins[k]);
            counts[drawn]++;
        }
        for (uint32_t i = 0; i < bins[k]; i++)
            expected[i] = (double)DRAWS / bins[k];
        expect_counts(counts, expected, (int)bins[k], "below", bins[k]);
    }
}

/* The slow way: compares every draw with the remainder, which takes a division. */
static uint32_t plain_below(oif_random *random, uint32_t count)
{
    const uint64_t uneven = (UINT64_C(1) << 32) % count;
    uint64_t product;
    do
        product = (oif_random_bits(random) >> 32) * count;
    while (product % (UINT64_C(1) << 32) < uneven);
    return (uint32_t)(product >> 32);
}

static void below_draws_what_the_plain_way_draws(void **state)
{
    (void)state;
    oif_random counts = {11}, random = {12}, twin = {12};
    for (int i = 0; i < 20000; i++) {
        uint32_t count = 1 + (uint32_t)(oif_random_bits(&counts) >> 32 >> i % 32) % UINT32_MAX;
        uint32_t drawn = oif_random_below(&random, count), expected = plain_below(&twin, count);
        if (drawn != expected || random.state != twin.state)
            fail_msg("draw %d below %u: %u, the plain way %u", i, count, drawn, expected);
    }
}

/* With 2^32 draws and 3 2^30 results, a careless reduction gives every third result two draws and
 * the others one. */
static void below_is_uniform_for_counts_near_the_size_of_a_draw(void **state)
{
    (void)state;
    const uint32_t large[] = {3u << 30, (1u << 31) + 1, UINT32_MAX, 5u << 29};
    for (size_t k = 0; k < 4; k++) {
        double by_remainder[15] = {0}, by_range[15] = {0}, expected[15];
        oif_random random = oif_random_stream(4, k);
        for (int i = 0; i < DRAWS; i++) {
            uint32_t drawn = oif_random_below(&random, large[k]);
            assert_true(drawn < large[k]);
            by_remainder[drawn % 15]++;
            by_range[(uint64_t)drawn * 15 / large[k]]++;
        }
        for (int i = 0; i < 15; i++)
            expected[i] = DRAWS / 15.0;
        expect_counts(by_remainder, expected, 15, "remainders of below", large[k]);
        expect_counts(by_range, expected, 15, "ranges of below", large[k]);
    }
}

/* ---- Binomial ---- */

static double binomial_probability(uint32_t count, uint32_t heads, double p)
{
    return exp(lgamma(count + 1.0) - lgamma(heads + 1.0) - lgamma(count - heads + 1.0) +
               heads * log(p) + (count - heads) * log1p(-p));
}

static const double coins[] = {0.5, 0.1, 0.9, 0.003, 0.7071067811865476, 1.0 / 3};

static void the_binomial_has_its_exact_distribution(void **state)
{
    (void)state;
    const uint32_t numbers[] = {1, 2, 3, 8, 63, 64, 65, 127, 128, 200};
    for (size_t k = 0; k < 10; k++)
        for (size_t j = 0; j < 6; j++) {
            double counts[201] = {0}, expected[201];
            oif_random random = oif_random_stream(k, j);
            for (int i = 0; i < DRAWS / 2; i++) {
                uint32_t heads = oif_random_binomial(&random, numbers[k], coins[j]);
                assert_true(heads <= numbers[k]);
                counts[heads]++;
            }
            for (uint32_t i = 0; i <= numbers[k]; i++)
                expected[i] = DRAWS / 2 * binomial_probability(numbers[k], i, coins[j]);
            expect_counts(counts, expected, (int)numbers[k] + 1, "binomial of",
                          numbers[k] + coins[j]);
        }
}

static void the_binomial_has_its_mean_and_variance(void **state)
{
    (void)state;
    const uint32_t numbers[] = {1000, 4097};
    for (size_t k = 0; k < 2; k++)
        for (size_t j = 0; j < 6; j++) {
            enum { TRIALS = 6000 };
            double n = numbers[k], p = coins[j], variance = n * p * (1 - p), sum = 0, squares = 0;
            oif_random random = oif_random_stream(20 + k, j);
            for (int i = 0; i < TRIALS; i++) {
                double apart = oif_random_binomial(&random, numbers[k], p) - n * p;
                sum += apart;
                squares += apart * apart;
            }
            /* The squares have the variance mu4 - sigma^4, with mu4 / sigma^4 = 3 + (1 - 6 p (1
             * - p)) / sigma^2. */
            double kurtosis = 3 + (1 - 6 * p * (1 - p)) / variance;
            expect_near(sum / TRIALS, 0, sqrt(variance / TRIALS), "mean of the binomial", n + p);
            expect_near(squares / TRIALS / variance, 1, sqrt((kurtosis - 1) / TRIALS),
                        "variance of the binomial", n + p);
        }
}

static void coins_that_never_or_hardly_ever_fall_tails(void **state)
{
    (void)state;
    oif_random random = {9};
    for (uint32_t count = 0; count < 300; count++) {
        assert_int_equal(oif_random_binomial(&random, count, 0), 0);
        assert_int_equal(oif_random_binomial(&random, count, 1 - 0x1p-53), count);
        assert_int_equal(oif_random_binomial(&random, count, 0x1p-64), 0);
    }
    assert_int_equal(oif_random_binomial(&random, 0, 0.5), 0);
}

/* ---- Extremes ---- */

static double least_cdf(double x, double count)
{
    return -expm1(count * log1p(-x));
}

static double greatest_cdf(double x, double count)
{
    return pow(x, count);
}

static double range_cdf(double x, double count)
{
    return count * pow(x, count - 1) - (count - 1) * pow(x, count);
}

/* The least relative to the greatest: the minimum of the others, uniform below it. */
static double share_cdf(double x, double count)
{
    return least_cdf(x, count - 1);
}

static void the_extremes_have_their_laws(void **state)
{
    (void)state;
    static double least[DRAWS], greatest[DRAWS], range[DRAWS], share[DRAWS];
    const uint32_t numbers[] = {2, 3, 5, 8, 32, 100, 5000, 1u << 24};
    for (size_t k = 0; k < 8; k++) {
        oif_random random = oif_random_stream(30, k);
        for (int i = 0; i < DRAWS; i++) {
            oif_random_extremes(&random, numbers[k], 1, &least[i], &greatest[i]);
            assert_true(least[i] >= 0 && least[i] <= greatest[i] && greatest[i] <= 1);
            range[i] = greatest[i] - least[i];
            share[i] = least[i] / greatest[i];
        }
        expect_law(range, DRAWS, range_cdf, numbers[k], "range");
        expect_law(share, DRAWS, share_cdf, numbers[k], "least over greatest");
        expect_law(least, DRAWS, least_cdf, numbers[k], "least");
        expect_law(greatest, DRAWS, greatest_cdf, numbers[k], "greatest");
    }
}

static double normal_cdf(double x, double count)
{
    (void)count;
    return 0.5 * erfc(-x / sqrt(2));
}

static void normal_numbers_have_their_law(void **state)
{
    (void)state;
    static double draws[DRAWS];
    oif_random random = {77};
    double sum = 0, squares = 0, fourths = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = draws[i] = oif_random_normal(&random);
        sum += x;
        squares += x * x;
        fourths += x * x * x * x;
    }
    expect_law(draws, DRAWS, normal_cdf, 1, "a normal number");
    expect_near(sum / DRAWS, 0, sqrt(1.0 / DRAWS), "mean of normal numbers", 0);
    expect_near(squares / DRAWS, 1, sqrt(2.0 / DRAWS), "variance of normal numbers", 1);
    expect_near(fourths / DRAWS, 3, sqrt(96.0 / DRAWS), "fourth moment of normal numbers", 3);
}

static void the_extremes_of_one_number_are_that_number(void **state)
{
    (void)state;
    static double draws[DRAWS];
    oif_random random = oif_random_stream(31, 0);
    for (int i = 0; i < DRAWS; i++) {
        double greatest;
        oif_random_extremes(&random, 1, 1, &draws[i], &greatest);
        assert_true(draws[i] == greatest);
    }
    expect_law(draws, DRAWS, uniform_cdf, 1, "extreme");
}

/* Many at once take another code path, and must give the same bits. */
static void many_extremes_at_once_are_those_drawn_one_by_one(void **state)
{
    (void)state;
    const uint32_t numbers[] = {1, 2, 3, 64, 5000};
    for (size_t k = 0; k < 5; k++)
        for (uint32_t times = 0; times <= OIF_EXTREMES_AT_ONCE; times++) {
            double least[OIF_EXTREMES_AT_ONCE], greatest[OIF_EXTREMES_AT_ONCE], low, high;
            oif_random together = oif_random_stream(33, times), single = together;
            oif_random_extremes(&together, numbers[k], times, least, greatest);
            for (uint32_t i = 0; i < times; i++) {
                oif_random_extremes(&single, numbers[k], 1, &low, &high);
                if (memcmp(&low, &least[i], sizeof low) != 0 ||
                    memcmp(&high, &greatest[i], sizeof high) != 0)
                    fail_msg(
                        "number %u of %u extremes of %u: %.17g to %.17g, one by one %.17g to %.17g",
                        i, times, numbers[k], least[i], greatest[i], low, high);
            }
            assert_true(single.state == together.state);
        }
}

/* Against numbers that are actually drawn. */
static void the_extremes_agree_with_numbers_that_are_drawn(void **state)
{
    (void)state;
    for (uint32_t count = 2; count <= 10; count += 4) {
        double counts[64] = {0}, expected[64] = {0};
        oif_random random = oif_random_stream(32, count);
        for (int i = 0; i < DRAWS * 4; i++) {
            double least, greatest, low = 1, high = 0;
            oif_random_extremes(&random, count, 1, &least, &greatest);
            for (uint32_t j = 0; j < count; j++) {
                double unit = oif_random_unit(&random);
                low = fmin(low, unit);
                high = fmax(high, unit);
            }
            counts[(int)fmin(least * 8, 7) * 8 + (int)fmin(greatest * 8, 7)]++;
            expected[(int)fmin(low * 8, 7) * 8 + (int)fmin(high * 8, 7)]++;
        }
        double chi_square = 0; /* of two samples of the same size */
        int degrees = -1;
        for (int i = 0; i < 64; i++)
            if (counts[i] + expected[i] >= 20) {
                chi_square += (counts[i] - expected[i]) * (counts[i] - expected[i]) /
                              (counts[i] + expected[i]);
                degrees++;
            }
        if (!(chi_square < degrees + 6 * sqrt(2.0 * degrees)))
            fail_msg("extremes of %u: chi-square is %.1f for %d degrees of freedom", count,
                     chi_square, degrees);
    }
}

/* ---- Streams ---- */

static int compare_bits(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void every_seed_and_stream_has_its_own_numbers(void **state)
{
    (void)state;
    enum { SEEDS = 200, STREAMS = 200, OF_BOTH = SEEDS * STREAMS };
    static uint64_t starts[OF_BOTH];
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint64_t stream = 0; stream < STREAMS; stream++)
            starts[seed * STREAMS + stream] = oif_random_stream(seed, stream).state;
    qsort(starts, OF_BOTH, sizeof starts[0], compare_bits);
    for (int i = 1; i < OF_BOTH; i++)
        assert_true(starts[i] != starts[i - 1]);
}

/* Adjacent streams, and adjacent seeds, are unrelated. */
static void neighbouring_streams_are_uncorrelated(void **state)
{
    (void)state;
    for (int by_seed = 0; by_seed < 2; by_seed++)
        for (int lag = 0; lag < 3; lag++) {
            double sum = 0;
            for (uint64_t i = 0; i < DRAWS; i++) {
                oif_random one = by_seed ? oif_random_stream(i, 0) : oif_random_stream(0, i);
                oif_random two =
                    by_seed ? oif_random_stream(i + 1, 0) : oif_random_stream(0, i + 1);
                double a = oif_random_unit(&one), b = oif_random_unit(&two);
                for (int j = 0; j < lag; j++)
                    b = oif_random_unit(&two);
                sum += (a - 0.5) * (b - 0.5) * 12;
            }
            expect_near(sum / DRAWS, 0, 1 / sqrt(DRAWS), "correlation of streams, lag", lag);
        }
}

static void the_first_numbers_of_streams_are_uniform(void **state)
{
    (void)state;
    static double draws[DRAWS];
    for (uint64_t i = 0; i < DRAWS; i++) {
        oif_random random = oif_random_stream(7, i);
        draws[i] = oif_random_unit(&random);
    }
    expect_law(draws, DRAWS, uniform_cdf, 1, "first number");
}

/* ---- The same bits ---- */

static uint64_t mix(uint64_t hash, uint64_t bits)
{
    hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static void the_bits_of_all_draws_are_those_of_every_other_machine(void **state)
{
    (void)state;
    const uint64_t expected = UINT64_C(0xaade4dbaca29e728);
    oif_random random = oif_random_stream(2024, 7);
    uint64_t hash = 0;
    for (uint32_t i = 1; i <= 20000; i++) {
        double extremes[2];
        uint64_t bits[2];
        oif_random_extremes(&random, i, 1, &extremes[0], &extremes[1]);
        memcpy(bits, extremes, sizeof bits);
        hash = mix(mix(hash, bits[0]), bits[1]);
        hash = mix(hash, oif_random_below(&random, i));
        hash = mix(hash, oif_random_binomial(&random, i % 300, oif_random_unit(&random)));
    }
    if (hash != expected)
        fail_msg("the hash is %016" PRIx64 ", expected %016" PRIx64, hash, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_are_those_of_splitmix64),
        cmocka_unit_test(units_are_uniform_and_under_one),
        cmocka_unit_test(below_one_is_always_zero),
        cmocka_unit_test(below_draws_what_the_plain_way_draws),
        cmocka_unit_test(below_is_uniform_for_small_counts),
        cmocka_unit_test(below_is_uniform_for_counts_near_the_size_of_a_draw),
        cmocka_unit_test(the_binomial_has_its_exact_distribution),
        cmocka_unit_test(the_binomial_has_its_mean_and_variance),
        cmocka_unit_test(coins_that_never_or_hardly_ever_fall_tails),
        cmocka_unit_test(normal_numbers_have_their_law),
        cmocka_unit_test(the_extremes_have_their_laws),
        cmocka_unit_test(the_extremes_of_one_number_are_that_number),
        cmocka_unit_test(many_extremes_at_once_are_those_drawn_one_by_one),
        cmocka_unit_test(the_extremes_agree_with_numbers_that_are_drawn),
        cmocka_unit_test(every_seed_and_stream_has_its_own_numbers),
        cmocka_unit_test(neighbouring_streams_are_uncorrelated),
        cmocka_unit_test(the_first_numbers_of_streams_are_uniform),
        cmocka_unit_test(the_bits_of_all_draws_are_those_of_every_other_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
