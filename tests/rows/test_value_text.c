/* Numbers as people write them: the same in oif_value_parse, CSV fields and JSON strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rows/reading.h"

typedef struct written {
    const char *text;
    double value;
    const char *unit;
} written;

static const written numbers[] = {
    {"12%", 12, "%"},
    {"-0.5 %", -0.5, "%"},
    {"12.5ms", 0.0125, "s"},
    {"7 us", 7e-6, "s"},
    {"7 \xc2\xb5s", 7e-6, "s"},
    {"2 min", 120, "s"},
    {"3.4 GB", 3.4e9, "B"},
    {"512KiB", 524288, "B"},
    {"80 MB/s", 8e7, "B/s"},
    {"100 Mbps", 1e8, "bit/s"},
    {"2.4 GHz", 2.4e9, "Hz"},
    {"1.5 kW", 1500, "W"},
    {"21.5 \xc2\xb0"
     "C",
     21.5,
     "\xc2\xb0"
     "C"},
    {"$1,234.50", 1234.5, "$"},
    {"-$5", -5, "$"},
    {"$-5", -5, "$"},
    {"\xe2\x82\xac 5", 5, "\xe2\x82\xac"},
    {"5 EUR", 5, "\xe2\x82\xac"},
    {"1,234", 1234, ""},
    {"1,234,567.25", 1234567.25, ""},
    {"1.234,5", 1234.5, ""},
    {"1.234.567,5", 1234567.5, ""},
    {"1 234", 1234, ""},
    {"1\xc2\xa0"
     "234,5",
     1234.5, ""},
    {"1'234'567.5", 1234567.5, ""},
    {"0,123", 0.123, ""},
    {"1,5", 1.5, ""},
    {"12,5%", 12.5, "%"},
    {"\xe2\x88\x92"
     "5",
     -5, ""},
    {".5%", 0.5, "%"},
    {" 5 ", 5, ""},
    {"1e3", 1000, ""},
    {"true", 1, ""},
    {"FALSE", 0, ""},
};

static void numbers_are_read_in_the_unit_of_their_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const written *one = &numbers[i];
        const char *unit = NULL;
        double value = -1;
        oif_value_kind kind =
            oif_value_parse(one->text, strlen(one->text), OIF_DECIMAL_AUTO, &value, &unit);
        if (kind != OIF_VALUE_NUMBER || value != one->value || strcmp(unit, one->unit) != 0)
            fail_msg("'%s' is %d, %.17g %s and not %.17g %s", one->text, (int)kind, value, unit,
                     one->value, one->unit);
    }
}

static void the_decimal_sign_decides_about_a_single_comma(void **state)
{
    (void)state;
    double value;
    assert_int_equal(oif_value_parse("1,234", 5, OIF_DECIMAL_COMMA, &value, NULL),
                     OIF_VALUE_NUMBER);
    assert_true(value == 1.234);
    assert_int_equal(oif_value_parse("1.234 ms", 8, OIF_DECIMAL_COMMA, &value, NULL),
                     OIF_VALUE_NUMBER);
    assert_true(value == 1.234);
    assert_int_equal(oif_value_parse("1,5", 3, OIF_DECIMAL_POINT, &value, NULL), OIF_VALUE_TEXT);
    assert_true(isnan(value));
}

static void missing_values_have_many_words(void **state)
{
    (void)state;
    static const char *const words[] = {"",     " ",   "NA",   "n/a",   "NaN",    "null",
                                        "None", "-",   "--",   "?",     "#N/A",   "\\N",
                                        "nil",  "NaT", "<NA>", "#REF!", "(null)", "#DIV/0!"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        double value = -1;
        if (oif_value_parse(words[i], strlen(words[i]), OIF_DECIMAL_AUTO, &value, NULL) !=
                OIF_VALUE_MISSING ||
            !isnan(value))
            fail_msg("'%s'", words[i]);
    }
}

static void other_texts_are_not_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "192.168.100.200", "1.2.3",    "4xx",  "5g",          "1080p",
        "16.11.2026",      "web1",     "$",    "5 kilograms", "12:30",
        "1,23,45",         "1,2345,6", "1 23", "%",           "ms",
        "$5 ms",           "1.5.",     "5%%",  "--5",         "+-5",
        "01,234,567",      "1'23",     "5 5%", "2026-01-31",  "1,234.5,6",
        "1234,567,890"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = -1;
        if (oif_value_parse(texts[i], strlen(texts[i]), OIF_DECIMAL_AUTO, &value, NULL) !=
                OIF_VALUE_TEXT ||
            !isnan(value))
            fail_msg("'%s' is %g", texts[i], value);
    }
    double value;
    assert_int_equal(oif_value_parse("inf", 3, OIF_DECIMAL_AUTO, &value, NULL), OIF_VALUE_INFINITE);
}

/* ---- Readers ---- */

