/* What is stored of a stream before its first row, and of the names in the first body. */
#include "stream_fixture.h"

#include "serve/base/background.h"
#include "serve/stream/stream_parts.h"

static bool send(stream *one, const char *body, rows_answer *answer, problem *why)
{
    const rows_request request = {.body = body, .bytes = strlen(body), .answer = ANSWER_COUNT};
    return stream_rows(one, &request, answer, why);
}

static void expect_rows(stream *one, const char *body, uint64_t rows)
{
    rows_answer answer;
    problem why;
    if (!send(one, body, &answer, &why) || answer.rows != rows)
        fail_msg("%llu rows and not %llu after %.200s: %s", (unsigned long long)answer.rows,
                 (unsigned long long)rows, body, why.message);
}

/* ---- Names ---- */

/* Latin-1: a column with values, one with times and one that is empty at first. */
static void names_that_are_not_utf_8_are_kept(void **state)
{
    static const char first[] = "\xe9tat,\xe9poque,vide\xfc,vide\n"
                                "1,2020-11-15T10:00:00Z,,\n2,2026-11-15T10:00:01Z,,\n";
    streams *all = open_at(folder);
    stream *one = create(all, "latin", "{}");
    (void)state;
    expect_rows(one, first, 2);
    stream_release(one);
    assert_true(streams_close(all));
    all = open_at(folder);
    one = streams_find(all, "latin");
    assert_int_equal(one->log.bytes, 8); /* everything is in the snapshot */
    assert_string_equal(one->shape.header, "\xe9tat,\xe9poque,vide\xfc,vide");
    assert_string_equal(one->shape.time, "\xe9poque");
    assert_int_equal(one->shape.undecided.count, 2);
    assert_string_equal(one->shape.undecided.list[0], "vide\xfc");
    expect_rows(one, "3,2020-11-15T10:00:02Z,,text\n", 3);
    expect_rows(one, "\xe9tat,\xe9poque,vide\xfc,vide\n4,2020-11-15T10:00:03Z,,text\n", 4);
    stream_release(one);
    assert_true(streams_close(all));
}

/* ---- Before the first row ---- */

static void the_same_header_again_is_not_kept_again(void **state)
{
    streams *all = open_at(folder);
    stream *one = create(all, "header", "{}");
    (void)state;
    expect_rows(one, "a,b\n", 0);
    const uint64_t bytes = one->log.bytes;
    for (int i = 0; i < 100; i++)
        expect_rows(one, "a,b\n", 0);
    assert_int_equal(one->log.bytes, bytes);
    expect_rows(one, "b,a\n", 0); /* a different one */
    streams *again = open_killed();
    stream *same = streams_find(again, "header");
    assert_string_equal(same->shape.header, "b,a");
    expect_rows(same, "1,2\n", 1);
    assert_string_equal(oif_pipeline_column_name(same->pipeline, 0), "b");
    stream_release(same);
    streams_close(again);
    stream_release(one);
    streams_close(all);
}

/* Headers that differ, and whatever else comes before the first row. */
static void a_journal_without_rows_does_not_grow_without_end(void **state)
{
    enum { NAME_BYTES = 1 << 20, BODIES = 70 };
    streams *all = open_at(folder);
    stream *one = create(all, "headers", "{\"on-bad-row\": \"skip\"}");
    char *body = malloc(NAME_BYTES + 8);
    rows_answer answer;
    problem why;
    (void)state;
    memset(body, 'x', NAME_BYTES);
    strcpy(body + NAME_BYTES, ",b\n");
    for (int i = 0; i < BODIES; i++) {
        body[0] = (char)('A' + i % 26);
        expect_rows(one, body, 0);
        send(one, "{broken\n", &answer, &why);
    }
    uint64_t bad = figures_of(one).bad_rows;
    assert_true(bad > 0);
    stream_begin_change(one);
    bool is_saved = stream_save(one, &why); /* as the saver does, once per second */
    stream_end_change(one);
    assert_true(is_saved);
    assert_true(one->log.bytes < 64 << 20);
    streams *again = open_killed();
    stream *same = streams_find(again, "headers");
    assert_int_equal(strlen(same->shape.header), NAME_BYTES + 2);
    assert_int_equal(same->shape.header[0], 'A' + (BODIES - 1) % 26);
    assert_int_equal(figures_of(same).bad_rows, bad);
    free(body);
    stream_release(same);
    streams_close(again);
    stream_release(one);
    streams_close(all);
}

