/* The NDJSON reader: which columns it creates, what it accepts, and its messages about everything
 * else. test_ndjson_python.py tests that it accepts exactly what Python's json does. */
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

static const oif_reader_options ndjson = {.format = OIF_FORMAT_NDJSON};

static void expect_columns(const oif_reader *reader, size_t count, const char *const *names)
{
    assert_int_equal(oif_reader_column_count(reader), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(oif_reader_column_name(reader, i), names[i]);
}

#define EXPECT_COLUMNS(reader, ...)                                                                \
    expect_columns(reader, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                 \
                   (const char *[]){__VA_ARGS__})

static size_t find(oif_reader *reader, const char *name)
{
    size_t column = SIZE_MAX;
    oif_error error = {.message = ""};
    if (oif_reader_find_column(reader, name, &column, &error) != OIF_OK)
        fail_msg("find %s: %s", name, error.message);
    assert_string_equal(oif_reader_column_name(reader, column), name);
    return column;
}

static void select_values(oif_reader *reader, size_t count, const char *const *names)
{
    size_t columns[16];
    for (size_t i = 0; i < count; i++)
        columns[i] = find(reader, names[i]);
    assert_int_equal(oif_reader_select(reader, columns, count, NULL), OIF_OK);
}

static void select_texts(oif_reader *reader, size_t count, const char *const *names)
{
    size_t columns[16];
    for (size_t i = 0; i < count; i++)
        columns[i] = find(reader, names[i]);
    assert_int_equal(oif_reader_select_texts(reader, columns, count, NULL), OIF_OK);
}

#define SELECT(reader, ...)                                                                        \
    select_values(reader, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                  \
                  (const char *[]){__VA_ARGS__})
#define SELECT_TEXTS(reader, ...)                                                                  \
    select_texts(reader, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                   \
                 (const char *[]){__VA_ARGS__})

static void expect_first_line_refused(const char *bytes, size_t count, uint64_t line,
                                      uint64_t column, const char *message)
{
    byte_source source = {.bytes = bytes, .count = count};
    oif_reader *reader = NULL;
    oif_error error = {.message = ""};

    assert_int_equal(oif_reader_open(&ndjson, read_source, &source, &reader, &error), OIF_EINPUT);
    assert_null(reader);
    expect_failure(&error, line, column, message);
}

/* ---- Columns ---- */

static void columns_are_the_leaves_of_the_first_object(void **state)
{
    (void)state;
    byte_source source = source_of(
        "{\"time\": 1, \"net\": {\"in\": 2, \"out\": {\"b\": 3}}, \"ok\": true, \"none\": null, "
        "\"load\": [4, [5, 6], {\"x\": 7}], \"empty\": {}, \"host\": \"h\", \"nothing\": []}");
    oif_reader *reader = open_source(&source, ndjson);

    assert_false(oif_reader_has_header(reader));
    assert_int_equal(oif_reader_delimiter(reader), 0);
    EXPECT_COLUMNS(reader, "time", "net.in", "net.out.b", "ok", "none", "load.0", "load.1.0",
                   "load.1.1", "load.2.x", "host");
    assert_int_equal(oif_reader_select(reader, (size_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8}, 9, NULL),
                     OIF_OK);
    EXPECT_ROW(reader, 1, 1, 2, 3, 1, NAN, 4, 5, 6, 7);
    expect_end(reader);
    oif_reader_close(reader);
}

static void all_columns_are_selected_at_first(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\": 1, \"b\": {\"c\": 2.5}}\n{\"b\": {\"c\": -1e2}, \"a\": 0}\n");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_ROW(reader, 1, 1, 2.5);
    EXPECT_ROW(reader, 2, 0, -100);
    expect_end(reader);
    oif_reader_close(reader);
}

static void keys_that_come_later_become_columns_when_asked_for(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\": 1, \"o\": {}}\n"
                  "{\"a\": 2, \"b\": {\"c\": 7, \"d\": [8, {\"e\": 9}]}}\n"
                  "{\"o\": {\"x\": 3}, \"b\": {\"d\": [1, {\"e\": 2}]}, \"a\": 4}\n"
                  "{\"later\": 1, \"a\": 5}\n");
    oif_reader *reader = open_source(&source, ndjson);
    oif_reader_collect_columns(reader, 100);
    EXPECT_ROW(reader, 1, 1);
    EXPECT_COLUMNS(reader, "a");
    EXPECT_ROW(reader, 2, 2);
    EXPECT_COLUMNS(reader, "a", "b.c", "b.d.0", "b.d.1.e");
    assert_int_equal(oif_reader_select(reader, (size_t[]){3, 0, 1}, 3, NULL), OIF_OK);
    EXPECT_ROW(reader, 3, 2, 4, NAN);
    EXPECT_COLUMNS(reader, "a", "b.c", "b.d.0", "b.d.1.e", "o.x");
    oif_reader_collect_columns(reader, 0);
    EXPECT_ROW(reader, 4, NAN, 5, NAN);
    EXPECT_COLUMNS(reader, "a", "b.c", "b.d.0", "b.d.1.e", "o.x");
    expect_end(reader);
    oif_reader_close(reader);
}

static void only_so_many_later_keys_become_columns(void **state)
{
    (void)state;
    char text[4096];
    size_t length = (size_t)snprintf(text, sizeof text, "{\"a\":1}\n");
    for (int i = 0; i < 100; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "{\"a\":%d,\"k%d\":1}\n", i, i);
    byte_source source = {.bytes = text, .count = length};
    oif_reader *reader = open_source(&source, ndjson);
    oif_reader_collect_columns(reader, 30);
    EXPECT_ROW(reader, 1, 1);
    for (int i = 0; i < 100; i++)
        EXPECT_ROW(reader, (uint64_t)i + 2, i);
    assert_int_equal(oif_reader_column_count(reader), 31);
    assert_string_equal(oif_reader_column_name(reader, 30), "k29");
    oif_reader_close(reader);
}

static void dots_backslashes_and_nuls_in_keys_are_escaped_in_names(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a.b\": 1, \"a\": {\"b\": 2}, \"c\\\\d\": 3, \"\\u0000\": 4, \"\": {\"\": 5}, "
                  "\"\\\\.\": 6, \"\\u00e4\\ud83d\\ude00\": 7}\n");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_COLUMNS(reader, "a\\.b", "a.b", "c\\\\d", "\\0", ".", "\\\\\\.",
                   "\xc3\xa4\xf0\x9f\x98\x80");
    for (size_t i = 0; i < oif_reader_column_count(reader); i++)
        assert_int_equal(find(reader, oif_reader_column_name(reader, i)), i);
    assert_int_equal(oif_reader_column_count(reader), 7);
    EXPECT_ROW(reader, 1, 1, 2, 3, 4, 5, 6, 7);
    oif_reader_close(reader);
}

