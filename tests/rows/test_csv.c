/* The CSV reader: what it accepts, its messages about everything else, and that neither depends on
 * the pieces in which the bytes arrive. Linked with -Wl,--wrap=oif_memory_new, so allocations can
 * fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "reading.h"

#include <stdlib.h>
#include <time.h>

/* ---- Helpers ---- */

static size_t allocation_count, largest_allocation_bytes;
static size_t failing_allocation = SIZE_MAX; /* this one and all later ones, from 0 */

void *__real_oif_memory_new(size_t bytes);
void *__wrap_oif_memory_new(size_t bytes);

void *__wrap_oif_memory_new(size_t bytes)
{
    if (bytes > largest_allocation_bytes)
        largest_allocation_bytes = bytes;
    return allocation_count++ >= failing_allocation ? NULL : __real_oif_memory_new(bytes);
}

static void reset_allocations(size_t failing)
{
    allocation_count = largest_allocation_bytes = 0;
    failing_allocation = failing;
}

static const oif_reader_options defaults;

static void expect_bad_first_line(const char *bytes, size_t count, uint64_t line, uint64_t column,
                                  const char *message)
{
    byte_source source = {.bytes = bytes, .count = count};
    oif_reader *reader = NULL;
    oif_error error = {.message = ""};

    assert_int_equal(oif_reader_open(&defaults, read_source, &source, &reader, &error), OIF_EINPUT);
    assert_null(reader);
    expect_failure(&error, line, column, message);
}

/* ---- Rows ---- */

static void rows_follow_a_header(void **state)
{
    (void)state;
    byte_source source = source_of("time,price\n1,2.5\n-3e2,.5\n");
    oif_reader *reader = open_source(&source, defaults);
    size_t bytes;
    const char *header = oif_reader_header_text(reader, &bytes);

    assert_true(oif_reader_has_header(reader));
    assert_int_equal(bytes, 10);
    assert_memory_equal(header, "time,price", 10);
    assert_int_equal(oif_reader_column_count(reader), 2);
    assert_string_equal(oif_reader_column_name(reader, 0), "time");
    assert_string_equal(oif_reader_column_name(reader, 1), "price");
    EXPECT_ROW(reader, 2, 1, 2.5);
    EXPECT_ROW(reader, 3, -300, 0.5);
    expect_end(reader);
    oif_reader_close(reader);
}

static void a_first_line_with_a_number_is_a_row(void **state)
{
    (void)state;
    byte_source source = source_of("a,1\n2,3");
    oif_reader *reader = open_source(&source, defaults);
    size_t bytes;

    assert_false(oif_reader_has_header(reader));
    assert_non_null(oif_reader_header_text(reader, &bytes));
    assert_int_equal(bytes, 0);
    assert_string_equal(oif_reader_column_name(reader, 1), "x1");
    expect_bad_row(reader, 1, 1,
                   "'a' is not a number in column \"x0\"; leave the column out or make it empty");
    EXPECT_ROW(reader, 2, 2, 3);
    expect_end(reader);
    oif_reader_close(reader);
}

static void an_infinity_in_the_first_line_makes_it_a_row_and_a_missing_value_does_not(void **state)
{
    (void)state;
    byte_source infinite = source_of("a,inf\n"), missing = source_of("a,nan\n1,2\n");
    oif_reader *reader = open_source(&infinite, defaults);

    assert_false(oif_reader_has_header(reader));
    oif_reader_close(reader);
    reader = open_source(&missing, defaults);
    assert_true(oif_reader_has_header(reader));
    oif_reader_close(reader);
}

static void the_header_can_be_ordered_or_ruled_out(void **state)
{
    (void)state;
    byte_source ordered = source_of("1,2\n3,4\n"), ruled_out = source_of("NA,\n3,4\n");
    oif_reader *reader = open_source(&ordered, (oif_reader_options){.header = OIF_HEADER_YES});

    assert_string_equal(oif_reader_column_name(reader, 1), "2");
    EXPECT_ROW(reader, 2, 3, 4);
    oif_reader_close(reader);

    reader = open_source(&ruled_out, (oif_reader_options){.header = OIF_HEADER_NO});
    EXPECT_ROW(reader, 1, NAN, NAN);
    EXPECT_ROW(reader, 2, 3, 4);
    oif_reader_close(reader);
}