static void bad_rows_before_the_first_row_outlive_a_kill(void **state)
{
    static const char *const bodies[] = {"{broken\n", "{\"a\": 1}\n", "{broken\n"};
    streams *all = open_at(folder);
    stream *one = create(all, "bad", "{\"on-bad-row\": \"skip\"}");
    rows_answer answer;
    problem why;
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        send(one, bodies[i], &answer, &why);
        streams *again = open_killed();
        stream *same = streams_find(again, "bad");
        assert_int_equal(figures_of(one).bad_rows, i == 2 ? 2 : 1);
        assert_int_equal(figures_of(same).bad_rows, figures_of(one).bad_rows);
        stream_release(same);
        streams_close(again);
    }
    stream_release(one);
    streams_close(all);
}

/* A snapshot has several steps. After the first one the journal still has the rows, and a replay
 * counts the bad ones. */
static void bad_rows_count_once_after_a_kill_within_the_first_snapshot(void **state)
{
    streams *all = open_at(folder);
    stream *one = create(all, "torn", "{\"on-bad-row\": \"skip\"}");
    rows_answer answer;
    problem why;
    (void)state;
    send(one, "{\"a\": 1}\n{broken\n", &answer, &why);
    assert_int_equal(figures_of(one).bad_rows, 1);
    run("mkdir %s/streams/torn/history.new", folder); /* where the second step fails */
    stream_begin_change(one);
    assert_false(stream_save(one, &why));
    stream_end_change(one);
    run("rmdir %s/streams/torn/history.new", folder);
    streams *again = open_killed();
    stream *same = streams_find(again, "torn");
    assert_int_equal(rows_of(same), 1);
    assert_int_equal(figures_of(same).bad_rows, 1);
    stream_release(same);
    streams_close(again);
    stream_release(one);
    streams_close(all);
}

/* ---- Silence ---- */

/* What the clock has reported is part of the state, even if the history does not have the key. */
static void a_silence_of_a_key_without_history_outlives_a_kill(void **state)
{
    double now = background_wall_seconds();
    char body[128];
    oif_key_info info;
    streams *all = open_at(folder);
    stream *one = create(all, "quiet", "{\"key\": \"k\", \"time\": \"t\", \"silence\": 60}");
    (void)state;
    snprintf(body, sizeof body, "{\"k\": \"x\", \"t\": %.0f, \"a\": 1}\n", now);
    expect_rows(one, body, 1);
    stream_begin_change(one);
    history_forget(one->past, history_find(one->past, "x", 1));
    stream_note_idle(one, now + 100);
    stream_end_change(one);
    assert_true(oif_pipeline_key(one->pipeline, "x", 1, &info) && info.is_silent);
    streams *again = open_killed();
    stream *same = streams_find(again, "quiet");
    assert_true(oif_pipeline_key(same->pipeline, "x", 1, &info));
    assert_true(info.is_silent);
    stream_release(same);
    streams_close(again);
    stream_release(one);
    streams_close(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_not_utf_8_are_kept),
        cmocka_unit_test(the_same_header_again_is_not_kept_again),
        cmocka_unit_test(a_journal_without_rows_does_not_grow_without_end),
        cmocka_unit_test(bad_rows_before_the_first_row_outlive_a_kill),
        cmocka_unit_test(bad_rows_count_once_after_a_kill_within_the_first_snapshot),
        cmocka_unit_test(a_silence_of_a_key_without_history_outlives_a_kill),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