static void an_object_without_keys_has_no_columns_until_they_are_asked_for(void **state)
{
    (void)state;
    byte_source source = source_of("{}\n{\"a\": {\"b\": 3}}\n");
    oif_reader *reader = open_source(&source, ndjson);

    assert_int_equal(oif_reader_column_count(reader), 0);
    SELECT(reader, "a.b");
    EXPECT_ROW(reader, 1, NAN);
    EXPECT_ROW(reader, 2, 3);
    oif_reader_close(reader);
}

static void a_path_that_the_first_line_lacks_can_be_asked_for(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\": 1}\n{\"b\": {\"c.d\": [0, 5]}, \"a\": 2}\n{\"b\": 7, \"a\": 3}\n");
    oif_reader *reader = open_source(&source, ndjson);

    assert_int_equal(find(reader, "b.c\\.d.1"), 1);
    assert_int_equal(find(reader, "b.c\\.d.1"), 1);
    assert_int_equal(oif_reader_column_count(reader), 2);
    EXPECT_ROW(reader, 1, 1); /* found columns are not selected yet */
    SELECT(reader, "b.c\\.d.1", "a");
    EXPECT_ROW(reader, 2, 5, 2);
    EXPECT_ROW(reader, 3, NAN, 3);
    oif_reader_close(reader);
}

static void a_path_with_a_stray_backslash_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a\\", "a\\b", "\\n.a"};
    byte_source source = source_of("{\"a\": 1}\n");
    oif_reader *reader = open_source(&source, ndjson);
    oif_error error;
    size_t column = 77;

    for (size_t i = 0; i < 3; i++)
        assert_int_equal(oif_reader_find_column(reader, names[i], &column, &error), OIF_EPARAM);
    assert_string_equal(
        error.message,
        "'\\n.a' is not a path: a backslash must be followed by a dot or another backslash");
    assert_int_equal(column, 77);
    assert_int_equal(oif_reader_column_count(reader), 1);
    oif_reader_close(reader);
}

static void a_number_as_a_key_and_an_array_element_share_a_path(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\": [1, 2]}\n{\"a\": {\"1\": 4, \"0\": 3, \"00\": 9}}\n{\"a\": [5]}\n");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_COLUMNS(reader, "a.0", "a.1");
    EXPECT_ROW(reader, 1, 1, 2);
    EXPECT_ROW(reader, 2, 3, 4);
    EXPECT_ROW(reader, 3, 5, NAN);
    oif_reader_close(reader);
}

/* ---- Values ---- */

static void keys_may_come_in_any_order_be_missing_or_be_new(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\":1,\"b\":2,\"c\":3}\n{\"c\":6,\"a\":4,\"b\":5}\n{\"b\":7}\n{}\n"
                  "{\"x\":{\"a\":0},\"a\":8,\"ab\":0,\"y\":[[]],\"b\":9,\"z\":\"\",\"c\":10}\n");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_ROW(reader, 1, 1, 2, 3);
    EXPECT_ROW(reader, 2, 4, 5, 6);
    EXPECT_ROW(reader, 3, NAN, 7, NAN);
    EXPECT_ROW(reader, 4, NAN, NAN, NAN);
    EXPECT_ROW(reader, 5, 8, 9, 10);
    expect_end(reader);
    oif_reader_close(reader);
}

static void keys_of_every_length_are_told_apart(void **state)
{
    (void)state;
    for (size_t length = 1; length < 40; length++) {
        char text[512], key[64] = "", other[64];
        memset(key, 'k', length);
        memcpy(other, key, sizeof other);
        other[length - 1] = 'j';
        snprintf(text, sizeof text, "{\"%s\":1}\n{\"%s\":2}\n{\"%sk\":3,\"%s\":4}\n{\"%.*s\":5}",
                 key, other, key, key, (int)length - 1, key);
        byte_source source = source_of(text);
        oif_reader *reader = open_source(&source, ndjson);
        EXPECT_ROW(reader, 1, 1);
        EXPECT_ROW(reader, 2, NAN);
        EXPECT_ROW(reader, 3, 4);
        EXPECT_ROW(reader, 4, NAN);
        oif_reader_close(reader);
    }
}

static void a_key_is_the_same_however_it_is_escaped(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\\\"b\": 1, \"\xc3\xa4\": 2, \"t\\t\": 3, \"\\ud800\": 4}\n"
                  "{\"\\u0061\\u0022b\": 5, \"\\u00e4\": 6, \"t\\u0009\": 7, \"\\uD800\": 8}\n"
                  "{\"a\"b\": 5}\n{\"\xed\xa0\x80\": 5}\n{\"t\t\": 5}\n");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_COLUMNS(reader, "a\"b", "\xc3\xa4", "t\t", "\xed\xa0\x80");
    EXPECT_ROW(reader, 1, 1, 2, 3, 4);
    EXPECT_ROW(reader, 2, 5, 6, 7, 8);
    expect_bad_row(reader, 3, 5, "a colon must follow the key");
    expect_bad_row(reader, 4, 3, "this is not UTF-8; convert the input");
    expect_bad_row(reader, 5, 4,
                   "a control character in a string must be escaped, such as \\t or \\u0000");
    oif_reader_close(reader);
}

static void of_a_key_given_twice_the_last_counts(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\":{\"b\":1,\"c\":2},\"d\":3}\n"
                  "{\"d\":4,\"d\":5}\n"
                  "{\"a\":{\"b\":1},\"a\":{\"c\":2},\"d\":3}\n"
                  "{\"a\":{\"b\":1,\"c\":2},\"d\":3,\"a\":0}\n"
                  "{\"d\":\"text\",\"d\":6,\"a\":{\"b\":1e999},\"a\":{\"b\":7,\"b\":8}}\n"
                  "{\"a\":{\"b\":\"text\"},\"a\":{}}\n"
                  "{\"d\":1,\"d\":null}\n"
                  "{\"d\":1,\"d\":\"x\"}\n");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_ROW(reader, 1, 1, 2, 3);
    EXPECT_ROW(reader, 2, NAN, NAN, 5);
    EXPECT_ROW(reader, 3, NAN, 2, 3);
    EXPECT_ROW(reader, 4, NAN, NAN, 3);
    EXPECT_ROW(reader, 5, 8, NAN, 6);
    EXPECT_ROW(reader, 6, NAN, NAN, NAN);
    EXPECT_ROW(reader, 7, NAN, NAN, NAN);
    expect_bad_row(
        reader, 8, 12,
        "the string 'x' is not a number in column \"d\"; leave the column out or make it null");
    oif_reader_close(reader);
}

