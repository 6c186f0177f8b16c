/* Raw rows: float64 in little-endian order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/double_bits.h"
#include "base/memory.h"
#include "reading.h"

#include <stdlib.h>

static size_t allocation_count;
static size_t failing_allocation = SIZE_MAX; /* this one and all later ones, from 0 */

void *__real_oif_memory_new(size_t bytes);
void *__wrap_oif_memory_new(size_t bytes);

void *__wrap_oif_memory_new(size_t bytes)
{
    return allocation_count++ >= failing_allocation ? NULL : __real_oif_memory_new(bytes);
}

static void reset_allocations(size_t failing)
{
    allocation_count = 0;
    failing_allocation = failing;
}

static oif_reader_options raw(size_t columns)
{
    return (oif_reader_options){.format = OIF_FORMAT_RAW, .columns = columns};
}

/* Byte by byte, so it is right on any machine. */
static void write_double(double value, char *bytes)
{
    uint64_t bits = oif_bits_of_double(value);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(bits >> 8 * i & 0xff);
}

static void bytes_are_doubles_the_lowest_byte_first(void **state)
{
    (void)state;
    byte_source source = {.bytes = "\0\0\0\0\0\0\xf0\x3f\x9a\x99\x99\x99\x99\x99\xb9\xbf",
                          .count = 16};
    oif_reader *reader = open_source(&source, raw(2));

    assert_int_equal(oif_reader_column_count(reader), 2);
    assert_string_equal(oif_reader_column_name(reader, 1), "x1");
    assert_false(oif_reader_has_header(reader));
    assert_int_equal(oif_reader_delimiter(reader), 0);
    EXPECT_ROW(reader, 1, 1, -0.1);
    expect_end(reader);
    oif_reader_close(reader);
}

