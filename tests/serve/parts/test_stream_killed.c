/* A server killed at any moment, many times: every row counts once, what was acknowledged is still
 * there, and the results are those of an undisturbed run.
 *
 *     OIF_KILLS=1000 test_serve.stream_killed      (40 if not given) */
#include "stream_fixture.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { LINE_BYTES = 96, BODY_ROWS = 40, ENOUGH_ROWS = 1000 };

static const char settings_text[] = "{\"key\": \"host\", \"time\": \"at\", \"alert-rate\": 0.01}";

/* Row i is always the same. */
static size_t make_line(uint64_t row, char line[LINE_BYTES])
{
    uint64_t noise = (row + 1) * 0x9e3779b97f4a7c15u >> 40;
    return (size_t)snprintf(line, LINE_BYTES,
                            "{\"at\":%" PRIu64 ",\"host\":\"h%d\",\"a\":%d,\"b\":%d}\n",
                            1594769501 + row, (int)(noise % 3), (int)(noise % 101),
                            row % 501 > 495 ? 5000 : (int)(noise % 57));
}

static char *make_body(uint64_t first, uint64_t count, size_t *bytes)
{
    char *body = malloc(count * LINE_BYTES + 1);
    *bytes = 0;
    for (uint64_t i = 0; i < count; i++)
        *bytes += make_line(first + i, body + *bytes);
    return body;
}

static streams *open_streams(const char *path, stream **one)
{
    const streams_options options = {.folder = path, .save_every = 0.01};
    streams *all;
    json_t *settings = json_loads(settings_text, 0, NULL);
    bool is_new;
    problem why;
    if (!streams_open(&options, &all, &why) ||
        !streams_create(all, "killed", settings, one, &is_new, &why))
        return NULL;
    json_decref(settings);
    return all;
}

/* The output for rows starting at `first`; the caller frees it. */
static char *send_rows(stream *one, uint64_t first, uint64_t count, rows_answer *answer,
                       size_t *bytes)
{
    rows_request request = {.has_first_row = true, .first_row = first};
    char *body = make_body(first, count, &request.bytes);
    problem why;
    request.body = body;
    output_divert();
    bool is_good = stream_rows(one, &request, answer, &why);
    char *lines = output_diverted(bytes);
    free(body);
    if (is_good)
        return lines;
    free(lines);
    return NULL;
}

/* ---- The killed server ---- */

typedef struct message {
    uint64_t rows, saved, accepted, bytes; /* followed by the lines */
} message;

static bool put(int fd, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        ssize_t written = write(fd, at, count);
        if (written <= 0)
            return false;
        at += written;
        count -= (size_t)written;
    }
    return true;
}

/* Sends rows until it is killed; now and then it ends normally and starts again. */
static void serve(int fd)
{
    for (;;) {
        stream *one;
        streams *all = open_streams(folder, &one);
        message now = {.rows = all ? rows_of(one) : 0};
        if (!all || !put(fd, &now, sizeof now))
            _exit(1);
        for (int bodies = (int)draw(30) + 1; bodies > 0; bodies--) {
            uint64_t before = draw(5); /* some rows come again */
            uint64_t rows = rows_of(one), first = rows > before ? rows - before : 0;
            rows_answer answer;
            size_t bytes;
            char *lines = send_rows(one, first, 1 + before + draw(BODY_ROWS), &answer, &bytes);
            now = (message){answer.rows, answer.saved, answer.accepted, lines ? bytes : 0};
            if (!lines || !put(fd, &now, sizeof now) || !put(fd, lines, bytes))
                _exit(2);
            free(lines);
        }
        stream_release(one);
        streams_close(all);
    }
}

/* ---- The killer ---- */

static bool get(int fd, void *bytes, size_t count)
{
    for (char *at = bytes; count > 0;) {
        ssize_t taken = read(fd, at, count);
        if (taken <= 0)
            return false;
        at += taken;
        count -= (size_t)taken;
    }
    return true;
}

/* The undisturbed run, always as far as what was acknowledged. */
typedef struct twin {
    streams *all;
    stream *one;
    uint64_t rows;
    char **lines; /* of each row */
    uint64_t capacity;
} twin;