static void a_first_line_with_keys_given_twice_has_the_columns_of_the_last(void **state)
{
    (void)state;
    byte_source source = source_of(
        "{\"a\":{\"x\":1,\"z\":0},\"b\":2,\"c\":0,\"a\":{\"y\":3,\"x\":4},\"c\":{\"d\":5}}");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_COLUMNS(reader, "a.y", "a.x", "b", "c.d");
    EXPECT_ROW(reader, 1, 3, 4, 2, 5);
    oif_reader_close(reader);
}

static void what_a_first_line_replaces_can_still_be_asked_for(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\":[1],\"b\":{\"c\":2},\"a\":3,\"b\":4}\n{\"a\":[5],\"b\":{\"c\":6}}\n");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_COLUMNS(reader, "a", "b");
    SELECT(reader, "a.0", "b.c");
    EXPECT_ROW(reader, 1, NAN, NAN);
    EXPECT_ROW(reader, 2, 5, 6);
    oif_reader_close(reader);
}

static void numbers_of_every_length_are_those_of_oif_number_parse(void **state)
{
    (void)state;
    uint64_t seed = 20240601;

    for (int round = 0; round < 30000; round++) {
        char text[96], number[64];
        double expected;
        size_t length = 0, digits = 1 + next_random(&seed) % 20,
               point = 1 + next_random(&seed) % 24;
        if (next_random(&seed) % 4 == 0)
            number[length++] = '-';
        for (size_t i = 0; i < digits; i++) {
            if (i == point)
                number[length++] = '.';
            number[length++] = (char)('0' + (i ? next_random(&seed) % 10 : point == 1 ? 0 : 7));
        }
        if (digits == 1 || point == 1 || number[0] != '0')
            length += (size_t)(next_random(&seed) % 8
                                   ? 0
                                   : snprintf(number + length, 8, "e%d", round % 30 - 15));
        number[length] = '\0';
        if (digits > 1 && point > 1 && (number[0] == '0' || number[1] == '0'))
            continue;
        snprintf(text, sizeof text, "{\"a\":%s%s}", number, round % 2 ? " " : "");
        byte_source source = source_of(text);
        oif_reader *reader = open_source(&source, ndjson);
        oif_record record = next_row(reader);

        assert_ptr_equal(oif_number_parse(number, number + length, &expected), number + length);
        if (memcmp(record.values, &expected, sizeof expected))
            fail_msg("%s: %a instead of %a", number, record.values[0], expected);
        oif_reader_close(reader);
    }
}

/* ---- Texts ---- */

static void texts_are_unescaped_strings_or_values_as_they_stand(void **state)
{
    (void)state;
    byte_source source = source_of(
        "{\"s\":\"plain\",\"n\":-1.50e3,\"t\":true,\"z\":null,\"o\":{\"k\": 1},\"a\":[ ]}\n"
        "{\"s\":\"\\\"\\\\\\/"
        "\\b\\f\\n\\r\\t\\u0041\",\"n\":\"\\u00e9\\u20ac\\ud83d\\ude00\",\"t\":\"\"}\n"
        "{\"s\":\"\\ud83d\\u0041\",\"n\":\"\\ude00x\",\"t\":\"\\ud83d\",\"z\":"
        "\"\\ud83d\\ud83d\\ude00\"}\n"
        "{\"s\":\"a\\n\",\"s\":\"b\\t\"}\n");
    oif_reader *reader = open_source(&source, ndjson);

    assert_int_equal(oif_reader_select(reader, NULL, 0, NULL), OIF_OK);
    SELECT_TEXTS(reader, "s", "n", "t", "z", "o", "a", "o.k", "not.there");
    EXPECT_TEXTS(next_row(reader), "plain", "-1.50e3", "true", "null", "{\"k\": 1}", "[ ]", "1",
                 "");
    EXPECT_TEXTS(next_row(reader), "\"\\/\b\f\n\r\tA", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "",
                 "", "", "", "", "");
    EXPECT_TEXTS(next_row(reader),
                 "\xed\xa0\xbd"
                 "A",
                 "\xed\xb8\x80x", "\xed\xa0\xbd", "\xed\xa0\xbd\xf0\x9f\x98\x80");
    EXPECT_TEXTS(next_row(reader), "b\t", "");
    oif_reader_close(reader);
}

static void a_column_can_be_a_number_and_a_text(void **state)
{
    (void)state;
    byte_source source = source_of(
        "{\"a\":1.50,\"b\":\"x\"}\n{\"b\":\"y\\n\",\"a\":null}\n{\"a\":\"1\"}\n{\"a\":\"z\"}\n");
    oif_reader *reader = open_source(&source, ndjson);

    SELECT(reader, "a");
    SELECT_TEXTS(reader, "b", "a");
    oif_record record = next_row(reader);
    EXPECT_TEXTS(record, "x", "1.50");
    assert_true(record.values[0] == 1.5);
    record = next_row(reader);
    EXPECT_TEXTS(record, "y\n", "null");
    assert_true(isnan(record.values[0]));
    record = next_row(reader);
    EXPECT_TEXTS(record, "", "1");
    assert_true(record.values[0] == 1);
    expect_bad_row(
        reader, 4, 6,
        "the string 'z' is not a number in column \"a\"; leave the column out or make it null");
    oif_reader_close(reader);
}

static void texts_in_what_a_later_key_replaces_are_empty(void **state)
{
    (void)state;
    byte_source source = source_of("{\"a\":{\"b\":\"x\"},\"a\":{}}\n");
    oif_reader *reader = open_source(&source, ndjson);

    SELECT_TEXTS(reader, "a.b", "a");
    EXPECT_TEXTS(next_row(reader), "", "{}");
    oif_reader_close(reader);
}

/* ---- Lines ---- */

