/* Bodies do not affect each other: after one that was rejected, too long or left open in quotes,
 * the next is read as if it had come first, and a restart finds the same rows.
 *
 *     OIF_SEED=7 test_serve.stream_bodies */
#include "stream_fixture.h"

#include "serve/stream/stream_parts.h"

#include <inttypes.h>

enum { MANY_ROWS = 12000, LONG_LINE_BYTES = 17 << 20, LONG_KEY_BYTES = 70000 };

/* ---- Streams ---- */

typedef struct outcome {
    bool is_good;
    rows_answer answer;
    problem why;
    char *lines; /* the caller frees them */
} outcome;

static outcome send(stream *one, oif_text body)
{
    outcome found = {.why = {.status = 0}};
    const rows_request request = {.body = body.text, .bytes = body.bytes};
    size_t bytes;
    output_divert();
    found.is_good = stream_rows(one, &request, &found.answer, &found.why);
    output_write("", 1);
    found.lines = output_diverted(&bytes);
    assert_non_null(found.lines);
    return found;
}

static oif_text text_of(const char *text)
{
    return (oif_text){text, strlen(text)};
}

static void expect_rows(stream *one, const char *body, uint64_t rows)
{
    outcome found = send(one, text_of(body));
    if (!found.is_good)
        fail_msg("%s: %s", body, found.why.message);
    assert_int_equal(found.answer.accepted, rows);
    free(found.lines);
}

static void expect_problem(stream *one, oif_text body, uint64_t line)
{
    outcome found = send(one, body);
    assert_false(found.is_good);
    assert_int_equal(found.why.status, 400);
    assert_int_equal(found.why.line, line);
    free(found.lines);
}

/* ---- Bodies ---- */

typedef struct text_builder {
    char *text;
    size_t bytes, capacity;
} text_builder;

static char *add_room(text_builder *body, size_t bytes)
{
    if (body->bytes + bytes + 1 > body->capacity) {
        body->capacity = 2 * (body->bytes + bytes + 1);
        body->text = realloc(body->text, body->capacity);
        assert_non_null(body->text);
    }
    body->bytes += bytes;
    return body->text + body->bytes - bytes;
}

