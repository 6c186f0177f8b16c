/* Double -> text.
 *
 * Scale the double and both ends of the interval that rounds to it by one power of ten, so the
 * interval is between 1 and 10 wide. The answer is the multiple of ten in it if there is one, else
 * the nearest integer.
 *
 *   Raffaello Giulietti, "The Schubfach way to render doubles", 2020.
 *
 * Cost on a 2020s server core: 15 to 45 ns. */
#include "base/number_text.h"
#include "oif_rows.h"

#include <float.h>

/* Writing: the shortest digits */

/* digits * 10^exponent, digits below 10^17 */
typedef struct {
    uint64_t digits;
    int exponent;
} short_decimal;

/* The upper 64 bits of x * power. The lowest bit is also set if a remainder was cut off (a
 * remainder of 1 may come from rounding the power up). This is enough for exact comparisons with
 * even numbers. */
static uint64_t scale_rounding_to_odd(oif_uint128 power, uint64_t x)
{
    oif_uint128 product = oif_multiply_64(x, power.high);
    uint64_t rest = oif_multiply_64(x, power.low).high;
    product.low += rest;
    product.high += product.low < rest;
    return product.high | (product.low > 1);
}

static oif_uint128 power_of_five_rounded_up(int n)
{
    oif_uint128 power = *power_of_five(n);
    if (n < 0 || n > OIF_POWER_OF_FIVE_LAST_EXACT) {
        power.low++;
        power.high += power.low == 0;
    }
    return power;
}

/* The shortest decimal in the interval that rounds to mantissa * 2^exponent. value, lower and upper
 * are in quarters of 10^k, where 10^k is the largest power of ten not above the width of the
 * interval. So at least one multiple of 10^k lies inside, and at most one of 10^(k+1). */
static short_decimal shortest_decimal(uint64_t mantissa, int exponent, bool lower_is_closer)
{
    /* floor(log10(width)); below a power of two the interval is only 3/4 as wide */
    int k = (int)(((int64_t)exponent * 1262611 - (lower_is_closer ? 524031 : 0)) >> 22);
    int shift = exponent + floor_log2_of_power_of_ten(-k) + 1;
    oif_uint128 power = power_of_five_rounded_up(-k);
    uint64_t quarters = 4 * mantissa;
    uint64_t value = scale_rounding_to_odd(power, quarters << shift);
    uint64_t lower = scale_rounding_to_odd(power, (quarters - (lower_is_closer ? 1 : 2)) << shift);
    uint64_t upper = scale_rounding_to_odd(power, (quarters + 2) << shift);

    /* Ties go to even, so only an even mantissa includes the ends of its interval. */
    lower += mantissa & 1;
    upper -= mantissa & 1;

    uint64_t ones = value / 4;
    uint64_t tens = ones / 10;
    bool tens_inside = lower <= 40 * tens;
    bool next_tens_inside = 40 * tens + 40 <= upper;
    if (tens_inside != next_tens_inside)
        return (short_decimal){tens + next_tens_inside, k + 1};

    bool ones_inside = lower <= 4 * ones;
    bool next_ones_inside = 4 * ones + 4 <= upper;
    uint64_t half = 4 * ones + 2;
    bool nearer_to_next = value > half || (value == half && (ones & 1) == 1);
    bool up = ones_inside != next_ones_inside ? next_ones_inside : nearer_to_next;
    return (short_decimal){ones + up, k};
}

/* Writing: the characters */

/* Splits a number below 10^8 into eight digits, the first in the lowest byte: fours, then pairs,
 * then ones, all inside one word. The factors are 1/100 and 1/10 in fixed point, exact in that
 * range. */
static uint64_t split_eight_digits(uint32_t number)
{
    uint64_t fours = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = pairs * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (pairs - tens * 10) << 8;
}

/* The digits of a decimal as characters, padded with zeros to seventeen: 0.05 is first '5', rest
 * all '0', count 1, point -1. They stay in registers, because copies that straddle the eight-byte
 * stores would wait for them. */
typedef struct {
    char first;
    uint64_t rest[2]; /* eight each, the leftmost in the lowest byte */
    int count;        /* up to the last nonzero digit */
    int point;        /* digits before the decimal point: 3 for 123.4, 0 for 0.5 */
} digit_text;

static int count_digits(uint64_t number)
{
    int bits = 64 - __builtin_clzll(number);
    int digits = bits * 1233 >> 12; /* 1233 / 4096 is a little above log10(2): right or one short */
    return digits + (number >= POWER_OF_TEN[digits]);
}

