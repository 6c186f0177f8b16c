#include "base/random.h"

#include "base/stable_math.h"
#include "base/vector.h"

oif_random oif_random_stream(uint64_t seed, uint64_t stream)
{
    oif_random by_seed = {seed};
    oif_random by_stream = {oif_random_bits(&by_seed) ^ stream};
    return (oif_random){oif_random_bits(&by_stream)};
}

uint64_t oif_random_even(oif_random *random, uint32_t count, uint64_t product)
{
    const uint32_t uneven = (0u - count) % count;
    while ((uint32_t)product < uneven)
        product = (oif_random_bits(random) >> 32) * count;
    return product;
}

/* Tosses 64 coins at once. Coin i compares its own random binary fraction with the probability,
 * digit by digit, and is decided at the first digit that differs. On average some eight digits
 * decide all 64. */
static uint64_t toss_64_coins(oif_random *random, uint64_t probability)
{
    uint64_t heads = 0, undecided = UINT64_MAX;
    for (int digit = 63; undecided && digit >= 0; digit--) {
        uint64_t drawn = oif_random_bits(random);
        uint64_t wanted = 0 - ((probability >> digit) & 1);
        heads |= undecided & wanted & ~drawn;
        undecided &= ~(wanted ^ drawn);
    }
    return heads;
}

uint32_t oif_random_binomial(oif_random *random, uint32_t count, double probability)
{
    uint64_t fraction = (uint64_t)(probability * 0x1p64);
    uint32_t heads = 0;
    for (; count >= 64; count -= 64)
        heads += (uint32_t)__builtin_popcountll(toss_64_coins(random, fraction));
    if (count) {
        uint64_t wanted = (UINT64_C(1) << count) - 1;
        heads += (uint32_t)__builtin_popcountll(toss_64_coins(random, fraction) & wanted);
    }
    return heads;
}

/* U^(1/n) has the distribution of the greatest of n uniform numbers. U is in (0, 1], because of its
 * logarithm. */
OIF_INLINE double greatest_of(double unit, double count)
{
    return oif_exp2(oif_log2(1.0 - unit) / count);
}

/* `least` and `greatest` start as uniform draws. Given the greatest, the others are uniform below
 * it, and their minimum is the mirror image of a maximum. */
OIF_INLINE void turn_into_extremes(uint32_t count, uint32_t times, double *restrict least,
                                   double *restrict greatest)
{
    for (uint32_t i = 0; i < times; i++)
        greatest[i] = greatest_of(greatest[i], count);
    for (uint32_t i = 0; i < times; i++)
        least[i] = greatest[i] * (1.0 - greatest_of(least[i], count - 1));
}

OIF_AVX2 static void turn_into_extremes_avx2(uint32_t count, uint32_t times, double *restrict least,
                                             double *restrict greatest)
{
    turn_into_extremes(count, times, least, greatest);
}

void oif_random_extremes(oif_random *random, uint32_t count, uint32_t times, double *restrict least,
                         double *restrict greatest)
{
    for (uint32_t i = 0; i < times; i++) {
        greatest[i] = oif_random_unit(random);
        least[i] = count == 1 ? greatest[i] : oif_random_unit(random);
    }
    if (count == 1)
        return;
    if (oif_machine_has_avx2())
        turn_into_extremes_avx2(count, times, least, greatest);
    else
        turn_into_extremes(count, times, least, greatest);
}

/* Marsaglia's polar method. */
double oif_random_normal(oif_random *random)
{
    const double ln2 = 0x1.62e42fefa39efp-1;
    double x, y, square;
    do {
        x = 2.0 * oif_random_unit(random) - 1.0;
        y = 2.0 * oif_random_unit(random) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    double stretch = -2.0 * ln2 * oif_log2(square) / square;
    return stretch > 0 ? x * oif_exp2(0.5 * oif_log2(stretch)) : 0.0;
}
