/* Rows come while a snapshot is written. Every sync of a file is a place where
 * the test sends rows and where the server may be killed: a copy of its folder is what a restart
 * would find. No thread and no clock are needed, as files are synced without the lock of the
 * stream. */
#include "serve/stream/stream_parts.h"
#include "stream_fixture.h"

#include <time.h>

enum { KEYS = 300, ROWS_AT_FIRST = 2 * KEYS, STEPS_MAX = 40 };

/* ---- Rows ---- */

static char *send_row(stream *one, uint64_t number)
{
    char body[120];
    size_t bytes;
    const int length = snprintf(body, sizeof body, "{\"host\":\"h%d\",\"a\":%d,\"b\":%d}\n",
                                (int)(number * 7 % KEYS), (int)(number * number % 97),
                                number % 50 == 49 ? 10000 : (int)(number % 13));
    const rows_request request = {.body = body, .bytes = (size_t)length, .answer = ANSWER_RESULTS};
    rows_answer answer;
    problem why;
    output_divert();
    const bool is_good = stream_rows(one, &request, &answer, &why);
    output_write("", 1);
    char *line = output_diverted(&bytes);
    if (!is_good)
        fail_msg("row %d: %s", (int)number, why.message);
    assert_int_equal(answer.rows, number + 1);
    return line;
}

static void send_rows(stream *one, uint64_t count)
{
    for (uint64_t i = rows_of(one); count > 0; i++, count--)
        free(send_row(one, i));
}

static const char settings[] = "{\"key\": \"host\"}";

/* The next line of a stream that has as many rows and was never saved. */
static char *line_without_saves(uint64_t rows)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "s", settings);
    send_rows(one, rows);
    char *line = send_row(one, rows);
    stream_release(one);
    streams_close(all);
    return line;
}

/* ---- Steps ---- */

static pthread_t tester;
static stream *saved; /* whose save is under way in this thread; NULL: none is */
static bool sends_rows;
static size_t steps, free_steps; /* syncs, and those at which the stream was free */
static bool is_free_for_state;   /* when the state was synced, its models were all written */
static uint64_t rows_at[STEPS_MAX];

static bool try_locks(stream *one)
{
    if (pthread_mutex_trylock(&one->changing) != 0)
        return false;
    const bool is_free = pthread_mutex_trylock(&one->lock) == 0;
    if (is_free)
        pthread_mutex_unlock(&one->lock);
    pthread_mutex_unlock(&one->changing);
    return is_free;
}

/* Whether a row could come now: only the saver has the stream, and only for a moment. */
static bool is_free(stream *one)
{
    for (int i = 0; i < 100; i++) {
        if (try_locks(one))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return false;
}

static bool is_of_state(int fd)
{
    static const char name[] = "/state.new";
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t bytes = readlink(link, path, sizeof path);
    return bytes > (ssize_t)strlen(name) &&
           memcmp(path + bytes - strlen(name), name, strlen(name)) == 0;
}

int __wrap_fsync(int fd);
int __real_fsync(int fd);

int __wrap_fsync(int fd)
{
    stream *one = pthread_equal(pthread_self(), tester) ? saved : NULL;
    if (!one || steps == STEPS_MAX)
        return __real_fsync(fd);
    saved = NULL; /* not for what follows */
    if (is_free(one)) {
        free_steps++;
        is_free_for_state |= is_of_state(fd);
        if (sends_rows)
            send_rows(one, 3);
        rows_at[steps] = rows_of(one);
    } else {
        rows_at[steps] = steps > 0 ? rows_at[steps - 1] : ROWS_AT_FIRST;
    }
    run("cp -r %s %s.%zu", folder, folder, steps);
    steps++;
    saved = one;
    return __real_fsync(fd);
}

static void save(stream *one)
{
    problem why;
    steps = free_steps = 0;
    is_free_for_state = false;
    stream_begin_change(one);
    saved = one;
    const bool is_saved = stream_save(one, &why);
    saved = NULL;
    stream_end_change(one);
    if (!is_saved)
        fail_msg("%s", why.message);
}

/* ---- Tests ---- */

static void require_resumes(const char *path, uint64_t rows)
{
    streams *all = open_at(path);
    stream *one = streams_find(all, "s");
    assert_non_null(one);
    if (rows_of(one) != rows)
        fail_msg("%s: has %d rows, not %d", path, (int)rows_of(one), (int)rows);
    char *line = send_row(one, rows), *expected = line_without_saves(rows);
    assert_string_equal(line, expected);
    free(line);
    free(expected);
    stream_release(one);
    assert_true(streams_close(all));
}

static void save_and_kill_at_every_step(bool with_rows)
{
    streams *all = open_at(folder);
    stream *one = create(all, "s", settings);
    char path[sizeof folder + 24];
    send_rows(one, ROWS_AT_FIRST);
    sends_rows = with_rows;
    save(one);
    assert_in_range(steps, 8, STEPS_MAX - 1);
    if (free_steps < steps - 1 || !is_free_for_state) /* the journal, if no row came */
        fail_msg("rows had to wait at %zu of %zu syncs", steps - free_steps, steps);
    const uint64_t rows = rows_of(one);
    assert_int_equal(rows, ROWS_AT_FIRST + (with_rows ? 3 * free_steps : 0));
    assert_int_equal(one->snapshot_rows, ROWS_AT_FIRST);
    stream_release(one);
    for (size_t i = 0; i < steps; i++) {
        snprintf(path, sizeof path, "%s.%zu", folder, i);
        require_resumes(path, rows_at[i]);
    }
    assert_true(streams_close(all));
    require_resumes(folder, rows);
}

static void rows_come_at_every_step_of_a_snapshot_and_a_kill_loses_none(void **state)
{
    (void)state;
    save_and_kill_at_every_step(true);
}

static void a_kill_at_every_step_of_a_snapshot_without_rows_loses_none(void **state)
{
    (void)state;
    save_and_kill_at_every_step(false);
}

/* The journal keeps only what came during the snapshot. */
static void the_journal_has_what_came_during_the_snapshot(void **state)
{
    (void)state;
    streams *all = open_at(folder);
    stream *one = create(all, "s", settings);
    send_rows(one, ROWS_AT_FIRST);
    const size_t before = (size_t)one->log.bytes;
    sends_rows = true;
    save(one);
    const size_t after = (size_t)one->log.bytes;
    if (after >= before / 10 || after < 100)
        fail_msg("the journal has %zu bytes, and had %zu", after, before);
    assert_true(stream_sync(one));
    assert_int_equal(figures_of(one).saved, rows_of(one));
    sends_rows = false;
    save(one);
    assert_in_range(one->log.bytes, 0, 8);
    stream_release(one);
    assert_true(streams_close(all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_come_at_every_step_of_a_snapshot_and_a_kill_loses_none,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_kill_at_every_step_of_a_snapshot_without_rows_loses_none,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_journal_has_what_came_during_the_snapshot, make_folder,
                                        remove_folder),
    };
    tester = pthread_self();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
