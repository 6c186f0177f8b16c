/* Text <-> double against the C library's strtod and printf, which glibc rounds exactly.
 *
 * OIF_NUMBER_TRIALS sets how many random texts are tried (10^6 by default; the long run uses
 * 10^8), OIF_NUMBER_SEED the seed, which every failure prints. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oif_rows.h"
#include "rows/short_number.h"

static uint64_t first_seed, random_state;
static long trials;

static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int random_below(int limit)
{
    return (int)((next_random() >> 32) * (uint64_t)limit >> 32);
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double random_finite(void)
{
    for (;;) {
        double value = from_bits(next_random());
        if (isfinite(value))
            return value;
    }
}

/* What the fast paths accept, up to a known end with more fields after it, must equal what strtod
 * reads. */
static void check_quick_ways(const char *text, size_t length)
{
    bool (*const ways[])(const char *, const char *, double *) = {oif_short_number_read,
                                                                  oif_long_number_read};
    char field[128], *expected_end;
    if (length == 0 || length > 64)
        return;
    snprintf(field, sizeof field, "%.*s,-1.5,27,.5,1234567890123456789", (int)length, text);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double value, expected = strtod(field, &expected_end);
        if (!ways[i](field, field + length, &value))
            continue;
        if (expected_end != field + length || to_bits(value) != to_bits(expected))
            fail_msg("seed %" PRIu64 ": quick way %zu reads \"%.*s\" as %.17g, strtod as %.17g of "
                     "its first %td characters",
                     first_seed, i, (int)length, text, value, expected, expected_end - field);
    }
}

/* The text must be read as by strtod: same bits, same end. */
static void check_reads_as_strtod(const char *text, size_t length)
{
    char *expected_end;
    double expected = strtod(text, &expected_end);
    double value = 0;
    const char *end = oif_number_parse(text, text + length, &value);
    if (end != expected_end || to_bits(value) != to_bits(expected))
        fail_msg("seed %" PRIu64 ": \"%s\" is %.17g (%a) after %td characters, "
                 "strtod says %.17g (%a) after %td",
                 first_seed, text, value, value, end == NULL ? 0 : end - text, expected, expected,
                 expected_end - text);
    check_quick_ways(text, length);
}

/* Reading: random texts */

static void values_printed_with_17_digits_are_read_back(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 8; i++) {
        char text[64];
        int length = snprintf(text, sizeof text, "%.17g", random_finite());
        check_reads_as_strtod(text, (size_t)length);
    }
}

static void values_printed_with_1_to_25_digits_are_read_like_strtod(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 8; i++) {
        char text[64];
        int length = snprintf(text, sizeof text, "%.*e", random_below(25), random_finite());
        check_reads_as_strtod(text, (size_t)length);
    }
}

static char *write_random_digits(char *text, int count)
{
    uint64_t random = 0;
    for (int i = 0; i < count; i++) {
        if (i % 16 == 0)
            random = next_random();
        *text++ = (char)('0' + (random & 0xffff) * 10 / 0x10000);
        random = random >> 4 | random << 60;
    }
    return text;
}

static void random_decimals_with_exponents_are_read_like_strtod(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 4; i++) {
        char text[64], *p = text;
        if (random_below(2) == 0)
            *p++ = random_below(2) == 0 ? '-' : '+';
        int digits = 1 + random_below(40);
        int before_point = random_below(digits + 1);
        p = write_random_digits(p, before_point);
        if (before_point == 0 || random_below(4) != 0)
            *p++ = '.';
        p = write_random_digits(p, digits - before_point);
        p += sprintf(p, "%c%d", random_below(2) == 0 ? 'e' : 'E', random_below(801) - 400);
        check_reads_as_strtod(text, (size_t)(p - text));
    }
}

static void short_decimals_are_read_like_strtod(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 4; i++) {
        char text[32], *p = text;
        if (random_below(2) == 0)
            *p++ = '-';
        p = write_random_digits(p, 1 + random_below(9));
        int decimals = random_below(10);
        if (decimals > 0)
            *p++ = '.';
        p = write_random_digits(p, decimals);
        *p = '\0';
        check_reads_as_strtod(text, (size_t)(p - text));
        size_t length = (size_t)(p - text);
        strcpy(p, ",-1.5,27"); /* as a table continues */
        check_reads_as_strtod(text, length + 8);
    }
}