static void header_names_lose_quotes_and_blanks_and_empty_ones_get_an_index(void **state)
{
    (void)state;
    byte_source source = source_of("\"a,\"\"b\"\"\", c ,,\"\",c,\" d \",e\"e\r\n");
    static const char *const names[] = {"a,\"b\"", "c", "x2", "x3", "c", " d ", "e\"e"};
    oif_reader *reader = open_source(&source, defaults);

    assert_int_equal(oif_reader_column_count(reader), 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(oif_reader_column_name(reader, i), names[i]);
    oif_reader_close(reader);
}

static void the_header_is_passed_over_where_it_stands_again(void **state)
{
    (void)state;
    byte_source source =
        source_of("a,\"b\nc\"\n1,2\na,\"b\nc\"\r\n\na,\"b\nc\"\n3,4\na,\"b\nd\"\n5,6\na,\"b\nc\"");
    oif_reader *reader = open_source(&source, (oif_reader_options){0});
    EXPECT_ROW(reader, 3, 1, 2);
    EXPECT_ROW(reader, 9, 3, 4);
    expect_bad_row(reader, 10, 1,
                   "'a' is not a number in column \"a\"; leave the column out or make it empty");
    EXPECT_ROW(reader, 12, 5, 6);
    expect_end(reader);
    oif_reader_close(reader);

    byte_source longer = source_of("a,b\na,b\r\n1,2\n"); /* by its line end */
    reader = open_source(&longer, (oif_reader_options){.max_line_bytes = 3});
    expect_bad_row(reader, 2, 1, "this line is longer than 3 bytes");
    EXPECT_ROW(reader, 3, 1, 2);
    oif_reader_close(reader);

    byte_source numbers = source_of("1,2\n1,2\n"); /* a row, not a header, so it is read again */
    reader = open_source(&numbers, (oif_reader_options){.header = OIF_HEADER_YES});
    EXPECT_ROW(reader, 2, 1, 2);
    expect_end(reader);
    oif_reader_close(reader);
}

static void a_header_alone_opens_and_then_ends(void **state)
{
    (void)state;
    static const char *const texts[] = {"a,b", "a,b\n", "\n\na,b\r\n\r\n  \n"};

    for (size_t i = 0; i < 3; i++) {
        byte_source source = source_of(texts[i]);
        oif_reader *reader = open_source(&source, defaults);
        assert_int_equal(oif_reader_column_count(reader), 2);
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void an_empty_input_does_not_open(void **state)
{
    (void)state;
    static const char *const texts[] = {"",        "\n",           "\r\n\r\n",
                                        "  \t\n ", "\xef\xbb\xbf", "\xef\xbb\xbf\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        byte_source source = source_of(texts[i]);
        oif_reader *reader = NULL;
        assert_int_equal(oif_reader_open(&defaults, read_source, &source, &reader, NULL), OIF_END);
        assert_null(reader);
    }
}

static void lines_end_in_newlines_with_or_without_returns_or_not_at_all(void **state)
{
    (void)state;
    byte_source source = source_of("1,2\r\n3,4\n5,\r\n6,7\r\r\n8,9\r");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 1, 1, 2);
    EXPECT_ROW(reader, 2, 3, 4);
    EXPECT_ROW(reader, 3, 5, NAN);
    oif_record record = next_row(reader);
    expect_text(record, "6,7");
    EXPECT_ROW(reader, 5, 8, 9);
    expect_end(reader);
    oif_reader_close(reader);
}

static void a_return_inside_a_line_is_no_line_end(void **state)
{
    (void)state;
    byte_source source = source_of("1,2\r3,4\n5,6,7\n");
    oif_reader *reader = open_source(&source, defaults);

    expect_bad_row(
        reader, 1, 3,
        "'2\\x0d3' is not a number in column \"x1\"; leave the column out or make it empty");
    EXPECT_ROW(reader, 2, 5, 6, 7);
    oif_reader_close(reader);
}

static void empty_lines_are_skipped_and_counted(void **state)
{
    (void)state;
    byte_source source = source_of("\n\r\n1,2\n\n \t\n\r\n3,4\n\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 3, 1, 2);
    EXPECT_ROW(reader, 7, 3, 4);
    expect_end(reader);
    oif_reader_close(reader);
}

static void a_blank_line_in_a_single_column_is_an_empty_line(void **state)
{
    (void)state;
    byte_source source = source_of("x\n1\n  \n2\n\"\"\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 2, 1);
    EXPECT_ROW(reader, 4, 2);
    EXPECT_ROW(reader, 5, NAN);
    expect_end(reader);
    oif_reader_close(reader);
}

static void a_line_of_tabs_is_a_row_where_the_tab_delimits(void **state)
{
    (void)state;
    byte_source source = source_of("1\t2\t3\n\t\t\n \t\t \n");
    oif_reader *reader = open_source(&source, defaults);

    assert_int_equal(oif_reader_delimiter(reader), '\t');
    EXPECT_ROW(reader, 1, 1, 2, 3);
    EXPECT_ROW(reader, 2, NAN, NAN, NAN);
    EXPECT_ROW(reader, 3, NAN, NAN, NAN);
    expect_end(reader);
    oif_reader_close(reader);
}

static void blanks_around_numbers_are_tolerated(void **state)
{
    (void)state;
    byte_source source = source_of(" 1 ,\t2\t, \" 3 \" \n  4,5  ,6 \r\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 1, 1, 2, 3);
    EXPECT_ROW(reader, 2, 4, 5, 6);
    oif_reader_close(reader);
}

static void missing_values_become_nan(void **state)
{
    (void)state;
    byte_source source =
        source_of("0,,NA,N/A,NaN,nan,null,NULL,None,na,n/A,-nan, NA ,\"NA\",\"\"\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 1, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN);
    oif_reader_close(reader);
}

static void true_is_one_and_false_is_zero_in_any_case(void **state)
{
    (void)state;
    byte_source source = source_of("a,b,c,d\ntrue,False,TRUE,1\n false ,\"true\",tRuE,FALSE\r\n"
                                   "truely,1,1,1\ntru,1,1,1\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 2, 1, 0, 1, 1);
    EXPECT_ROW(reader, 3, 0, 1, 1, 0);
    expect_bad_row(
        reader, 4, 1,
        "'truely' is not a number in column \"a\"; leave the column out or make it empty");
    expect_bad_row(reader, 5, 1,
                   "'tru' is not a number in column \"a\"; leave the column out or make it empty");
    oif_reader_close(reader);
}

static void a_byte_order_mark_is_skipped_but_only_at_the_start(void **state)
{
    (void)state;
    byte_source source = source_of("\xef\xbb\xbf"
                                   "a,b\n1,2\n\xef\xbb\xbf"
                                   "3,4\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){.max_line_bytes = 6});
    size_t bytes;

    assert_string_equal(oif_reader_column_name(reader, 0), "a");
    assert_memory_equal(oif_reader_header_text(reader, &bytes), "a,b", 3);
    expect_text(next_row(reader), "1,2");
    expect_bad_row(reader, 3, 1,
                   "'\xef\xbb\xbf"
                   "3' is not a number in column \"a\"; leave the column out or make it empty");
    oif_reader_close(reader);
}

static void numbers_may_be_quoted(void **state)
{
    (void)state;
    byte_source source = source_of("\"1.5\",\"-2\"\r\n\"3\",4\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 1, 1.5, -2);
    EXPECT_ROW(reader, 2, 3, 4);
    oif_reader_close(reader);
}

static void the_text_of_a_record_is_the_line_as_it_came(void **state)
{
    (void)state;
    byte_source source = source_of("1, 2 ,\"3\"\r\n4,5,6");
    oif_reader *reader = open_source(&source, defaults);

    expect_text(next_row(reader), "1, 2 ,\"3\"");
    expect_text(next_row(reader), "4,5,6");
    oif_reader_close(reader);
}

static void the_end_of_a_line_is_given_too(void **state)
{
    (void)state;
    byte_source source = source_of("1,2\r\n3,4\n\n5,\"\n\"\n6,7\r\r\n8,9");
    static const size_t ends[] = {2, 1, 1, 3, 0};
    static const char *const as_it_came[] = {"1,2\r\n", "3,4\n", "5,\"\n\"\n", "6,7\r\r\n", "8,9"};

    for (source.piece = 0; source.piece < 4; source.piece++, source.at = 0) {
        oif_reader *reader = open_source(&source, defaults);
        assert_int_equal(oif_reader_select(reader, (size_t[]){0}, 1, NULL), OIF_OK);
        for (size_t i = 0; i < 5; i++) {
            oif_record record = next_row(reader);
            assert_int_equal(record.end_bytes, ends[i]);
            assert_int_equal(record.text_bytes + record.end_bytes, strlen(as_it_came[i]));
            assert_memory_equal(record.text, as_it_came[i], strlen(as_it_came[i]));
        }
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void a_return_at_the_very_end_is_the_end_of_the_last_line(void **state)
{
    (void)state;
    byte_source source = source_of("1,2\r");
    oif_reader *reader = open_source(&source, defaults);
    oif_record record = next_row(reader);

    expect_text(record, "1,2");
    assert_int_equal(record.end_bytes, 1);
    oif_reader_close(reader);
}

static void fields_can_be_had_as_texts(void **state)
{
    (void)state;
    byte_source source = source_of("key,n,label,note\n"
                                   "a,1, b ,\"c, d\"\r\n"
                                   "\"\"\"x\"\"\",2,,\" \"\n"
                                   "\"q\n\"\"r\",3,\"\",NA\n");
    oif_reader *reader = open_source(&source, defaults);

    assert_int_equal(oif_reader_select(reader, (size_t[]){1}, 1, NULL), OIF_OK);
    assert_int_equal(oif_reader_select_texts(reader, (size_t[]){3, 0, 1, 2}, 4, NULL), OIF_OK);
    EXPECT_TEXTS(next_row(reader), "c, d", "a", "1", "b");
    EXPECT_TEXTS(next_row(reader), " ", "\"x\"", "2", "");
    oif_record record = next_row(reader);
    EXPECT_TEXTS(record, "NA", "q\n\"r", "3", "");
    assert_true(record.values[0] == 3);
    expect_text(record, "\"q\n\"\"r\",3,\"\",NA");
    expect_end(reader);
    oif_reader_close(reader);
}

static void texts_that_cannot_be_selected_change_nothing(void **state)
{
    (void)state;
    byte_source source = source_of("a,b\n1,2\n3,4\n");
    oif_reader *reader = open_source(&source, defaults);
    oif_error error;

    assert_int_equal(oif_reader_select_texts(reader, (size_t[]){1}, 1, NULL), OIF_OK);
    assert_int_equal(oif_reader_select_texts(reader, (size_t[]){0, 2}, 2, &error), OIF_EPARAM);
    assert_string_equal(error.message, "there is no column 2: the 2 columns count from 0");
    assert_int_equal(oif_reader_select_texts(reader, (size_t[]){0, 0}, 2, &error), OIF_EPARAM);
    assert_string_equal(error.message, "column 0 is selected twice");
    reset_allocations(0);
    assert_int_equal(oif_reader_select_texts(reader, (size_t[]){0}, 1, &error), OIF_EMEMORY);
    reset_allocations(SIZE_MAX);
    EXPECT_TEXTS(next_row(reader), "2");
    assert_int_equal(oif_reader_select_texts(reader, NULL, 0, NULL), OIF_OK);
    EXPECT_ROW(reader, 3, 3, 4);
    oif_reader_close(reader);
}

static void a_column_is_found_by_name_unless_there_is_none_or_are_several(void **state)
{
    (void)state;
    byte_source source = source_of("a,b,c,b\n1,2,3,4\n");
    oif_reader *reader = open_source(&source, defaults);
    oif_error error;
    size_t column = 77;

    assert_int_equal(oif_reader_find_column(reader, "c", &column, NULL), OIF_OK);
    assert_int_equal(column, 2);
    assert_int_equal(oif_reader_find_column(reader, "d", &column, &error), OIF_EPARAM);
    assert_string_equal(error.message, "there is no column 'd'");
    assert_int_equal(oif_reader_find_column(reader, "b", &column, &error), OIF_EPARAM);
    assert_string_equal(error.message, "several columns are called 'b'; give each its own name");
    assert_int_equal(column, 2);
    assert_int_equal(oif_reader_column_count(reader), 4);
    oif_reader_close(reader);
}

static void quoted_text_may_hold_delimiters_quotes_and_newlines(void **state)
{
    (void)state;
    byte_source source = source_of("n,text,m\n1,\"a,b\",2\n"
                                   "3,\"x\n\"\"y\"\"\r\n\nz\",4\n"
                                   "5,6\" pipe \"t,7\nz,,\n");
    oif_reader *reader = open_source(&source, defaults);

    assert_int_equal(oif_reader_select(reader, (size_t[]){0, 2}, 2, NULL), OIF_OK);
    EXPECT_ROW(reader, 2, 1, 2);
    oif_record record = next_row(reader);
    assert_int_equal(record.line, 3);
    assert_true(record.values[0] == 3 && record.values[1] == 4);
    expect_text(record, "3,\"x\n\"\"y\"\"\r\n\nz\",4");
    EXPECT_ROW(reader, 7, 5, 7);
    expect_bad_row(reader, 8, 1,
                   "'z' is not a number in column \"n\"; leave the column out or make it empty");
    oif_reader_close(reader);
}

static void a_header_may_span_lines(void **state)
{
    (void)state;
    byte_source source = {.bytes = "\"a\nb\",c\n1,2\n", .count = 12, .piece = 1};
    oif_reader *reader = open_source(&source, defaults);

    assert_string_equal(oif_reader_column_name(reader, 0), "a\nb");
    EXPECT_ROW(reader, 3, 1, 2);
    oif_reader_close(reader);
}

static void numbers_of_every_length_are_those_of_oif_number_parse(void **state)
{
    (void)state;
    uint64_t seed = 20240601;

    for (int round = 0; round < 30000; round++) {
        char text[64];
        double expected;
        size_t length = 0, digits = 1 + next_random(&seed) % 20, point = next_random(&seed) % 24;
        if (next_random(&seed) % 4 == 0)
            text[length++] = '-';
        for (size_t i = 0; i < digits; i++) {
            if (i == point)
                text[length++] = '.';
            text[length++] = (char)('0' + next_random(&seed) % 10);
        }
        text[length] = '\0';
        byte_source source = {.bytes = text, .count = length};
        oif_reader *reader = open_source(&source, defaults);
        oif_record record = next_row(reader);

        assert_ptr_equal(oif_number_parse(text, text + length, &expected), text + length);
        if (memcmp(record.values, &expected, sizeof expected))
            fail_msg("%s: %a instead of %a", text, record.values[0], expected);
        oif_reader_close(reader);
    }
}

static void signs_points_and_exponents_are_those_of_oif_number_parse(void **state)
{
    (void)state;
    byte_source source = source_of("+1,1.,.5,-.5,1e2,1E-2,-0,00012,1.5e+3,5e-324\n");
    oif_reader *reader = open_source(&source, defaults);

    oif_record record = next_row(reader);
    const double expected[] = {1, 1, 0.5, -0.5, 100, 0.01, -0.0, 12, 1500, 5e-324};
    assert_memory_equal(record.values, expected, sizeof expected);
    oif_reader_close(reader);
}

static void what_only_looks_like_a_number_is_a_mistake(void **state)
{
    (void)state;
    static const char *const fields[] = {".",    "---",   "+",   "--1", "1..2", "1e",   "1e+",
                                         "0x10", "1_000", "1-2", "e5",  "-.",   "1.5.", "12a"};
    char text[64], message[128];

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        snprintf(text, sizeof text, "1\n%s\n", fields[i]);
        snprintf(message, sizeof message,
                 "'%s' is not a number in column \"x0\"; leave the column out or make it empty",
                 fields[i]);
        byte_source source = source_of(text);
        oif_reader *reader = open_source(&source, defaults);
        EXPECT_ROW(reader, 1, 1);
        expect_bad_row(reader, 2, 1, message);
        oif_reader_close(reader);
    }
}

/* ---- Delimiters and selection ---- */

static void the_most_frequent_delimiter_of_the_first_line_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        char delimiter;
    } cases[] = {
        {"a,b;c,d\n", ','},
        {"a;b,c;d\n1,2,3,4,5,6\n", ';'},
        {"1|2|3\n", '|'},
        {"1\t2\n", '\t'},
        {"1\n", ','},
        {"\"a;b;c\",d\n", ','},
        {"\"a\"\";;\",d\n", ','},
        {"5\";6;7\"\n", ';'},
        {"a;b,c\n", ','},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        byte_source source = source_of(cases[i].text);
        oif_reader *reader = open_source(&source, defaults);
        assert_int_equal(oif_reader_delimiter(reader), cases[i].delimiter);
        oif_reader_close(reader);
    }
}

static void a_given_delimiter_is_used(void **state)
{
    (void)state;
    byte_source colons = source_of("1:1,234\n1:2,5\n"), spaces = source_of("1 \t2 3\n4  5\n");
    oif_reader *reader = open_source(&colons, (oif_reader_options){.delimiter = ':'});

    assert_int_equal(oif_reader_delimiter(reader), ':');
    EXPECT_ROW(reader, 1, 1, 1234);
    expect_bad_row(reader, 2, 3,
                   "'2,5' in column \"x1\" has a decimal comma, but the decimal sign is the point; "
                   "choose the decimal comma");
    oif_reader_close(reader);

    reader = open_source(&spaces, (oif_reader_options){.delimiter = ' '});
    EXPECT_ROW(reader, 1, 1, 2, 3);
    expect_bad_row(reader, 2, 5, "this row has 2 fields, the first line has 3");
    oif_reader_close(reader);
}

static void runs_of_blanks_separate_fields(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 20; piece += 6) {
        byte_source source =
            source_of(" r  b\tswpd \n 1  0    7 \r\n\t2\t \t\"3\" nan\n   \n4 5 x y\n"
                      "  4 5 6x\n r  b\tswpd \n 7 8 9");
        source.piece = piece;
        oif_reader *reader = open_source(&source, (oif_reader_options){.delimiter = ' '});
        assert_int_equal(oif_reader_column_count(reader), 3);
        assert_string_equal(oif_reader_column_name(reader, 0), "r");
        assert_string_equal(oif_reader_column_name(reader, 2), "swpd");
        EXPECT_ROW(reader, 2, 1, 0, 7);
        EXPECT_ROW(reader, 3, 2, 3, NAN);
        expect_bad_row(reader, 5, 7, "this row has 4 fields, the first line has 3");
        expect_bad_row(
            reader, 6, 7,
            "'6x' is not a number in column \"swpd\"; leave the column out or make it empty");
        EXPECT_ROW(reader, 8, 7, 8, 9);
        oif_reader_close(reader);
    }
}

static void decimal_commas_are_found_between_semicolons(void **state)
{
    (void)state;
    byte_source source = source_of("a;b\n1;2\n1,5;-2,75\n1.234,5;1.234.567\n1.5;3\n1,;\"7,5\"\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){.header = OIF_HEADER_AUTO});
    EXPECT_ROW(reader, 2, 1, 2);
    assert_false(oif_reader_has_decimal_commas(reader));
    EXPECT_ROW(reader, 3, 1.5, -2.75);
    assert_true(oif_reader_has_decimal_commas(reader));
    EXPECT_ROW(reader, 4, 1234.5, 1234567);
    expect_bad_row(reader, 5, 1,
                   "'1.5' in column \"a\" has a decimal point, but the decimal sign is the comma");
    EXPECT_ROW(reader, 6, 1, 7.5);
    oif_reader_close(reader);

    source = source_of("1,5;2,7\n3;4,5\n"); /* more commas than semicolons, and no header */
    reader = open_source(&source, (oif_reader_options){.header = OIF_HEADER_AUTO});
    assert_int_equal(oif_reader_delimiter(reader), ';');
    EXPECT_ROW(reader, 1, 1.5, 2.7);
    EXPECT_ROW(reader, 2, 3, 4.5);
    oif_reader_close(reader);

    source = source_of("a;b\n1,5;2\n");
    reader = open_source(&source, (oif_reader_options){.decimal = OIF_DECIMAL_POINT});
    expect_bad_row(reader, 2, 1,
                   "'1,5' in column \"a\" has a decimal comma, but the decimal sign is the point; "
                   "choose the decimal comma");
    oif_reader_close(reader);

    source = source_of("a|b\n1,5|2\n1.234|1.5\n");
    reader = open_source(&source, (oif_reader_options){.decimal = OIF_DECIMAL_COMMA});
    EXPECT_ROW(reader, 2, 1.5, 2);
    expect_bad_row(reader, 3, 7,
                   "'1.5' in column \"b\" has a decimal point, but the decimal sign is the comma");
    oif_reader_close(reader);
}

static void rows_of_the_wrong_shape_do_not_decide_on_the_decimal_sign(void **state)
{
    (void)state;
    byte_source source = source_of("a;b\n1,5\n1,5;000000000\n2.5;3\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){.max_line_bytes = 10});
    expect_bad_row(reader, 2, 4, "this row has 1 field, the first line has 2");
    expect_bad_row(reader, 3, 1, "this line is longer than 10 bytes");
    assert_false(oif_reader_has_decimal_commas(reader));
    EXPECT_ROW(reader, 4, 2.5, 3);
    oif_reader_close(reader);
}

static void a_decimal_comma_after_decimal_points_is_refused(void **state)
{
    (void)state;
    static const char text[] = "a;b\n7;8\n4.419;39\n5.969,5;71,2\n1;2\n";
    byte_source source = source_of(text);
    oif_reader *reader = open_source(&source, (oif_reader_options){.header = OIF_HEADER_AUTO});
    EXPECT_ROW(reader, 2, 7, 8);
    EXPECT_ROW(reader, 3, 4.419, 39);
    expect_bad_row(
        reader, 4, 1,
        "'5.969,5' in column \"a\" has a decimal comma, but the decimal sign has been the "
        "point since line 3; choose the decimal comma");
    EXPECT_ROW(reader, 5, 1, 2);
    oif_reader_close(reader);

    source = source_of(text);
    reader = open_source(&source, (oif_reader_options){.decimal = OIF_DECIMAL_COMMA});
    EXPECT_ROW(reader, 2, 7, 8);
    EXPECT_ROW(reader, 3, 4419, 39);
    EXPECT_ROW(reader, 4, 5969.5, 71.2);
    oif_reader_close(reader);
}

static void lines_with_a_hash_before_the_header_are_comments(void **state)
{
    (void)state;
    static const struct {
        const char *text, *first_name;
        uint64_t first_row;
    } cases[] = {
        {"# made by x, y\n#\n\na,b\n1,2\n", "a", 5},
        {"# made by x\n1,2\n", "x0", 2},
        {"#a,b\n1,2\n", "#a", 2},                 /* a header, as before */
        {"# one\n# two\n# a,b\n1,2\n", "# a", 4}, /* as in sadf -d */
        {"#a,b\n\"\",2\n", "#a", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t piece = 1; piece < 20; piece += 3) {
            oif_record record;
            byte_source source = source_of(cases[i].text);
            source.piece = piece;
            oif_reader *reader = open_source(&source, (oif_reader_options){.delimiter = 0});
            assert_string_equal(oif_reader_column_name(reader, 0), cases[i].first_name);
            assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
            assert_int_equal(record.line, cases[i].first_row);
            oif_reader_close(reader);
        }
    }
}

/* The first line is the header. */
static void expect_not_named(const char *text)
{
    byte_source source = source_of(text);
    oif_reader *reader = open_source(&source, defaults);
    assert_int_equal(oif_reader_header_line(reader), 1);
    oif_reader_close(reader);
}

static void a_first_line_that_names_the_delimiter_is_skipped(void **state)
{
    (void)state;
    static const struct {
        const char *text, asked;
        char delimiter;
    } cases[] = {
        {"sep=;\na,b;c,d\n1;2\n", 0, ';'},
        {"sep=,\r\na,c\r\n1,2\r\n", 0, ','},
        {"\xef\xbb\xbfsep=\t\n\na\tc\n1\t2\n", 0, '\t'},
        {"\"sep=|\"\n# by x\na|c\n1|2\n", 0, '|'},
        {"sep=;\na,c\n1,2\n", ',', ','}, /* the option counts */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t piece = 1; piece < 20; piece += 3) {
            oif_record record;
            byte_source source = source_of(cases[i].text);
            source.piece = piece;
            oif_reader *reader =
                open_source(&source, (oif_reader_options){.delimiter = cases[i].asked});
            assert_int_equal(oif_reader_delimiter(reader), cases[i].delimiter);
            assert_int_equal(oif_reader_column_count(reader), 2);
            assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
            assert_int_equal(record.values[1], 2);
            oif_reader_close(reader);
        }
    }
    expect_not_named("sep=a\n1\n");
    expect_not_named("sep=;b\n1;2\n");
    expect_not_named("a\nsep=;\n");
}

static void a_first_line_cannot_make_the_comma_both_delimiter_and_decimal_sign(void **state)
{
    (void)state;
    byte_source source = source_of("sep=,\na,b\n1,2\n");
    oif_reader *reader = NULL;
    oif_reader_options options = {.decimal = OIF_DECIMAL_COMMA};
    assert_int_equal(oif_reader_open(&options, read_source, &source, &reader, NULL), OIF_EPARAM);
    source = source_of("sep=;\n\n");
    assert_int_equal(oif_reader_open(&defaults, read_source, &source, &reader, NULL), OIF_END);
}

static void lines_that_begin_with_the_comment_are_skipped(void **state)
{
    (void)state;
    byte_source source = source_of("%% \"x\n%%\na,b\n1,2\n%% a \",\"\n3,4\n%5,6\n%%\n%%");
    oif_reader *reader = open_source(&source, (oif_reader_options){.comment = "%%"});
    assert_int_equal(oif_reader_header_line(reader), 3);
    EXPECT_ROW(reader, 4, 1, 2);
    EXPECT_ROW(reader, 6, 3, 4);
    expect_bad_row(reader, 7, 1,
                   "'%5' is not a number in column \"a\"; leave the column out or make it empty");
    oif_record record;
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_END);
    oif_reader_close(reader);
}

static void a_header_again_may_have_a_byte_order_mark(void **state)
{
    (void)state;
    byte_source source = source_of("a,b\n1,2\n\xef\xbb\xbf"
                                   "a,b\n3,4\n");
    oif_reader *reader = open_source(&source, (oif_reader_options){.delimiter = 0});
    EXPECT_ROW(reader, 2, 1, 2);
    EXPECT_ROW(reader, 4, 3, 4);
    oif_reader_close(reader);
}

static void a_delimiter_that_numbers_or_lines_are_made_of_is_refused(void **state)
{
    (void)state;
    for (const char *delimiter = "\"\n\r.-+07eExn"; *delimiter; delimiter++) {
        byte_source source = source_of("1,2\n");
        oif_reader *reader = NULL;
        oif_reader_options options = {.delimiter = *delimiter};
        assert_int_equal(oif_reader_open(&options, read_source, &source, &reader, NULL),
                         OIF_EPARAM);
        assert_null(reader);
    }
}

static void options_that_contradict_are_refused(void **state)
{
    (void)state;
    const struct {
        oif_reader_options options;
        const char *words;
    } cases[] = {
        {{.decimal = (oif_decimal)9}, "there is no decimal sign 9"},
        {{.decimal = OIF_DECIMAL_COMMA, .delimiter = ','},
         "the comma cannot be both the delimiter and the decimal sign"},
        {{.comment = ""}, "comments need a text that they begin with"},
        {{.comment = "#\n"}, "comments need a text that they begin with"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        byte_source source = source_of("1,2\n");
        oif_reader *reader = NULL;
        oif_error error = {.message = ""};
        assert_int_equal(oif_reader_open(&cases[i].options, read_source, &source, &reader, &error),
                         OIF_EPARAM);
        assert_string_equal(error.message, cases[i].words);
        assert_null(reader);
    }
}

static void selected_columns_become_values_in_the_given_order(void **state)
{
    (void)state;
    byte_source source = source_of("a,b,c\n1,text,3\nx,2,4\n");
    oif_reader *reader = open_source(&source, defaults);

    assert_int_equal(oif_reader_select(reader, (size_t[]){2, 0}, 2, NULL), OIF_OK);
    EXPECT_ROW(reader, 2, 3, 1);
    assert_int_equal(oif_reader_select(reader, (size_t[]){1}, 1, NULL), OIF_OK);
    EXPECT_ROW(reader, 3, 2);
    oif_reader_close(reader);
}

static void a_selection_that_cannot_be_changes_nothing(void **state)
{
    (void)state;
    byte_source source = source_of("a,b,c\n1,2,3\n4,5,6\n");
    oif_reader *reader = open_source(&source, defaults);
    oif_error error;

    assert_int_equal(oif_reader_select(reader, (size_t[]){1, 3}, 2, &error), OIF_EPARAM);
    assert_string_equal(error.message, "there is no column 3: the 3 columns count from 0");
    EXPECT_ROW(reader, 2, 1, 2, 3);
    assert_int_equal(oif_reader_select(reader, (size_t[]){1, 2, 1}, 3, &error), OIF_EPARAM);
    assert_string_equal(error.message, "column 1 is selected twice");
    EXPECT_ROW(reader, 3, 4, 5, 6);
    assert_int_equal(oif_reader_select(reader, (size_t[]){2, 1, 0}, 3, &error), OIF_OK);
    oif_reader_close(reader);
}

/* ---- Mistakes ---- */

static void text_where_a_number_should_be_is_named_with_its_place(void **state)
{
    (void)state;
    byte_source source =
        source_of("time,price\n1,2\n3,abc\n5, 1.5x \n7,1 2\n9,\"a\"\n11,---\n13,14\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 2, 1, 2);
    expect_bad_row(
        reader, 3, 3,
        "'abc' is not a number in column \"price\"; leave the column out or make it empty");
    expect_bad_row(
        reader, 4, 3,
        "'1.5x' is not a number in column \"price\"; leave the column out or make it empty");
    expect_bad_row(
        reader, 5, 3,
        "'1 2' is not a number in column \"price\"; leave the column out or make it empty");
    expect_bad_row(
        reader, 6, 3,
        "'\"a\"' is not a number in column \"price\"; leave the column out or make it empty");
    expect_bad_row(
        reader, 7, 4,
        "'---' is not a number in column \"price\"; leave the column out or make it empty");
    EXPECT_ROW(reader, 8, 13, 14);
    oif_reader_close(reader);
}

static void an_infinite_number_is_a_mistake(void **state)
{
    (void)state;
    byte_source source = source_of("1,2\ninf,2\n3,-Infinity\n1e999,4\n\"1e999\",4\n5,6\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 1, 1, 2);
    expect_bad_row(reader, 2, 1,
                   "'inf' is infinite in column \"x0\"; make it a finite number or empty");
    expect_bad_row(reader, 3, 3,
                   "'-Infinity' is infinite in column \"x1\"; make it a finite number or empty");
    expect_bad_row(reader, 4, 1,
                   "'1e999' is infinite in column \"x0\"; make it a finite number or empty");
    expect_bad_row(reader, 5, 1,
                   "'\"1e999\"' is infinite in column \"x0\"; make it a finite number or empty");
    EXPECT_ROW(reader, 6, 5, 6);
    oif_reader_close(reader);
}

static void the_first_mistake_of_a_row_is_the_one_named(void **state)
{
    (void)state;
    byte_source source = source_of("1,2,3\n4,b,c\n");
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 1, 1, 2, 3);
    expect_bad_row(reader, 2, 3,
                   "'b' is not a number in column \"x1\"; leave the column out or make it empty");
    oif_reader_close(reader);
}

static void a_row_with_fields_too_few_or_too_many_is_a_mistake(void **state)
{
    (void)state;
    byte_source source = source_of("a,b,c,d\n1,2,3\r\n1\n1,2,3,4,5,6\nx,y\n"
                                   "1,2,\"3\n\n\"\n1,\"\n\",3,4,5\n1,2,3,4\n");
    oif_reader *reader = open_source(&source, defaults);

    assert_int_equal(oif_reader_select(reader, (size_t[]){0}, 1, NULL), OIF_OK);
    expect_bad_row(reader, 2, 6, "this row has 3 fields, the first line has 4");
    expect_bad_row(reader, 3, 2, "this row has 1 field, the first line has 4");
    expect_bad_row(reader, 4, 9, "this row has 6 fields, the first line has 4");
    expect_bad_row(reader, 5, 4, "this row has 2 fields, the first line has 4");
    expect_bad_row(reader, 8, 2, "this row has 3 fields, the first line has 4");
    expect_bad_row(reader, 10, 7, "this row has 5 fields, the first line has 4");
    EXPECT_ROW(reader, 11, 1);
    oif_reader_close(reader);
}

static void a_row_that_is_like_a_comment_or_ends_with_a_delimiter_is_called_so(void **state)
{
    (void)state;
    byte_source source = source_of("a,b\n# by x\n#7,5\n1,2,\r\n1,2,\"\"\n1,2,3,\n1,\n");
    oif_reader *reader = open_source(&source, defaults);
    expect_bad_row(reader, 2, 7,
                   "this row has 1 field, the first line has 2; "
                   "if it is a comment, name its beginning");
    expect_bad_row(reader, 3, 1,
                   "'#7' is not a number in column \"a\"; if it is a comment, name its beginning");
    expect_bad_row(reader, 4, 5,
                   "this row has 3 fields, the first line has 2, and a delimiter ends the row");
    expect_bad_row(reader, 5, 5, "this row has 3 fields, the first line has 2");
    expect_bad_row(reader, 6, 5, "this row has 4 fields, the first line has 2");
    EXPECT_ROW(reader, 7, 1, NAN);
    oif_reader_close(reader);
}

static void numbers_in_another_spelling_are_refused_with_the_right_one(void **state)
{
    (void)state;
    byte_source source = source_of("a,b\n\"10,99,2\",1\n\xe2\x88\x92"
                                   "3.5'5,1\n1'23,1\n\",\",1\n");
    oif_reader *reader = open_source(&source, defaults);
    const char *numbers[] = {"\"10,99,2\"",
                             ("\xe2\x88\x92"
                              "3.5'5"),
                             "1'23"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char message[OIF_ERROR_MESSAGE_BYTES];
        snprintf(message, sizeof message,
                 "'%s' is not a number in column \"a\"; write it as in -1234.5, or leave the "
                 "column out",
                 numbers[i]);
        expect_bad_row(reader, 2 + i, 1, message);
    }
    expect_bad_row(
        reader, 5, 1,
        "'\",\"' is not a number in column \"a\"; leave the column out or make it empty");
    oif_reader_close(reader);
}

static void a_mistake_behind_a_quoted_newline_has_the_place_where_it_stands(void **state)
{
    (void)state;
    byte_source source = source_of("a,b,c\n1,\"x\ny\",z\n4,5,6\n");
    oif_reader *reader = open_source(&source, defaults);

    assert_int_equal(oif_reader_select(reader, (size_t[]){0, 2}, 2, NULL), OIF_OK);
    expect_bad_row(reader, 3, 4,
                   "'z' is not a number in column \"c\"; leave the column out or make it empty");
    EXPECT_ROW(reader, 4, 4, 6);
    oif_reader_close(reader);
}

static void an_open_quote_is_named_where_it_opened_and_takes_the_rest(void **state)
{
    (void)state;
    static const char *const texts[] = {"1,2\n3,\"4\n5,6\n7,8\n", "1,2\n3,\"4\n5,6\n7,8",
                                        "1,2\n3,\""};

    for (size_t i = 0; i < 3; i++) {
        byte_source source = source_of(texts[i]);
        oif_reader *reader = open_source(&source, defaults);
        EXPECT_ROW(reader, 1, 1, 2);
        expect_bad_row(reader, 2, 3,
                       "the quote that opens here is never closed; close it or remove it");
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void an_open_quote_exactly_as_long_as_allowed_is_named_as_such(void **state)
{
    (void)state;
    byte_source source = source_of("1,2\n3,\"4");
    oif_reader *reader = open_source(&source, (oif_reader_options){.max_line_bytes = 4});

    EXPECT_ROW(reader, 1, 1, 2);
    expect_bad_row(reader, 2, 3,
                   "the quote that opens here is never closed; close it or remove it");
    expect_end(reader);
    oif_reader_close(reader);
}

static void an_open_quote_in_the_first_line_does_not_open(void **state)
{
    (void)state;
    expect_bad_first_line("\na,\"b\n1,2\n", 10, 2, 3,
                          "the quote that opens here is never closed; close it or remove it");
}

static void offending_text_is_shortened_and_made_printable(void **state)
{
    (void)state;
    byte_source source =
        source_of("größe\n"
                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
                  "\x01\xff\x1b[m\xc3\n"
                  "\xed\xa0\x80 \xc2\x9b \xf4\x90\x80\x80\n"
                  "\xc3(\xe2\x82(\x7f\n");
    oif_reader *reader = open_source(&source, defaults);

    expect_bad_row(
        reader, 2, 1,
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is not a number in column \"größe\"; "
        "leave the column out or make it empty");
    expect_bad_row(reader, 3, 1,
                   "'\\x01\\xff\\x1b[m\\xc3' is not a number in column \"größe\"; "
                   "leave the column out or make it empty");
    expect_bad_row(
        reader, 4, 1,
        "'\\xed\\xa0\\x80 \\xc2\\x9b \\xf4\\x90\\x80...' is not a number in column \"größe\"; "
        "leave the column out or make it empty");
    expect_bad_row(reader, 5, 1,
                   "'\\xc3(\\xe2\\x82(\\x7f' is not a number in column \"größe\"; "
                   "leave the column out or make it empty");
    oif_reader_close(reader);
}

static void binary_and_utf_16_do_not_open(void **state)
{
    (void)state;
    const char *message = "this looks like UTF-16/binary, not text; convert it to UTF-8";

    expect_bad_first_line("\xff\xfe"
                          "1\0,\0002\0\n\0",
                          10, 1, 1, message);
    expect_bad_first_line("\xfe\xff\0001\0,", 6, 1, 1, message);
    expect_bad_first_line("1\0,\0002\0\n\0", 8, 1, 2, message);
    expect_bad_first_line("\n\x7f"
                          "ELF\x02\x01\x01\0\0\n",
                          11, 2, 8, message);
}

static void a_nul_byte_in_a_row_is_named(void **state)
{
    (void)state;
    byte_source source = {.bytes = "1,2\n3,\0\n\0\n5,6\n", .count = 14};
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 1, 1, 2);
    expect_bad_row(reader, 2, 3, "this line has NUL bytes, as after a crash or power cut");
    expect_bad_row(reader, 3, 1, "this line has NUL bytes, as after a crash or power cut");
    EXPECT_ROW(reader, 4, 5, 6);
    oif_reader_close(reader);
}

/* ---- Long lines ---- */

static void a_line_as_long_as_allowed_is_read_and_a_longer_one_is_skipped(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 12; piece++) {
        byte_source source = source_of("1,2\n1.25,3\n1.125,3\n        \n\"       \n4,5\n67,8901");
        source.piece = piece;
        oif_reader *reader = open_source(&source, (oif_reader_options){.max_line_bytes = 6});

        EXPECT_ROW(reader, 1, 1, 2);
        EXPECT_ROW(reader, 2, 1.25, 3);
        expect_bad_row(reader, 3, 1, "this line is longer than 6 bytes");
        expect_bad_row(reader, 4, 1, "this line is longer than 6 bytes");
        expect_bad_row(reader, 5, 1,
                       "this line is longer than 6 bytes: "
                       "the quote that opens here is not closed by then");
        EXPECT_ROW(reader, 6, 4, 5);
        expect_bad_row(reader, 7, 1, "this line is longer than 6 bytes");
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void a_stray_quote_swallows_no_more_than_the_limit(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 30; piece++) {
        byte_source source = source_of("1,2\n3,\"4\n5,6\n7,8\n9,10\n11,\"12\"\n13,14\n");
        source.piece = piece;
        oif_reader *reader = open_source(&source, (oif_reader_options){.max_line_bytes = 10});

        EXPECT_ROW(reader, 1, 1, 2);
        expect_bad_row(reader, 2, 3,
                       "this line is longer than 10 bytes: "
                       "the quote that opens here is not closed by then");
        EXPECT_ROW(reader, 5, 9, 10);
        EXPECT_ROW(reader, 6, 11, 12);
        EXPECT_ROW(reader, 7, 13, 14);
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void a_first_line_that_is_too_long_does_not_open(void **state)
{
    (void)state;
    byte_source source = source_of("1,2,3,4\n");
    oif_reader *reader = NULL;
    oif_error error;
    oif_reader_options options = {.max_line_bytes = 6};

    assert_int_equal(oif_reader_open(&options, read_source, &source, &reader, &error), OIF_EINPUT);
    expect_failure(&error, 1, 1, "this line is longer than 6 bytes");
}

/* A line of 100 MB between two rows, generated while it is read. */
typedef struct endless_source {
    size_t sent;
} endless_source;

static ptrdiff_t read_endless(void *context, char *buffer, size_t capacity)
{
    static const char head[] = "1,2\n", tail[] = "\n3,4\n";
    const size_t long_bytes = 100u * 1000 * 1000;
    endless_source *endless = context;
    size_t count = capacity;

    if (endless->sent < 4) {
        memcpy(buffer, head, count = 4);
    } else if (endless->sent < 4 + long_bytes) {
        if (count > 4 + long_bytes - endless->sent)
            count = 4 + long_bytes - endless->sent;
        memset(buffer, '7', count);
    } else {
        count = endless->sent == 4 + long_bytes ? 5 : 0;
        memcpy(buffer, tail, count);
    }
    endless->sent += count;
    return (ptrdiff_t)count;
}

static void a_line_of_100_megabytes_is_skipped_without_storing_it(void **state)
{
    (void)state;
    endless_source endless = {0};
    oif_reader *reader = NULL;

    reset_allocations(SIZE_MAX);
    assert_int_equal(oif_reader_open(&defaults, read_endless, &endless, &reader, NULL), OIF_OK);
    EXPECT_ROW(reader, 1, 1, 2);
    expect_bad_row(reader, 2, 1, "this line is longer than 16777216 bytes");
    EXPECT_ROW(reader, 3, 3, 4);
    expect_end(reader);
    assert_true(largest_allocation_bytes <= 16777216 + 128);
    oif_reader_close(reader);
}

static void a_line_longer_than_the_first_buffer_is_read_whole(void **state)
{
    (void)state;
    const size_t columns = 100000, bytes = 2 * columns;
    char *text = malloc(2 * bytes + 1);

    for (size_t i = 0; i < 2 * bytes; i += 2)
        text[i] = (char)('0' + i / 2 % 10), text[i + 1] = i % bytes == bytes - 2 ? '\n' : ',';
    for (size_t piece = 0; piece < 2; piece++) {
        byte_source source = {.bytes = text, .count = 2 * bytes, .piece = piece * 1000};
        oif_reader *reader = open_source(&source, defaults);
        assert_int_equal(oif_reader_column_count(reader), columns);
        next_row(reader);
        oif_record record = next_row(reader);
        assert_int_equal(record.text_bytes, bytes - 1);
        for (size_t i = 0; i < columns; i++)
            assert_true(record.values[i] == (double)(i % 10));
        oif_reader_close(reader);
    }
    free(text);
}

/* ---- The source and the memory ---- */

static void a_whole_record_is_returned_before_more_is_read(void **state)
{
    (void)state;
    byte_source source = {.bytes = "a,b\n1,2\n3,4\n5,", .count = 14, .piece = 14};
    oif_reader *reader = open_source(&source, defaults);

    EXPECT_ROW(reader, 2, 1, 2);
    EXPECT_ROW(reader, 3, 3, 4);
    assert_int_equal(source.reads, 1);
    EXPECT_ROW(reader, 4, 5, NAN);
    expect_end(reader);
    assert_int_equal(source.reads, 2);
    oif_reader_close(reader);
}

static void one_line_at_a_time_needs_one_read_each(void **state)
{
    (void)state;
    byte_source source = {.bytes = "1,2\n3,4\n5,6\n", .count = 12, .piece = 4};
    oif_reader *reader = open_source(&source, defaults);

    for (size_t i = 0; i < 3; i++) {
        next_row(reader);
        assert_int_equal(source.reads, i + 1);
    }
    expect_end(reader);
    oif_reader_close(reader);
}

static void a_failing_read_is_reported_and_loses_nothing(void **state)
{
    (void)state;
    const char *text = "a,b\n1,\"2\"\n3,\"\n\"\n5,6\n";

    for (size_t failing = 1; failing <= strlen(text) + 1; failing++) {
        byte_source source = {
            .bytes = text, .count = strlen(text), .piece = 1, .failing_read = failing};
        oif_reader *reader = NULL;
        oif_error error = {.message = ""};
        oif_record record;
        size_t rows = 0, failures = 0;
        oif_status status = oif_reader_open(&defaults, read_source, &source, &reader, &error);
        if (failing <= 4) {
            assert_int_equal(status, OIF_EREAD);
            assert_int_equal(error.status, OIF_EREAD);
            assert_null(reader);
            continue;
        }
        assert_int_equal(status, OIF_OK);
        assert_int_equal(oif_reader_select(reader, (size_t[]){0}, 1, NULL), OIF_OK);
        while ((status = oif_reader_next(reader, &record, &error)) != OIF_END) {
            rows += status == OIF_OK;
            failures += status == OIF_EREAD;
            assert_true(status == OIF_OK || status == OIF_EREAD);
        }
        assert_int_equal(rows, 3);
        assert_int_equal(failures, 1);
        oif_reader_close(reader);
    }
}

static void a_selection_made_while_a_record_is_half_read_counts_for_all_of_it(void **state)
{
    (void)state;
    byte_source source = {
        .bytes = "a,b,c\n1,2,\"\n3\"\n", .count = 15, .piece = 12, .failing_read = 2};
    oif_reader *reader = open_source(&source, defaults);
    oif_record record;

    assert_int_equal(oif_reader_select(reader, (size_t[]){0}, 1, NULL), OIF_OK);
    assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_EREAD);
    assert_int_equal(oif_reader_select(reader, (size_t[]){1, 0}, 2, NULL), OIF_OK);
    EXPECT_ROW(reader, 2, 2, 1);
    expect_end(reader);
    oif_reader_close(reader);
}

/* Scanning each piece from the start would read 275 GB. */
static void a_long_quoted_field_in_small_pieces_takes_linear_time(void **state)
{
    (void)state;
    const size_t bytes = 2u << 20;
    char *text = malloc(bytes);
    const clock_t begin = clock();

    memset(text, '\n', bytes);
    memcpy(text, "1,\"", 3);
    text[bytes - 1] = '"';
    byte_source source = {.bytes = text, .count = bytes, .piece = 8};
    oif_reader *reader = open_source(&source, defaults);
    assert_int_equal(oif_reader_select(reader, (size_t[]){0}, 1, NULL), OIF_OK);
    assert_int_equal(next_row(reader).text_bytes, bytes);
    oif_reader_close(reader);
    free(text);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const size_t bytes = 300000;
    char *text = malloc(bytes + 8);
    size_t failing = 0;
    oif_status status;

    /* A row longer than the first buffer, so the buffer grows at least twice. */
    memcpy(text, "1,2\n", 4);
    memset(text + 4, ' ', bytes);
    memcpy(text + 4 + bytes, "3,4", 4);
    do {
        byte_source source = {.bytes = text, .count = strlen(text)};
        oif_reader *reader = NULL;
        oif_error error = {.message = ""};
        oif_record record;

        reset_allocations(failing++);
        status = oif_reader_open(&defaults, read_source, &source, &reader, &error);
        if (status != OIF_OK) {
            assert_null(reader);
        } else {
            EXPECT_ROW(reader, 1, 1, 2);
            status = oif_reader_next(reader, &record, &error);
            /* with memory again, the reader continues as if nothing had happened */
            if (status == OIF_EMEMORY) {
                reset_allocations(SIZE_MAX);
                EXPECT_ROW(reader, 2, 3, 4);
                expect_end(reader);
            }
        }
        assert_true(status == OIF_OK || (status == OIF_EMEMORY && error.status == OIF_EMEMORY));
        oif_reader_close(reader);
    } while (status != OIF_OK);
    assert_true(failing > 5);
    reset_allocations(SIZE_MAX);
    free(text);
}

static void rows_need_no_allocation(void **state)
{
    (void)state;
    enum { ROWS = 50000, ROW_BYTES = 6 };
    char *text = malloc(ROWS * ROW_BYTES + 1);

    for (size_t i = 0; i < ROWS; i++)
        memcpy(text + i * ROW_BYTES, "1.5,7\n", ROW_BYTES + 1);
    byte_source source = source_of(text);
    oif_reader *reader = open_source(&source, defaults);
    oif_record record;

    reset_allocations(0);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_int_equal(allocation_count, 0);
    reset_allocations(SIZE_MAX);
    oif_reader_close(reader);
    free(text);
}

/* ---- Pieces of any size ---- */

static void transcribe(byte_source source, oif_reader_options options, bool take_texts,
                       row_transcript *transcript)
{
    oif_reader *reader = NULL;
    oif_error error = {.message = ""};
    oif_record record;
    oif_status status = oif_reader_open(&options, read_source, &source, &reader, &error);
    transcript->length = 0;
    if (status == OIF_OK)
        note(transcript, "%d %zu %s\n", oif_reader_delimiter(reader),
             oif_reader_column_count(reader),
             oif_reader_column_name(reader, oif_reader_column_count(reader) - 1));
    if (status == OIF_OK && take_texts)
        assert_int_equal(oif_reader_select_texts(reader, (size_t[]){0}, 1, NULL), OIF_OK);
    if (status == OIF_OK && take_texts)
        assert_int_equal(oif_reader_select(reader, NULL, 0, NULL), OIF_OK);
    while (status == OIF_OK || (status == OIF_EINPUT && reader)) {
        status = oif_reader_next(reader, &record, &error);
        if (status == OIF_OK)
            note(transcript, "%d: [%.*s] %d ", (int)record.line, (int)record.text_bytes,
                 record.text, (int)record.end_bytes);
        if (status == OIF_OK && take_texts)
            note(transcript, "{%.*s}\n", (int)record.texts[0].bytes, record.texts[0].text);
        else if (status == OIF_OK)
            note(transcript, "%a\n", record.values[0]);
        else if (status == OIF_EINPUT)
            note(transcript, "%d:%d: %s\n", (int)error.line, (int)error.column, error.message);
    }
    note(transcript, "%s %s", oif_status_text(status), reader ? "" : error.message);
    oif_reader_close(reader);
}

static size_t write_random_text(uint64_t *seed, char *text)
{
    static const char *const tokens[] = {
        "1",     "2.5",  "-7e3",         ",",     ",",         ",",         ",",   "\n", "\n", "\n",
        "\r\n",  "\"",   "\"",           "\"\"",  "NA",        " ",         "abc", "\t", ";",  "\r",
        "1e999", "\xff", "\xef\xbb\xbf", "1,2\n", "3,\"4\"\n", "5,\"\n\"\n"};
    size_t count = next_random(seed) % 60, length = 0;
    for (size_t i = 0; i < count; i++) {
        const char *token = tokens[next_random(seed) % (sizeof tokens / sizeof *tokens)];
        memcpy(text + length, token, strlen(token));
        length += strlen(token);
    }
    return length;
}

static void the_pieces_in_which_bytes_arrive_do_not_matter(void **state)
{
    (void)state;
    static row_transcript whole, chopped;
    const char *given = getenv("OIF_TEST_SEED");
    uint64_t first_seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);

    print_message("seed %llu (set OIF_TEST_SEED to repeat)\n", (unsigned long long)first_seed);
    for (uint64_t round = 0; round < 20000; round++) {
        uint64_t seed = (first_seed + round) * 0x9e3779b97f4a7c15u | 1;
        char text[1024];
        byte_source source = {.bytes = text, .count = write_random_text(&seed, text)};
        oif_reader_options options = {.max_line_bytes =
                                          round % 3 ? 0 : 1 + next_random(&seed) % 20};

        transcribe(source, options, round % 2, &whole);
        source.seed = seed;
        transcribe(source, options, round % 2, &chopped);
        if (strcmp(whole.text, chopped.text))
            fail_msg("seed %llu: [%.*s]\n   at once:\n%s\n   in pieces:\n%s",
                     (unsigned long long)(first_seed + round), (int)source.count, text, whole.text,
                     chopped.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_follow_a_header),
        cmocka_unit_test(a_first_line_with_a_number_is_a_row),
        cmocka_unit_test(an_infinity_in_the_first_line_makes_it_a_row_and_a_missing_value_does_not),
        cmocka_unit_test(the_header_can_be_ordered_or_ruled_out),
        cmocka_unit_test(header_names_lose_quotes_and_blanks_and_empty_ones_get_an_index),
        cmocka_unit_test(the_header_is_passed_over_where_it_stands_again),
        cmocka_unit_test(a_header_alone_opens_and_then_ends),
        cmocka_unit_test(an_empty_input_does_not_open),
        cmocka_unit_test(lines_end_in_newlines_with_or_without_returns_or_not_at_all),
        cmocka_unit_test(a_return_inside_a_line_is_no_line_end),
        cmocka_unit_test(empty_lines_are_skipped_and_counted),
        cmocka_unit_test(a_blank_line_in_a_single_column_is_an_empty_line),
        cmocka_unit_test(a_line_of_tabs_is_a_row_where_the_tab_delimits),
        cmocka_unit_test(blanks_around_numbers_are_tolerated),
        cmocka_unit_test(missing_values_become_nan),
        cmocka_unit_test(true_is_one_and_false_is_zero_in_any_case),
        cmocka_unit_test(a_byte_order_mark_is_skipped_but_only_at_the_start),
        cmocka_unit_test(numbers_may_be_quoted),
        cmocka_unit_test(the_text_of_a_record_is_the_line_as_it_came),
        cmocka_unit_test(the_end_of_a_line_is_given_too),
        cmocka_unit_test(a_return_at_the_very_end_is_the_end_of_the_last_line),
        cmocka_unit_test(fields_can_be_had_as_texts),
        cmocka_unit_test(texts_that_cannot_be_selected_change_nothing),
        cmocka_unit_test(a_column_is_found_by_name_unless_there_is_none_or_are_several),
        cmocka_unit_test(quoted_text_may_hold_delimiters_quotes_and_newlines),
        cmocka_unit_test(a_header_may_span_lines),
        cmocka_unit_test(numbers_of_every_length_are_those_of_oif_number_parse),
        cmocka_unit_test(signs_points_and_exponents_are_those_of_oif_number_parse),
        cmocka_unit_test(what_only_looks_like_a_number_is_a_mistake),
        cmocka_unit_test(the_most_frequent_delimiter_of_the_first_line_is_found),
        cmocka_unit_test(a_given_delimiter_is_used),
        cmocka_unit_test(runs_of_blanks_separate_fields),
        cmocka_unit_test(decimal_commas_are_found_between_semicolons),
        cmocka_unit_test(rows_of_the_wrong_shape_do_not_decide_on_the_decimal_sign),
        cmocka_unit_test(a_decimal_comma_after_decimal_points_is_refused),
        cmocka_unit_test(lines_with_a_hash_before_the_header_are_comments),
        cmocka_unit_test(a_first_line_that_names_the_delimiter_is_skipped),
        cmocka_unit_test(a_first_line_cannot_make_the_comma_both_delimiter_and_decimal_sign),
        cmocka_unit_test(lines_that_begin_with_the_comment_are_skipped),
        cmocka_unit_test(a_header_again_may_have_a_byte_order_mark),
        cmocka_unit_test(a_delimiter_that_numbers_or_lines_are_made_of_is_refused),
        cmocka_unit_test(options_that_contradict_are_refused),
        cmocka_unit_test(selected_columns_become_values_in_the_given_order),
        cmocka_unit_test(a_selection_that_cannot_be_changes_nothing),
        cmocka_unit_test(text_where_a_number_should_be_is_named_with_its_place),
        cmocka_unit_test(an_infinite_number_is_a_mistake),
        cmocka_unit_test(the_first_mistake_of_a_row_is_the_one_named),
        cmocka_unit_test(a_row_with_fields_too_few_or_too_many_is_a_mistake),
        cmocka_unit_test(a_row_that_is_like_a_comment_or_ends_with_a_delimiter_is_called_so),
        cmocka_unit_test(numbers_in_another_spelling_are_refused_with_the_right_one),
        cmocka_unit_test(a_mistake_behind_a_quoted_newline_has_the_place_where_it_stands),
        cmocka_unit_test(an_open_quote_is_named_where_it_opened_and_takes_the_rest),
        cmocka_unit_test(an_open_quote_exactly_as_long_as_allowed_is_named_as_such),
        cmocka_unit_test(an_open_quote_in_the_first_line_does_not_open),
        cmocka_unit_test(offending_text_is_shortened_and_made_printable),
        cmocka_unit_test(binary_and_utf_16_do_not_open),
        cmocka_unit_test(a_nul_byte_in_a_row_is_named),
        cmocka_unit_test(a_line_as_long_as_allowed_is_read_and_a_longer_one_is_skipped),
        cmocka_unit_test(a_stray_quote_swallows_no_more_than_the_limit),
        cmocka_unit_test(a_first_line_that_is_too_long_does_not_open),
        cmocka_unit_test(a_line_of_100_megabytes_is_skipped_without_storing_it),
        cmocka_unit_test(a_line_longer_than_the_first_buffer_is_read_whole),
        cmocka_unit_test(a_whole_record_is_returned_before_more_is_read),
        cmocka_unit_test(one_line_at_a_time_needs_one_read_each),
        cmocka_unit_test(a_failing_read_is_reported_and_loses_nothing),
        cmocka_unit_test(a_selection_made_while_a_record_is_half_read_counts_for_all_of_it),
        cmocka_unit_test(a_long_quoted_field_in_small_pieces_takes_linear_time),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(rows_need_no_allocation),
        cmocka_unit_test(the_pieces_in_which_bytes_arrive_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
