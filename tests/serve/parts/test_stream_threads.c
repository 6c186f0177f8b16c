/* Streams used by many threads: rows go into several streams and into a shared one, while others
 * look at them, create and remove some, and follow the events. ThreadSanitizer finds the rest. */
#include "front/text/output.h"
#include "serve/stream/stream_parts.h"
#include "serve/stream/streams.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { WRITERS = 3, BODIES = 60, ROWS_PER_BODY = 20 };

static streams *all;
static char folder[64];
static atomic_int writers_left, failures;
static atomic_size_t events_seen;

static void free_output(void)
{
    size_t bytes;
    free(output_diverted(&bytes));
}

/* Every writer has its own stream, and all share one. */
static void send_to(stream *one, int writer, int body)
{
    char text[ROWS_PER_BODY * 64];
    int length = 0;
    for (int i = 0; i < ROWS_PER_BODY; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "{\"host\":\"h%d\",\"a\":%d,\"b\":%d}\n", i % 4, i * body % 17,
                           body % 50 == 49 ? 10000 : writer);
    const rows_request request = {.body = text,
                                  .bytes = (size_t)length,
                                  .is_durable = body % 16 == 0,
                                  .answer = body % 2 ? ANSWER_RESULTS : ANSWER_COUNT};
    rows_answer answer;
    problem why;
    output_divert();
    failures += !stream_rows(one, &request, &answer, &why);
    free_output();
}

static void *write_rows(void *context)
{
    const int writer = *(const int *)context;
    char name[16];
    snprintf(name, sizeof name, "own-%d", writer);
    stream *own = streams_find(all, name), *shared = streams_find(all, "shared");
    for (int i = 0; i < BODIES; i++) {
        send_to(own, writer, i);
        send_to(shared, writer, i);
    }
    stream_release(own);
    stream_release(shared);
    writers_left--;
    return NULL;
}

static void look_at(void *context, stream *one)
{
    const keys_query keys = {.order = KEYS_BY_SEVERITY};
    const points_query points = {.key = "h1", .key_bytes = 2};
    const events_query events = {.limit = 0};
    stream_figures figures;
    problem why;
    (void)context;
    stream_write_keys(one, &keys);
    stream_write_points(one, &points, &why);
    stream_write_episodes(one, &events);
    stream_write_alerts(one, &events);
    stream_get_figures(one, &figures);
}

static void *look(void *context)
{
    (void)context;
    while (writers_left > 0) {
        problem why;
        output_divert();
        streams_each(all, look_at, NULL);
        streams_write_now(all, 10);
        failures += !streams_are_ready(all, &why);
        free_output();
    }
    return NULL;
}

static void *change(void *context)
{
    json_t *rate = json_loads("{\"alert-rate\": 0.02}", 0, NULL);
    (void)context;
    while (writers_left > 0) {
        stream *made, *shared = streams_find(all, "shared");
        bool is_new;
        problem why;
        failures += !streams_create(all, "brief", NULL, &made, &is_new, &why);
        send_to(made, 0, 1);
        failures += !streams_remove(all, "brief", &why);
        stream_release(made);
        failures += !stream_change(shared, rate, &why);
        stream_forget_key(shared, "h3", 2, &why);
        stream_release(shared);
    }
    json_decref(rate);
    return NULL;
}

/* Snapshots, one after the other, while rows come. */
static void *save(void *context)
{
    stream *shared = streams_find(all, "shared");
    (void)context;
    while (writers_left > 0) {
        problem why;
        stream_begin_change(shared);
        failures += !stream_save(shared, &why);
        stream_end_change(shared);
    }
    stream_release(shared);
    return NULL;
}

static void *follow(void *context)
{
    feed *events = streams_feed(all);
    const feed_filter filter = {.stream = "shared"};
    uint64_t cursor = 0;
    feed_event event;
    bool is_last;
    (void)context;
    do {
        is_last = writers_left == 0; /* perhaps they had ended before this thread began */
        while (feed_next(events, &cursor, &filter, &event)) {
            events_seen++;
            feed_event_free(&event);
        }
    } while (!is_last);
    return NULL;
}

static void make_stream(const char *name)
{
    json_t *settings = json_loads("{\"key\": \"host\"}", 0, NULL);
    bool is_new;
    problem why;
    assert_true(streams_create(all, name, settings, NULL, &is_new, &why));
    json_decref(settings);
}

static uint64_t rows_of(const char *name)
{
    stream_figures figures;
    stream *one = streams_find(all, name);
    assert_non_null(one);
    stream_get_figures(one, &figures);
    stream_release(one);
    return figures.rows;
}

