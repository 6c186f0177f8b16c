/* Where fields end: the vector code and the portable code against a loop over bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "rows/separators.h"

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t bits_by_byte(const char *window, char delimiter)
{
    uint64_t bits = 0;
    for (int i = 0; i < OIF_SEPARATOR_WINDOW_BYTES; i++)
        bits |= (uint64_t)(window[i] == delimiter || window[i] == '\n') << i;
    return bits;
}

static void the_bits_are_those_of_a_loop_over_bytes(void **state)
{
    static const char delimiters[] = {',', ';', '\t', '|', '\x01', '\x80', '\xff'};
    uint64_t seed = 5;
    (void)state;
    for (int round = 0; round < 100000; round++) {
        char window[OIF_SEPARATOR_WINDOW_BYTES];
        const char delimiter = delimiters[next_random(&seed) % sizeof delimiters];
        for (size_t i = 0; i < sizeof window; i++) {
            uint64_t random = next_random(&seed);
            window[i] = (char)(random % 4 == 0   ? (unsigned char)delimiter ^ (random >> 8) % 3
                               : random % 4 == 1 ? '\n' ^ (random >> 8) % 2
                                                 : random >> 56);
        }
        const uint64_t expected = bits_by_byte(window, delimiter),
                       found = oif_separator_bits(window, delimiter),
                       portable = oif_separator_bits_portable(window, delimiter);
        if (found != expected || portable != expected)
            fail_msg("round %d: %016" PRIx64 ", portable %016" PRIx64 ", by byte %016" PRIx64,
                     round, found, portable, expected);
    }
}

static void separators_are_taken_in_order_across_windows(void **state)
{
    char text[4 * OIF_SEPARATOR_WINDOW_BYTES + OIF_LOAD_AHEAD_BYTES] = {0};
    static const size_t ends[] = {0, 1, 63, 64, 200, 255};
    (void)state;
    memset(text, '1', 4 * (size_t)OIF_SEPARATOR_WINDOW_BYTES);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        text[ends[i]] = i % 2 ? ',' : '\n';
    oif_separators separators = oif_separators_from(text, ',');
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        assert_int_equal(oif_separators_next(&separators) - text, ends[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_are_those_of_a_loop_over_bytes),
        cmocka_unit_test(separators_are_taken_in_order_across_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
