/* Checksums: the values that others publish, and any division into parts. */
#include "base/checksum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Catalogues of CRCs define the "check" value on it. */
static const char digits[] = "123456789";

static void test_the_published_check_values(void **unused)
{
    (void)unused;
    oif_checksum_table zip, castagnoli;
    oif_checksum_table_init(&zip);
    oif_checksum_table_init_castagnoli(&castagnoli);
    assert_int_equal(oif_checksum(&zip, 0, digits, 9), 0xCBF43926);
    assert_int_equal(oif_checksum(&castagnoli, 0, digits, 9), 0xE3069283);
}

static void test_parts_give_what_the_whole_gives(void **unused)
{
    (void)unused;
    oif_checksum_table table;
    oif_checksum_table_init(&table);
    for (size_t cut = 0; cut <= 9; cut++) {
        uint32_t first = oif_checksum(&table, 0, digits, cut);
        assert_int_equal(oif_checksum(&table, first, digits + cut, 9 - cut), 0xCBF43926);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_check_values),
        cmocka_unit_test(test_parts_give_what_the_whole_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
