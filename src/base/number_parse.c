/* Text -> double.
 *
 * The digits become an integer w and a power of ten, value = w * 10^q, eight characters at a time
 * inside one 64-bit word. Then w is multiplied by the leading bits of 5^q. The top 54 bits of the
 * product, rounded, are the double (the 2^q in 10^q only moves the exponent):
 *
 *          w, shifted left until its top bit is set     64 bits
 *        * 5^q, leading bits                            64 bits, or 128 when those are too few
 *        = [ 53 bits kept | 1 to round | 9 or 10 spare | 64 low bits ]
 *
 * Daniel Lemire, "Number Parsing at a Gigabyte per Second", 2021 (after Michael Eisel). 128 bits of
 * 5^q decide every w below 2^64: the proof is in Noble Mushtak and Daniel Lemire, "Fast Number
 * Parsing Without Fallback", 2023. Only texts of more than 19 significant digits can remain
 * undecided: if w and w + 1 round differently, the text is compared exactly with the midpoint of
 * the two.
 *
 * Cost on a 2020s server core: 10 to 25 ns, 45 from 20 digits on. */
#include "base/number_text.h"
#include "oif_rows.h"

#include <float.h>

/* Loads fewer than eight characters; the missing ones become zero bytes, which are not digits. */
static uint64_t load_last(const char *text, const char *end)
{
    uint64_t word = 0;
    for (int shift = 0; text < end; text++, shift += 8)
        word |= (uint64_t)(unsigned char)*text << shift;
    return word;
}

static uint64_t load_ahead(const char *text, const char *end)
{
    return LIKELY(end - text >= 8) ? load_eight(text) : load_last(text, end);
}

/* Sets the top bit of the first byte above 9. Later bytes are correct too, as long as all bytes
 * before them are below 0x8a: only a carry out of a larger byte disturbs the next. */
static uint64_t bytes_above_nine(uint64_t word)
{
    return ((word + EVERY_BYTE * (0x7f - 9)) | word) & EVERY_BYTE * 0x80;
}

/* Reading: the nearest double */

/* The upper 128 bits of w * 5^q, w normalised. The product with the high half of 5^q is too small
 * by less than 2^64, so it suffices unless that could carry through the nine spare bits (one in
 * 512). For -27 <= q < 0 the quotient w / 5^-q may be whole or half. Rounding the reciprocal up
 * instead of down makes such a product end in ...000 rather than ...fff, which can be
 * recognised. */
static oif_uint128 multiply_with_power_of_five(uint64_t w, int q)
{
    const uint64_t spare_bits = 0x1ff;
    const oif_uint128 *power = power_of_five(q);
    oif_uint128 product = oif_multiply_64(w, power->high);
    if (UNLIKELY((product.high & spare_bits) == spare_bits)) {
        uint64_t round_up = q < 0 && q >= -27;
        uint64_t rest = oif_multiply_64(w, power->low + round_up).high;
        product.low += rest;
        product.high += product.low < rest;
    }
    return product;
}

/* If w and 10^-q are exact doubles, one division rounds correctly (William Clinger, "How to Read
 * Floating Point Numbers Accurately", 1990). Saves 2 to 5 ns on short numbers. Needs the default
 * rounding mode and true double precision, which the x87 does not have. */
static bool is_quotient_of_doubles(uint64_t w, int64_t q)
{
    bool true_double_arithmetic = FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1;
    return true_double_arithmetic && w <= 2 * HIDDEN_BIT && q <= 0 && q >= -22;
}

static uint64_t quotient_of_doubles(uint64_t w, int64_t q)
{
    static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return oif_bits_of_double((double)(int64_t)w / power_of_ten[-q]);
}

/* Assembles a double from its biased exponent and its mantissa with one extra bit, to be rounded
 * away. Halves round up; the caller has ruled out ties. */