static oif_reader *open_text(byte_source *source, oif_format format, const char *text)
{
    *source = source_of(text);
    source->piece = 7;
    return open_source(source, (oif_reader_options){.format = format, .header = OIF_HEADER_YES});
}

static void csv_and_json_read_the_same_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char csv[96], json[96];
        byte_source source;
        oif_record record;
        snprintf(csv, sizeof csv, "a,b\n1,\"%s\"\n", numbers[i].text);
        snprintf(json, sizeof json, "{\"a\":1,\"b\":\"%s\"}\n", numbers[i].text);
        for (int is_json = 0; is_json < 2; is_json++) {
            oif_reader *reader = open_text(&source, is_json ? OIF_FORMAT_NDJSON : OIF_FORMAT_CSV,
                                           is_json ? json : csv);
            assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
            if (record.values[1] != numbers[i].value)
                fail_msg("'%s' is %.17g", numbers[i].text, record.values[1]);
            assert_string_equal(oif_reader_unit(reader, 1), numbers[i].unit);
            oif_reader_close(reader);
        }
    }
}

static void an_escaped_unit_is_read(void **state)
{
    (void)state;
    byte_source source;
    oif_record record;
    oif_reader *reader = open_text(&source, OIF_FORMAT_NDJSON, "{\"a\":\"5 \\u00b5s\"}\n");
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_true(record.values[0] == 5e-6);
    oif_reader_close(reader);
}

static void a_decimal_comma_decides_about_later_commas(void **state)
{
    (void)state;
    byte_source source;
    oif_record record;
    oif_reader *reader = open_text(&source, OIF_FORMAT_CSV, "a,b\n\"0,5\",1\n\"1,234\",1\n");
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_true(record.values[0] == 1.234);
    oif_reader_close(reader);
}

static void percents_between_semicolons_show_the_decimal_comma(void **state)
{
    (void)state;
    byte_source source;
    oif_record record;
    oif_reader *reader = open_text(&source, OIF_FORMAT_CSV, "a;b\n12,5%;1\n1,234 ms;2,5\n");
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_true(record.values[0] == 12.5);
    assert_true(oif_reader_has_decimal_commas(reader));
    oif_reader_close(reader);
}

static void named_values_are_missing(void **state)
{
    (void)state;
    byte_source source;
    oif_record record;
    oif_reader *reader = open_text(&source, OIF_FORMAT_CSV, "a,b\n-200,-200.0\n-9,-9\nunknown,5\n");
    assert_int_equal(oif_reader_add_missing(reader, OIF_ALL_COLUMNS, "-200", NULL), OIF_OK);
    assert_int_equal(oif_reader_add_missing(reader, 1, "-9", NULL), OIF_OK);
    assert_int_equal(oif_reader_add_missing(reader, 0, "unknown", NULL), OIF_OK);
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_true(isnan(record.values[0]) && isnan(record.values[1]));
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_true(record.values[0] == -9 && isnan(record.values[1]));
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_true(isnan(record.values[0]) && record.values[1] == 5);
    oif_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_in_the_unit_of_their_kind),
        cmocka_unit_test(the_decimal_sign_decides_about_a_single_comma),
        cmocka_unit_test(missing_values_have_many_words),
        cmocka_unit_test(other_texts_are_not_numbers),
        cmocka_unit_test(csv_and_json_read_the_same_numbers),
        cmocka_unit_test(an_escaped_unit_is_read),
        cmocka_unit_test(a_decimal_comma_decides_about_later_commas),
        cmocka_unit_test(percents_between_semicolons_show_the_decimal_comma),
        cmocka_unit_test(named_values_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
