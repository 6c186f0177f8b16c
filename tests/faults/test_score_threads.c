/* `oif score --key` with threads in a separate process: how many rows the threads share, and what
 * happens when memory runs out while rows wait. */
#define _GNU_SOURCE /* cpu_set_t */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/score/row_block.h"
#include "cli/score/score.h"
#include "front/options/command.h"

enum { KEYS = 10, ROWS = 3000, SECONDS_TO_END = 600 };

/* ---- What the program calls ---- */

typedef struct counted {
    size_t calls, rows;
} counted;

static counted blocks;
static size_t rows_until_failure = SIZE_MAX, verdicts_until_failure = SIZE_MAX;

static size_t processors = 2;

int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set);

int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    (void)bytes;
    CPU_ZERO(set);
    for (size_t i = 0; i < processors; i++)
        CPU_SET(i, set);
    return 0;
}

oif_status __real_oif_pipeline_process_rows_with(oif_pipeline *, const double *, size_t, size_t,
                                                 const char *const *, const size_t *,
                                                 const double *, oif_row_function, void *,
                                                 oif_result *, size_t *, oif_error *);
kept_verdict *__real_kept_verdict_make(const result_fields *, oif_pipeline *, const oif_result *,
                                       double, bool);

/* clang-format off */
oif_status __wrap_oif_pipeline_process_rows_with(oif_pipeline *pipeline, const double *rows,
                                                 size_t count, size_t stride,
                                                 const char *const *keys, const size_t *key_bytes,
                                                 const double *seconds, oif_row_function after,
                                                 void *context, oif_result *results, size_t *done,
                                                 oif_error *error);
kept_verdict *__wrap_kept_verdict_make(const result_fields *fields, oif_pipeline *pipeline,
                                       const oif_result *result, double seconds, bool is_judged);
/* clang-format on */

oif_status __wrap_oif_pipeline_process_rows_with(oif_pipeline *pipeline, const double *rows,
                                                 size_t count, size_t stride,
                                                 const char *const *keys, const size_t *key_bytes,
                                                 const double *seconds, oif_row_function after,
                                                 void *context, oif_result *results, size_t *done,
                                                 oif_error *error)
{
    blocks.calls++;
    blocks.rows += count;
    if (blocks.rows < rows_until_failure)
        return __real_oif_pipeline_process_rows_with(pipeline, rows, count, stride, keys, key_bytes,
                                                     seconds, after, context, results, done, error);
    *done = 0;
    *error = (oif_error){.status = OIF_EMEMORY, .message = "out of memory"};
    return OIF_EMEMORY;
}

kept_verdict *__wrap_kept_verdict_make(const result_fields *fields, oif_pipeline *pipeline,
                                       const oif_result *result, double seconds, bool is_judged)
{
    if (__atomic_fetch_sub(&verdicts_until_failure, 1, __ATOMIC_RELAXED) == 0)
        return NULL;
    return __real_kept_verdict_make(fields, pipeline, result, seconds, is_judged);
}

/* ---- A run ---- */

static char folder[] = "/tmp/oif-score-threads-XXXXXX";

static void print_fleet(FILE *to, size_t first, size_t end)
{
    uint64_t state = 7;
    if (first == 0)
        fprintf(to, "at,host,load\n");
    for (size_t i = 0; i < end; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t key = i % KEYS == 3 && i > ROWS / 2 ? 4 : i % KEYS; /* host 3 falls silent */
        double load = (double)(state >> 40) * 0x1p-24 + (i % 97 == 96 ? 50 : 0);
        if (i >= first)
            fprintf(to, "%.2f,web-%zu,%.3f\n", 1.7e9 + (double)i / 50, key, load);
    }
    fflush(to);
}

/* Runs `oif score` with these arguments on `input`, stdout and stderr to the files "NAME.out" and
 * "NAME.err". Returns the status from waitpid. */