static uint64_t round_and_assemble(uint64_t mantissa, int exponent)
{
    if (UNLIKELY(exponent <= 0)) { /* subnormal: stored with exponent 0, meaning the same as 1 */
        mantissa = exponent > -63 ? mantissa >> (1 - exponent) : 0;
        return (mantissa + (mantissa & 1)) >> 1;
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    /* The sum lets a mantissa that rounded up to 2^53 carry into the exponent. */
    uint64_t bits = ((uint64_t)exponent << MANTISSA_BITS) + (mantissa - HIDDEN_BIT);
    return bits < INFINITY_BITS ? bits : INFINITY_BITS;
}

/* The bits of the double nearest to w * 10^q, by the multiplication explained at the top of this
 * file. w is not 0, and q is from OIF_POWER_OF_FIVE_MIN to 308. */
static uint64_t nearest_double_by_product(uint64_t w, int64_t q)
{
    int leading_zeros = __builtin_clzll(w);
    oif_uint128 product = multiply_with_power_of_five(w << leading_zeros, (int)q);
    int top_bit = (int)(product.high >> 63);
    int spare_bits = 9 + top_bit;
    uint64_t mantissa = product.high >> spare_bits; /* 53 bits and one to round */
    int exponent =
        floor_log2_of_power_of_ten((int)q) + 63 + top_bit - leading_zeros + EXPONENT_BIAS;

    /* A tie with an even mantissa below: clear the bit that would round up. A tie is an odd number
     * M of 54 bits. If q < 0, w = M * 5^-q < 2^64 needs q >= -4; if q > 0, 5^q divides M, so q <=
     * 23. Then a product ending in zeros is a tie: for q >= 0 it is exact, and for q < 0 any other
     * w misses a tie by at least 1/5^4 of its last bit, which shows in the low word. */
    bool exact = product.low == 0 && mantissa << spare_bits == product.high;
    if (UNLIKELY(exact && q >= -4 && q <= 23 && (mantissa & 3) == 1))
        mantissa--;
    return round_and_assemble(mantissa, exponent);
}

/* The bits of the double nearest to w * 10^q. */
static uint64_t nearest_double(uint64_t w, int64_t q)
{
    if (is_quotient_of_doubles(w, q))
        return quotient_of_doubles(w, q);
    if (w == 0 || q < OIF_POWER_OF_FIVE_MIN)
        return 0;
    if (q > 308)
        return INFINITY_BITS;
    return nearest_double_by_product(w, q);
}

/* Reading: more digits than a word holds */

/* A midpoint of two doubles has at most 768 significant digits. Digits beyond that only decide
 * whether the text is above. */
enum { DECISIVE_DIGITS = 768, FAST_DIGITS = 19 };

/* A decimal in the text: its digits from first to last (possibly with a point between them), the
 * first one not 0, and the power of ten of the last digit. */
typedef struct {
    const char *first;
    const char *last;
    int64_t digits;
    int64_t exponent;
} long_decimal;

/* The decisive digits as a natural number; a nonzero digit after them adds one more digit, 1.
 * Returns the power of ten to multiply the number by. */
static int64_t read_decisive_digits(const long_decimal *decimal, oif_natural *number)
{
    int64_t taken = 0;
    uint32_t block = 0, block_scale = 1; /* up to nine digits per pass over the limbs */
    const char *p = decimal->first;
    number->size = 0;
    for (; p <= decimal->last && taken < DECISIVE_DIGITS; p++) {
        if (*p == '.')
            continue;
        block = block * 10 + (uint32_t)(*p - '0');
        block_scale *= 10;
        taken++;
        if (block_scale == 1000000000) {
            oif_natural_multiply_and_add(number, block_scale, block);
            block = 0;
            block_scale = 1;
        }
    }
    oif_natural_multiply_and_add(number, block_scale, block);
    while (p <= decimal->last && (*p == '0' || *p == '.'))
        p++;
    bool more = p <= decimal->last;
    if (more)
        oif_natural_multiply_and_add(number, 10, 1);
    return decimal->exponent + decimal->digits - taken - more;
}

/* Whether the text is below (-1), at (0) or above (1) the midpoint of the double `bits` and the
 * next one.
 *
 *     digits * 10^n  against  (2 * mantissa + 1) * 2^exponent
 *
 * Each negative power is moved to the other side, so both sides are whole. They are about equal.
 * The largest, from the last digit of the smallest subnormals, is below 2^54 * 5^1111 < 2^2640. */
static int compare_with_midpoint(const long_decimal *decimal, uint64_t bits)
{
    int64_t biased = (int64_t)(bits >> MANTISSA_BITS);
    uint64_t mantissa = (bits & (HIDDEN_BIT - 1)) | (biased > 0 ? HIDDEN_BIT : 0);
    int64_t exponent = (biased > 0 ? biased : 1) - EXPONENT_BIAS - MANTISSA_BITS - 1;

    oif_natural middle = oif_natural_from_64(2 * mantissa + 1), text;
    int64_t n = read_decisive_digits(decimal, &text);
    if (n >= 0)
        oif_natural_multiply_by_power_of_five(&text, n);
    else
        oif_natural_multiply_by_power_of_five(&middle, -n);
    if (n >= exponent)
        oif_natural_multiply_by_power_of_two(&text, n - exponent);
    else
        oif_natural_multiply_by_power_of_two(&middle, exponent - n);
    return oif_natural_compare(&text, &middle);
}

static uint64_t nearest_double_to_long_decimal(const long_decimal *decimal)
{
    uint64_t w = 0;
    int taken = 0;
    for (const char *p = decimal->first; taken < FAST_DIGITS; p++) {
        if (*p != '.') {
            w = w * 10 + (uint64_t)(*p - '0');
            taken++;
        }
    }
    int64_t q = decimal->exponent + decimal->digits - FAST_DIGITS;
    uint64_t below = nearest_double(w, q);
    uint64_t above = nearest_double(w + 1, q);
    if (below == above)
        return below;
    int side = compare_with_midpoint(decimal, below);
    bool up = side > 0 || (side == 0 && (below & 1) == 1);
    return up ? above : below;
}

/* Reading: the characters */

/* Appends the digits at `text` to *w (modulo 2^64) and returns the first character after them. */
static const char *read_digits(const char *text, const char *end, uint64_t *w)
{
    for (;;) {
        uint64_t digits = load_ahead(text, end) ^ EVERY_BYTE * '0';
        uint64_t others = bytes_above_nine(digits);
        if (others == 0) {
            *w = *w * POWER_OF_TEN[8] + join_eight_digits(digits);
            text += 8;
            continue;
        }
        int bits = __builtin_ctzll(others) & ~7; /* eight bits per digit */
        if (bits != 0)
            *w = *w * POWER_OF_TEN[bits / 8] + join_eight_digits(digits << (64 - bits));
        return text + bits / 8;
    }
}

/* The digits of a number without its exponent: value = w * 10^exponent, w modulo 2^64. */
typedef struct {
    uint64_t w;
    int64_t exponent;
    int64_t count;
    const char *end;
} digit_run;

/* Most numbers have their point among the first eight characters. Squeezing the point out of the
 * word reads the digits on both sides at once. There is more only if the word ends in a digit. */
static digit_run read_digits_around_point(const char *text, const char *end, uint64_t digits,
                                          uint64_t others, int point)
{
    uint64_t after_point = others & (others - 1);
    int stop = after_point != 0 ? __builtin_ctzll(after_point) & ~7 : 64;
    uint64_t whole_part = (UINT64_C(1) << point) - 1;
    uint64_t squeezed = (digits & whole_part) | (digits >> 8 & ~whole_part);
    digit_run run = {.end = text + stop / 8};
    run.w = stop > 8 ? join_eight_digits(squeezed << (72 - stop)) : 0;
    if (after_point == 0)
        run.end = read_digits(run.end, end, &run.w);
    run.count = run.end - text - 1;
    run.exponent = point / 8 - run.count;
    return run;
}

static digit_run read_decimal(const char *text, const char *end)
{
    uint64_t word = load_ahead(text, end);
    uint64_t digits = word ^ EVERY_BYTE * '0';
    uint64_t others = bytes_above_nine(digits);
    int whole = others != 0 ? __builtin_ctzll(others) & ~7 : 64;
    if (others != 0 && (word >> whole & 0xff) == '.')
        return read_digits_around_point(text, end, digits, others, whole);

    digit_run run = {.w = 0};
    run.end = read_digits(text, end, &run.w);
    run.count = run.end - text;
    if (run.count >= 8 && run.end < end && *run.end == '.') {
        const char *fraction = run.end + 1;
        run.end = read_digits(fraction, end, &run.w);
        run.exponent = fraction - run.end;
        run.count -= run.exponent;
    }
    return run;
}

/* Reads [+-]digits after an e. If there are none, returns `text` and leaves *exponent unchanged.
 * Above 10^16 further digits are ignored: no text is long enough to compensate such an exponent. */
static const char *read_exponent(const char *text, const char *end, int64_t *exponent)
{
    const int64_t limit = INT64_C(10000000000000000);
    const char *p = text + 1;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || *p < '0' || *p > '9')
        return text;
    int64_t magnitude = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (magnitude < limit)
            magnitude = magnitude * 10 + (*p - '0');
    }
    *exponent = negative ? -magnitude : magnitude;
    return p;
}