static void the_quick_ways_read_what_numbers_mostly_look_like(void **state)
{
    static const char *const short_ones[] = {"7",  "-7",  "12.5", "-0.25",    "0",
                                             "5.", "-.5", ".125", "12345678", "-123456",
                                             "-0", "0.0", "1e-0", "1234.5678"};
    static const char *const long_ones[] = {"10.716107451545243", "-2.3025850929940455",
                                            "1234567.8",          "0.84442185152504812",
                                            "-13.77567141825941", ".1234567890123456789"};
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++) {
        char field[64] = "";
        strcpy(field, short_ones[i]);
        bool is_read = oif_short_number_read(field, field + strlen(field), &value);
        if (is_read != (i < 12))
            fail_msg("%s is %s", field, is_read ? "read" : "not read");
    }
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        char field[64] = "";
        strcpy(field, long_ones[i]);
        if (!oif_long_number_read(field, field + strlen(field), &value))
            fail_msg("%s is not read", field);
        check_quick_ways(field, strlen(field));
    }
}

/* Characters of numbers in any order. */
static void what_is_no_number_is_refused_by_the_quick_ways(void **state)
{
    static const char alphabet[] = "0123456789012345678901234567890123456789..--+e \r";
    (void)state;
    for (long i = 0; i < trials / 2; i++) {
        char text[32];
        size_t length = 1 + (size_t)random_below(22);
        for (size_t j = 0; j < length; j++)
            text[j] = alphabet[random_below((int)sizeof alphabet - 1)];
        text[length] = '\0';
        check_quick_ways(text, length);
    }
}

/* As in tables: up to 22 digits, a point anywhere, no exponent. */
static void long_decimals_are_read_like_strtod(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 4; i++) {
        char text[64], *p = text;
        if (random_below(2) == 0)
            *p++ = '-';
        int digits = 7 + random_below(16), before_point = random_below(9);
        before_point = before_point < digits ? before_point : digits;
        p = write_random_digits(p, before_point);
        *p++ = '.';
        p = write_random_digits(p, digits - before_point);
        *p = '\0';
        check_reads_as_strtod(text, (size_t)(p - text));
    }
}

static void whole_numbers_up_to_20_digits_are_read_like_strtod(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 8; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "%" PRIu64, next_random() >> random_below(64));
        check_reads_as_strtod(text, (size_t)length);
    }
}

static void subnormal_numbers_are_read_like_strtod(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 16; i++) {
        char text[64];
        double value = from_bits(next_random() >> (11 + random_below(53)));
        int length = snprintf(text, sizeof text, "%.*e", random_below(20), value);
        check_reads_as_strtod(text, (size_t)length);
    }
}

/* Reading: midpoints */

enum { MIDPOINT_DIGITS = 800 };

/* Writes odd * 2^exponent exactly, as a whole number in base 10^9 (times 5^-exponent if the
 * exponent is negative) and a power of ten. Returns the number of digits. */
static int write_exactly(uint64_t odd, int exponent, char *digits, int *power_of_ten)
{
    uint32_t limb[MIDPOINT_DIGITS / 9 + 2] = {(uint32_t)(odd % 1000000000),
                                              (uint32_t)(odd / 1000000000 % 1000000000)};
    int size = 2;
    for (int left = abs(exponent); left > 0;) {
        uint32_t base = exponent < 0 ? 5 : 2, factor = 1;
        for (int steps = exponent < 0 ? 12 : 29; left > 0 && steps > 0; steps--, left--)
            factor *= base;
        uint64_t carry = 0;
        for (int i = 0; i < size; i++) {
            carry += (uint64_t)limb[i] * factor;
            limb[i] = (uint32_t)(carry % 1000000000);
            carry /= 1000000000;
        }
        if (carry > 0)
            limb[size++] = (uint32_t)carry;
    }
    while (limb[size - 1] == 0)
        size--;
    int length = sprintf(digits, "%" PRIu32, limb[size - 1]);
    for (int i = size - 2; i >= 0; i--)
        length += sprintf(digits + length, "%09" PRIu32, limb[i]);
    *power_of_ten = exponent < 0 ? exponent : 0;
    return length;
}