static void the_text_of_a_record_is_the_line_as_it_came(void **state)
{
    (void)state;
    static const char *const lines[] = {" {\"a\" : 1 } ", "{\"a\":2}", "\t{ \"a\":3}", "{\"a\":4}"};
    static const size_t ends[] = {1, 2, 2, 0}, numbers[] = {2, 3, 6, 7};
    byte_source source =
        source_of("\n {\"a\" : 1 } \n{\"a\":2}\r\n \r\n\n\t{ \"a\":3}\r\n{\"a\":4}");

    for (source.piece = 0; source.piece < 9; source.piece++, source.at = 0) {
        oif_reader *reader = open_source(&source, ndjson);
        for (size_t i = 0; i < 4; i++) {
            oif_record record = next_row(reader);
            expect_text(record, lines[i]);
            assert_int_equal(record.end_bytes, ends[i]);
            assert_int_equal(record.line, numbers[i]);
            assert_true(record.values[0] == (double)(i + 1));
        }
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void a_byte_order_mark_is_skipped_but_only_at_the_start(void **state)
{
    (void)state;
    byte_source source = source_of("\xef\xbb\xbf{\"a\":1}\n\xef\xbb\xbf{\"a\":2}\n{\"a\":3}\n");
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_ROW(reader, 1, 1);
    expect_bad_row(reader, 2, 1, "each line must be a JSON object, such as {\"a\": 1}");
    EXPECT_ROW(reader, 3, 3);
    oif_reader_close(reader);
}

static void an_empty_input_does_not_open(void **state)
{
    (void)state;
    static const char *const texts[] = {"",        "\n",           "\r\n\r\n",
                                        "  \t\n ", "\xef\xbb\xbf", "\xef\xbb\xbf\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        byte_source source = source_of(texts[i]);
        oif_reader *reader = NULL;
        assert_int_equal(oif_reader_open(&ndjson, read_source, &source, &reader, NULL), OIF_END);
        assert_null(reader);
    }
}

/* ---- Mistakes ---- */

#define OBJECT "each line must be a JSON object, such as {\"a\": 1}"
#define KEY "expected a key in double quotes"
#define COLON "a colon must follow the key"
#define VALUE "expected a value: a number, a string, true, false or null"
#define COMMA "a comma or a } must follow the value"
#define ELEMENT "a comma or a ] must follow the value"
#define NOTHING "nothing may follow the object on its line"
#define OPEN "the string that begins here does not end on this line"
#define CONTROL "a control character in a string must be escaped, such as \\t or \\u0000"
#define ESCAPE "JSON has no such escape; a backslash itself is written \\\\"
#define HEXADECIMAL "four hexadecimal digits must follow \\u"
#define UTF8 "this is not UTF-8; convert the input"
#define NO_NAN "JSON has no NaN and no Infinity; write null for a missing number"

static const struct mistake {
    const char *line;
    uint64_t column;
    const char *message;
} mistakes[] = {
    {"1", 1, OBJECT},
    {"[1]", 1, OBJECT},
    {"null", 1, OBJECT},
    {"  \"a\"", 3, OBJECT},
    {"}", 1, OBJECT},
    {"\xef\xbb\xbf{}", 1, OBJECT},
    {"{", 2, KEY},
    {"{a:1}", 2, KEY},
    {"{'a':1}", 2, KEY},
    {"{,}", 2, KEY},
    {"{1:2}", 2, KEY},
    {"{\"a\":1,}", 8, KEY},
    {"{\"a\":1,", 8, KEY},
    {"{\"a\"}", 5, COLON},
    {"{\"a\"", 5, COLON},
    {"{\"a\" 1}", 6, COLON},
    {"{\"a\"=1}", 5, COLON},
    {"{\"a\":}", 6, VALUE},
    {"{\"a\":", 6, VALUE},
    {"{\"a\": ,", 7, VALUE},
    {"{\"a\":tru}", 6, VALUE},
    {"{\"a\":True}", 6, VALUE},
    {"{\"a\":nul", 6, VALUE},
    {"{\"a\":None}", 6, VALUE},
    {"{\"a\":undefined}", 6, VALUE},
    {"{\"a\":'b'}", 6, VALUE},
    {"{\"a\":+1}", 6, VALUE},
    {"{\"a\":.5}", 6, VALUE},
    {"{\"a\":\x01}", 6, VALUE},
    {"{\"a\":\xff}", 6, VALUE},
    {"{\"a\":\xc2\xa0}", 6, VALUE},
    {"{\"a\":/**/1}", 6, VALUE},
    {"{\"a\":[1,]}", 9, VALUE},
    {"{\"a\":[,1]}", 7, VALUE},
    {"{\"a\":[", 7, VALUE},
    {"{\"a\":1 \"b\":2}", 8, COMMA},
    {"{\"a\":1", 7, COMMA},
    {"{\"a\":1]", 7, COMMA},
    {"{\"a\":truely}", 10, COMMA},
    {"{\"a\":0x10}", 7, COMMA},
    {"{\"a\":1_000}", 7, COMMA},
    {"{\"a\":1.5.2}", 9, COMMA},
    {"{\"a\":1e5.2}", 9, COMMA},
    {"{\"a\":\"b\"c}", 9, COMMA},
    {"{\"a\":{}", 8, COMMA},
    {"{\"a\":1\f}", 7, COMMA},
    {"{\"a\":[1 2]}", 9, ELEMENT},
    {"{\"a\":[1}", 8, ELEMENT},
    {"{\"a\":[1", 8, ELEMENT},
    {"{\"a\":1}}", 8, NOTHING},
    {"{\"a\":1}{\"a\":2}", 8, NOTHING},
    {"{\"a\":1},", 8, NOTHING},
    {"{} x", 4, NOTHING},
    {"{}\v", 3, NOTHING},
    {"{\"a\":-}", 7, "a digit must follow the minus"},
    {"{\"a\":-a}", 7, "a digit must follow the minus"},
    {"{\"a\":--1}", 7, "a digit must follow the minus"},
    {"{\"a\":-.5}", 7, "a digit must follow the minus"},
    {"{\"a\":01}", 6, "a number in JSON has no leading zeros"},
    {"{\"a\":-00.5}", 7, "a number in JSON has no leading zeros"},
    {"{\"a\":0123456789012}", 6, "a number in JSON has no leading zeros"},
    {"{\"a\":1.}", 8, "a digit must follow the point"},
    {"{\"a\":1.e5}", 8, "a digit must follow the point"},
    {"{\"a\":12345678.}", 15, "a digit must follow the point"},
    {"{\"a\":1e}", 8, "a digit must follow the exponent's e"},
    {"{\"a\":1E+}", 9, "a digit must follow the exponent's e"},
    {"{\"a\":1.5e-x}", 11, "a digit must follow the exponent's e"},
    {"{\"a\":NaN}", 6, NO_NAN},
    {"{\"a\":Infinity}", 6, NO_NAN},
    {"{\"a\":-Infinity}", 6, NO_NAN},
    {"{\"x\":[NaN]}", 7, NO_NAN},
    {"{\"a\":\"b}", 6, OPEN},
    {"{\"a\":\"b\r", 6, OPEN},
    {"{\"a", 2, OPEN},
    {"{\"", 2, OPEN},
    {"{\"a\":\"b\tc\"}", 8, CONTROL},
    {"{\"a\":\"123456789\x1f\"}", 16, CONTROL},
    {"{\"a\x01\":1}", 4, CONTROL},
    {"{\"a\":\"b\rc\"}", 8, CONTROL},
    {"{\"a\":\"\\x41\"}", 7, ESCAPE},
    {"{\"a\":\"\\U0041\"}", 7, ESCAPE},
    {"{\"a\":\"\\\r", 7, ESCAPE},
    {"{\"a\":\"\\", 7, ESCAPE},
    {"{\"\\'\":1}", 3, ESCAPE},
    {"{\"a\":\"\\u12\"}", 7, HEXADECIMAL},
    {"{\"a\":\"\\u12G4\"}", 7, HEXADECIMAL},
    {"{\"a\":\"\\u", 7, HEXADECIMAL},
    {"{\"a\":\"\\u123", 7, HEXADECIMAL},
    {"{\"a\":\"\\ud83d\\u12\"}", 13, HEXADECIMAL},
    {"{\"a\":\"\\u 123\"}", 7, HEXADECIMAL},
    {"{\"a\":\"\x80\"}", 7, UTF8},
    {"{\"a\":\"x\xc3\"}", 8, UTF8},
    {"{\"a\":\"\xc0\x80\"}", 7, UTF8},
    {"{\"a\":\"\xe2\x82\"}", 7, UTF8},
    {"{\"a\":\"\xed\xa0\x80\"}", 7, UTF8},
    {"{\"a\":\"\xf4\x90\x80\x80\"}", 7, UTF8},
    {"{\"a\":\"\xf8\x88\x80\x80\x80\"}", 7, UTF8},
    {"{\"a\":\"\xff\"}", 7, UTF8},
    {"{\"a\":\"\xc3", 7, UTF8},
};

static void what_is_no_json_is_named_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        for (size_t variant = 0; variant < 4;
             variant++) { /* with the mistake on the first line, and not */
            char text[256];
            bool is_first = variant & 1, has_end = variant & 2;
            snprintf(text, sizeof text, "%s%s%s", is_first ? "" : "{\"a\":7}\n", mistakes[i].line,
                     has_end ? "\n{\"a\":9}\n" : "");
            byte_source source = source_of(text);
            if (is_first && strncmp(text, "\xef\xbb\xbf", 3) != 0)
                expect_first_line_refused(text, strlen(text), 1, mistakes[i].column,
                                          mistakes[i].message);
            if (is_first)
                continue;
            oif_reader *reader = open_source(&source, ndjson);
            EXPECT_ROW(reader, 1, 7);
            expect_bad_row(reader, 2, mistakes[i].column, mistakes[i].message);
            if (has_end)
                EXPECT_ROW(reader, 3, 9);
            expect_end(reader);
            oif_reader_close(reader);
        }
}

static void mistakes_count_where_nothing_is_selected_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"z\":7}\n%s\n", mistakes[i].line);
        byte_source source = source_of(text);
        oif_reader *reader = open_source(&source, ndjson);
        EXPECT_ROW(reader, 1, 7);
        expect_bad_row(reader, 2, mistakes[i].column, mistakes[i].message);
        oif_reader_close(reader);
    }
}

