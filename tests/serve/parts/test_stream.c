/* serve/stream*.c: a stream gives the results of `oif score`, however its rows are divided into
 * bodies and whenever the server is stopped. */
#include "stream_fixture.h"

#include "cli/score/score.h"
#include "front/options/command.h"
#include "serve/stream/stream_settings.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- Data ---- */

/* Growing text. */
typedef struct text {
    char *bytes;
    size_t count, capacity;
} text;

static void append(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(text *to, const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    size_t count = (size_t)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (to->count + count + 1 > to->capacity) {
        to->capacity = 2 * (to->count + count + 1);
        to->bytes = realloc(to->bytes, to->capacity);
        assert_non_null(to->bytes);
    }
    memcpy(to->bytes + to->count, line, count + 1);
    to->count += count;
}

static double value(int row, int column)
{
    double noise = (double)draw(1000) / 100;
    bool is_odd = row % 701 > 690 && row > 1200;
    return is_odd && column == 1 ? noise + 500 : noise + 10 * column;
}

static void csv_row(text *to, int row)
{
    append(to, "%d,%g,%g,%g\n", row, value(row, 0), value(row, 1), value(row, 2));
}

static void csv_keyed_row(text *to, int row)
{
    static const char *const states[] = {"up", "up", "up", "idle", "down"};
    const char *state = row % 997 == 990 ? "crashed" : states[draw(5)];
    append(to, "2020-11-15T%02d:%02d:%02dZ,host %u,%s,%g,%s\n", row / 3600 % 24, row / 60 % 60,
           row % 60, draw(3), state, value(row, 1), draw(20) == 0 ? "" : "7.5");
}

/* The values of a day, 48 rows, come again the next day; sometimes they are half a day late. */
static void csv_daily_row(text *to, int row)
{
    int late = row % 901 > 890 ? 24 : 0;
    append(to, "%d,%g,%g\n", row, 100.0 * abs((row + late) % 48 - 24) + draw(100), value(row, 0));
}

static void csv_bad_row(text *to, int row)
{
    if (row % 97 == 90)
        append(to, "%g,broken,%g\n", value(row, 0), value(row, 1));
    else if (row % 101 == 50)
        append(to, "1,2\n");
    else
        append(to, "%g,%g,%g\n", value(row, 0), value(row, 1), value(row, 2));
}

static void csv_quoted_row(text *to, int row)
{
    append(to, "\"%g\",\"line\nend, %d\",%g\r\n", value(row, 0), row, value(row, 1));
}

static void csv_comma_row(text *to, int row)
{
    append(to, "%d,%d;%d,%03d\n", row % 7, (int)draw(10), (int)draw(100), (int)draw(1000));
}

static void json_row(text *to, int row)
{
    append(to, "{\"a\": %g, \"net\": {\"in\": %g, \"out\": [%g, %d]}, \"v1.5\": %s }\n",
           value(row, 0), value(row, 1), value(row, 2), row % 5, draw(9) == 0 ? "null" : "1.25");
}

static void json_keyed_row(text *to, int row)
{
    append(to, "{\"ts\": %d, \"host\": \"h%u\", \"disk\": \"sd%u\", \"bytes\": %d, \"load\": %g}\n",
           1594769501 + row, draw(2), draw(2),
           row * 1000 + (int)draw(500) * (row % 601 > 590 ? 99 : 1), value(row, 1));
}

/* Times without a year; a new year starts after 700 rows. */
static void csv_syslog_row(text *to, int row)
{
    int second = row % 700;
    append(to, "%s %02d:%02d:%02d,%g,%g\n", row < 700 ? "Dec 31" : "Jan  1", second / 3600 % 24,
           second / 60 % 60, second % 60, value(row, 0), value(row, 1));
}

/* A column that is empty at first, and then has text. */
static void json_late_row(text *to, int row)
{
    append(to, "{\"a\": %g, \"b\": %g, \"late\": %s}\n", value(row, 0), value(row, 1),
           row < 1500 ? "null"
           : row % 2  ? "\"text\""
                      : "3");
}

typedef struct stream_case {
    const char *name, *header;
    void (*row)(text *to, int row);
    const char *settings;
    const char *arguments[8];
} stream_case;

static const stream_case cases[] = {
    {"csv", "id,a,b,c\n", csv_row, "{\"exclude\": [\"id\"]}", {"--exclude=id"}},
    {"csv_guessed", "id,a,b,c\n", csv_row, "{}", {NULL}},
    {"csv_fields",
     "id,a,b,c\n",
     csv_row,
     "{\"columns\": \"a,b\", \"digits\": 5, \"fields\": \"score,severity,anomaly,grade,ready,"
     "episode,episode_id,why\"}",
     {"--columns=a,b", "--digits=5",
      "--fields=score,severity,anomaly,grade,ready,episode,episode_id,why"}},
    {"csv_keyed",
     "at,host,state,load,rest\n",
     csv_keyed_row,
     "{\"key\": \"host\", \"time\": \"at\", \"category\": \"state\", \"alert_rate\": 0.01}",
     {"--key=host", "--time=at", "--category=state", "--alert-rate=0.01"}},
    {"csv_syslog",
     "at,a,b\n",
     csv_syslog_row,
     "{\"time\": \"at\", \"rate\": \"a\", \"fields\": \"score,episode_id\"}",
     {"--time=at", "--rate=a", "--fields=score,episode_id"}},
    {"csv_found_time",
     "at,host,state,load,rest\n",
     csv_keyed_row,
     "{\"season\": \"1h\"}",
     {"--season=1h"}},
    {"csv_daily",
     "id,a,b\n",
     csv_daily_row,
     "{\"exclude\": \"id\", \"season\": \"auto\"}",
     {"--exclude=id", "--season=auto"}},
    {"csv_daily_off",
     "id,a,b\n",
     csv_daily_row,
     "{\"exclude\": \"id\", \"season\": false}",
     {"--exclude=id", "--season=off"}},
    {"csv_skip", "a,b,c\n", csv_bad_row, "{\"on-bad-row\": \"skip\"}", {"--on-bad-row=skip"}},
    {"csv_mend", "a,b,c\n", csv_bad_row, "{\"on-bad-row\": \"null\"}", {"--on-bad-row=null"}},
    {"csv_no_header", "", csv_comma_row, "{\"csv\": \"header=no\"}", {"--csv=header=no"}},
    {"csv_quoted", "a,\"no\nte\",b\r\n", csv_quoted_row, "{}", {NULL}},
    {"json",
     "",
     json_row,
     "{\"detector\": \"loda\", \"seed\": 7}",
     {"--detector=loda", "--seed=7"}},
    {"json_keyed",
     "",
     json_keyed_row,
     "{\"key\": [\"host\", \"disk\"], \"time\": \"ts\", \"rate\": [\"bytes\"]}",
     {"--key=host,disk", "--time=ts", "--rate=bytes"}},
    {"json_late", "", json_late_row, "{}", {NULL}},
};

enum { CASES = sizeof cases / sizeof *cases, ROWS = 4000, FIRST_ROWS = 1000 };

/* The rows one by one, and all together after the header. */
typedef struct rows {
    char *texts[ROWS];
    size_t bytes[ROWS];
    text all;
} rows;

static rows *make_rows(const stream_case *one)
{
    rows *made = calloc(1, sizeof *made);
    assert_non_null(made);
    seed = 20261115;
    append(&made->all, "%s", one->header);
    for (int i = 0; i < ROWS; i++) {
        text row = {.bytes = NULL};
        one->row(&row, i);
        made->texts[i] = row.bytes;
        made->bytes[i] = row.count;
        append(&made->all, "%s", row.bytes);
    }
    return made;
}

static void free_rows(rows *made)
{
    for (int i = 0; i < ROWS; i++)
        free(made->texts[i]);
    free(made->all.bytes);
    free(made);
}

/* ---- oif score ---- */

/* Its output for the text; the caller frees it. */
static char *score(const stream_case *one, const text *input)
{
    char path[96];
    complaint about;
    char *arguments[16] = {NULL};
    size_t count = 0, bytes;
    snprintf(path, sizeof path, "%s/input", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(input->bytes, 1, input->count, file);
    fclose(file);
    for (; count < 8 && one->arguments[count]; count++)
        arguments[count] = (char *)(uintptr_t)one->arguments[count];
    if (!strstr(one->settings, "fields"))
        arguments[count++] = "--fields=score,severity,anomaly,why";
    arguments[count] = path;
    output_divert();
    messages_capture();
    exit_code code = command_run(&score_command, score_run, arguments);
    free(messages_captured(&about));
    if (code != EXIT_OK)
        fail_msg("%s: %s", one->name, about.text);
    output_write("", 1);
    char *printed = output_diverted(&bytes);
    assert_non_null(printed);
    return printed;
}

/* ---- Streams ---- */

static bool send(stream *one, const char *body, size_t bytes, text *results, rows_answer *answer,
                 problem *why)
{
    const rows_request request = {.body = body, .bytes = bytes};
    size_t made_bytes;
    output_divert();
    bool is_good = stream_rows(one, &request, answer, why);
    char *made = output_diverted(&made_bytes);
    for (size_t at = 0; results && at < made_bytes; at += 1000)
        append(results, "%.*s", (int)(made_bytes - at < 1000 ? made_bytes - at : 1000), made + at);
    free(made);
    return is_good;
}

/* The bytes of the header of an answer. */
static size_t header_bytes(const stream_case *one, const char *answer)
{
    size_t lines = 0, bytes = 0;
    for (const char *c = one->header; *c; c++)
        lines += *c == '\n';
    for (; lines > 0 && answer[bytes]; lines--)
        bytes += strcspn(answer + bytes, "\n") + 1;
    return bytes;
}

/* Sends rows from `first` up to `end` in one body; keeps the header of the answer only once. */
static void send_rows(stream *one, const stream_case *of, const rows *made, int first, int end,
                      bool has_header, text *results)
{
    text body = {.bytes = NULL}, answer = {.bytes = NULL};
    rows_answer counts;
    problem why;
    append(&body, "%s", has_header ? of->header : "");
    for (int i = first; i < end; i++)
        append(&body, "%s", made->texts[i]);
    /* a body of nothing but bad rows that are skipped is refused */
    if (!send(one, body.bytes, body.count, &answer, &counts, &why) && counts.bad == 0)
        fail_msg("%s, rows %d to %d: %s", of->name, first, end, why.message);
    if (answer.count > 0)
        append(results, "%s", "");
    size_t skipped = results->count > 0 && answer.count > 0 ? header_bytes(of, answer.bytes) : 0;
    for (size_t at = skipped; at < answer.count; at += 1000)
        append(results, "%.1000s", answer.bytes + at);
    free(body.bytes);
    free(answer.bytes);
}

static void assert_same(const char *name, const char *expected, const char *found)
{
    size_t line = 1, start = 0, i = 0;
    for (; expected[i] && expected[i] == found[i]; i++)
        if (expected[i] == '\n') {
            line++;
            start = i + 1;
        }
    if (expected[i] != found[i])
        fail_msg("%s, line %zu:\n%.200s\nand not\n%.200s", name, line, found + start,
                 expected + start);
}

/* Bodies of random sizes; the first is as long as the part that `oif score` examines. */
static void check_case(const stream_case *one, uint32_t most, bool has_headers)
{
    rows *made = make_rows(one);
    char *expected = score(one, &made->all);
    text results = {.bytes = NULL};
    streams *all = open_at(NULL);
    stream *tested = create(all, "tested", one->settings);
    for (int first = 0, end; first < ROWS; first = end) {
        end = first == 0 ? FIRST_ROWS : first + 1 + (int)draw(most);
        send_rows(tested, one, made, first, end < ROWS ? end : ROWS, first == 0 || has_headers,
                  &results);
    }
    assert_same(one->name, expected, results.bytes);
    free(results.bytes);
    free(expected);
    stream_release(tested);
    streams_close(all);
    free_rows(made);
}

static void results_are_those_of_oif_score(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        check_case(&cases[i], ROWS, true);
}

static bool is_unusual_for_its_time(const stream_case *one, const char *settings)
{
    rows *made = make_rows(one);
    text results = {.bytes = NULL};
    streams *all = open_at(NULL);
    stream *tested = create(all, "tested", settings);
    send_rows(tested, one, made, 0, ROWS, true, &results);
    bool is_found = strstr(results.bytes, "for this time") != NULL;
    free(results.bytes);
    stream_release(tested);
    streams_close(all);
    free_rows(made);
    return is_found;
}

static void a_season_is_found_unless_that_is_off(void **state)
{
    const stream_case daily = {.name = "daily", .header = "id,a,b\n", .row = csv_daily_row};
    (void)state;
    assert_true(is_unusual_for_its_time(&daily, "{\"exclude\": \"id\"}"));
    assert_true(is_unusual_for_its_time(&daily, "{\"exclude\": \"id\", \"season\": \"auto\"}"));
    assert_true(is_unusual_for_its_time(&daily, "{\"exclude\": \"id\", \"season\": true}"));
    assert_false(is_unusual_for_its_time(&daily, "{\"exclude\": \"id\", \"season\": \"off\"}"));
    assert_false(is_unusual_for_its_time(&daily, "{\"exclude\": \"id\", \"season\": false}"));
}

static void results_are_the_same_in_bodies_of_any_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        check_case(&cases[i], 300, false);
        check_case(&cases[i], 300, true);
    }
}