static void check_with_tail(const char *digits, int length, int point, int power_of_ten,
                            const char *tail)
{
    char text[2 * MIDPOINT_DIGITS];
    int n = sprintf(text, "%.*s.%.*s%se%d", point, digits, length - point, digits + point, tail,
                    power_of_ten + length - point);
    check_reads_as_strtod(text, (size_t)n);
}

/* The midpoint of the positive double `bits` and its successor, slightly above, and slightly
 * below. */
static void check_around_midpoint_above(uint64_t bits)
{
    int biased = (int)(bits >> 52);
    uint64_t mantissa = (bits & (UINT64_MAX >> 12)) | (uint64_t)(biased > 0) << 52;
    char digits[MIDPOINT_DIGITS + 16];
    int power_of_ten;
    int length =
        write_exactly(2 * mantissa + 1, (biased > 0 ? biased : 1) - 1076, digits, &power_of_ten);
    int point = random_below(length + 1);
    check_with_tail(digits, length, point, power_of_ten, "");
    check_with_tail(digits, length, point, power_of_ten, "0000");
    check_with_tail(digits, length, point, power_of_ten, "0000000000000000000000000000000000001");
    if (digits[length - 1] == '0')
        return;
    digits[length - 1]--;
    check_with_tail(digits, length, point, power_of_ten, "9999999999999999999999999999999999999");
}

static void midpoints_are_read_to_even_and_their_neighbours_to_the_near_side(void **state)
{
    (void)state;
    check_around_midpoint_above(0);
    check_around_midpoint_above(1);
    check_around_midpoint_above(UINT64_MAX >> 12);             /* largest subnormal */
    check_around_midpoint_above(UINT64_C(0x7fefffffffffffff)); /* largest double: to infinity */
    for (long i = 0; i < trials / 200; i++) {
        check_around_midpoint_above(to_bits(fabs(random_finite())));
        check_around_midpoint_above(next_random() >> (12 + random_below(52))); /* subnormal */
        uint64_t near_one = (uint64_t)(1023 - 30 + random_below(120)) << 52;
        check_around_midpoint_above(near_one | next_random() >> 12);
    }
}

static void short_midpoints_with_at_most_19_digits_are_read_to_even(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 16; i++) {
        uint64_t odd = (UINT64_C(1) << 53 | next_random() >> 11) | 1;
        char digits[MIDPOINT_DIGITS + 16];
        int power_of_ten;
        int length = write_exactly(odd, random_below(14) - 4, digits, &power_of_ten);
        check_with_tail(digits, length, random_below(length + 1), power_of_ten, "");
    }
}

static void every_power_of_two_and_its_neighbours_are_read_back(void **state)
{
    (void)state;
    for (uint64_t biased = 0; biased < 2047; biased++) {
        for (uint64_t bits = (biased << 52) - 2; bits != (biased << 52) + 3; bits++) {
            char text[1500]; /* 309 digits, the point, 1074 digits */
            if (!isfinite(from_bits(bits)))
                continue;
            for (int digits = 15; digits <= 20; digits++) {
                int length = snprintf(text, sizeof text, "%.*e", digits - 1, from_bits(bits));
                check_reads_as_strtod(text, (size_t)length);
            }
            int length = snprintf(text, sizeof text, "%.1074f", from_bits(bits));
            check_reads_as_strtod(text, (size_t)length);
        }
    }
}

static void every_power_of_ten_and_its_neighbours_are_read_like_strtod(void **state)
{
    (void)state;
    static const char *const digits[] = {"1",
                                         "9",
                                         "10",
                                         "99",
                                         "9999999999999999999",
                                         "10000000000000000000",
                                         "10000000000000000001",
                                         "18446744073709551615",
                                         "9007199254740993",
                                         "1.0000000000000001"};
    for (int exponent = -400; exponent <= 400; exponent++) {
        for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
            char text[64];
            int length = snprintf(text, sizeof text, "%se%d", digits[i], exponent);
            check_reads_as_strtod(text, (size_t)length);
        }
    }
}