static void a_value_that_is_no_number_is_named_with_its_place_and_column(void **state)
{
    (void)state;
    byte_source source =
        source_of("{\"a\": 1, \"b\": {\"c\": 2}}\n"
                  "{\"a\": \"1x\", \"b\": {\"c\": \"x\\ny\"}}\n"
                  "{\"b\": {\"c\": 1e999}}\n"
                  "{\"b\": {\"c\": -1e400}, \"a\": \"x\"}\n"
                  "{\"b\": {\"c\": {\"d\": 1}}}\n"
                  "{\"a\": [1]}\n"
                  "{\"a\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n"
                  "{\"a\": 3, \"b\": \"not selected\", \"d\": 1e999}\n");
    oif_reader *reader = open_source(&source, ndjson);
    const char *advice = "leave the column out or make it null";
    char message[240];

    EXPECT_ROW(reader, 1, 1, 2);
    snprintf(message, sizeof message, "the string '1x' is not a number in column \"a\"; %s",
             advice);
    expect_bad_row(reader, 2, 7, message);
    expect_bad_row(reader, 3, 13,
                   "'1e999' is infinite in column \"b.c\"; make it a finite number or null");
    expect_bad_row(reader, 4, 13,
                   "'-1e400' is infinite in column \"b.c\"; make it a finite number or null");
    expect_bad_row(
        reader, 5, 13,
        "an object is not a number in column \"b.c\"; leave the column out or choose a part of it, "
        "such as b.c.key");
    expect_bad_row(
        reader, 6, 7,
        "an array is not a number in column \"a\"; leave the column out or choose a part of it, "
        "such as a.0");
    snprintf(
        message, sizeof message,
        "the string 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is not a number in column \"a\"; %s",
        advice);
    expect_bad_row(reader, 7, 7, message);
    EXPECT_ROW(reader, 8, 3, NAN);
    oif_reader_close(reader);
}

static void binary_and_utf_16_do_not_open(void **state)
{
    (void)state;
    const char *message = "this looks like UTF-16/binary, not text; convert it to UTF-8";

    expect_first_line_refused("\xff\xfe{\0\"\0", 6, 1, 1, message);
    expect_first_line_refused("{\0\"\0", 4, 1, 2, message);
    expect_first_line_refused("\n{\"a\":\"\0\"}", 10, 2, 7, message);
    expect_first_line_refused("\x1f\x8b\x08", 3, 1, 1, OBJECT);
}

static void a_nul_byte_in_a_row_is_named(void **state)
{
    (void)state;
    byte_source source = {
        .bytes = "{\"a\":1}\n{\"a\":\"\0\"}\n{\"a\":\0}\n\0\n{\"a\":\"\\\0\"}\n{\"a\":2}\n",
        .count = 47};
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_ROW(reader, 1, 1);
    static const uint64_t columns[] = {7, 6, 1, 8};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        expect_bad_row(reader, 2 + i, columns[i],
                       "this line has NUL bytes, as after a crash or power cut");
    EXPECT_ROW(reader, 6, 2);
    oif_reader_close(reader);
}

/* ---- Limits ---- */

