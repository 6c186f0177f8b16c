/* What a stream returns: valid JSON for any keys, silence; and what it does when out
 * of memory. */
#include "stream_fixture.h"

#include "serve/stream/stream_parts.h"

#include <math.h>
#include <stdatomic.h>

/* ---- Failing allocations ---- */

static atomic_int allocations_left = -1; /* below 0: unlimited */

static void *allocate(void *context, size_t alignment, size_t bytes)
{
    (void)context;
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* ---- Streams ---- */

/* The answer as JSON; of several lines the last. */
static json_t *take_json(void)
{
    size_t bytes;
    output_write("", 1);
    char *text = output_diverted(&bytes);
    json_error_t error;
    assert_non_null(text);
    json_t *found = json_loads(text, JSON_ALLOW_NUL, &error);
    if (!found)
        fail_msg("%s: %s", error.text, text);
    free(text);
    return found;
}

static bool send(stream *one, const char *body, rows_answer *answer, problem *why)
{
    const rows_request request = {.body = body, .bytes = strlen(body), .answer = ANSWER_COUNT};
    return stream_rows(one, &request, answer, why);
}

static void send_row(stream *one, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void send_row(stream *one, const char *format, ...)
{
    char body[512];
    rows_answer answer;
    problem why;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(body, sizeof body, format, arguments);
    va_end(arguments);
    if (!send(one, body, &answer, &why))
        fail_msg("%s: %s", body, why.message);
}

static double number_at(const json_t *object, const char *name)
{
    const json_t *found = json_object_get(object, name);
    if (!json_is_number(found))
        fail_msg("there is no number \"%s\"", name);
    return json_number_value(found);
}

/* ---- JSON ---- */

/* A key with everything that a page, a log or JSON could stumble over. */
static const char nasty[] = "\"</script>\\u0000\\\\\\u001b[31m\\ud800 \\n'";

static void check_answers(streams *all, stream *one)
{
    static const keys_order orders[] = {KEYS_BY_SEVERITY, KEYS_BY_SCORE, KEYS_BY_RECENT,
                                        KEYS_BY_NAME};
    const events_query events = {.limit = 0};
    const points_query points = {.key = NULL};
    problem why;
    for (size_t i = 0; i < 4; i++) {
        const keys_query keys = {.order = orders[i]};
        output_divert();
        stream_write_keys(one, &keys);
        json_t *found = take_json();
        assert_int_equal(json_array_size(json_object_get(found, "keys")), 2);
        assert_int_equal(number_at(found, "total"), 2);
        json_decref(found);
    }
    void (*const lists[])(stream *, const events_query *) = {stream_write_episodes,
                                                             stream_write_alerts};
    for (size_t i = 0; i < 2; i++) {
        output_divert();
        lists[i](one, &events);
        json_t *found = take_json();
        assert_true(json_array_size(json_object_get(found, i ? "alerts" : "episodes")) > 0);
        json_decref(found);
    }
    output_divert();
    assert_true(stream_write_points(one, &points, &why));
    json_decref(take_json());
    output_divert();
    streams_write_now(all, 1000);
    json_t *now = take_json();
    json_t *episode = json_array_get(json_object_get(now, "episodes"), 0);
    assert_non_null(episode);
    assert_string_equal(json_string_value(json_object_get(episode, "column")), "a\"<b>");
    assert_non_null(strstr(json_string_value(json_object_get(episode, "text")), " since "));
    json_decref(now);
    output_divert();
    streams_write(all);
    json_decref(take_json());
}

static void answers_are_json_whatever_names_are(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{\"key\": \"k\", \"time\": \"t\"}");
    (void)state;
    for (int i = 0; i < 1500; i++)
        send_row(one, "{\"k\": \"%s\", \"t\": %d, \"a\\\"<b>\": %d, \"c\": %d}\n",
                 i % 2 ? "plain" : nasty + 1, 1594769501 + i, i > 1495 ? 99999 : i * 7 % 13,
                 i * 5 % 11);
    check_answers(all, one);
    stream_release(one);
    streams_close(all);
}

/* ---- Notes ---- */

/* The notes of a stream, to be released. */
static json_t *notes_of(stream *one)
{
    output_divert();
    stream_write(one);
    json_t *found = take_json(), *notes = json_incref(json_object_get(found, "notes"));
    json_decref(found);
    return notes;
}

static void expect_note(stream *one, const char *expected)
{
    json_t *notes = notes_of(one);
    bool is_there = false;
    for (size_t i = 0; i < json_array_size(notes); i++)
        is_there |= strcmp(json_string_value(json_array_get(notes, i)), expected) == 0;
    if (!is_there) {
        char *text = json_dumps(notes, 0);
        fail_msg("expected: %s\ngot:      %s", expected, text);
    }
    json_decref(notes);
}

static void times_that_are_of_no_use_are_noted(void **state)
{
    streams *all = open_at(NULL);
    stream *unread = create(all, "unread", "{\"time\": \"t\", \"season\": \"1d\"}"),
           *coarse = create(all, "coarse", "{\"time\": \"t\", \"rate\": \"a\"}"),
           *keyed = create(all, "keyed", "{\"time\": \"t\", \"rate\": \"a\", \"key\": \"k\"}");
    (void)state;
    for (int i = 0; i < 20; i++) {
        send_row(unread, "{\"t\": \"11/15 at 19:%02d\", \"a\": 1}\n", i);
        send_row(coarse, "{\"t\": \"2026-11-15\", \"a\": %d}\n", i);
        send_row(keyed, "{\"t\": \"2026-11-15\", \"a\": 1, \"k\": \"%c\"}\n", 'a' + i % 2);
    }
    expect_note(unread, "times in 't': 20 of 20 cannot be read: '11/15 at 19:00' is not a time: "
                        "write it as 2026-11-15T19:05:01Z, 15.11.2026 19:05, 1794769501, "
                        "Nov 15 19:05:01 or 15/Nov/2026:19:05:01 +0000");
    expect_note(coarse, "times in 't': 19 of 20 repeat the one before, and a rate needs a step "
                        "forward in time, so those rates are missing. If the time of day is in "
                        "another column, name both: \"time\": \"Date+Time\".");
    expect_note(keyed, "times in 't', rows of the first key: 9 of 10 repeat the one before, and a "
                       "rate needs a step forward in time, so those rates are missing. If the "
                       "time of day is in another column, name both: \"time\": "
                       "\"Date+Time\".");
    stream_release(unread);
    stream_release(coarse);
    stream_release(keyed);
    streams_close(all);
}

static void expect_no_note_about(stream *one, const char *name)
{
    json_t *notes = notes_of(one);
    char *text = json_dumps(notes, 0);
    if (strstr(text, name))
        fail_msg("%s is noted: %s", name, text);
    free(text);
    json_decref(notes);
}

/* ---- Pages of keys ---- */

static json_t *keys_of(stream *one, const keys_query *query)
{
    output_divert();
    stream_write_keys(one, query);
    json_t *found = take_json(), *keys = json_incref(json_object_get(found, "keys"));
    json_decref(found);
    return keys;
}

/* The first keys of many are found without sorting all of them. */
static void a_page_of_keys_is_a_part_of_all_of_them(void **state)
{
    enum { KEYS = 300, PAGES = 200 };
    static const keys_order orders[] = {KEYS_BY_SEVERITY, KEYS_BY_SCORE, KEYS_BY_NAME};
    streams *all = open_at(NULL);
    stream *one = create(all, "paged", "{\"key\": \"host\"}");
    (void)state;
    for (int i = 0; i < KEYS; i++)
        send_row(one, "{\"host\": \"h%u\", \"x\": 1}", draw(100000));
    for (history_key *key = one->past->newest; key; key = key->older) {
        key->info.score = draw(4) > 0 ? draw(50) / 50.0 : NAN;
        key->info.severity = draw(4) > 0 ? draw(50) / 50.0 : NAN;
    }
    for (size_t page = 0; page < PAGES; page++) {
        const keys_query sorted = {.order = orders[page % 3], .limit = KEYS},
                         asked = {.order = sorted.order,
                                  .limit = 1 + draw(20),
                                  .offset = draw(2) * draw(KEYS)};
        json_t *whole = keys_of(one, &sorted), *part = keys_of(one, &asked);
        const size_t count = json_array_size(whole),
                     left = count > asked.offset ? count - asked.offset : 0;
        assert_int_equal(json_array_size(part), asked.limit < left ? asked.limit : left);
        for (size_t i = 0; i < json_array_size(part); i++)
            assert_string_equal(
                json_string_value(json_object_get(json_array_get(part, i), "key")),
                json_string_value(json_object_get(json_array_get(whole, asked.offset + i), "key")));
        json_decref(whole);
        json_decref(part);
    }
    stream_release(one);
    streams_close(all);
}

static void keys_that_come_too_late_are_noted(void **state)
{
    static const char later[] = "{\"a\": 2, \"label\": 1, \"host\": 7, \"skip\": 1, "
                                "\"text\": \"t\", \"net\": {\"in\": 3}}\n";
    static const char one_note[] = "net.in appears too late to be learned; to learn it, list all "
                                   "columns in the setting \"columns\" of another stream";
    streams *all = open_at(NULL);
    stream *one = create(all, "tested", "{\"exclude\": \"skip\"}"),
           *named = create(all, "named", "{\"columns\": \"a\"}");
    rows_answer answer;
    problem why;
    (void)state;
    send_row(one, "{\"a\": 1, \"label\": 0, \"host\": \"h\"}\n");
    send_row(named, "{\"a\": 1}\n");
    send_row(named, "%s", later);
    expect_no_note_about(named, "too late");
    expect_no_note_about(one, "too late");
    send_row(one, "%s", later);
    expect_note(one, one_note);
    assert_false(send(one, "{\"a\": oops}\n", &answer, &why)); /* the next reader is a new one */
    send_row(one, "%s", later);
    expect_note(one, one_note);
    send_row(one, "{\"a\": 2, \"b\": 3}\n");
    expect_note(one, "net.in, b appear too late to be learned; to learn them, list all columns in "
                     "the setting \"columns\" of another stream");
    stream_release(named);
    stream_release(one);
    streams_close(all);
}

static void what_was_not_learned_is_not_late_after_a_restart(void **state)
{
    static const char row[] = "{\"a\": 2, \"label\": 1, \"host\": 7}\n";
    char path[96];
    (void)state;
    snprintf(path, sizeof path, "%s/late", folder);
    streams *all = open_at(path);
    stream *one = create(all, "tested", "{}");
    send_row(one, "{\"a\": 1, \"label\": 0, \"host\": \"h\"}\n");
    stream_release(one);
    assert_true(streams_close(all));
    all = open_at(path);
    one = streams_find(all, "tested");
    send_row(one, "%s", row);
    expect_no_note_about(one, "too late");
    send_row(one, "{\"a\": 2, \"label\": 1, \"b\": 1}\n");
    expect_note(one, "b appears too late to be learned; to learn it, list all columns in the "
                     "setting \"columns\" of another stream");
    stream_release(one);
    streams_close(all);
}

/* ---- Silence ---- */

static size_t silent_keys(stream *one)
{
    stream_figures figures;
    stream_get_figures(one, &figures);
    return figures.silent_keys;
}

static size_t count_events(feed *events, feed_kind kind)
{
    const feed_filter filter = {.stream = "tested"};
    uint64_t cursor = 0;
    size_t count = 0;
    feed_event event;
    while (feed_next(events, &cursor, &filter, &event)) {
        count += event.kind == kind;
        feed_event_free(&event);
    }
    return count;
}

static void a_key_falls_silent_and_comes_back(void **state)
{
    char live[96], command[256];
    (void)state;
    snprintf(live, sizeof live, "%s/live", folder);
    streams *all = open_at(live);
    stream *one = create(all, "tested", "{\"key\": \"k\", \"time\": \"t\", \"silence\": 60}");
    for (int i = 0; i < 200; i++)
        send_row(one, "{\"k\": \"%s\", \"t\": %d, \"a\": %d}\n", i % 2 && i < 100 ? "one" : "two",
                 1594769501 + i, i % 7);
    assert_int_equal(silent_keys(one), 1);
    assert_int_equal(count_events(streams_feed(all), FEED_SILENCE), 1);
    snprintf(command, sizeof command, "rm -rf %s/copy; cp -r %s %s/copy", folder, live, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/copy", folder);
    streams *again = open_at(command);
    stream *restored = streams_find(again, "tested");
    assert_int_equal(silent_keys(restored), 1);
    assert_int_equal(count_events(streams_feed(again), FEED_SILENCE), 0);
    send_row(restored, "{\"k\": \"one\", \"t\": 1594769800, \"a\": 1}\n");
    assert_int_equal(silent_keys(restored), 1); /* now the other one is */
    assert_int_equal(count_events(streams_feed(again), FEED_SILENCE), 2);
    stream_release(one);
    stream_release(restored);
    streams_close(all);
    streams_close(again);
}

/* ---- Memory ---- */

/* The rows before are accepted, and a replay with more memory accepts no others. */
static void a_body_ends_where_memory_does_and_so_does_its_replay(void **state)
{
    char live[96], command[256], body[4096];
    rows_answer answer;
    problem why;
    (void)state;
    int length = 0;
    for (int i = 0; i < 40; i++)
        length += snprintf(body + length, sizeof body - (size_t)length,
                           "{\"k\": \"key %d\", \"a\": %d}\n", i, i);
    snprintf(live, sizeof live, "%s/live", folder);
    snprintf(command, sizeof command, "rm -rf %s", live);
    assert_int_equal(system(command), 0);
    streams *all = open_at(live);
    stream *one = create(all, "tested", "{\"key\": \"k\"}");
    send_row(one, "{\"k\": \"first\", \"a\": 1}\n");
    allocations_left = 25;
    bool is_good = send(one, body, &answer, &why);
    allocations_left = -1;
    assert_false(is_good);
    assert_int_equal(why.status, 503);
    assert_true(answer.accepted > 0 && answer.accepted < 40);
    assert_int_equal(answer.rows, 1 + answer.accepted);
    send_row(one, "{\"k\": \"last\", \"a\": 1}\n");
    snprintf(command, sizeof command, "rm -rf %s/copy; cp -r %s %s/copy", folder, live, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/copy", folder);
    streams *again = open_at(command);
    stream *restored = streams_find(again, "tested");
    assert_int_equal(rows_of(restored), rows_of(one));
    stream_release(one);
    stream_release(restored);
    streams_close(all);
    streams_close(again);
}

int main(void)
{
    const oif_allocator allocator = {.allocate = allocate, .release = release};
    oif_set_allocator(&allocator);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_json_whatever_names_are),
        cmocka_unit_test(times_that_are_of_no_use_are_noted),
        cmocka_unit_test(a_page_of_keys_is_a_part_of_all_of_them),
        cmocka_unit_test(keys_that_come_too_late_are_noted),
        cmocka_unit_test(what_was_not_learned_is_not_late_after_a_restart),
        cmocka_unit_test(a_key_falls_silent_and_comes_back),
        cmocka_unit_test(a_body_ends_where_memory_does_and_so_does_its_replay),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
