/* The library's own random numbers: the same on every machine. SplitMix64 (Steele, Lea, Flood
 * 2014) keeps eight bytes of state, so that every tree can have its own stream and trees can be
 * worked on in any order. */
#ifndef OIF_BASE_RANDOM_H
#define OIF_BASE_RANDOM_H

#include <stdint.h>

typedef struct oif_random {
    uint64_t state;
} oif_random;

static inline uint64_t oif_random_bits(oif_random *random)
{
    uint64_t bits = random->state += UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

/* A generator of its own for each stream of one seed. */
oif_random oif_random_stream(uint64_t seed, uint64_t stream);

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double oif_random_unit(oif_random *random)
{
    return (double)(oif_random_bits(random) >> 11) * 0x1p-53;
}

/* What a draw times count is replaced by where it must be drawn again: see oif_random_below. */
uint64_t oif_random_even(oif_random *random, uint32_t count, uint64_t product);

/* Uniform among 0 .. count - 1; count > 0.
 *
 * A 32-bit draw times count falls into `count` equal bins but for the first 2^32 mod count products
 * of a bin, which are drawn again (Lemire 2019). That takes a division, so only the first `count`
 * products are looked at. */
static inline uint32_t oif_random_below(oif_random *random, uint32_t count)
{
    uint64_t product = (oif_random_bits(random) >> 32) * count;
    if ((uint32_t)product < count)
        product = oif_random_even(random, count, product);
    return (uint32_t)(product >> 32);
}

/* How many of `count` coins fall heads when each does so with this probability, which is in [0,
 * 1). */
uint32_t oif_random_binomial(oif_random *random, uint32_t count, double probability);

/* Normal with mean 0 and variance 1. */
double oif_random_normal(oif_random *random);

/* For each of `times` sets of `count` > 0 numbers drawn uniformly from [0, 1], the least and
 * the greatest of them, without drawing them all. At most OIF_EXTREMES_AT_ONCE sets. */
enum { OIF_EXTREMES_AT_ONCE = 32 };
void oif_random_extremes(oif_random *random, uint32_t count, uint32_t times, double *restrict least,
                         double *restrict greatest);

#endif
