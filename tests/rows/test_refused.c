/* What a reader returns of a rejected record: all of it if only numbers are bad, else nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reading.h"

/* The next record is rejected; what is left of it has these two values, or nothing is left if
 * `text` is NULL. */
static void expect_refused(oif_reader *reader, double first, double second, const char *text)
{
    oif_record record = {.line = 0};
    oif_error error;
    assert_int_equal(oif_reader_next(reader, &record, &error), OIF_EINPUT);
    assert_int_equal(oif_reader_refused(reader, &record), text != NULL);
    /* columns are a and b */
    assert_int_equal(oif_reader_refused_column(reader), !text ? 2 : isnan(first) ? 0 : 1);
    if (!text)
        return;
    assert_int_equal(record.line, error.line);
    assert_int_equal(record.text_bytes, strlen(text));
    assert_memory_equal(record.text, text, record.text_bytes);
    assert_true(record.values[0] == first || (isnan(record.values[0]) && isnan(first)));
    assert_true(record.values[1] == second || (isnan(record.values[1]) && isnan(second)));
}

static void a_refused_row_of_csv_has_its_bad_numbers_missing(void **state)
{
    (void)state;
    byte_source source =
        source_of("a,b\nx,2\n9,y\ninf,\"3\"\nx,\"4\"\nx,-inf\n1\n1,2,3\n5,6\n7,\"8\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){0});

    expect_refused(reader, NAN, 2, "x,2");
    expect_refused(reader, 9, NAN, "9,y");
    expect_refused(reader, NAN, 3, "inf,\"3\"");
    expect_refused(reader, NAN, 4, "x,\"4\"");
    expect_refused(reader, NAN, NAN, "x,-inf");
    expect_refused(reader, 0, 0, NULL);
    expect_refused(reader, 0, 0, NULL);
    next_row(reader);
    oif_record record;
    assert_false(oif_reader_refused(reader, &record));
    expect_refused(reader, 0, 0, NULL);
    oif_reader_close(reader);
}

static void a_refused_line_of_ndjson_has_its_bad_numbers_missing(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":\"x\"}\n{\"a\":1e999,\"b\":4}\n{\"a\":1,}\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){.format = OIF_FORMAT_NDJSON});

    next_row(reader);
    expect_refused(reader, NAN, 3, "{\"b\":3,\"a\":\"x\"}");
    expect_refused(reader, NAN, 4, "{\"a\":1e999,\"b\":4}");
    expect_refused(reader, 0, 0, NULL);
    oif_reader_close(reader);
}

/* The next record is rejected for its value in this column, at this byte of the line. */
static void expect_refused_for(oif_reader *reader, size_t column, uint64_t byte)
{
    oif_error error;
    oif_record record;
    assert_int_equal(oif_reader_next(reader, &record, &error), OIF_EINPUT);
    assert_int_equal(oif_reader_refused_column(reader), column);
    assert_int_equal(error.column, byte);
}

static void allowed_text_is_reported_only_if_nothing_else_is_bad(void **state)
{
    (void)state;
    byte_source source = source_of("a,b,c\nx,y,3\nx,2,y\nx,\"2\",inf\nx,2,3\ninf,y,3\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){0});
    oif_reader_allow_text(reader, 0);
    expect_refused_for(reader, 1, 3);
    expect_refused_for(reader, 2, 5);
    expect_refused_for(reader, 2, 7);
    expect_refused_for(reader, 0, 1);
    expect_refused_for(reader, 0, 1); /* infinity is not text */
    oif_reader_close(reader);
}

static void what_is_not_selected_is_not_bad_beside_allowed_text(void **state)
{
    (void)state;
    byte_source source = source_of("a;b;c\nx;y;3,5\nx;y;z\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){.decimal = OIF_DECIMAL_COMMA});
    size_t columns[] = {0, 2};
    assert_int_equal(oif_reader_select(reader, columns, 2, NULL), OIF_OK);
    oif_reader_allow_text(reader, 0);
    expect_refused_for(reader, 0, 1);
    expect_refused_for(reader, 2, 5);
    oif_reader_close(reader);
}

static void allowed_text_of_ndjson_is_reported_only_if_nothing_else_is_bad(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\":1,\"b\":2}\n{\"a\":\"x\",\"b\":\"y\"}\n{\"a\":{},\"b\":[]}\n"
                  "{\"a\":\"x\",\"b\":2}\n{\"b\":\"y\",\"a\":1e999}\n{\"a\":1e999,\"b\":\"y\"}\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){.format = OIF_FORMAT_NDJSON});
    oif_reader_allow_text(reader, 0);
    next_row(reader);
    expect_refused_for(reader, 1, 14);
    expect_refused_for(reader, 1, 13);
    expect_refused_for(reader, 0, 6);
    expect_refused_for(reader, 1, 6);
    expect_refused_for(reader, 0, 6); /* infinity is not text */
    oif_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_row_of_csv_has_its_bad_numbers_missing),
        cmocka_unit_test(a_refused_line_of_ndjson_has_its_bad_numbers_missing),
        cmocka_unit_test(allowed_text_is_reported_only_if_nothing_else_is_bad),
        cmocka_unit_test(what_is_not_selected_is_not_bad_beside_allowed_text),
        cmocka_unit_test(allowed_text_of_ndjson_is_reported_only_if_nothing_else_is_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