static void results_are_the_same_row_by_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        check_case(&cases[i], 1, false);
}

/* ---- Stop and restart ---- */

/* Everything known about a stream, except what depends on the wall clock. */
static char *describe(stream *one)
{
    static const char *const keys[] = {"", "host 0", "host 1", "host 2", "h0/sd0", "h1/sd1"};
    const keys_query names = {.order = KEYS_BY_NAME};
    const events_query events = {.limit = 10000};
    size_t bytes;
    problem why;
    output_divert();
    stream_write_episodes(one, &events);
    stream_write_alerts(one, &events);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const points_query points = {.key = keys[i], .key_bytes = strlen(keys[i])};
        stream_write_points(one, &points, &why);
    }
    stream_write_keys(one, &names);
    output_write("", 1);
    return output_diverted(&bytes);
}

/* Without times, arrival times count for keys and episodes. */
static void leave_arrivals_out(char *described)
{
    static const char *const names[] = {"\"last_seen\":1", "\"began\":1", "\"ended\":1",
                                        "\"state_since\":1"};
    for (size_t i = 0; i < 4; i++)
        for (char *at = described; (at = strstr(at, names[i])) != NULL;) {
            size_t bytes = strcspn(at, ",}");
            memmove(at, at + bytes, strlen(at + bytes) + 1);
        }
}