/* {"a": open...open middle close...close} with `depth` levels, including the outermost object. */
static char *nested(size_t depth, const char *open, const char *middle, const char *close)
{
    char *text = malloc(depth * (strlen(open) + strlen(close)) + 64), *at = text;
    at += sprintf(at, "{\"a\":");
    for (size_t i = 1; i < depth; i++)
        at += sprintf(at, "%s", open);
    at += sprintf(at, "%s", middle);
    for (size_t i = 1; i < depth; i++)
        at += sprintf(at, "%s", close);
    sprintf(at, "}");
    return text;
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    const char *message = "objects and arrays are nested deeper than 256 levels";
    char *allowed = nested(256, "[", "1", "]"), *arrays = nested(257, "[", "1", "]");
    char *objects = nested(257, "{\"b\":", "1", "}"), *hostile = nested(1000000, "[", "", "");
    char *deep_text = malloc(3 * 1000 * 1000);
    sprintf(deep_text, "{\"z\":1}\n%s\n%s\n%s\n%s\n{\"z\":2}", allowed, arrays, objects, hostile);
    byte_source source = source_of(deep_text), first = source_of(allowed);

    oif_reader *reader = open_source(&source, ndjson);
    EXPECT_ROW(reader, 1, 1);
    EXPECT_ROW(reader, 2, NAN);
    expect_bad_row(reader, 3, 6 + 255, message);
    expect_bad_row(reader, 4, 6 + 255 * 5, message);
    expect_bad_row(reader, 5, 6 + 255, message);
    EXPECT_ROW(reader, 6, 2);
    oif_reader_close(reader);

    reader = open_source(&first, ndjson);
    assert_int_equal(strlen(oif_reader_column_name(reader, 0)), 1 + 255 * 2);
    EXPECT_ROW(reader, 1, 1);
    oif_reader_close(reader);
    expect_first_line_refused(arrays, strlen(arrays), 1, 6 + 255, message);
    expect_first_line_refused(hostile, strlen(hostile), 1, 6 + 255, message);
    free(deep_text), free(hostile), free(objects), free(arrays), free(allowed);
}

static void keys_may_be_huge(void **state)
{
    (void)state;
    const size_t bytes = 1000000;
    char *text = malloc(4 * bytes + 64), *key = malloc(bytes + 1);

    memset(key, 'k', bytes);
    key[bytes] = '\0';
    sprintf(text, "{\"%s\":1}\n{\"%sx\":2,\"%s\":3}\n{\"%s", key, key, key, key);
    byte_source source = {.bytes = text, .count = strlen(text), .piece = 10000};
    oif_reader *reader = open_source(&source, ndjson);
    assert_string_equal(oif_reader_column_name(reader, 0), key);
    EXPECT_ROW(reader, 1, 1);
    EXPECT_ROW(reader, 2, 3);
    expect_bad_row(reader, 3, 2, OPEN);
    expect_end(reader);
    oif_reader_close(reader);
    free(key);
    free(text);
}

static void a_first_line_of_too_many_keys_does_not_open(void **state)
{
    (void)state;
    char *text = malloc(200000), *at = text;

    at += sprintf(at, "{\"a\":[1");
    for (int i = 1; i < 65536 - 1; i++)
        at += sprintf(at, ",1");
    sprintf(at, "]}");
    byte_source source = source_of(text);
    oif_reader *reader = open_source(&source, ndjson);
    assert_int_equal(oif_reader_column_count(reader), 65535);
    assert_true(next_row(reader).values[65534] == 1);
    oif_reader_close(reader);
    sprintf(at, ",1]}");
    expect_first_line_refused(text, strlen(text), 1, 1, "the first line has more than 65536 keys");
    free(text);
}

static void names_that_multiply_a_long_key_do_not_open(void **state)
{
    (void)state;
    const size_t key_bytes = 100000;
    char *text = malloc(2 * key_bytes), *at = text;

    at += sprintf(at, "{\"");
    memset(at, 'k', key_bytes);
    at += key_bytes;
    at += sprintf(at, "\":[0");
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, ",0");
    sprintf(at, "]}");
    expect_first_line_refused(text, strlen(text), 1, 1,
                              "the names of the columns take more than 67108864 bytes");
    free(text);
}

static void a_line_as_long_as_allowed_is_read_and_a_longer_one_is_skipped(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 12; piece++) {
        byte_source source =
            source_of("{\"a\":1}\n{\"a\":22}\n{\"a\":333}\n          \n{\"a\":4}\n{\"a\":55}\r\n"
                      "x23456789\n{\"a\":6}\n{\"a\":777");
        source.piece = piece;
        oif_reader *reader = open_source(
            &source, (oif_reader_options){.format = OIF_FORMAT_NDJSON, .max_line_bytes = 8});

        EXPECT_ROW(reader, 1, 1);
        EXPECT_ROW(reader, 2, 22);
        expect_bad_row(reader, 3, 1, "this line is longer than 8 bytes");
        expect_bad_row(reader, 4, 1, "this line is longer than 8 bytes");
        EXPECT_ROW(reader, 5, 4);
        expect_bad_row(reader, 6, 1, "this line is longer than 8 bytes"); /* the return counts */
        expect_bad_row(reader, 7, 1, "this line is longer than 8 bytes");
        EXPECT_ROW(reader, 8, 6);
        expect_bad_row(reader, 9, 9, COMMA);
        expect_end(reader);
        oif_reader_close(reader);
    }
}

static void a_first_line_that_is_too_long_does_not_open(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 2; piece++) {
        byte_source source = {.bytes = "{\"a\":123456}\n", .count = 13, .piece = piece};
        oif_reader *reader = NULL;
        oif_error error;
        oif_reader_options options = {.format = OIF_FORMAT_NDJSON, .max_line_bytes = 6};

        assert_int_equal(oif_reader_open(&options, read_source, &source, &reader, &error),
                         OIF_EINPUT);
        expect_failure(&error, 1, 1, "this line is longer than 6 bytes");
    }
}

/* A line of 100 MB between two rows, generated while it is read. */
static ptrdiff_t read_endless(void *context, char *buffer, size_t capacity)
{
    static const char head[] = "{\"a\":1}\n{\"a\":\"", tail[] = "\"}\n{\"a\":3}\n";
    const size_t head_bytes = sizeof head - 1, tail_bytes = sizeof tail - 1;
    const size_t long_bytes = 100u * 1000 * 1000;
    size_t *sent = context, count = capacity;
    if (*sent < head_bytes) {
        memcpy(buffer, head, count = head_bytes);
    } else if (*sent < head_bytes + long_bytes) {
        if (count > head_bytes + long_bytes - *sent)
            count = head_bytes + long_bytes - *sent;
        memset(buffer, '7', count);
    } else {
        count = *sent == head_bytes + long_bytes ? tail_bytes : 0;
        memcpy(buffer, tail, count);
    }
    *sent += count;
    return (ptrdiff_t)count;
}

