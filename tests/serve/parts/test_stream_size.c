/* A stream takes what oif state size says of its models, and its history: compared with streams
 * of thousands of keys, by what they report and by the memory of the process. */
#include "../../base/sanitized.h"
#include "cli/commands/commands.h"
#include "cli/commands/fleet_size.h"
#include "front/options/command.h"
#include "serve/stream/stream_parts.h"
#include "stream_fixture.h"

#include <math.h>

enum { MOST_ARGUMENTS = 12, LINE_BYTES = 256 };

typedef struct fleet {
    uint64_t keys, rows;
    size_t columns;
    size_t history_bytes;
    bool is_first; /* later ones may reuse the memory of earlier ones */
} fleet;

/* ---- A stream ---- */

static size_t write_header(const fleet *of, char *to)
{
    int bytes = sprintf(to, "time,host");
    for (size_t i = 0; i < of->columns; i++)
        bytes += sprintf(to + bytes, ",c%zu", i);
    bytes += sprintf(to + bytes, "\n");
    return (size_t)bytes;
}

static size_t write_row(const fleet *of, uint64_t number, uint64_t key, char *to)
{
    int bytes =
        sprintf(to, "%.0f,host-%07llu", 1.8e9 + 60 * (double)number, (unsigned long long)key);
    for (size_t i = 0; i < of->columns; i++)
        bytes += sprintf(to + bytes, ",%u.%06u", draw(100), draw(1000000));
    bytes += sprintf(to + bytes, "\n");
    return (size_t)bytes;
}

/* A row of each key in turn, in bodies of a thousand. */
static void send_round(stream *one, const fleet *of, uint64_t number)
{
    enum { MOST = 1000 };
    static char body[(MOST + 1) * LINE_BYTES];
    for (uint64_t key = 0; key < of->keys;) {
        size_t bytes = write_header(of, body);
        for (int i = 0; i < MOST && key < of->keys; i++)
            bytes += write_row(of, number, key++, body + bytes);
        const rows_request request = {.body = body, .bytes = bytes, .answer = ANSWER_COUNT};
        rows_answer answer;
        problem why;
        if (!stream_rows(one, &request, &answer, &why))
            fail_msg("%s", why.message);
    }
}

static double resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &pages, &resident), 2);
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* ---- Beside what was expected ---- */

static fleet_size expected(const fleet *of)
{
    char *arguments[] = {"--memory-limit", "4GB", "--window-size", "256", NULL};
    run_settings settings;
    help_kind help;
    fleet_size size;
    assert_int_equal(command_parse(&size_command, arguments, &settings, &help), EXIT_OK);
    assert_int_equal(fleet_size_estimate(&settings, of->keys, of->columns, of->rows, &size),
                     EXIT_OK);
    settings_close(&settings);
    return size;
}

static void assert_within(const char *name, double expected, double found, double most_error)
{
    print_message("  %-16s expected %.4g MB, is %.4g MB, %.3f times\n", name, expected / 1e6,
                  found / 1e6, found / expected);
    assert_true(fabs(found / expected - 1) <= most_error);
}

static size_t count_kept(stream *one)
{
    size_t bytes, total = 0;
    const keys_query query = {.order = KEYS_BY_RECENT, .limit = 1};
    output_divert();
    stream_write_keys(one, &query);
    output_write("", 1);
    char *text = output_diverted(&bytes);
    const char *at = text ? strstr(text, "\"total\":") : NULL;
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"total\":%zu", &total), 1);
    free(text);
    return total;
}

/* Returns the keys that the history has kept. */
static size_t compare(const fleet *of)
{
    const streams_options options = {.folder = folder,
                                     .history_bytes = of->history_bytes,
                                     .history_disk_bytes = HISTORY_DISK_BYTES_INITIALLY};
    const fleet_size size = expected(of);
    const double before = resident_bytes();
    streams *all;
    problem why;
    run("rm -rf %s && mkdir %s", folder, folder);
    assert_true(streams_open(&options, &all, &why));
    stream *one = create(all, "a",
                         "{\"key\":\"host\",\"time\":\"time\",\"window-size\":256,"
                         "\"memory-limit\":\"4GB\"}");
    for (uint64_t number = 0; number < of->rows; number++)
        send_round(one, of, number);
    const double resident = resident_bytes() - before;
    const stream_figures found = figures_of(one);
    const double past_bytes = (double)one->past->bytes;
    const size_t kept = count_kept(one);
    print_message("%llu keys, %zu columns, %llu rows: %zu keys, %.0f bytes of history\n",
                  (unsigned long long)of->keys, of->columns, (unsigned long long)of->rows, kept,
                  past_bytes);
    assert_int_equal(found.rows_without_model, 0);
    assert_true(past_bytes < 1.1 * (double)of->history_bytes);
    assert_within("memory", size.memory_bytes + past_bytes, (double)found.memory_bytes, 0.1);
    if (of->is_first && !SANITIZED)
        assert_within("of the process", size.memory_bytes + past_bytes, resident, 0.2);
    stream_release(one);
    streams_close(all);
    return kept;
}

static void a_stream_of_many_keys_takes_its_models_and_its_history(void **state)
{
    (void)state;
    const fleet of = {
        .keys = 6000, .rows = 5, .columns = 10, .history_bytes = 64 << 20, .is_first = true};
    assert_int_equal(compare(&of), 6000);
}

static void a_stream_of_keys_with_many_rows_takes_its_models_and_its_history(void **state)
{
    (void)state;
    const fleet of = {.keys = 20, .rows = 3000, .columns = 3, .history_bytes = 64 << 20};
    assert_int_equal(compare(&of), 20);
}

static void a_history_stays_within_its_limit_and_keeps_all_keys_if_it_can(void **state)
{
    (void)state;
    const fleet all = {.keys = 500, .rows = 100, .columns = 3, .history_bytes = 2 << 20};
    assert_int_equal(compare(&all), 500);
    const fleet some = {.keys = 3000, .rows = 4, .columns = 3, .history_bytes = 1 << 19};
    assert_in_range(compare(&some), 500, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_of_many_keys_takes_its_models_and_its_history),
        cmocka_unit_test(a_stream_of_keys_with_many_rows_takes_its_models_and_its_history),
        cmocka_unit_test(a_history_stays_within_its_limit_and_keeps_all_keys_if_it_can),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