static void has_same_history(const char *name, stream *a, stream *b, bool has_time)
{
    char *of_a = describe(a), *of_b = describe(b);
    assert_non_null(of_a);
    assert_non_null(of_b);
    if (!has_time) {
        leave_arrivals_out(of_a);
        leave_arrivals_out(of_b);
    }
    assert_same(name, of_a, of_b);
    free(of_a);
    free(of_b);
}

/* A copy of the folder is what a killed server leaves: everything written is there, nothing was
 * closed. */
static void check_killed(const stream_case *one, int rows_before, bool is_saved_once)
{
    rows *made = make_rows(one);
    char live[96], copy[96];
    snprintf(live, sizeof live, "%s/live", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    run("rm -rf %s %s", live, copy);
    text expected = {.bytes = NULL}, found = {.bytes = NULL}, ignored = {.bytes = NULL};
    streams *all = open_at(live), *others = open_at(NULL);
    stream *tested = create(all, "tested", one->settings),
           *undisturbed = create(others, "tested", one->settings);
    send_rows(tested, one, made, 0, FIRST_ROWS, true, &ignored);
    send_rows(undisturbed, one, made, 0, FIRST_ROWS, true, &ignored);
    if (is_saved_once) {
        stream_release(tested);
        assert_true(streams_close(all));
        all = open_at(live);
        tested = streams_find(all, "tested");
        assert_non_null(tested);
    }
    for (int i = FIRST_ROWS; i < rows_before; i += 50) {
        send_rows(tested, one, made, i, i + 50, false, &ignored);
        send_rows(undisturbed, one, made, i, i + 50, false, &ignored);
    }
    run("cp -r %s %s", live, copy);
    streams *again = open_at(copy);
    stream *restored = streams_find(again, "tested");
    assert_non_null(restored);
    assert_int_equal(rows_of(undisturbed), rows_of(restored));
    const bool has_time = strstr(one->settings, "time") != NULL;
    has_same_history(one->name, undisturbed, restored, has_time);
    append(&expected, "%s", "-\n");
    append(&found, "%s", "-\n");
    send_rows(undisturbed, one, made, rows_before, ROWS, true, &expected);
    send_rows(restored, one, made, rows_before, ROWS, true, &found);
    assert_same(one->name, expected.bytes, found.bytes);
    has_same_history(one->name, undisturbed, restored, has_time);
    free(ignored.bytes);
    free(expected.bytes);
    free(found.bytes);
    stream_release(tested);
    stream_release(undisturbed);
    stream_release(restored);
    assert_true(streams_close(all));
    assert_true(streams_close(again));
    streams_close(others);
    free_rows(made);
}

static void a_killed_server_continues_bit_for_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        check_killed(&cases[i], 2500, false);
        check_killed(&cases[i], 2500, true);
        check_killed(&cases[i], FIRST_ROWS, true);
    }
}