static void add(text_builder *body, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(text_builder *body, const char *format, ...)
{
    char line[128];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    memcpy(add_room(body, (size_t)bytes), line, (size_t)bytes);
}

static void add_many(text_builder *body, const char *line)
{
    for (int i = 0; i < MANY_ROWS; i++)
        add(body, "%s\n", line);
}

static void add_long(text_builder *body, size_t bytes)
{
    memset(add_room(body, bytes), '9', bytes);
}

static oif_text text_in(const text_builder *body)
{
    return (oif_text){body->text, body->bytes};
}

/* ---- In sequence ---- */

static void a_refused_body_does_not_damage_the_next(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{}");
    text_builder body = {.text = NULL};
    (void)state;
    expect_rows(one, "x\n1\n2\n", 2);
    add(&body, "3\noops\n");
    add_many(&body, "1111111");
    expect_problem(one, text_in(&body), 2);
    expect_rows(one, "7\n8\n", 2);
    body.bytes = 0;
    add(&body, "{\"x\":oops}\n");
    add_many(&body, "{\"x\":1234567}");
    expect_rows(one, "{\"x\":3}\n", 1);
    expect_problem(one, text_in(&body), 1);
    expect_rows(one, "{\"x\":5}\n{\"x\":6}\n", 2);
    expect_rows(one, "7\n8\n", 2);
    free(body.text);
    stream_release(one);
    streams_close(all);
}

/* The names of later rows cannot be compared if the first ones had none. */
static void rows_of_another_length_are_refused_where_columns_have_no_names(void **state)
{
    static const char *const others[] = {"{\"k\":0.05}\n", "{\"k\":1,\"l\":2,\"m\":3}\n"};
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{}");
    (void)state;
    expect_rows(one, "1,2\n3,4\n", 2);
    for (size_t i = 0; i < 2; i++) {
        outcome found = send(one, text_of(others[i]));
        assert_false(found.is_good);
        assert_int_equal(found.why.status, 409);
        assert_non_null(
            strstr(found.why.message, "the stream has learned 2 columns, but the rows"));
        free(found.lines);
    }
    expect_rows(one, "{\"k\":5,\"l\":6}\n", 1);
    expect_rows(one, "7,8\n", 1);
    stream_release(one);
    streams_close(all);
}

static void a_row_whose_key_is_too_long_does_not_damage_the_next_body(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{\"key\": \"k\"}");
    text_builder body = {.text = NULL};
    (void)state;
    expect_rows(one, "k,v\na,1\n", 1);
    add_long(&body, LONG_KEY_BYTES);
    add(&body, ",1\n");
    add_many(&body, "abcdefg,1");
    expect_problem(one, text_in(&body), 1);
    expect_rows(one, "b,5\nc,6\n", 2);
    free(body.text);
    stream_release(one);
    streams_close(all);
}

static void a_line_that_is_too_long_takes_no_row_of_the_next_body(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{}");
    text_builder body = {.text = NULL};
    (void)state;
    expect_rows(one, "x\n1\n2\n", 2);
    expect_rows(one, "3\n", 1);
    add_long(&body, LONG_LINE_BYTES);
    expect_problem(one, text_in(&body), 1);
    expect_rows(one, "5\n6\n7\n", 3);
    expect_problem(one, text_of("1\n1\nfoo\n"), 3);
    expect_problem(one, text_of("1\nfoo\n"), 2);
    free(body.text);
    stream_release(one);
    streams_close(all);
}

static void the_answer_has_the_mark_of_its_body(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{}");
    (void)state;
    for (int i = 0; i < 4; i++) {
        outcome found = send(one, text_of(i % 2 ? "x\n1\n" : "\xEF\xBB\xBFx\n1\n"));
        assert_int_equal(strncmp(found.lines, "\xEF\xBB\xBFx,score", 10) == 0, i % 2 == 0);
        assert_int_equal(strncmp(found.lines, "x,score", 7) == 0, i % 2);
        free(found.lines);
    }
    stream_release(one);
    streams_close(all);
}

/* ---- JSON arrays ---- */

static void expect_array_refused(stream *one, const char *body, int format, const char *message,
                                 const char *remedy)
{
    const rows_request request = {
        .body = body, .bytes = strlen(body), .format = format, .answer = ANSWER_COUNT};
    rows_answer answer;
    problem why = {.status = 0};
    if (stream_rows(one, &request, &answer, &why))
        fail_msg("%s: taken, with %" PRIu64 " rows", body, answer.accepted);
    assert_int_equal(why.status, 400);
    assert_string_equal(why.message, message);
    assert_string_equal(why.remedy, remedy);
    assert_int_equal(why.cause, OIF_CAUSE_BAD_JSON);
}

static void expect_arrays_refused(stream *one, int format)
{
    static const char remedy[] = "Send one JSON object, or one row of CSV, per line.";
    expect_array_refused(one, " [{\"a\": 1}, {\"a\": 2}]\n", format,
                         "body: this is a JSON array, and oif reads one object per line", remedy);
    expect_array_refused(one, "[[1, 2],\n[3, 4]]", format,
                         "body: this is a JSON array of arrays, and oif reads one object or row "
                         "of CSV per line",
                         remedy);
    expect_array_refused(one, "[1, 2, 3]", format,
                         "body: this is a JSON array of values, and a line must be an object, such "
                         "as {\"x\": 1}",
                         remedy);
}

static void expect_refused(const char *body, size_t bytes, const char *message, oif_cause cause,
                           const char *remedy)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{}");
    const rows_request request = {.body = body, .bytes = bytes, .answer = ANSWER_COUNT};
    rows_answer answer;
    problem why = {.status = 0};
    assert_false(stream_rows(one, &request, &answer, &why));
    assert_int_equal(why.status, 400);
    assert_string_equal(why.message, message);
    assert_int_equal(why.cause, cause);
    assert_string_equal(why.remedy, remedy);
    stream_release(one);
    streams_close(all);
}