/* Reading: what is a number and where it ends */

typedef struct {
    const char *text;
    double value;
    size_t length; /* of the number; 0 if there is none */
} reading;

static void check_readings(const reading *readings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const reading *expected = &readings[i];
        double value = 77;
        const char *end =
            oif_number_parse(expected->text, expected->text + strlen(expected->text), &value);
        size_t length = end == NULL ? 0 : (size_t)(end - expected->text);
        double expected_value = expected->length == 0 ? 77 : expected->value;
        if (length != expected->length || to_bits(value) != to_bits(expected_value))
            fail_msg("\"%s\" is %.17g after %zu characters, expected %.17g after %zu",
                     expected->text, value, length, expected_value, expected->length);
    }
}

static void a_number_ends_where_the_grammar_says(void **state)
{
    (void)state;
    static const reading readings[] = {
        {"0", 0, 1},
        {"-0", -0.0, 2},
        {"+5", 5, 2},
        {"1.", 1, 2},
        {".5", 0.5, 2},
        {"-.5", -0.5, 3},
        {"1e", 1, 1},
        {"1e+", 1, 1},
        {"1E-x", 1, 1},
        {"1.e2", 100, 4},
        {"1e2.5", 100, 3},
        {"0x10", 0, 1},
        {"1.2.3", 1.2, 3},
        {"1,5", 1, 1},
        {"12 3", 12, 2},
        {"1-2", 1, 1},
        {"007", 7, 3},
        {"1e0000000002", 100, 12},
        {"0e999999999999", 0, 14},
        {"1e99999999999999999999", INFINITY, 22},
        {"-1e99999999999999999999", -INFINITY, 23},
        {"1e-99999999999999999999", 0, 23},
        {"-1e-99999999999999999999", -0.0, 24},
        {"1e309", INFINITY, 5},
        {"1e-400", 0, 6},
        {"12345678.5", 12345678.5, 10},
        {"1234567.5", 1234567.5, 9},
        {"123456789012345678901234567890", 123456789012345678901234567890.0, 30},
        {"0.00000000000000000000000012345", 0.00000000000000000000000012345, 31},
        {"1\xff", 1, 1},
        {"1.5\xff\xff", 1.5, 3},
        {"12345678\xb9", 12345678, 8},
    };
    check_readings(readings, sizeof readings / sizeof *readings);
}

static void nan_and_infinity_are_read_in_any_case(void **state)
{
    (void)state;
    const double nan_value = from_bits(UINT64_C(0x7ff8000000000000));
    const reading readings[] = {
        {"nan", nan_value, 3},     {"NaN", nan_value, 3},        {"-nan", nan_value, 4},
        {"nano", nan_value, 3},    {"nan(1)", nan_value, 3},     {"inf", INFINITY, 3},
        {"-INF", -INFINITY, 4},    {"+inf,", INFINITY, 4},       {"Infinity", INFINITY, 8},
        {"infinite", INFINITY, 3}, {"-infinity5", -INFINITY, 9},
    };
    check_readings(readings, sizeof readings / sizeof *readings);
}

static void what_is_no_number_is_refused_and_leaves_the_value_alone(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    ".",  "-",   "+", "-.",   "e5",   ".e5", "+-1",
                                        "--1", " 1", "\t1", ",", "x",    "na",   "in",  "n",
                                        "i",   "-i", "/",   ":", "\xb1", "\x11", "..5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_readings(&(reading){.text = texts[i]}, 1);
}