/* The steps of a snapshot: a stop between any two of them leaves a consistent state, history and
 * journal. */
static void a_stop_within_a_snapshot_loses_nothing(void **state)
{
    const stream_case *one = &cases[3];
    rows *made = make_rows(one);
    char live[96], before[96], mixed[96];
    (void)state;
    snprintf(live, sizeof live, "%s/live", folder);
    snprintf(before, sizeof before, "%s/before", folder);
    snprintf(mixed, sizeof mixed, "%s/mixed", folder);
    text ignored = {.bytes = NULL};
    run("rm -rf %s %s", live, before);
    streams *all = open_at(live);
    stream *tested = create(all, "tested", one->settings);
    send_rows(tested, one, made, 0, FIRST_ROWS, true, &ignored);
    stream_release(tested);
    streams_close(all);
    all = open_at(live);
    tested = streams_find(all, "tested");
    send_rows(tested, one, made, FIRST_ROWS, 3000, false, &ignored);
    run("cp -r %s %s", live, before);
    static const char *const steps[] = {
        "cp -r %1$s %3$s; cp %2$s/streams/tested/history %3$s/streams/tested/history.new",
        "cp -r %1$s %3$s; cp %2$s/streams/tested/history %3$s/streams/tested/history.new;"
        "cp %2$s/streams/tested/state %3$s/streams/tested/state",
        "cp -r %1$s %3$s; cp %2$s/streams/tested/history %3$s/streams/tested/history;"
        "cp %2$s/streams/tested/state %3$s/streams/tested/state",
        "cp -r %1$s %3$s; echo torn > %3$s/streams/tested/history.new",
    };
    char *expected = describe(tested);
    stream_release(tested);
    streams_close(all);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char line[1024];
        run("rm -rf %s", mixed);
        snprintf(line, sizeof line, steps[i], before, live, mixed);
        assert_int_equal(system(line), 0);
        all = open_at(mixed);
        tested = streams_find(all, "tested");
        assert_int_equal(rows_of(tested), 3000);
        char *found = describe(tested);
        assert_same("history", expected, found);
        free(found);
        stream_release(tested);
        streams_close(all);
    }
    free(expected);
    free(ignored.bytes);
    free_rows(made);
}