static void a_refused_body_has_a_cause_and_a_remedy_for_a_client(void **state)
{
    (void)state;
    static const char zip[] = "PK\x03\x04\x14\0\0\0", nul[] = "a,b\n1,2\n\0\0\0\n";
    expect_refused("a,b\n1,2\n3,4,\n", 14,
                   "body:3:5: this row has 3 fields, the first line has 2, and a delimiter ends "
                   "the row",
                   OIF_CAUSE_TRAILING_DELIMITER, "Remove the delimiter at the end of each row.");
    expect_refused(nul, sizeof nul - 1,
                   "body:3:1: this line has NUL bytes, as after a crash or power cut",
                   OIF_CAUSE_NUL_BYTES, "Remove the NUL bytes.");
    expect_refused(zip, sizeof zip - 1, "body: this is a zip archive, as xlsx and ods are",
                   OIF_CAUSE_NOT_TEXT, "Send CSV or NDJSON as UTF-8 text.");
    expect_refused("a,b\n1,2\n3\n", 10, "body:3:2: this row has 1 field, the first line has 2",
                   OIF_CAUSE_TOO_FEW_FIELDS,
                   "Set \"on-bad-row\" to \"skip\" to leave such rows out.");
}

static void a_json_array_is_refused_with_a_remedy_for_a_client(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{}");
    (void)state;
    for (int format = 0; format <= 1 + OIF_FORMAT_NDJSON; format += 1 + OIF_FORMAT_NDJSON)
        expect_arrays_refused(one, format);
    expect_rows(one, "{\"a\":5}\n", 1);
    for (int format = 0; format <= 1 + OIF_FORMAT_NDJSON; format += 1 + OIF_FORMAT_NDJSON)
        expect_arrays_refused(one, format);
    expect_rows(one, "{\"a\":5}\n", 1);
    stream_release(one);
    streams_close(all);
}

/* ---- Columns ---- */

/* A header and a row of CSV, or an object, with columns starting at c`from`. */
static void add_columns(text_builder *body, int from, int count)
{
    for (int i = from; i < from + count; i++)
        add(body, i > from ? ",c%d" : "c%d", i);
    add(body, "\n");
    for (int i = 0; i < count; i++)
        add(body, i > 0 ? ",%d" : "%d", i);
    add(body, "\n");
}

static void add_object(text_builder *body, int from, int count)
{
    for (int i = from; i < from + count; i++)
        add(body, "%c\"c%d\":%d", i > from ? ',' : '{', i, i);
    add(body, "}\n");
}

static void expect_too_wide(stream *one, text_builder *body)
{
    outcome found = send(one, text_in(body));
    assert_false(found.is_good);
    assert_int_equal(found.why.status, 413);
    assert_non_null(strstr(found.why.message, "columns"));
    assert_non_null(strstr(found.why.remedy, "max-columns"));
    assert_int_equal(found.answer.accepted, 0);
    free(found.lines);
    body->bytes = 0;
}

static void rows_with_too_many_columns_are_refused_before_a_model_is_made(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{}");
    text_builder body = {.text = NULL};
    (void)state;
    add_columns(&body, 0, 1001);
    expect_too_wide(one, &body);
    add_object(&body, 0, 1001);
    expect_too_wide(one, &body);
    add_object(&body, 0, 600); /* and more in later rows */
    add_object(&body, 600, 600);
    expect_too_wide(one, &body);
    add_columns(&body, 0, 1000);
    body.text[body.bytes] = '\0';
    expect_rows(one, body.text, 1);
    body.bytes = 0;
    add_columns(&body, 1, 1001); /* another header */
    expect_too_wide(one, &body);
    free(body.text);
    stream_release(one);
    streams_close(all);
}

/* Accepted rows come back although the limit was lowered, and more may follow. */
static void a_lower_limit_does_not_concern_streams_that_are_there(void **state)
{
    char command[200], copy[96];
    const streams_options options = {.folder = copy, .save_every = 1000, .max_columns = 2};
    streams *all = open_at(folder);
    stream *one = create(all, "tested", "{}");
    problem why;
    (void)state;
    expect_rows(one, "a,b,c\n1,2,3\n", 1);
    snprintf(copy, sizeof copy, "%s.copy", folder);
    snprintf(command, sizeof command, "cp -r %s %s", folder, copy);
    assert_int_equal(system(command), 0); /* as after a kill */
    stream_release(one);
    assert_true(streams_remove(all, "tested", &why));
    streams_close(all);
    assert_true(streams_open(&options, &all, &why));
    one = streams_find(all, "tested");
    assert_int_equal(stream_row_count(one), 1);
    expect_rows(one, "4,5,6\n", 1);
    expect_rows(one, "a,b,c\n4,5,6\n", 1);
    stream_release(one);
    streams_close(all);
    snprintf(command, sizeof command, "rm -rf %s", copy);
    assert_int_equal(system(command), 0);
}