static void nothing_at_or_past_the_end_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "-123.456e-12,",     "0.12345678901234567890123456789e+5", "infinity", "-nan",
        "12345678.12345678", "1234567890123456789012345",          "1.e+5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t length = 0; length <= strlen(texts[i]); length++) {
            /* A block of exactly this size, so the address sanitizer sees a read past it. */
            char *block = malloc(length > 0 ? length : 1), terminated[64], *expected_end;
            assert_non_null(block);
            memcpy(block, texts[i], length);
            memcpy(terminated, texts[i], length);
            terminated[length] = '\0';
            double value = 0, expected = strtod(terminated, &expected_end);
            const char *end = oif_number_parse(block, block + length, &value);
            ptrdiff_t consumed = end == NULL ? 0 : end - block;
            bool same = isnan(expected) ? isnan(value) : to_bits(value) == to_bits(expected);
            if (consumed != expected_end - terminated || !same)
                fail_msg("\"%s\" cut off is %.17g after %td, strtod says %.17g after %td",
                         terminated, value, consumed, expected, expected_end - terminated);
            free(block);
        }
    }
}

static void texts_of_many_thousand_digits_are_read_like_strtod(void **state)
{
    (void)state;
    enum { LENGTH = 20000 };
    char *text = malloc(LENGTH + 16);
    assert_non_null(text);
    static const char *const ends[] = {"", "1", "e-19000", "1e-19990", "e19990"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (int leading = 0; leading < 3; leading++) {
            memset(text, leading == 0 ? '0' : '7', LENGTH);
            if (leading == 0)
                text[1] = '.';
            if (leading == 2)
                memset(text + 1, '0', LENGTH - 1);
            strcpy(text + LENGTH, ends[i]);
            check_reads_as_strtod(text, strlen(text));
        }
    }
    free(text);
}

/* Writing */

static size_t format_terminated(double value, char text[OIF_NUMBER_TEXT_BYTES + 1])
{
    memset(text, '#', OIF_NUMBER_TEXT_BYTES + 1);
    size_t length = oif_number_format(value, text);
    assert_true(text[OIF_NUMBER_TEXT_BYTES] == '#');
    assert_in_range(length, 1, 24);
    text[length] = '\0';
    return length;
}