static void a_torn_journal_is_cut_at_its_last_whole_record(void **state)
{
    const stream_case *one = &cases[0];
    rows *made = make_rows(one);
    char live[96], copy[96], path[192];
    struct stat info;
    (void)state;
    snprintf(live, sizeof live, "%s/live", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    snprintf(path, sizeof path, "%s/streams/tested/journal", copy);
    run("rm -rf %s %s", live, copy);
    text expected = {.bytes = NULL};
    streams *all = open_at(live);
    stream *tested = create(all, "tested", one->settings);
    send_rows(tested, one, made, 0, 20, true, &expected);
    run("cp -r %s %s", live, copy);
    assert_int_equal(stat(path, &info), 0);
    off_t whole = info.st_size;
    run("rm -rf %s", copy);
    expected.count = 0;
    append(&expected, "%s", "-\n");
    send_rows(tested, one, made, 20, 23, false, &expected);
    run("cp -r %s %s", live, copy);
    assert_int_equal(stat(path, &info), 0);
    for (off_t bytes = whole; bytes <= info.st_size; bytes++) {
        run("rm -rf %2$s; cp -r %1$s %2$s", live, copy);
        assert_int_equal(truncate(path, bytes), 0);
        streams *again = open_at(copy);
        stream *restored = streams_find(again, "tested");
        assert_int_equal(rows_of(restored), bytes < info.st_size ? 20 : 23);
        if (bytes < info.st_size && bytes % 16 == 0) {
            text found = {.bytes = NULL};
            append(&found, "%s", "-\n");
            send_rows(restored, one, made, 20, 23, false, &found);
            assert_same("after a torn record", expected.bytes, found.bytes);
            free(found.bytes);
        }
        stream_release(restored);
        streams_close(again);
    }
    for (off_t at = whole; at < info.st_size; at++) { /* as a disk may have it after a power loss */
        run("rm -rf %2$s; cp -r %1$s %2$s", live, copy);
        FILE *file = fopen(path, "r+");
        fseek(file, at, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 4, file);
        fclose(file);
        streams *again = open_at(copy);
        stream *restored = streams_find(again, "tested");
        assert_int_equal(rows_of(restored), 20);
        stream_release(restored);
        streams_close(again);
    }
    stream_release(tested);
    streams_close(all);
    free(expected.bytes);
    free_rows(made);
}

/* ---- Numbered rows ---- */

static void rows_that_were_seen_are_skipped_and_gaps_refused(void **state)
{
    static const char body[] = "a,b\n1,2\n3,4\n5,6\n";
    streams *all = open_at(NULL);
    stream *one = create(all, "one", "{}");
    rows_request request = {
        .body = body, .bytes = sizeof body - 1, .has_first_row = true, .answer = ANSWER_COUNT};
    rows_answer answer;
    problem why;
    (void)state;
    assert_true(stream_rows(one, &request, &answer, &why));
    assert_int_equal(answer.accepted, 3);
    assert_true(stream_rows(one, &request, &answer, &why));
    assert_int_equal(answer.accepted, 0);
    assert_int_equal(answer.skipped, 3);
    assert_int_equal(answer.rows, 3);
    request.first_row = 2;
    request.body = "5,6\n7,8\n9,0\n";
    request.bytes = strlen(request.body);
    assert_true(stream_rows(one, &request, &answer, &why));
    assert_int_equal(answer.accepted, 2);
    assert_int_equal(answer.skipped, 1);
    assert_int_equal(answer.rows, 5);
    request.first_row = 6;
    assert_false(stream_rows(one, &request, &answer, &why));
    assert_int_equal(why.status, 409);
    assert_true(why.has_rows);
    assert_int_equal(why.rows, 5);
    stream_release(one);
    streams_close(all);
}

static void a_bad_row_ends_a_body_and_says_where(void **state)
{
    static const char first[] = "a,b\n1,2\n3,4\n", second[] = "5,6\n\n7,oops\n8,9\n",
                      third[] = "{\"a\": 1, \"b\": 2}\n{\"a\": 1 \"b\"}\n";
    streams *all = open_at(NULL);
    stream *one = create(all, "one", "{}");
    rows_answer answer;
    problem why;
    (void)state;
    assert_true(send(one, first, sizeof first - 1, NULL, &answer, &why));
    assert_false(send(one, second, sizeof second - 1, NULL, &answer, &why));
    assert_int_equal(why.status, 400);
    assert_int_equal(why.line, 3);
    assert_int_equal(why.column, 3);
    assert_non_null(strstr(why.message, "oops"));
    assert_int_equal(answer.accepted, 1);
    assert_int_equal(answer.rows, 3);
    assert_true(send(one, "8,9\n", 4, NULL, &answer, &why));
    assert_int_equal(answer.rows, 4);
    assert_false(send(one, third, sizeof third - 1, NULL, &answer, &why));
    assert_int_equal(why.status, 400);
    assert_int_equal(why.line, 2);
    assert_int_equal(answer.rows, 5);
    assert_false(send(one, "1,\"2\n", 5, NULL, &answer, &why)); /* an open quote */
    assert_int_equal(why.line, 1);
    assert_true(send(one, "8,9\n", 4, NULL, &answer, &why));
    assert_int_equal(answer.rows, 6);
    assert_true(send(one, "  \n", 3, NULL, &answer, &why));
    assert_int_equal(answer.accepted, 0);
    stream_release(one);
    streams_close(all);
}

static void later_bodies_have_the_columns_of_the_first_by_name(void **state)
{
    text plain = {.bytes = NULL}, other = {.bytes = NULL};
    streams *all = open_at(NULL);
    stream *one = create(all, "one", "{}"), *two = create(all, "two", "{}");
    rows_answer answer;
    problem why;
    (void)state;
    assert_true(send(one, "a,b\n1,2\n3,5\n", 12, NULL, &answer, &why));
    assert_true(send(two, "a,b\n", 4, NULL, &answer, &why)); /* only a header */
    assert_true(send(two, "1,2\n3,5\n", 8, NULL, &answer, &why));
    assert_true(send(one, "{\"b\":7,\"a\":6}", 13, &plain, &answer, &why));
    assert_true(send(two, "{\"b\":7,\"a\":6}", 13, &other, &answer, &why));
    assert_same("a header alone", plain.bytes, other.bytes);
    plain.count = other.count = 0;
    assert_true(send(one, "8,9\n", 4, &plain, &answer, &why));
    assert_true(send(two, "b,note,a\n9,x,8\n", 15, &other, &answer, &why));
    assert_string_equal(strrchr(plain.bytes, '9') + 1 ? strchr(strchr(plain.bytes, '\n'), '9') + 1
                                                      : "",
                        strchr(strchr(other.bytes, '\n'), '8') + 1);
    assert_false(send(one, "a,c\n1,2\n", 8, NULL, &answer, &why));
    assert_int_equal(why.status, 409);
    assert_non_null(strstr(why.message, "'b'"));
    assert_int_equal(answer.rows, 4);
    free(plain.bytes);
    free(other.bytes);
    stream_release(one);
    stream_release(two);
    streams_close(all);
}

/* ---- Names, settings, keys ---- */

static void names_are_safe_parts_of_paths(void **state)
{
    static const char *const bad[] = {"",    ".",   "..",       ".a",   "-a",   "a/b",
                                      "a b", "a\n", "\xc3\xa4", "a\\b", "a%2f", "a:b"};
    char longest[80];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (stream_name_is_valid(bad[i]))
            fail_msg("'%s' is taken for a name", bad[i]);
    memset(longest, 'a', sizeof longest);
    longest[64] = '\0';
    assert_true(stream_name_is_valid(longest));
    longest[64] = 'a';
    longest[65] = '\0';
    assert_false(stream_name_is_valid(longest));
    assert_true(stream_name_is_valid("A.b_c-9"));
}

static void settings_have_the_checks_of_the_options(void **state)
{
    static const struct {
        const char *settings, *message;
    } bad[] = {{"{\"alert-rate\": 2}", "alert-rate"},
               {"{\"detector\": \"rolling\"}", "there is no detector"},
               {"{\"num-tres\": 2}", "num-trees"},
               {"{\"state\": \"/etc/passwd\"}", "no setting \"state\""},
               {"{\"on-alert\": \"rm -rf /\"}", "no setting \"on-alert\""},
               {"{\"on_alert\": \"rm -rf /\"}", "no setting \"on-alert\""},
               {"{\"season\": \"daily\"}", "\"season\": expected rows such as 96, a time"},
               {"{\"season\": [\"1d\", \"auto\"]}", "auto or off alone"},
               {"{\"season\": [\"1d\", {}]}", "\"season\": expected a string, a number"},
               {"{\"key\": true}", "\"key\" needs a value"},
               {"{\"strict\": 1}", "\"strict\" is true or false"},
               {"{\"detector\": true}", "\"detector\" needs a value"},
               {"{\"detector\": 5}", "there is no detector \"5\""},
               {"{\"detector\": \"loda\", \"shadow-trees\": 3}", "use \"detector\": \""},
               {"{\"digits\": 99}", "\"digits\": expected a whole number from 1 to 17, not \"99\""},
               {"{\"alerts\": \"5/day\", \"alert-rate\": 0.1}", "cannot be combined"},
               {"{\"motion\": false}", "motion"},
               {"{\"explain\": 2}", "explain"},
               {"{\"csv\": \"skip=1\"}", "skips no lines"},
               {"{\"watch\": true}", "no setting \"watch\""},
               {"{\"format\": \"raw\"}", "raw"},
               {"{\"format\": \"vmstat\"}", "not vmstat"},
               {"{\"key\": {\"a\": 1}}", "\"key\""},
               {"{\"evicted\": \"keep\"}", "data folder"},
               {"{\"alert-rate\": 0.1, \"alert_rate\": 0.2}", "twice"},
               {"{\"--key\": \"a\"}", "--key"},
               {"{\"--state\": \"x\"}", "--state"},
               {"{\"_state\": \"x\"}", "-state"},
               {"{\"\": \"x\"}", "name"},
               {"{\"key=a --state\": \"x\"}", "name"},
               {"{\"help\": true}", "help"},
               {"{\"help-all\": true}", "help-all"},
               {"[]", "object"}};
    streams *all = open_at(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *object = json_loads(bad[i].settings, 0, NULL);
        stream *made;
        bool is_new;
        problem why = {.status = 0};
        if (streams_create(all, "one", object, &made, &is_new, &why))
            fail_msg("%s is accepted", bad[i].settings);
        if (why.status != 400 || !strstr(why.message, bad[i].message))
            fail_msg("%s is refused with %d: %s", bad[i].settings, why.status, why.message);
        json_decref(object);
    }
    assert_int_equal(streams_count(all), 0);
    streams_close(all);
}

static double number_of(const oif_params *params, const char *name)
{
    double number = -1;
    assert_int_equal(oif_params_get(params, name, &number, NULL), OIF_OK);
    return number;
}

static void settings_are_texts_numbers_switches_and_lists(void **state)
{
    (void)state;
    stream_settings settings;
    problem why;
    json_t *object =
        json_loads("{\"detector\": [\"loda\"], \"label\": 7, \"columns\": [\"a,b\", \"c\", 5], "
                   "\"exclude\": [], \"season\": [\"1d\", 96], \"seed\": 9, "
                   "\"strict\": false, \"csv\": \"header=no\", \"time\": null, \"silence\": [4]}",
                   0, NULL);
    assert_true(stream_settings_open(&settings, object, true, &why));
    json_decref(object);
    const run_settings *cli = &settings.cli;
    assert_string_equal(cli->params.table->name, "loda");
    assert_true(cli->is_detector_given);
    assert_string_equal(cli->label, "7");
    assert_string_equal(cli->columns, "\"a,b\",c,5");
    assert_string_equal(cli->exclude, "");
    assert_true(number_of(&cli->params, "seed") == 9 && number_of(&cli->options, "silence") == 4);
    assert_true(number_of(&cli->options, "season_seconds") == 86400);
    assert_true(number_of(&cli->options, "season_rows") == 96);
    assert_true(cli->score.is_explained);
    assert_true(!cli->strict && cli->header == OIF_HEADER_NO && !cli->score.time);
    stream_settings_close(&settings);
}

static void the_same_settings_find_the_stream_and_others_are_refused(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "one", "{\"alert_rate\": 0.01, \"key\": \"host\"}"), *same;
    json_t *settings = json_loads("{\"key\": \"host\", \"alert-rate\": 0.01}", 0, NULL),
           *other = json_loads("{\"key\": \"disk\", \"alert-rate\": 0.01}", 0, NULL);
    bool is_new = true;
    problem why;
    (void)state;
    assert_true(streams_create(all, "one", settings, &same, &is_new, &why));
    assert_false(is_new);
    assert_ptr_equal(one, same);
    stream_release(same);
    assert_false(streams_create(all, "one", other, &same, &is_new, &why));
    assert_int_equal(why.status, 409);
    assert_non_null(strstr(why.message, "key"));
    json_decref(settings);
    json_decref(other);
    stream_release(one);
    streams_close(all);
}