/* ---- At random ---- */

static void add_rows(text_builder *body, const char *end)
{
    for (uint32_t i = 0, count = 1 + draw(4); i < count; i++)
        add(body, "h%" PRIu32 ",%" PRIu32 ".%" PRIu32 ",%" PRIu32 "%s", draw(3), draw(100),
            draw(10), draw(1000), end);
}

static void add_objects(text_builder *body)
{
    for (uint32_t i = 0, count = 1 + draw(4); i < count; i++)
        add(body, "{\"k\":\"h%" PRIu32 "\",\"a\":%" PRIu32 ",\"b\":%" PRIu32 "}\n", draw(3),
            draw(100), draw(1000));
}

/* Complete ones, and whatever faulty clients may send. */
static void add_body(text_builder *body)
{
    switch (draw(16)) {
    case 0:
        add(body, "k,a,b\n");
        add_rows(body, "\n");
        break;
    case 1: add_objects(body); break;
    case 2: add_rows(body, "\r\n"); break;
    case 3:
        add_rows(body, "\n");
        body->bytes--;
        break;
    case 4: add(body, "b,a,k\n7,1,h1\n"); break;
    case 5:
        add(body, "\"h1\",5,6\n");
        add_rows(body, "\n");
        break;
    case 6:
        add_rows(body, "\n");
        add(body, "\"h1,5,6\n");
        add_rows(body, "\n");
        break;
    case 7:
        add_rows(body, "\n");
        add(body, "h1,oops,1\n");
        add_many(body, "h2,11,22");
        break;
    case 8:
        add(body, "h1,1\n");
        add_many(body, "h2,1234,5678");
        break;
    case 9:
        add_objects(body);
        add(body, "{\"k\":\"h1\",\"a\":");
        break;
    case 10:
        add_objects(body);
        add(body, "{\"a\":oops}\n");
        add_many(body, "{\"a\":11}");
        break;
    case 11:
        add_long(body, LONG_KEY_BYTES);
        add(body, ",1,2\n");
        add_many(body, "h2,123,567");
        break;
    case 12:
        add_rows(body, "\n");
        add_long(body, draw(4) ? 200000 : LONG_LINE_BYTES);
        add(body, "\n");
        add_rows(body, "\n");
        break;
    default: add_rows(body, "\n");
    }
}

/* Between semicolons a comma may be the decimal sign, which must be detected. */
static void add_semicolons(text_builder *body)
{
    static const char *const bodies[] = {"1;2\n",      "1,5;2\n",  "1.5;2\n",
                                         "\"1\";2\n",  "2.0;3\n",  "oops,5;2\n",
                                         "a;b\n3;4\n", "3;oops\n", "1.234;2\n"};
    if (draw(8) == 0)
        add(body, "1,5;2;3\n");
    else
        add(body, "%s", bodies[draw(sizeof bodies / sizeof *bodies)]);
}

static void compare(const outcome *one, const outcome *other, oif_text body)
{
    int shown = body.bytes < 300 ? (int)body.bytes : 300;
    if (one->is_good != other->is_good || strcmp(one->lines, other->lines) != 0 ||
        (!one->is_good && strcmp(one->why.message, other->why.message) != 0))
        fail_msg("%.*s\n%s\n%.300s\nand not\n%s\n%.300s", shown, body.text,
                 one->is_good ? "" : one->why.message, one->lines,
                 other->is_good ? "" : other->why.message, other->lines);
    assert_int_equal(one->answer.accepted, other->answer.accepted);
    assert_int_equal(one->answer.bad, other->answer.bad);
    assert_int_equal(one->why.line, other->why.line);
}

static void close_readers(stream *one)
{
    for (size_t i = 0; i < BODY_READERS; i++)
        body_reader_close(&one->readers[i]);
}