static void streams_may_be_used_by_many_threads(void **state)
{
    const streams_options options = {.folder = folder, .save_every = 0.02};
    pthread_t threads[WRITERS + 4];
    int numbers[WRITERS];
    problem why;
    (void)state;
    if (!streams_open(&options, &all, &why))
        fail_msg("%s", why.message);
    make_stream("shared");
    for (int i = 0; i < WRITERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "own-%d", i);
        make_stream(name);
        numbers[i] = i;
    }
    writers_left = WRITERS;
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_rows, &numbers[i]), 0);
    void *(*const others[])(void *) = {look, change, follow, save};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[WRITERS + i], NULL, others[i], NULL), 0);
    for (int i = 0; i < WRITERS + 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
    assert_int_equal(rows_of("shared"), WRITERS * BODIES * ROWS_PER_BODY);
    assert_int_equal(rows_of("own-1"), BODIES * ROWS_PER_BODY);
    assert_true(events_seen > 0);
    assert_true(streams_close(all));
    assert_true(streams_open(&options, &all, &why));
    assert_int_equal(rows_of("shared"), WRITERS * BODIES * ROWS_PER_BODY);
    assert_int_equal(streams_count(all), WRITERS + 1);
    assert_true(streams_close(all));
}

/* ---- A large body ---- */

enum { LARGE_ROWS = 100000 };

static void *write_large_body(void *context)
{
    stream *one = context;
    char *body = malloc(LARGE_ROWS * 16);
    size_t bytes = 0;
    for (int i = 0; i < LARGE_ROWS; i++)
        bytes += (size_t)sprintf(body + bytes, "{\"a\":%d}\n", i % 97);
    const rows_request request = {.body = body, .bytes = bytes, .answer = ANSWER_COUNT};
    rows_answer answer;
    problem why;
    failures += !stream_rows(one, &request, &answer, &why) || answer.rows != LARGE_ROWS;
    free(body);
    return NULL;
}

/* Threads that look get in between two rows; threads that would change the stream wait. */
static void others_look_at_a_stream_while_a_large_body_is_processed(void **state)
{
    const streams_options options = {.folder = folder, .save_every = 0.02};
    pthread_t writer;
    uint64_t rows = 0;
    stream *made = NULL;
    bool is_new;
    problem why;
    (void)state;
    if (!streams_open(&options, &all, &why) ||
        !streams_create(all, "large", NULL, &made, &is_new, &why))
        fail_msg("%s", why.message);
    assert_int_equal(pthread_create(&writer, NULL, write_large_body, made), 0);
    while (rows == 0 && failures == 0)
        rows = rows_of("large");
    bool is_removed = streams_remove(all, "large", &why);
    pthread_join(writer, NULL);
    stream_release(made);
    assert_true(streams_close(all));
    assert_true(is_removed);
    assert_int_equal(failures, 0);
    if (rows >= LARGE_ROWS)
        fail_msg("nothing was seen before all %" PRIu64 " rows were processed", rows);
}

static bool is_asked_to_save(stream *one)
{
    stream_read_lock(one);
    bool is_asked = one->must_save;
    stream_read_unlock(one);
    return is_asked;
}

static bool is_all_saved(stream *one)
{
    stream_figures figures;
    stream_get_figures(one, &figures);
    return figures.rows > 0 && figures.saved == figures.rows;
}

static bool becomes_true(bool (*is_true)(stream *one), stream *one)
{
    for (int i = 0; i < 1000; i++) {
        if (is_true(one))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

/* The saver syncs all journals, so it must not wait for a busy stream. */
static void other_streams_are_saved_while_a_body_delays_a_save(void **state)
{
    const streams_options options = {.folder = folder, .save_every = 0.02};
    problem why;
    (void)state;
    assert_true(streams_open(&options, &all, &why));
    make_stream("busy");
    make_stream("other");
    stream *busy = streams_find(all, "busy"), *other = streams_find(all, "other");
    send_to(busy, 0, 1);
    stream_begin_change(busy); /* as the thread of a long body, between two rows */
    busy->is_failing = true;   /* so a save is due */
    pthread_mutex_unlock(&busy->lock);
    bool is_asked = becomes_true(is_asked_to_save, busy);
    send_to(other, 0, 1);
    bool is_saved = becomes_true(is_all_saved, other);
    stream_read_lock(busy);
    stream_end_change(busy);
    assert_true(is_asked);
    assert_true(is_saved);
    send_to(busy, 0, 1);
    assert_true(becomes_true(is_all_saved, busy));
    assert_false(is_asked_to_save(busy));
    stream_release(busy);
    stream_release(other);
    assert_true(streams_close(all));
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/oif_threads_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_may_be_used_by_many_threads),
        cmocka_unit_test(others_look_at_a_stream_while_a_large_body_is_processed),
        cmocka_unit_test(other_streams_are_saved_while_a_body_delays_a_save),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
