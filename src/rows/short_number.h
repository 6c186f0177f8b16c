/* The fast path for short numbers, the same in CSV and JSON. */
#ifndef OIF_ROWS_SHORT_NUMBER_H
#define OIF_ROWS_SHORT_NUMBER_H

#include "base/number_text.h"

#include <float.h>

static const double oif_short_powers_of_ten[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};

/* Sets the top bit of every byte above 9, whatever the bytes before it are. */
static inline uint64_t oif_all_bytes_above_nine(uint64_t word)
{
    return (((word & EVERY_BYTE * 0x7f) + EVERY_BYTE * (0x7f - 9)) | word) & EVERY_BYTE * 0x80;
}

/* Reads numbers of the most common form, [-]digits[.digits] in at most seven characters plus the
 * byte that ends it. All in one word, without a branch that depends on the number, because lengths
 * are hard to predict. Such digits and powers of ten are exact doubles, so one division gives the
 * nearest double, the same as oif_number_parse. NULL for all others. */
static inline const char *oif_short_number_end(const char *text, const char *lines_end,
                                               double *value)
{
    if (lines_end - text < 9 || FLT_EVAL_METHOD != 0) /* a wider type would round twice */
        return NULL;
    const bool negative = *text == '-';
    const char *first = text + negative;
    const uint64_t word = load_eight(first) ^ EVERY_BYTE * '0'; /* digits become 0 to 9 */
    const uint64_t others = oif_all_bytes_above_nine(word);
    if (others == 0)
        return NULL;
    const unsigned whole = (unsigned)__builtin_ctzll(others) / 8; /* digits before the point */
    const uint64_t point = (word >> 8 * whole & 0xff) == ('.' ^ '0');
    /* without the point, which is the lowest bit */
    const uint64_t ends = others & (others - point);
    if (ends == 0)
        return NULL;
    const unsigned end = (unsigned)__builtin_ctzll(ends) / 8, count = end - (unsigned)point;
    if (count == 0)
        return NULL;
    /* Close the gap where the point was, then move the digits to the top: what is below counts as
     * leading zeros. */
    const uint64_t before = (UINT64_C(1) << 8 * whole) - 1, gap = before | (point - 1);
    const uint64_t digits = (word & gap) | (word >> 8 & ~gap);
    const double magnitude = (double)(int64_t)join_eight_digits(digits << 8 * (8 - count));
    *value = (negative ? -magnitude : magnitude) /
             oif_short_powers_of_ten[end - whole - (unsigned)point];
    return first + end;
}

/* The same for a text of up to eight characters whose end is known. They are moved to the top of a
 * word, so the zeros below count as leading ones, and the digits before the point move up by one.
 * Flags are integers here, because compilers turn selections into branches, and signs and points
 * are hard to predict. */
static inline bool oif_short_number_read(const char *text, const char *end, double *value)
{
    const size_t bytes = (size_t)(end - text);
    if (bytes - 1 >= 8 || FLT_EVAL_METHOD != 0) /* empty, or longer than eight */
        return false;
    const uint64_t negative = *text == '-';
    const unsigned shift = 64 - 8 * (unsigned)bytes;
    const uint64_t word = ((load_eight(text) ^ EVERY_BYTE * '0') & ~(negative * 0xff))
                          << shift; /* digits: 0 to 9 */
    const uint64_t others = oif_all_bytes_above_nine(word);
    const uint64_t point = others >> 7, has_point = others != 0;
    const uint64_t before = point - has_point, at_point = point * 0xff;
    const uint64_t misplaced = (others & (others - 1)) | ((word & at_point) ^ point * ('.' ^ '0'));
    if (misplaced != 0 || bytes == negative + has_point)
        return false;
    const uint64_t digits = (word & ~(before | at_point)) | (word & before) << 8;
    const double magnitude = (double)(int64_t)join_eight_digits(digits);
    /* no point counts as a point after the last digit */
    const int decimals = __builtin_clzll(others | (has_point ^ 1) << 63) / 8;
    const double quotient = magnitude / oif_short_powers_of_ten[decimals];
    *value = oif_double_from_bits(oif_bits_of_double(quotient) | negative << 63);
    return true;
}

#endif