/* The length of `word` (lower case) if the text begins with it in any case, else 0. */
static size_t match_word(const char *text, const char *end, const char *word)
{
    size_t n = 0;
    for (; word[n] != '\0'; n++) {
        if (text + n == end || (text[n] | 0x20) != word[n])
            return 0;
    }
    return n;
}

static const char *read_word(const char *text, const char *end, uint64_t *bits)
{
    size_t length = match_word(text, end, "nan");
    *bits = NAN_BITS;
    if (length == 0) {
        *bits = INFINITY_BITS;
        length = match_word(text, end, "infinity");
    }
    if (length == 0)
        length = match_word(text, end, "inf");
    return length > 0 ? text + length : NULL;
}

/* For more than 19 digits, possibly with many leading zeros. */
static uint64_t read_long_decimal(const char *text, const digit_run *run)
{
    int64_t count = run->count;
    for (; text < run->end && (*text == '0' || *text == '.'); text++)
        count -= *text == '0';
    if (count <= FAST_DIGITS)
        return nearest_double(run->w, run->exponent);
    return nearest_double_to_long_decimal(
        &(long_decimal){text, run->end - 1, count, run->exponent});
}

/* Moves up to eight digits from the low end of a word to the top; the zeros below count as leading
 * ones. */
static inline uint64_t last_digits(uint64_t word, unsigned count)
{
    const uint64_t all_or_none = -(uint64_t)(count != 0); /* a shift by 64 is undefined */
    return word << (64 - 8 * count) % 64 & all_or_none;
}

