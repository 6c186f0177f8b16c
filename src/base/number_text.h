/* Shared by reading and writing numbers as text: the parts of a double, powers of five, eight
 * characters in one word. Nothing here depends on byte order, locale or libm. */
#ifndef OIF_BASE_NUMBER_TEXT_H
#define OIF_BASE_NUMBER_TEXT_H

#include "base/double_bits.h"
#include "base/powers_of_five.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A double: 1 sign bit, 11 exponent bits, 52 mantissa bits. */
enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1023, EXPONENT_SPECIAL = 2047 };

static const uint64_t SIGN_BIT = UINT64_C(1) << 63;
static const uint64_t HIDDEN_BIT = UINT64_C(1) << MANTISSA_BITS;
static const uint64_t INFINITY_BITS = (uint64_t)EXPONENT_SPECIAL << MANTISSA_BITS;
static const uint64_t NAN_BITS = (uint64_t)EXPONENT_SPECIAL << MANTISSA_BITS | UINT64_C(1) << 51;

/* clang-format off */
static const uint64_t POWER_OF_TEN[] = {
    1, 10, 100, 1000, 10000, 100000,
    1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
    1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000,
    100000000000000000,
};
/* clang-format on */

/* floor(log2(10^n)), exact for |n| <= 1233. gcc and clang shift negative numbers arithmetically. */
static inline int floor_log2_of_power_of_ten(int n)
{
    return (int)((int64_t)n * 1741647 >> 19);
}

static inline const oif_uint128 *power_of_five(int n)
{
    return &oif_powers_of_five()[n - OIF_POWER_OF_FIVE_MIN];
}

static const uint64_t EVERY_BYTE = UINT64_C(0x0101010101010101);

/* Converts between memory order and little-endian. */
static inline uint64_t little_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/* Loads eight characters into a word, the first in the lowest byte on every machine. */
static inline uint64_t load_eight(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return little_endian(word);
}

static inline void store_eight(char *text, uint64_t word)
{
    word = little_endian(word);
    memcpy(text, &word, sizeof word);
}

/* The number given by eight digits: pairs, then fours, then eight, all inside one word. */
static inline uint64_t join_eight_digits(uint64_t digits)
{
    const uint64_t pair_mask = UINT64_C(0x000000ff000000ff);
    const uint64_t pairs_0_and_2 = UINT64_C(1000000) << 32 | 100;
    const uint64_t pairs_1_and_3 = UINT64_C(10000) << 32 | 1;
    uint64_t pairs = digits * 10 + (digits >> 8);
    return ((pairs & pair_mask) * pairs_0_and_2 + (pairs >> 16 & pair_mask) * pairs_1_and_3) >> 32;
}

/* Reads [-]digits.digits with the point among the first eight characters and 8 to 19 digits in all,
 * up to a known end. Most long numbers look like this. Returns false for all others; *value is then
 * undefined. Loads 25 bytes from `text` on. Same bits as oif_number_parse. */
bool oif_long_number_read(const char *text, const char *end, double *value);

#endif