static int run_score(const char *name, int input, char **arguments, counted *counts)
{
    int results[2];
    assert_int_equal(pipe(results), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char path[128];
        alarm(SECONDS_TO_END); /* a run that does not end is a failure, not a long test */
        dup2(input, STDIN_FILENO);
        snprintf(path, sizeof path, "%s/%s.out", folder, name);
        dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        snprintf(path, sizeof path, "%s/%s.err", folder, name);
        dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        output_start();
        exit_code code = output_finish(command_run(&score_command, score_run, arguments));
        (void)!write(results[1], &blocks, sizeof blocks);
        _exit((int)code);
    }
    close(results[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    *counts = (counted){0};
    (void)!read(results[0], counts, sizeof *counts);
    close(results[0]);
    return status;
}

static int open_fleet(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/fleet.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    print_fleet(file, 0, ROWS);
    fclose(file);
    return open(path, O_RDONLY);
}

static char *read_text(const char *name, size_t *lines)
{
    char path[128], *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_true(file && text);
    size_t bytes = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    *lines = 0;
    for (size_t i = 0; i < bytes; i++)
        *lines += text[i] == '\n';
    return text;
}

/* ---- Tests ---- */

static void rows_are_shared_while_silence_is_watched(void **state)
{
    char *arguments[] = {"--key",         "host",     "--time", "at",
                         "--only-alerts", "--output", "ndjson", NULL};
    counted counts;
    size_t lines, same_lines;
    (void)state;
    processors = 1;
    assert_int_equal(run_score("one", open_fleet(), arguments, &counts), 0);
    processors = 2;
    assert_int_equal(run_score("many", open_fleet(), arguments, &counts), 0);
    char *alone = read_text("one.out", &lines), *shared = read_text("many.out", &same_lines);
    assert_string_equal(alone, shared);
    assert_non_null(strstr(alone, "\"silence\":\"begins\""));
    free(alone);
    free(shared);
    assert_int_equal(counts.rows, ROWS);
    if (counts.calls * 8 > counts.rows)
        fail_msg("%zu blocks for %zu rows: too few rows for threads", counts.calls, counts.rows);
}

static void a_run_that_failed_does_not_wait_for_more_rows(void **state)
{
    char *arguments[] = {"--key", "host", NULL};
    enum { FEW = 600 }; /* they fit into a pipe */
    int ends[2];
    counted counts;
    size_t lines;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    FILE *to = fdopen(dup(ends[1]), "w");
    assert_non_null(to);
    print_fleet(to, 0, FEW);
    fclose(to);
    rows_until_failure = FEW;
    int status = run_score("pipe", ends[0], arguments, &counts); /* ends[1] stays open */
    rows_until_failure = SIZE_MAX;
    close(ends[0]);
    close(ends[1]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    char *messages = read_text("pipe.err", &lines);
    assert_non_null(strstr(messages, "out of memory"));
    free(messages);
}

static void a_state_is_never_ahead_of_the_output(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/s.oif", folder);
    char *arguments[] = {"--key", "host",         "--alert-rate", "0.01", "--state",
                         path,    "--save-every", "100",          NULL};
    counted counts;
    size_t lines, saves = 0;
    oif_pipeline *saved = NULL;
    (void)state;
    for (size_t verdicts = 1; verdicts < 24; verdicts += 2) {
        unlink(path);
        verdicts_until_failure = verdicts;
        int status = run_score("short", open_fleet(), arguments, &counts);
        verdicts_until_failure = SIZE_MAX;
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 0)
            break; /* there were not that many verdicts */
        assert_int_equal(WEXITSTATUS(status), 1);
        free(read_text("short.out", &lines));
        if (oif_pipeline_load_file(path, &saved, NULL) != OIF_OK)
            continue; /* the failure came before the first save */
        uint64_t rows = oif_pipeline_rows(saved);
        oif_pipeline_free(saved);
        saves++;
        if (rows > lines - 1)
            fail_msg("the state has seen %llu rows, of which %zu were written",
                     (unsigned long long)rows, lines - 1);
    }
    assert_true(saves > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_shared_while_silence_is_watched),
        cmocka_unit_test(a_run_that_failed_does_not_wait_for_more_rows),
        cmocka_unit_test(a_state_is_never_ahead_of_the_output),
    };
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[sizeof folder + 8];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? failed : 1;
}