static void a_line_of_100_megabytes_is_skipped_without_storing_it(void **state)
{
    (void)state;
    size_t sent = 0;
    oif_reader *reader = NULL;

    reset_allocations(SIZE_MAX);
    assert_int_equal(oif_reader_open(&ndjson, read_endless, &sent, &reader, NULL), OIF_OK);
    EXPECT_ROW(reader, 1, 1);
    expect_bad_row(reader, 2, 1, "this line is longer than 16777216 bytes");
    EXPECT_ROW(reader, 3, 3);
    expect_end(reader);
    assert_true(largest_allocation_bytes <= 16777216 + 128);
    oif_reader_close(reader);
}

/* Searching for one after the other would take 10^9 comparisons per line. */
static void keys_in_the_reverse_order_are_found_quickly(void **state)
{
    (void)state;
    const size_t keys = 30000;
    char *text = malloc(12 * 20 * keys), *at = text;
    const clock_t begin = clock();

    for (size_t line = 0; line < 12; line++) {
        for (size_t i = 0; i < keys; i++)
            at += sprintf(at, "%s\"key%zu\":%zu", i ? "," : "{", line ? keys - 1 - i : i, i);
        at += sprintf(at, "}\n");
    }
    byte_source source = source_of(text);
    oif_reader *reader = open_source(&source, ndjson);
    for (size_t line = 0; line < 12; line++) {
        oif_record record = next_row(reader);
        for (size_t i = 0; i < keys; i++)
            assert_true(record.values[i] == (double)(line ? keys - 1 - i : i));
    }
    oif_reader_close(reader);
    free(text);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
}

/* ---- The source and the memory ---- */

static void a_whole_record_is_returned_before_more_is_read(void **state)
{
    (void)state;
    byte_source source = {.bytes = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}", .count = 23, .piece = 17};
    oif_reader *reader = open_source(&source, ndjson);

    EXPECT_ROW(reader, 1, 1);
    EXPECT_ROW(reader, 2, 2);
    assert_int_equal(source.reads, 1);
    EXPECT_ROW(reader, 3, 3);
    expect_end(reader);
    oif_reader_close(reader);
}

static void a_failing_read_is_reported_and_loses_nothing(void **state)
{
    (void)state;
    const char *text = "{\"a\":1}\n{\"a\":\n{\"a\":3}\n\n{\"a\":4}";

    for (size_t failing = 1; failing <= strlen(text) + 1; failing++) {
        byte_source source = {
            .bytes = text, .count = strlen(text), .piece = 1, .failing_read = failing};
        oif_reader *reader = NULL;
        oif_error error = {.message = ""};
        oif_record record;
        size_t counts[OIF_EBUSY + 1] = {0};
        oif_status status = oif_reader_open(&ndjson, read_source, &source, &reader, &error);
        if (failing <= 8) {
            assert_int_equal(status, OIF_EREAD);
            assert_null(reader);
            continue;
        }
        assert_int_equal(status, OIF_OK);
        while ((status = oif_reader_next(reader, &record, &error)) != OIF_END)
            counts[status]++;
        assert_int_equal(counts[OIF_OK], 3);
        assert_int_equal(counts[OIF_EINPUT], 1);
        assert_int_equal(counts[OIF_EREAD], 1);
        oif_reader_close(reader);
    }
}

/* Opens, finds columns, and reads two rows, one of them longer than the first buffer. */
static oif_status read_and_find(byte_source *source, oif_error *error)
{
    oif_reader *reader = NULL;
    oif_record record;
    size_t column;
    oif_status status = oif_reader_open(&ndjson, read_source, source, &reader, error);
    if (status != OIF_OK) {
        assert_null(reader);
        return status;
    }
    status = oif_reader_find_column(reader, "b.a_key_that_needs_some_memory.c", &column, error);
    if (status != OIF_OK)
        assert_int_equal(oif_reader_column_count(reader), 200);
    if (status == OIF_OK)
        status = oif_reader_select_texts(reader, &column, 1, error);
    if (status == OIF_OK)
        status = oif_reader_next(reader, &record, error);
    if (status == OIF_OK)
        status = oif_reader_next(reader, &record, error);
    /* with memory again, the reader continues as if nothing had happened */
    if (status == OIF_EMEMORY) {
        reset_allocations(SIZE_MAX);
        while (oif_reader_next(reader, &record, NULL) == OIF_OK)
            assert_true(record.values[1] == 5);
    }
    oif_reader_close(reader);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const size_t bytes = 300000;
    char *text = malloc(bytes + 8192), *at = text;
    size_t failing = 0;
    oif_status status;

    at += sprintf(at, "{\"a\":4");
    for (int i = 1; i < 200; i++)
        at += sprintf(at, ",\"key number %d\":5", i);
    at += sprintf(at, "}\n");
    memset(at, ' ', bytes);
    sprintf(at + bytes, "{\"a\":3,\"key number 1\":5}");
    do {
        byte_source source = source_of(text);
        oif_error error = {.message = ""};
        reset_allocations(failing++);
        status = read_and_find(&source, &error);
        assert_true(status == OIF_OK || (status == OIF_EMEMORY && error.status == OIF_EMEMORY));
    } while (status != OIF_OK);
    assert_true(failing > 15);
    reset_allocations(SIZE_MAX);
    free(text);
}

static void rows_need_no_allocation(void **state)
{
    (void)state;
    static const char row[] = "{\"a\\n\":1.5,\"t\":\"x\\ty\",\"u\":{\"v\":[1,2]},\"a\\n\":2}\n";
    enum { ROWS = 20000, ROW_BYTES = sizeof row - 1 };
    char *text = malloc(ROWS * ROW_BYTES + 1);

    for (size_t i = 0; i < ROWS; i++)
        memcpy(text + i * ROW_BYTES, row, ROW_BYTES + 1);
    byte_source source = source_of(text);
    oif_reader *reader = open_source(&source, ndjson);
    oif_record record;

    SELECT(reader, "a\n", "u.v.1");
    SELECT_TEXTS(reader, "t", "not.there");
    reset_allocations(0);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_OK);
    assert_int_equal(allocation_count, 0);
    reset_allocations(SIZE_MAX);
    oif_reader_close(reader);
    free(text);
}

/* ---- Pieces of any size ---- */

