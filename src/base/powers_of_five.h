#ifndef OIF_BASE_POWERS_OF_FIVE_H
#define OIF_BASE_POWERS_OF_FIVE_H

#include <stdint.h>

/* Powers of five to 128 bits, and the wide arithmetic behind them. */

typedef struct {
    uint64_t high;
    uint64_t low;
} oif_uint128;

static inline oif_uint128 oif_multiply_64(uint64_t x, uint64_t y)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 native_uint128;
    native_uint128 product = (native_uint128)x * y;
    return (oif_uint128){.high = (uint64_t)(product >> 64), .low = (uint64_t)product};
#else
    uint64_t x_low = (uint32_t)x, x_high = x >> 32;
    uint64_t y_low = (uint32_t)y, y_high = y >> 32;
    uint64_t lowest = x_low * y_low;
    uint64_t middle = x_high * y_low + (lowest >> 32); /* neither sum reaches 2^64 */
    uint64_t cross = x_low * y_high + (uint32_t)middle;
    return (oif_uint128){
        .high = x_high * y_high + (middle >> 32) + (cross >> 32),
        .low = cross << 32 | (uint32_t)lowest,
    };
#endif
}

/* The exponents n of 5^n needed to read or write a double. */
enum {
    OIF_POWER_OF_FIVE_MIN = -342,     /* below, (2^64 - 1) * 10^n rounds to zero */
    OIF_POWER_OF_FIVE_MAX = 324,      /* needed to write the smallest subnormal */
    OIF_POWER_OF_FIVE_LAST_EXACT = 55 /* from 0 to here 5^n fits in 128 bits */
};

/* Entry [n - OIF_POWER_OF_FIVE_MIN] holds the leading 128 bits of 5^n:
 *
 *     5^n = (high * 2^64 + low + something in [0, 1)) * 2^(floor(log2(5^n)) - 127)
 *
 * The top bit of `high` is always set; lower bits are truncated, never rounded. The first call
 * computes the table (some 50 microseconds), every later call is one load. Any thread may call it
 * at any time; it cannot fail. */
const oif_uint128 *oif_powers_of_five(void);

/* A natural number below 2^3072, least significant limb first, no zero limb at the top. The caller
 * ensures that products fit. */
enum { OIF_NATURAL_LIMBS = 96 };

typedef struct {
    uint32_t limb[OIF_NATURAL_LIMBS];
    int size; /* limbs in use; 0 for the number 0 */
} oif_natural;

oif_natural oif_natural_from_64(uint64_t value);
void oif_natural_multiply_and_add(oif_natural *number, uint32_t factor, uint32_t addend);
void oif_natural_multiply_by_power_of_two(oif_natural *number, int64_t n);
void oif_natural_multiply_by_power_of_five(oif_natural *number, int64_t n);

/* Negative, zero or positive if left is below, equal to or above right. */
int oif_natural_compare(const oif_natural *left, const oif_natural *right);

#endif
