/* Checksums: published values, and any division into parts. */
#include "base/checksum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Catalogues of CRCs define the "check" value on this text. */
static const char digits[] = "123456789";

static void test_the_published_check_values(void **unused)
{
    (void)unused;
    oif_checksum_table castagnoli;
    oif_checksum_table_init_castagnoli(&castagnoli);
    assert_int_equal(oif_checksum(&oif_checksum_zip, 0, digits, 9), 0xCBF43926);
    assert_int_equal(oif_checksum(&castagnoli, 0, digits, 9), 0xE3069283);
}

static void test_parts_give_what_the_whole_gives(void **unused)
{
    (void)unused;
    for (size_t cut = 0; cut <= 9; cut++) {
        uint32_t first = oif_checksum(&oif_checksum_zip, 0, digits, cut);
        assert_int_equal(oif_checksum(&oif_checksum_zip, first, digits + cut, 9 - cut), 0xCBF43926);
    }
}

/* The definition, bit by bit. */
static uint32_t plain_checksum(uint32_t polynomial, const unsigned char *bytes, size_t count)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? polynomial : 0);
    }
    return ~sum;
}

/* Any length at any address, for the code that takes many bytes at a time. */
static void test_any_length_gives_what_the_definition_gives(void **unused)
{
    (void)unused;
    unsigned char bytes[400];
    oif_checksum_table castagnoli;
    oif_checksum_table_init_castagnoli(&castagnoli);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i * 31 + 7 * i + 3);
    for (size_t start = 0; start < 17; start++)
        for (size_t count = 0; count + start <= sizeof bytes; count++) {
            assert_int_equal(oif_checksum(&oif_checksum_zip, 0, bytes + start, count),
                             plain_checksum(0xEDB88320, bytes + start, count));
            assert_int_equal(oif_checksum(&castagnoli, 0, bytes + start, count),
                             plain_checksum(0x82F63B78, bytes + start, count));
        }
    uint32_t first = oif_checksum(&oif_checksum_zip, 0, bytes, 150);
    assert_int_equal(oif_checksum(&oif_checksum_zip, first, bytes + 150, 250),
                     plain_checksum(0xEDB88320, bytes, 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_check_values),
        cmocka_unit_test(test_parts_give_what_the_whole_gives),
        cmocka_unit_test(test_any_length_gives_what_the_definition_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