static void transcribe(byte_source source, oif_reader_options options, row_transcript *transcript)
{
    oif_reader *reader = NULL;
    oif_error error = {.message = ""};
    oif_record record;
    oif_status status = oif_reader_open(&options, read_source, &source, &reader, &error);
    transcript->length = 0;
    if (status == OIF_OK) {
        for (size_t i = 0; i < oif_reader_column_count(reader); i++)
            note(transcript, "%s\n", oif_reader_column_name(reader, i));
        SELECT(reader, "a.0");
        SELECT_TEXTS(reader, "a");
    }
    while (status == OIF_OK || (status == OIF_EINPUT && reader)) {
        status = oif_reader_next(reader, &record, &error);
        if (status == OIF_OK)
            note(transcript, "%d: %a {%.*s} [%.*s] %d\n", (int)record.line, record.values[0],
                 (int)record.texts[0].bytes, record.texts[0].text, (int)record.text_bytes,
                 record.text, (int)record.end_bytes);
        else if (status == OIF_EINPUT)
            note(transcript, "%d:%d: %s\n", (int)error.line, (int)error.column, error.message);
    }
    note(transcript, "%s %s", oif_status_text(status), reader ? "" : error.message);
    oif_reader_close(reader);
}

static size_t write_random_text(uint64_t *seed, char *text)
{
    static const char *const tokens[] = {"{\"a\":1}\n",
                                         "{\"a\":\"b\\n\"}\n",
                                         "{\"a\":[7,{}]}\r\n",
                                         "{\"b\":2,\"a\":[1]}\n",
                                         "{\"a\":0,\"a\":[3]}\n",
                                         "{",
                                         "}",
                                         "\"",
                                         "\"a\":",
                                         ",",
                                         ":",
                                         "[",
                                         "]",
                                         "1",
                                         "-2.5e3",
                                         "true",
                                         "null",
                                         "\"x\"",
                                         "\n",
                                         "\n",
                                         "\r\n",
                                         " ",
                                         "\\",
                                         "\\u00e4",
                                         "\xc3\xa4",
                                         "\xff",
                                         "\xef\xbb\xbf",
                                         "{\"a\":[5]",
                                         "1e999",
                                         "NaN"};
    size_t count = next_random(seed) % 60, length = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_line = i == 0 && next_random(seed) % 8;
        const char *token =
            tokens[next_random(seed) % (is_line ? 5 : sizeof tokens / sizeof *tokens)];
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
        char text[2048];
        byte_source source = {.bytes = text, .count = write_random_text(&seed, text)};
        oif_reader_options options = {.format = OIF_FORMAT_NDJSON,
                                      .max_line_bytes =
                                          round % 3 ? 0 : 1 + next_random(&seed) % 20};

        transcribe(source, options, &whole);
        if (round % 4 == 0)
            source.piece = 1;
        else
            source.seed = seed;
        transcribe(source, options, &chopped);
        if (strcmp(whole.text, chopped.text))
            fail_msg("seed %llu: [%.*s]\n   at once:\n%s\n   in pieces:\n%s",
                     (unsigned long long)(first_seed + round), (int)source.count, text, whole.text,
                     chopped.text);
    }
}

static void junk_is_refused_line_by_line(void **state)
{
    (void)state;
    uint64_t seed = 12345;
    char junk[8192];
    size_t refused = 0, newlines = 1;
    oif_status status;
    oif_record record;

    memcpy(junk, "{\"a\":1}\n", 8);
    for (size_t i = 8; i < sizeof junk; i++) {
        junk[i] = (char)(next_random(&seed) % 20 ? next_random(&seed) : '\n');
        newlines += junk[i] == '\n';
    }
    byte_source source = {.bytes = junk, .count = sizeof junk};
    oif_reader *reader = open_source(&source, ndjson);
    EXPECT_ROW(reader, 1, 1);
    while ((status = oif_reader_next(reader, &record, NULL)) != OIF_END) {
        assert_int_equal(status, OIF_EINPUT);
        refused++;
    }
    assert_true(refused > newlines / 2 && refused <= newlines);
    oif_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_the_leaves_of_the_first_object),
        cmocka_unit_test(all_columns_are_selected_at_first),
        cmocka_unit_test(keys_that_come_later_become_columns_when_asked_for),
        cmocka_unit_test(only_so_many_later_keys_become_columns),
        cmocka_unit_test(dots_backslashes_and_nuls_in_keys_are_escaped_in_names),
        cmocka_unit_test(an_object_without_keys_has_no_columns_until_they_are_asked_for),
        cmocka_unit_test(a_path_that_the_first_line_lacks_can_be_asked_for),
        cmocka_unit_test(a_path_with_a_stray_backslash_is_refused),
        cmocka_unit_test(a_number_as_a_key_and_an_array_element_share_a_path),
        cmocka_unit_test(keys_may_come_in_any_order_be_missing_or_be_new),
        cmocka_unit_test(keys_of_every_length_are_told_apart),
        cmocka_unit_test(a_key_is_the_same_however_it_is_escaped),
        cmocka_unit_test(of_a_key_given_twice_the_last_counts),
        cmocka_unit_test(a_first_line_with_keys_given_twice_has_the_columns_of_the_last),
        cmocka_unit_test(what_a_first_line_replaces_can_still_be_asked_for),
        cmocka_unit_test(numbers_of_every_length_are_those_of_oif_number_parse),
        cmocka_unit_test(texts_are_unescaped_strings_or_values_as_they_stand),
        cmocka_unit_test(a_column_can_be_a_number_and_a_text),
        cmocka_unit_test(texts_in_what_a_later_key_replaces_are_empty),
        cmocka_unit_test(the_text_of_a_record_is_the_line_as_it_came),
        cmocka_unit_test(a_byte_order_mark_is_skipped_but_only_at_the_start),
        cmocka_unit_test(an_empty_input_does_not_open),
        cmocka_unit_test(what_is_no_json_is_named_with_its_place),
        cmocka_unit_test(mistakes_count_where_nothing_is_selected_too),
        cmocka_unit_test(a_value_that_is_no_number_is_named_with_its_place_and_column),
        cmocka_unit_test(binary_and_utf_16_do_not_open),
        cmocka_unit_test(a_nul_byte_in_a_row_is_named),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(keys_may_be_huge),
        cmocka_unit_test(a_first_line_of_too_many_keys_does_not_open),
        cmocka_unit_test(names_that_multiply_a_long_key_do_not_open),
        cmocka_unit_test(a_line_as_long_as_allowed_is_read_and_a_longer_one_is_skipped),
        cmocka_unit_test(a_first_line_that_is_too_long_does_not_open),
        cmocka_unit_test(a_line_of_100_megabytes_is_skipped_without_storing_it),
        cmocka_unit_test(keys_in_the_reverse_order_are_found_quickly),
        cmocka_unit_test(a_whole_record_is_returned_before_more_is_read),
        cmocka_unit_test(a_failing_read_is_reported_and_loses_nothing),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(rows_need_no_allocation),
        cmocka_unit_test(the_pieces_in_which_bytes_arrive_do_not_matter),
        cmocka_unit_test(junk_is_refused_line_by_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