static char *describe(stream *one)
{
    const keys_query keys = {.order = KEYS_BY_NAME};
    const points_query points = {.key = NULL};
    stream_figures figures;
    size_t bytes;
    problem why;
    stream_get_figures(one, &figures);
    output_divert();
    output_print("%" PRIu64 " rows, %" PRIu64 " bad, %" PRIu64 " arrivals, idle %a\n", figures.rows,
                 figures.bad_rows, one->quiet.arrivals, one->quiet.longest_idle);
    stream_write_keys(one, &keys);
    stream_write_points(one, &points, &why);
    output_write("", 1);
    return output_diverted(&bytes);
}

/* What a restart would find if the server were killed now. */
static void compare_restarted(stream *one)
{
    char command[320], copy[96];
    snprintf(copy, sizeof copy, "%s.copy", folder);
    snprintf(command, sizeof command, "rm -rf %s && cp -r %s %s", copy, folder, copy);
    assert_int_equal(system(command), 0);
    streams *all = open_at(copy);
    stream *found = streams_find(all, "tested");
    assert_non_null(found);
    char *expected = describe(one), *described = describe(found);
    assert_string_equal(expected, described);
    free(expected);
    free(described);
    stream_release(found);
    streams_close(all);
    snprintf(command, sizeof command, "rm -rf %s", copy);
    assert_int_equal(system(command), 0);
}

static void run_bodies(const char *settings, const char *first, void (*add_next)(text_builder *),
                       int bodies)
{
    streams *all = open_at(folder), *others = open_at(NULL);
    stream *one = create(all, "tested", settings), *fresh = create(others, "tested", settings);
    text_builder body = {.text = NULL};
    problem why;
    expect_rows(one, first, 2);
    expect_rows(fresh, first, 2);
    for (int i = 0; i < bodies; i++) {
        body.bytes = 0;
        add_next(&body);
        close_readers(fresh);
        outcome found = send(one, text_in(&body)), expected = send(fresh, text_in(&body));
        compare(&found, &expected, text_in(&body));
        free(found.lines);
        free(expected.lines);
        if (i % 16 == 15)
            compare_restarted(one);
    }
    free(body.text);
    stream_release(one);
    stream_release(fresh);
    assert_true(streams_remove(all, "tested", &why));
    streams_close(all);
    streams_close(others);
}

static void bodies_are_read_as_by_a_new_reader(void **state)
{
    static const char *const settings[] = {"{\"key\": \"k\"}",
                                           "{\"key\": \"k\", \"on-bad-row\": \"skip\"}",
                                           "{\"key\": \"k\", \"on-bad-row\": \"null\"}"};
    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (size_t i = 0; i < 3; i++)
        run_bodies(settings[i], "k,a,b\nh0,1,2\nh1,3,4\n", add_body, 64);
}

static void the_decimal_sign_is_found_as_by_a_new_reader(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        run_bodies("{}", "a;b\n1;2\n3;4\n", add_semicolons, 16);
}

static int draw_from_seed(void **state)
{
    const char *asked = getenv("OIF_SEED");
    if (asked)
        seed = strtoull(asked, NULL, 10);
    return make_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_body_does_not_damage_the_next),
        cmocka_unit_test(rows_of_another_length_are_refused_where_columns_have_no_names),
        cmocka_unit_test(a_row_whose_key_is_too_long_does_not_damage_the_next_body),
        cmocka_unit_test(a_line_that_is_too_long_takes_no_row_of_the_next_body),
        cmocka_unit_test(the_answer_has_the_mark_of_its_body),
        cmocka_unit_test(a_json_array_is_refused_with_a_remedy_for_a_client),
        cmocka_unit_test(a_refused_body_has_a_cause_and_a_remedy_for_a_client),
        cmocka_unit_test(rows_with_too_many_columns_are_refused_before_a_model_is_made),
        cmocka_unit_test(a_lower_limit_does_not_concern_streams_that_are_there),
        cmocka_unit_test(bodies_are_read_as_by_a_new_reader),
        cmocka_unit_test(the_decimal_sign_is_found_as_by_a_new_reader)};
    return cmocka_run_group_tests(tests, draw_from_seed, remove_folder);
}