static void known_values_are_written_as_python_writes_them(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {
        /* repr() of CPython 3.11, ".0" dropped */
        {0.1, "0.1"},
        {0.5, "0.5"},
        {1.0, "1"},
        {123.0, "123"},
        {-123.0, "-123"},
        {1e15, "1000000000000000"},
        {9007199254740992.0, "9007199254740992"},
        {9999999999999998.0, "9999999999999998"},
        {1e16, "1e+16"},
        {1.5e16, "1.5e+16"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {0.0001, "0.0001"},
        {0.00012345678901234567, "0.00012345678901234567"},
        {0.00001, "1e-05"},
        {1.5e-5, "1.5e-05"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {1e100, "1e+100"},
        {-1e-100, "-1e-100"},
        {5e-324, "5e-324"},
        {-5e-324, "-5e-324"},
        {2.2250738585072011e-308, "2.225073858507201e-308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {0.30000000000000004, "0.30000000000000004"},
        {2.0 / 3.0, "0.6666666666666666"},
        {1e21 + 1e5, "1.0000000000000001e+21"},
        {4.35, "4.35"},
        {5.684341886080801e-14, "5.684341886080801e-14"},
        {9.5367431640625e-07, "9.5367431640625e-07"},
        {0x1.0000000000000p-44, "5.684341886080802e-14"},
        {0x1.0000000000000p+70, "1.1805916207174113e+21"},
        {4.4501477170144023e-308, "4.4501477170144023e-308"},
        {1.0e-7, "1e-07"},
        {8.41e21, "8.41e+21"},
        {2.98023223876953125e-8, "2.9802322387695312e-08"},
        {9007199254740993.0, "9007199254740992"},
        {3.141592653589793, "3.141592653589793"},
        {100.0, "100"},
        {1000000.0, "1000000"},
        {299792458.0, "299792458"},
        {6.02214076e23, "6.02214076e+23"},
        {1.6e-19, "1.6e-19"},
        {17.0 / 16.0, "1.0625"},
        {2e-323, "2e-323"},
        {1.2345678901234567e+300, "1.2345678901234567e+300"},
        {9.109383701528e-31, "9.109383701528e-31"},
        {-273.15, "-273.15"},
        {0.0, "0"},
        {-0.0, "-0"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {-NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[OIF_NUMBER_TEXT_BYTES + 1];
        format_terminated(known[i].value, text);
        assert_string_equal(text, known[i].text);
    }
}

/* Copies the digits from the first to the last nonzero one; returns how many. */
static int significant_digits(const char *text, char digits[40])
{
    int count = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0'))
            digits[count++] = *text;
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

static void check_is_shortest_and_closest(double value)
{
    char text[OIF_NUMBER_TEXT_BYTES + 1], digits[40], rounded[40], rounded_digits[40];
    format_terminated(value, text);
    if (to_bits(strtod(text, NULL)) != to_bits(value))
        fail_msg("seed %" PRIu64 ": %.17g (%a) is written as %s, which strtod reads as %.17g",
                 first_seed, value, value, text, strtod(text, NULL));
    int count = significant_digits(text, digits);
    if (count > 1) {
        snprintf(rounded, sizeof rounded, "%.*e", count - 2, value);
        if (strtod(rounded, NULL) == value)
            fail_msg("seed %" PRIu64 ": %.17g (%a) is written as %s, but %s is shorter", first_seed,
                     value, value, text, rounded);
    }
    snprintf(rounded, sizeof rounded, "%.*e", count - 1, value);
    significant_digits(rounded, rounded_digits);
    /* Doubles are denser below a power of two: the closest text there may belong to the
     * neighbour. */
    if (strtod(rounded, NULL) == value && strcmp(digits, rounded_digits) != 0)
        fail_msg("seed %" PRIu64 ": %.17g (%a) is written as %s, but %s is closer", first_seed,
                 value, value, text, rounded);
}

static void random_values_are_written_with_the_fewest_and_closest_digits(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 8; i++)
        check_is_shortest_and_closest(random_finite());
}

static void short_decimals_are_written_back_as_they_were_read(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 8; i++) {
        int decimals = random_below(9);
        double value = (double)(next_random() >> (24 + random_below(40)));
        for (int j = 0; j < decimals; j++)
            value /= 10;
        check_is_shortest_and_closest(value);
        check_is_shortest_and_closest(-value);
        /* and its neighbours, which have 16 or 17 digits */
        check_is_shortest_and_closest(from_bits(to_bits(value) + 1));
    }
}

static void subnormal_values_are_written_with_the_fewest_and_closest_digits(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 32; i++)
        check_is_shortest_and_closest(from_bits(next_random() >> (12 + random_below(52)) | 1));
}

/* No text with one digit fewer, on either side of the value, may be read as a power of two. */
static void check_no_neighbouring_text_is_shorter(double value)
{
    char text[OIF_NUMBER_TEXT_BYTES + 1], digits[40], rounded[40], candidate[40];
    format_terminated(value, text);
    int count = significant_digits(text, digits);
    if (count < 2)
        return;
    snprintf(rounded, sizeof rounded, "%.*e", count - 2, value);
    long long nearest = 0;
    const char *p = rounded;
    for (; *p != 'e'; p++) {
        if (*p != '.')
            nearest = nearest * 10 + (*p - '0');
    }
    for (long long shorter = nearest - 1; shorter <= nearest + 1; shorter++) {
        snprintf(candidate, sizeof candidate, "%llde%d", shorter, atoi(p + 1) - (count - 2));
        if (strtod(candidate, NULL) == value)
            fail_msg("%.17g (%a) is written as %s, but %s is shorter", value, value, text,
                     candidate);
    }
}

static void every_power_of_two_and_its_neighbours_are_written_shortest(void **state)
{
    (void)state;
    for (uint64_t biased = 0; biased < 2047; biased++) {
        for (uint64_t bits = (biased << 52) - 2; bits != (biased << 52) + 3; bits++) {
            if (!isfinite(from_bits(bits)) || bits == 0)
                continue;
            check_is_shortest_and_closest(from_bits(bits));
            check_no_neighbouring_text_is_shorter(from_bits(bits));
        }
    }
}

static void every_power_of_ten_is_written_with_one_digit(void **state)
{
    (void)state;
    for (int exponent = -323; exponent <= 308; exponent++) {
        char power[16], text[OIF_NUMBER_TEXT_BYTES + 1], digits[40];
        snprintf(power, sizeof power, "1e%d", exponent);
        format_terminated(strtod(power, NULL), text);
        significant_digits(text, digits);
        assert_string_equal(digits, "1");
        assert_true(strtod(text, NULL) == strtod(power, NULL));
    }
}

static void whole_numbers_are_written_without_point_or_exponent(void **state)
{
    (void)state;
    for (long i = 0; i < trials / 32; i++) {
        char text[OIF_NUMBER_TEXT_BYTES + 1], expected[32];
        int64_t whole = (int64_t)(next_random() >> (11 + random_below(53)));
        if (random_below(2) == 0 && whole != 0)
            whole = -whole;
        snprintf(expected, sizeof expected, "%" PRId64, whole);
        format_terminated((double)whole, text);
        assert_string_equal(text, expected);
    }
}

/* The table of powers */

static void *read_and_write_one_number(void *result)
{
    const char text[] = "1.2345678901234567e-200";
    char *written = result;
    double value = 0;
    oif_number_parse(text, text + sizeof text - 1, &value);
    written[oif_number_format(value, written)] = '\0';
    return NULL;
}

/* Must run first: only the first use computes the table. */
static void the_first_use_may_come_from_many_threads_at_once(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    char written[THREADS][OIF_NUMBER_TEXT_BYTES + 1];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_and_write_one_number, written[i]),
                         0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_string_equal(written[i], "1.2345678901234567e-200");
}

static long number_from_environment(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? atol(text) : otherwise;
}

int main(void)
{
    trials = number_from_environment("OIF_NUMBER_TRIALS", 1000000);
    first_seed = (uint64_t)number_from_environment("OIF_NUMBER_SEED", 1);
    random_state = first_seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_use_may_come_from_many_threads_at_once),
        cmocka_unit_test(a_number_ends_where_the_grammar_says),
        cmocka_unit_test(nan_and_infinity_are_read_in_any_case),
        cmocka_unit_test(what_is_no_number_is_refused_and_leaves_the_value_alone),
        cmocka_unit_test(nothing_at_or_past_the_end_is_read),
        cmocka_unit_test(texts_of_many_thousand_digits_are_read_like_strtod),
        cmocka_unit_test(values_printed_with_17_digits_are_read_back),
        cmocka_unit_test(values_printed_with_1_to_25_digits_are_read_like_strtod),
        cmocka_unit_test(random_decimals_with_exponents_are_read_like_strtod),
        cmocka_unit_test(short_decimals_are_read_like_strtod),
        cmocka_unit_test(the_quick_ways_read_what_numbers_mostly_look_like),
        cmocka_unit_test(what_is_no_number_is_refused_by_the_quick_ways),
        cmocka_unit_test(long_decimals_are_read_like_strtod),
        cmocka_unit_test(whole_numbers_up_to_20_digits_are_read_like_strtod),
        cmocka_unit_test(subnormal_numbers_are_read_like_strtod),
        cmocka_unit_test(midpoints_are_read_to_even_and_their_neighbours_to_the_near_side),
        cmocka_unit_test(short_midpoints_with_at_most_19_digits_are_read_to_even),
        cmocka_unit_test(every_power_of_two_and_its_neighbours_are_read_back),
        cmocka_unit_test(every_power_of_ten_and_its_neighbours_are_read_like_strtod),
        cmocka_unit_test(known_values_are_written_as_python_writes_them),
        cmocka_unit_test(random_values_are_written_with_the_fewest_and_closest_digits),
        cmocka_unit_test(short_decimals_are_written_back_as_they_were_read),
        cmocka_unit_test(subnormal_values_are_written_with_the_fewest_and_closest_digits),
        cmocka_unit_test(every_power_of_two_and_its_neighbours_are_written_shortest),
        cmocka_unit_test(every_power_of_ten_is_written_with_one_digit),
        cmocka_unit_test(whole_numbers_are_written_without_point_or_exponent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
