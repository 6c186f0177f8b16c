/* Why a row is refused, for programs that decide by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reading.h"

typedef struct refusal {
    oif_format format;
    const char *text;
    oif_cause cause;
    oif_reader_options options;
} refusal;

static const refusal refusals[] = {
    {OIF_FORMAT_CSV, "a,b\n1,x\n", OIF_CAUSE_NOT_A_NUMBER, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,1'23\n", OIF_CAUSE_NOT_A_NUMBER, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,5 ms\n1,5 MB\n", OIF_CAUSE_NOT_A_NUMBER, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,\"1,234\"\n1,\"1,5\"\n", OIF_CAUSE_DECIMAL_COMMA, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,\"1,5\"\n1,\"1,234,567\"\n", OIF_CAUSE_DECIMAL_POINT, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,---\n", OIF_CAUSE_NOT_A_NUMBER, {0}},
    {OIF_FORMAT_CSV, "a,b\n#,x\n", OIF_CAUSE_COMMENT, {0}},
    {OIF_FORMAT_CSV, "a,b\n# by hand\n", OIF_CAUSE_COMMENT, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,inf\n", OIF_CAUSE_INFINITE_VALUE, {0}},
    {OIF_FORMAT_CSV, "a,b\n1\n", OIF_CAUSE_TOO_FEW_FIELDS, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,2,3\n", OIF_CAUSE_TOO_MANY_FIELDS, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,2,,\n", OIF_CAUSE_TOO_MANY_FIELDS, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,2,\n", OIF_CAUSE_TRAILING_DELIMITER, {0}},
    {OIF_FORMAT_CSV, "a,b\n1,\"2\n", OIF_CAUSE_OPEN_QUOTE, {0}},
    {OIF_FORMAT_CSV, "a;b\n1.5;2\n1;2,5\n", OIF_CAUSE_DECIMAL_COMMA, {0}},
    {OIF_FORMAT_CSV, "a;b\n1;2,5\n", OIF_CAUSE_DECIMAL_COMMA, {.decimal = OIF_DECIMAL_POINT}},
    {OIF_FORMAT_CSV, "a;b\n1,5;2.5\n", OIF_CAUSE_DECIMAL_POINT, {.decimal = OIF_DECIMAL_COMMA}},
    {OIF_FORMAT_CSV, "a,b\n1,222222222\n", OIF_CAUSE_LINE_TOO_LONG, {.max_line_bytes = 8}},
    {OIF_FORMAT_NDJSON, "{\"a\":1}\n{\"a\":\"x\"}\n", OIF_CAUSE_NOT_A_NUMBER, {0}},
    {OIF_FORMAT_NDJSON, "{\"a\":\"5 ms\"}\n{\"a\":\"5 MB\"}\n", OIF_CAUSE_NOT_A_NUMBER, {0}},
    {OIF_FORMAT_NDJSON, "{\"a\":1}\n{\"a\":[1]}\n", OIF_CAUSE_NOT_A_NUMBER, {0}},
    {OIF_FORMAT_NDJSON, "{\"a\":1}\n{\"a\":{}}\n", OIF_CAUSE_NOT_A_NUMBER, {0}},
    {OIF_FORMAT_NDJSON, "{\"a\":1}\n{\"a\":1e999}\n", OIF_CAUSE_INFINITE_VALUE, {0}},
    {OIF_FORMAT_NDJSON, "{\"a\":1}\n{\"a\":1\n", OIF_CAUSE_BAD_JSON, {0}},
    {OIF_FORMAT_NDJSON, "{\"a\":1}\n{\"a\":222}\n", OIF_CAUSE_LINE_TOO_LONG, {.max_line_bytes = 8}},
};

static void expect_cause(const oif_error *error, oif_cause cause)
{
    if (error->status != OIF_EINPUT || error->cause != cause)
        fail_msg("\"%s\" has the cause \"%s\" instead of \"%s\"", error->message,
                 oif_cause_name(error->cause), oif_cause_name(cause));
}

static oif_error first_error(byte_source *source, oif_reader_options options)
{
    oif_error error = {.message = "none"};
    oif_record record;
    oif_reader *reader = NULL;
    oif_status status = oif_reader_open(&options, read_source, source, &reader, &error);
    while (status == OIF_OK)
        status = oif_reader_next(reader, &record, &error);
    oif_reader_close(reader);
    return error;
}

static void a_refused_row_has_a_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        byte_source source = source_of(refusals[i].text);
        oif_reader_options options = refusals[i].options;
        options.format = refusals[i].format;
        options.header = OIF_HEADER_YES;
        const oif_error error = first_error(&source, options);
        expect_cause(&error, refusals[i].cause);
    }
}

static void bytes_that_are_not_text_have_a_cause(void **state)
{
    (void)state;
    static const char binary[] = "a\0b\0\n", later[] = "a,b\n1,2\n\0\0\0\n";
    byte_source source = {.bytes = binary, .count = sizeof binary - 1};
    oif_error error = first_error(&source, (oif_reader_options){.format = OIF_FORMAT_CSV});
    expect_cause(&error, OIF_CAUSE_NOT_TEXT);
    source = (byte_source){.bytes = later, .count = sizeof later - 1};
    error = first_error(&source, (oif_reader_options){.format = OIF_FORMAT_CSV});
    expect_cause(&error, OIF_CAUSE_NUL_BYTES);
}

static void an_unknown_column_and_a_bad_time_have_a_cause(void **state)
{
    (void)state;
    oif_error error;
    size_t column;
    double seconds;
    byte_source source = source_of("a,b\n1,2\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){.format = OIF_FORMAT_CSV});
    assert_int_equal(oif_reader_find_column(reader, "c", &column, &error), OIF_EPARAM);
    assert_int_equal(error.cause, OIF_CAUSE_UNKNOWN_COLUMN);
    column = 2;
    assert_int_equal(oif_reader_select(reader, &column, 1, &error), OIF_EPARAM);
    assert_int_equal(error.cause, OIF_CAUSE_UNKNOWN_COLUMN);
    oif_reader_close(reader);
    oif_time_format format = {0};
    assert_int_equal(oif_time_parse(&format, "2026-13-01", 10, &seconds, &error), OIF_EVALUE);
    assert_int_equal(error.cause, OIF_CAUSE_NOT_A_TIME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_row_has_a_cause),
        cmocka_unit_test(bytes_that_are_not_text_have_a_cause),
        cmocka_unit_test(an_unknown_column_and_a_bad_time_have_a_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
