/* Random numbers that are the same on every machine. SplitMix64 (Steele, Lea, Flood 2014) has eight
 * bytes of state, so every tree can have its own stream and trees can be processed in any order. */
#ifndef OIF_BASE_RANDOM_H
#define OIF_BASE_RANDOM_H

#include <stdint.h>

typedef struct oif_random {
    uint64_t state;
} oif_random;

/* What a draw adds to the state. Snapshots count draws by it. */
#define OIF_RANDOM_STEP UINT64_C(0x9E3779B97F4A7C15)

static inline uint64_t oif_random_bits(oif_random *random)
{
    uint64_t bits = random->state += OIF_RANDOM_STEP;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

/* A separate generator for each stream of one seed. */
oif_random oif_random_stream(uint64_t seed, uint64_t stream);

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double oif_random_unit(oif_random *random)
{
    return (double)(oif_random_bits(random) >> 11) * 0x1p-53;
}

/* The replacement product if a draw must be repeated: see oif_random_below. */
uint64_t oif_random_even(oif_random *random, uint32_t count, uint64_t product);

/* Uniform among 0 .. count - 1; count > 0.
 *
 * A 32-bit draw times count falls into `count` equal bins, except that the first 2^32 mod count
 * products of a bin must be drawn again (Lemire 2019). Finding them takes a division, so only the
 * first `count` products are checked. */
static inline uint32_t oif_random_below(oif_random *random, uint32_t count)
{
    uint64_t product = (oif_random_bits(random) >> 32) * count;
    if ((uint32_t)product < count)
        product = oif_random_even(random, count, product);
    return (uint32_t)(product >> 32);
}

/* How many of `count` coins are heads, each with this probability in [0, 1). */
uint32_t oif_random_binomial(oif_random *random, uint32_t count, double probability);

/* Normal with mean 0 and variance 1. */
double oif_random_normal(oif_random *random);

/* The minimum and maximum of `count` > 0 uniform numbers from [0, 1], for each of `times` sets,
 * without drawing all numbers. At most OIF_EXTREMES_AT_ONCE sets. */
enum { OIF_EXTREMES_AT_ONCE = 32 };
void oif_random_extremes(oif_random *random, uint32_t count, uint32_t times, double *restrict least,
                         double *restrict greatest);

#endif