static digit_text spell_digits(short_decimal number)
{
    const uint32_t block = 100000000;
    int length = count_digits(number.digits);
    uint64_t digits = number.digits * POWER_OF_TEN[17 - length];
    uint64_t first = digits / POWER_OF_TEN[16];
    uint64_t rest = digits % POWER_OF_TEN[16];
    uint64_t left = split_eight_digits((uint32_t)(rest / block));
    uint64_t right = split_eight_digits((uint32_t)(rest % block));
    digit_text text = {
        .first = (char)('0' + first),
        .rest = {left | EVERY_BYTE * '0', right | EVERY_BYTE * '0'},
        .count = 1,
        .point = length + number.exponent,
    };
    if (right != 0)
        text.count = 17 - (__builtin_clzll(right) >> 3);
    else if (left != 0)
        text.count = 9 - (__builtin_clzll(left) >> 3);
    return text;
}

static void store_digits(char *text, const digit_text *digits)
{
    text[0] = digits->first;
    store_eight(text + 1, digits->rest[0]);
    store_eight(text + 9, digits->rest[1]);
}

/* Eight characters of the rest, starting at `start` (at most 15). Shifts in two steps: it may be
 * 64. */
static uint64_t rest_from(const digit_text *digits, int start)
{
    if (start >= 8)
        return digits->rest[1] >> 8 * (start - 8);
    return digits->rest[0] >> 8 * start | digits->rest[1] << (56 - 8 * start) << 8;
}

/* 0.00012, 12, 1200, 1.2 */
static size_t write_positional(const digit_text *digits, char *text)
{
    int count = digits->count, point = digits->point;
    if (point <= 0) {
        memcpy(text, "0.000", 5);
        store_digits(text + 2 - point, digits);
        return (size_t)(2 - point + count);
    }
    store_digits(text, digits);
    if (count <= point)
        return (size_t)point;
    text[point] = '.';
    store_eight(text + point + 1, rest_from(digits, point - 1));
    if (count - point > 8)
        store_eight(text + point + 9, rest_from(digits, point + 7));
    return (size_t)(count + 1);
}

/* 1.2e-05, 1e+100 */
static size_t write_scientific(const digit_text *digits, char *text)
{
    store_digits(text + 1, digits);
    text[0] = digits->first;
    text[1] = '.';
    char *p = text + (digits->count > 1 ? digits->count + 1 : 1);
    int exponent = digits->point - 1;
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    if (magnitude >= 100)
        *p++ = (char)('0' + magnitude / 100);
    *p++ = (char)('0' + magnitude / 10 % 10); /* Python writes at least two digits */
    *p++ = (char)('0' + magnitude % 10);
    return (size_t)(p - text);
}

/* Whether the double is the nearest one to a decimal below 10^6 with at most nine decimals, such as
 * 0.0125. Such a decimal has at most 15 digits, and no two of those round to the same double, so no
 * search is needed: half the instructions. Both operands are exact, so the quotient is the nearest
 * double; a wider type would round twice. */
static bool find_short_decimal(uint64_t bits, short_decimal *decimal)
{
    double value = oif_double_from_bits(bits);
    if (FLT_EVAL_METHOD != 0 || value >= 1e6)
        return false;
    int64_t billionths = (int64_t)(value * 1e9 + 0.5);
    *decimal = (short_decimal){(uint64_t)billionths, -9};
    return (double)billionths / 1e9 == value;
}

static short_decimal decimal_of_positive_double(uint64_t bits)
{
    int biased = (int)(bits >> MANTISSA_BITS);
    int exponent = biased - EXPONENT_BIAS - MANTISSA_BITS;
    uint64_t fraction = bits & (HIDDEN_BIT - 1), mantissa = fraction | HIDDEN_BIT;
    short_decimal decimal;
    /* A whole number below 2^53 is its own shortest text. */
    if (exponent <= 0 && exponent >= -MANTISSA_BITS && __builtin_ctzll(mantissa) >= -exponent)
        return (short_decimal){mantissa >> -exponent, 0};
    if (find_short_decimal(bits, &decimal))
        return decimal;
    if (biased == 0)
        return shortest_decimal(fraction, 1 - EXPONENT_BIAS - MANTISSA_BITS, false);
    bool lower_is_closer = fraction == 0 && biased > 1;
    return shortest_decimal(mantissa, exponent, lower_is_closer);
}

size_t oif_number_format(double value, char text[OIF_NUMBER_TEXT_BYTES])
{
    uint64_t bits = oif_bits_of_double(value);
    size_t sign = (size_t)(bits >> 63);
    bits &= ~SIGN_BIT;
    if (bits > INFINITY_BITS) {
        memcpy(text, "nan", 3);
        return 3;
    }
    text[0] = '-';
    text += sign;
    if (bits == INFINITY_BITS) {
        memcpy(text, "inf", 3);
        return sign + 3;
    }
    if (bits == 0) {
        text[0] = '0';
        return sign + 1;
    }
    digit_text digits = spell_digits(decimal_of_positive_double(bits));
    bool positional = digits.point > -4 && digits.point <= 16;
    return sign + (positional ? write_positional(&digits, text) : write_scientific(&digits, text));
}