static void only_what_decides_about_alerts_can_be_changed(void **state)
{
    const stream_case *of = &cases[0];
    rows *made = make_rows(of);
    char live[96], copy[96];
    text a = {.bytes = NULL}, b = {.bytes = NULL};
    problem why;
    (void)state;
    snprintf(live, sizeof live, "%s/live", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    run("rm -rf %s %s", live, copy);
    streams *all = open_at(live);
    stream *one = create(all, "tested", of->settings);
    json_t *change =
               json_loads("{\"alert_rate\": 0.05, \"fields\": [\"score\", \"grade\"]}", 0, NULL),
           *refused = json_loads("{\"key\": \"id\"}", 0, NULL),
           *bad = json_loads("{\"alert_rate\": 7}", 0, NULL);
    send_rows(one, of, made, 0, FIRST_ROWS, true, &a);
    assert_true(stream_change(one, change, &why));
    assert_false(stream_change(one, refused, &why));
    assert_int_equal(why.status, 409);
    assert_non_null(strstr(why.message, "\"key\""));
    assert_false(stream_change(one, bad, &why));
    assert_int_equal(why.status, 400);
    run("cp -r %s %s", live, copy);
    streams *again = open_at(copy);
    stream *restored = streams_find(again, "tested");
    a.count = 0;
    send_rows(one, of, made, FIRST_ROWS, ROWS, true, &a);
    send_rows(restored, of, made, FIRST_ROWS, ROWS, true, &b);
    assert_same("after a change", a.bytes, b.bytes);
    assert_non_null(strstr(a.bytes, ",score,grade\n"));
    has_same_history("after a change", one, restored, false);
    json_decref(change);
    json_decref(refused);
    json_decref(bad);
    free(a.bytes);
    free(b.bytes);
    stream_release(one);
    stream_release(restored);
    streams_close(all);
    streams_close(again);
    free_rows(made);
}

static void a_key_that_was_removed_begins_again(void **state)
{
    const stream_case *of = &cases[3];
    rows *made = make_rows(of);
    char live[96], copy[96];
    text a = {.bytes = NULL}, b = {.bytes = NULL};
    problem why;
    (void)state;
    snprintf(live, sizeof live, "%s/live", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    run("rm -rf %s %s", live, copy);
    streams *all = open_at(live);
    stream *one = create(all, "tested", of->settings);
    send_rows(one, of, made, 0, FIRST_ROWS, true, &a);
    assert_true(stream_forget_key(one, "host 1", 6, &why));
    assert_false(stream_forget_key(one, "host 1", 6, &why));
    assert_int_equal(why.status, 404);
    stream_figures figures;
    stream_get_figures(one, &figures);
    assert_int_equal(figures.keys, 2);
    send_rows(one, of, made, FIRST_ROWS, 2000, false, &a);
    run("cp -r %s %s", live, copy);
    streams *again = open_at(copy);
    stream *restored = streams_find(again, "tested");
    has_same_history("after a key was removed", one, restored, true);
    a.count = 0;
    send_rows(one, of, made, 2000, ROWS, true, &a);
    send_rows(restored, of, made, 2000, ROWS, true, &b);
    assert_same("after a key was removed", a.bytes, b.bytes);
    free(a.bytes);
    free(b.bytes);
    stream_release(one);
    stream_release(restored);
    streams_close(all);
    streams_close(again);
    free_rows(made);
}

/* ---- Disks ---- */

static void a_full_disk_refuses_rows_and_says_so(void **state)
{
    const stream_case *of = &cases[0];
    rows *made = make_rows(of);
    char live[96];
    text a = {.bytes = NULL}, b = {.bytes = NULL};
    struct rlimit before, small;
    rows_answer answer;
    problem why;
    (void)state;
    snprintf(live, sizeof live, "%s/live", folder);
    run("rm -rf %s", live);
    streams *all = open_at(live), *others = open_at(NULL);
    stream *one = create(all, "tested", of->settings), *twin = create(others, "t", of->settings);
    send_rows(one, of, made, 0, 20, true, &a);
    send_rows(twin, of, made, 0, 20, true, &b);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 700; /* less than what comes */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool is_taken = send(one, made->all.bytes, 5000, NULL, &answer, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(is_taken);
    assert_int_equal(why.status, 507);
    assert_non_null(strstr(why.message, "journal"));
    assert_int_equal(answer.rows, 20);
    send_rows(one, of, made, 20, 300, false, &a);
    send_rows(twin, of, made, 20, 300, false, &b);
    assert_same("after a full disk", b.bytes, a.bytes);
    stream_release(one);
    stream_release(twin);
    assert_true(streams_close(all));
    streams_close(others);
    all = open_at(live);
    one = streams_find(all, "tested");
    assert_int_equal(rows_of(one), 300);
    stream_release(one);
    streams_close(all);
    free(a.bytes);
    free(b.bytes);
    free_rows(made);
}

static void a_folder_that_cannot_be_used_is_refused(void **state)
{
    char file[96], inside[128], live[96];
    streams *all, *second;
    problem why;
    (void)state;
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(inside, sizeof inside, "%s/data", file);
    snprintf(live, sizeof live, "%s/live", folder);
    run("rm -rf %s; touch %s", live, file);
    streams_options options = {.folder = inside, .save_every = 1};
    assert_false(streams_open(&options, &all, &why));
    assert_non_null(strstr(why.message, inside));
    all = open_at(live);
    if (fork() == 0) { /* another server; one process may lock twice */
        options.folder = live;
        _exit(streams_open(&options, &second, &why) ? 1 : strstr(why.message, "another") ? 0 : 2);
    }
    int status;
    wait(&status);
    assert_int_equal(status, 0);
    streams_close(all);
}

static void a_damaged_stream_says_so_and_leaves_the_others_alone(void **state)
{
    char live[96];
    rows_answer answer;
    problem why;
    (void)state;
    snprintf(live, sizeof live, "%s/live", folder);
    run("rm -rf %s", live);
    streams *all = open_at(live);
    stream *one = create(all, "one", "{}"), *two = create(all, "two", "{}");
    assert_true(send(one, "a\n1\n2\n", 6, NULL, &answer, &why));
    assert_true(send(two, "a\n1\n2\n", 6, NULL, &answer, &why));
    stream_release(one);
    stream_release(two);
    streams_close(all);
    run("echo damaged > %s/streams/one/state", live);
    all = open_at(live);
    one = streams_find(all, "one");
    two = streams_find(all, "two");
    assert_true(streams_are_ready(all, &why));
    assert_int_equal(streams_count_damaged(all), 1);
    assert_false(stream_is_ready(one, &why));
    assert_non_null(strstr(why.message, "stream one"));
    assert_true(stream_is_ready(two, &why));
    assert_false(send(one, "3\n", 2, NULL, &answer, &why));
    assert_int_equal(why.status, 503);
    assert_true(send(two, "3\n", 2, NULL, &answer, &why));
    assert_int_equal(answer.rows, 3);
    stream_release(one);
    stream_release(two);
    assert_true(streams_remove(all, "one", &why));
    assert_int_equal(streams_count_damaged(all), 0);
    streams_close(all);
    all = open_at(live);
    assert_int_equal(streams_count(all), 1);
    streams_close(all);
}

/* ---- The test ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_oif_score),
        cmocka_unit_test(a_season_is_found_unless_that_is_off),
        cmocka_unit_test(results_are_the_same_in_bodies_of_any_size),
        cmocka_unit_test(results_are_the_same_row_by_row),
        cmocka_unit_test(a_killed_server_continues_bit_for_bit),
        cmocka_unit_test(a_stop_within_a_snapshot_loses_nothing),
        cmocka_unit_test(a_torn_journal_is_cut_at_its_last_whole_record),
        cmocka_unit_test(rows_that_were_seen_are_skipped_and_gaps_refused),
        cmocka_unit_test(a_bad_row_ends_a_body_and_says_where),
        cmocka_unit_test(later_bodies_have_the_columns_of_the_first_by_name),
        cmocka_unit_test(names_are_safe_parts_of_paths),
        cmocka_unit_test(settings_have_the_checks_of_the_options),
        cmocka_unit_test(settings_are_texts_numbers_switches_and_lists),
        cmocka_unit_test(the_same_settings_find_the_stream_and_others_are_refused),
        cmocka_unit_test(only_what_decides_about_alerts_can_be_changed),
        cmocka_unit_test(a_key_that_was_removed_begins_again),
        cmocka_unit_test(a_full_disk_refuses_rows_and_says_so),
        cmocka_unit_test(a_folder_that_cannot_be_used_is_refused),
        cmocka_unit_test(a_damaged_stream_says_so_and_leaves_the_others_alone),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