static void every_bit_of_a_number_arrives_in_pieces_of_any_size(void **state)
{
    (void)state;
    enum { ROWS = 20000, COLUMNS = 3 };
    static char bytes[ROWS * COLUMNS * 8];
    uint64_t seed = 99;

    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        double value = oif_double_from_bits(next_random(&seed));
        write_double(isinf(value) ? 0 : value, bytes + 8 * i);
    }
    for (size_t piece = 0; piece < 40; piece += piece < 10 ? 1 : 7) {
        byte_source source = {.bytes = bytes, .count = sizeof bytes, .piece = piece};
        oif_reader *reader = open_source(&source, raw(COLUMNS));
        for (size_t row = 0; row < ROWS; row++) {
            oif_record record = next_row(reader);
            char came[COLUMNS * 8];
            for (size_t i = 0; i < COLUMNS; i++)
                write_double(record.values[i], came + 8 * i);
            assert_memory_equal(came, bytes + row * sizeof came, sizeof came);
            assert_int_equal(record.line, row + 1);
            assert_int_equal(record.text_bytes, sizeof came);
            assert_int_equal(record.end_bytes, 0);
            assert_memory_equal(record.text, bytes + row * sizeof came, sizeof came);
        }
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void selected_numbers_become_values_in_the_given_order(void **state)
{
    (void)state;
    char bytes[2 * 3 * 8];
    const double numbers[] = {1, INFINITY, 3, 4, 5, 6};
    byte_source source = {.bytes = bytes, .count = sizeof bytes};
    size_t column = 0;

    for (size_t i = 0; i < 6; i++)
        write_double(numbers[i], bytes + 8 * i);
    oif_reader *reader = open_source(&source, raw(3));
    assert_int_equal(oif_reader_find_column(reader, "x2", &column, NULL), OIF_OK);
    assert_int_equal(column, 2);
    assert_int_equal(oif_reader_find_column(reader, "x3", &column, NULL), OIF_EPARAM);
    assert_int_equal(oif_reader_select(reader, (size_t[]){2, 0}, 2, NULL), OIF_OK);
    EXPECT_ROW(reader, 1, 3, 1);
    EXPECT_ROW(reader, 2, 6, 4);
    expect_end(reader);
    oif_reader_close(reader);
}

static void nan_is_missing_and_an_infinity_is_a_mistake_with_its_place(void **state)
{
    (void)state;
    const double numbers[] = {1, NAN, 3, -INFINITY, INFINITY, 6, 7, 8};
    const char *message = "this number is infinite; make it finite, or NaN when it is missing";
    char bytes[sizeof numbers];
    byte_source source = {.bytes = bytes, .count = sizeof bytes, .piece = 5};

    for (size_t i = 0; i < 8; i++)
        write_double(numbers[i], bytes + 8 * i);
    oif_reader *reader = open_source(&source, raw(2));
    EXPECT_ROW(reader, 1, 1, NAN);
    expect_bad_row(reader, 2, 2, message);
    expect_bad_row(reader, 3, 1, message);
    EXPECT_ROW(reader, 4, 7, 8);
    expect_end(reader);
    oif_reader_close(reader);
}

static void a_torn_last_row_is_a_mistake_with_its_place(void **state)
{
    (void)state;
    char bytes[2 * 2 * 8] = {0};
    char message[128];

    for (size_t count = 1; count <= sizeof bytes; count++) {
        byte_source source = {.bytes = bytes, .count = count, .piece = count % 3};
        oif_reader *reader = open_source(&source, raw(2));
        if (count >= 16)
            EXPECT_ROW(reader, 1, 0, 0);
        snprintf(message, sizeof message, "the input ends at byte %zu, %zu bytes into a row of 16",
                 count, count % 16);
        if (count == 32)
            EXPECT_ROW(reader, 2, 0, 0);
        else if (count != 16)
            expect_bad_row(reader, 1 + count / 16, 1 + count % 16 / 8, message);
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void newlines_are_bytes_like_others(void **state)
{
    (void)state;
    byte_source source = {.bytes = "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", .count = 16, .piece = 3};
    oif_reader *reader = open_source(&source, raw(1));
    const double value = oif_double_from_bits(UINT64_C(0x0a0a0a0a0a0a0a0a));

    EXPECT_ROW(reader, 1, value);
    EXPECT_ROW(reader, 2, value);
    expect_end(reader);
    oif_reader_close(reader);
}

static void an_empty_input_or_rows_without_numbers_do_not_open(void **state)
{
    (void)state;
    byte_source source = source_of("");
    oif_reader *reader = NULL;
    oif_error error;
    oif_reader_options short_rows = raw(3), options = raw(2), none = raw(0),
                       huge = raw(SIZE_MAX / 8 + 2);

    assert_int_equal(oif_reader_open(&options, read_source, &source, &reader, NULL), OIF_END);
    assert_int_equal(oif_reader_open(&none, read_source, &source, &reader, &error), OIF_EPARAM);
    assert_string_equal(error.message,
                        "raw rows do not say how many numbers they have; set the columns");
    assert_int_equal(oif_reader_open(&huge, read_source, &source, &reader, &error), OIF_EPARAM);
    short_rows.max_line_bytes = 23;
    assert_int_equal(oif_reader_open(&short_rows, read_source, &source, &reader, &error),
                     OIF_EPARAM);
    assert_string_equal(error.message, "a row of 3 numbers is longer than 23 bytes");
    options.format = (oif_format)77;
    assert_int_equal(oif_reader_open(&options, read_source, &source, &reader, &error), OIF_EPARAM);
    assert_null(reader);
}

static void raw_rows_have_no_texts(void **state)
{
    (void)state;
    byte_source source = source_of("12345678");
    oif_reader *reader = open_source(&source, raw(1));
    oif_error error;

    assert_int_equal(oif_reader_select_texts(reader, (size_t[]){0}, 1, &error), OIF_EPARAM);
    assert_string_equal(error.message, "raw rows have no texts");
    assert_int_equal(oif_reader_select_texts(reader, NULL, 0, &error), OIF_OK);
    next_row(reader);
    oif_reader_close(reader);
}

static void a_failing_read_is_reported_and_loses_nothing(void **state)
{
    (void)state;
    char bytes[32] = {0};

    for (size_t failing = 2; failing <= 8; failing++) {
        byte_source source = {.bytes = bytes, .count = 32, .piece = 5, .failing_read = failing};
        oif_reader *reader = open_source(&source, raw(2));
        oif_record record;
        oif_status status;
        size_t rows = 0, failures = 0;
        while ((status = oif_reader_next(reader, &record, NULL)) != OIF_END) {
            rows += status == OIF_OK;
            failures += status == OIF_EREAD;
        }
        assert_int_equal(rows, 2);
        assert_int_equal(failures, 1);
        oif_reader_close(reader);
    }
}

static void a_row_longer_than_the_first_buffer_is_read_whole_and_allocations_may_fail(void **state)
{
    (void)state;
    enum { COLUMNS = 30000 };
    static char bytes[2 * COLUMNS * 8];
    size_t failing = 0;
    oif_status status;

    for (size_t i = 0; i < 2 * COLUMNS; i++)
        write_double((double)i, bytes + 8 * i);
    do {
        byte_source source = {.bytes = bytes, .count = sizeof bytes, .piece = 1000};
        oif_reader *reader = NULL;
        oif_record record;
        oif_reader_options options = raw(COLUMNS);

        reset_allocations(failing++);
        status = oif_reader_open(&options, read_source, &source, &reader, NULL);
        if (status == OIF_OK)
            status = oif_reader_next(reader, &record, NULL);
        if (status != OIF_OK)
            assert_int_equal(status, OIF_EMEMORY);
        reset_allocations(SIZE_MAX);
        if (reader && status == OIF_EMEMORY)
            record = next_row(reader);
        if (reader) {
            assert_true(record.values[0] == 0 && record.values[COLUMNS - 1] == COLUMNS - 1);
            assert_true(next_row(reader).values[COLUMNS - 1] == 2 * COLUMNS - 1);
            assert_true(status != OIF_OK || allocation_count == 0);
            expect_end(reader);
        }
        oif_reader_close(reader);
    } while (status != OIF_OK);
    assert_true(failing > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_doubles_the_lowest_byte_first),
        cmocka_unit_test(every_bit_of_a_number_arrives_in_pieces_of_any_size),
        cmocka_unit_test(selected_numbers_become_values_in_the_given_order),
        cmocka_unit_test(nan_is_missing_and_an_infinity_is_a_mistake_with_its_place),
        cmocka_unit_test(a_torn_last_row_is_a_mistake_with_its_place),
        cmocka_unit_test(newlines_are_bytes_like_others),
        cmocka_unit_test(an_empty_input_or_rows_without_numbers_do_not_open),
        cmocka_unit_test(raw_rows_have_no_texts),
        cmocka_unit_test(a_failing_read_is_reported_and_loses_nothing),
        cmocka_unit_test(a_row_longer_than_the_first_buffer_is_read_whole_and_allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