static void advance(twin *run, uint64_t rows)
{
    rows_answer answer;
    size_t bytes;
    if (rows <= run->rows)
        return;
    if (rows > run->capacity) {
        run->capacity = 2 * rows;
        run->lines = realloc(run->lines, run->capacity * sizeof *run->lines);
        assert_non_null(run->lines);
    }
    char *lines = send_rows(run->one, run->rows, rows - run->rows, &answer, &bytes), *at = lines;
    assert_non_null(lines);
    for (; run->rows < rows; run->rows++) {
        size_t count = (size_t)((char *)memchr(at, '\n', bytes) - at) + 1;
        char *line = malloc(count + 1);
        memcpy(line, at, count);
        line[count] = '\0';
        run->lines[run->rows] = line;
        at += count;
        bytes -= count;
    }
    free(lines);
}

static void check_lines(twin *run, const message *now, const char *lines)
{
    advance(run, now->rows);
    for (uint64_t row = now->rows - now->accepted; row < now->rows; row++) {
        size_t bytes = strlen(run->lines[row]);
        if (strncmp(lines, run->lines[row], bytes) != 0)
            fail_msg("row %" PRIu64 ":\n%.300s\nand not\n%s", row, lines, run->lines[row]);
        lines += bytes;
    }
    assert_int_equal(*lines, '\0');
}

/* Reads its messages to the end. *rows is what was acknowledged so far. */
static void listen_to(int fd, twin *run, uint64_t *rows)
{
    message now;
    while (get(fd, &now, sizeof now)) {
        char *lines = calloc(1, now.bytes + 1);
        assert_non_null(lines);
        if (now.rows < *rows)
            fail_msg("%" PRIu64 " rows were acknowledged, and there are %" PRIu64, *rows, now.rows);
        bool is_whole = get(fd, lines, now.bytes);
        *rows = now.rows;
        if (is_whole && now.accepted > 0)
            check_lines(run, &now, lines);
        free(lines);
    }
}

/* Within how many microseconds it is killed; more if nothing was done by then, as on a slow machine
 * or with a sanitizer. */
static uint32_t reach = 30000;

static void kill_once(twin *run, uint64_t *rows)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    uint32_t microseconds = draw(reach);
    uint64_t rows_before = *rows;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        seed += (uint64_t)getpid();
        serve(ends[1]);
    }
    close(ends[1]);
    nanosleep(&(struct timespec){.tv_nsec = (long)microseconds * 1000}, NULL);
    kill(child, SIGKILL);
    listen_to(ends[0], run, rows);
    if (*rows == rows_before && reach < 900000)
        reach += reach / 8;
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    close(ends[0]);
}

static char *describe(stream *one)
{
    const events_query events = {.limit = 10000};
    const keys_query keys = {.order = KEYS_BY_NAME};
    const points_query points = {.key = "h1", .key_bytes = 2};
    size_t bytes;
    problem why;
    output_divert();
    stream_write_episodes(one, &events);
    stream_write_alerts(one, &events);
    stream_write_keys(one, &keys);
    stream_write_points(one, &points, &why);
    output_write("", 1);
    return output_diverted(&bytes);
}

/* cmocka cuts long strings: what differs is shown with its surroundings. */
static void assert_same_text(const char *expected, const char *found)
{
    enum { BEFORE = 400, SHOWN = 600 };
    size_t at = 0;
    while (expected[at] && expected[at] == found[at])
        at++;
    if (expected[at] == found[at])
        return;
    size_t from = at > BEFORE ? at - BEFORE : 0;
    fail_msg("byte %zu:\n%.*s\nand not\n%.*s", at, SHOWN, found + from, SHOWN, expected + from);
}

static void rows_count_once_whenever_the_server_is_killed(void **state)
{
    const char *asked = getenv("OIF_KILLS");
    int kills = asked ? atoi(asked) : 40, done = 0;
    twin run = {.rows = 0};
    uint64_t rows = 0;
    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (; done < kills || (rows <= ENOUGH_ROWS && done < 20 * kills); done++) {
        if (!run.all)
            run.all = open_streams(NULL, &run.one);
        kill_once(&run, &rows);
    }
    stream *one;
    streams *all = open_streams(folder, &one);
    assert_non_null(all);
    rows = rows_of(one);
    advance(&run, rows);
    char *expected = describe(run.one), *found = describe(one);
    assert_same_text(expected, found);
    print_message("%d kills, %" PRIu64 " rows\n", done, rows);
    assert_true(rows > ENOUGH_ROWS);
    free(expected);
    free(found);
    stream_release(one);
    stream_release(run.one);
    streams_close(all);
    streams_close(run.all);
    for (uint64_t i = 0; i < run.rows; i++)
        free(run.lines[i]);
    free(run.lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_count_once_whenever_the_server_is_killed)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