/* Loads three words and squeezes the point out of the first:
 *
 *     10.71610 74515452 43,...    ->    10716107 45154524 3
 *                                       first    middle   last: 8, then up to 8, then the rest
 *
 * The number of digits is hard to predict, so only the checks branch on it. 17 digits take 40%
 * fewer instructions than oif_number_parse. */
bool oif_long_number_read(const char *text, const char *end, double *value)
{
    const uint64_t negative = *text == '-';
    text += negative;
    const uint64_t count = (uint64_t)(end - text) - 1; /* number of digits */
    if (count - 8 > FAST_DIGITS - 8)
        return false;
    const uint64_t zeros = EVERY_BYTE * '0';
    const uint64_t words[] = {load_eight(text) ^ zeros, load_eight(text + 8) ^ zeros,
                              load_eight(text + 16) ^ zeros};
    const uint64_t others = bytes_above_nine(words[0]);
    const uint64_t point = (others & -others) >> 7, before = point - 1;
    if (others == 0 || (words[0] & point * 0xff) != point * ('.' ^ '0'))
        return false;
    const unsigned last_count = (unsigned)count % 16 * (unsigned)(count / 16); /* behind 16 */
    const unsigned middle_count = (unsigned)count - 8 - last_count;
    const uint64_t first = (words[0] & before) | ((words[0] >> 8 | words[1] << 56) & ~before);
    const uint64_t middle = last_digits(words[1] >> 8 | words[2] << 56, middle_count);
    const uint64_t last = last_digits(words[2] >> 8, last_count);
    if ((bytes_above_nine(first) | bytes_above_nine(middle) | bytes_above_nine(last)) != 0)
        return false;
    uint64_t w = join_eight_digits(first) * POWER_OF_TEN[middle_count] + join_eight_digits(middle);
    w = w * POWER_OF_TEN[last_count] + join_eight_digits(last);
    if (w == 0)
        return false;
    const int64_t whole = __builtin_ctzll(point) / 8;
    const uint64_t bits = nearest_double_by_product(w, whole - (int64_t)count);
    *value = oif_double_from_bits(bits | negative << 63);
    return true;
}

const char *oif_number_parse(const char *text, const char *end, double *value)
{
    if (text >= end)
        return NULL;
    bool negative = *text == '-';
    text += negative | (*text == '+'); /* no branch: in much data signs are random */

    uint64_t bits;
    digit_run run = read_decimal(text, end);
    const char *after = run.end;
    if (LIKELY(run.count > 0)) {
        if (after < end && (*after | 0x20) == 'e') {
            int64_t written = 0;
            after = read_exponent(after, end, &written);
            run.exponent += written;
        }
        bits = LIKELY(run.count <= FAST_DIGITS) ? nearest_double(run.w, run.exponent)
                                                : read_long_decimal(text, &run);
    } else {
        after = read_word(text, end, &bits);
        if (after == NULL)
            return NULL;
    }
    *value = oif_double_from_bits(negative && bits != NAN_BITS ? bits | SIGN_BIT : bits);
    return after;
}
