/* The page of `oif eval --report`. The browser draws it: the file has the data as one JSON object
 * within the frame of cli/page, whose scripts and styles are in it too, so nothing is loaded. Text
 * of the input is only in the JSON, which becomes text on the page but never markup. */
#include "front/columns/derive.h"
#include "front/page/embedded.h"
#include "front/text/durations.h"
#include "front/text/quoting.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The file ---- */

/* A path that is not a regular file, such as /dev/stdout or a pipe, cannot be replaced. */
static bool is_replaceable(const char *path)
{
    struct stat status;
    return lstat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* With the permissions of an ordinary new file; mkstemp makes private ones. */
static int open_temporary(char *path)
{
    int descriptor = mkstemp(path);
    mode_t mask = umask(0);
    umask(mask);
    if (descriptor >= 0)
        (void)!fchmod(descriptor, 0666 & ~mask);
    return descriptor;
}

static bool write_whole(FILE *file, const char *text, size_t bytes, bool is_temporary)
{
    bool is_written = fwrite(text, 1, bytes, file) == bytes && fflush(file) == 0 &&
                      (!is_temporary || fsync(fileno(file)) == 0);
    int failure = errno;
    if (fclose(file) != 0 && is_written)
        return false;
    errno = failure;
    return is_written;
}

/* The file is written completely or stays as it was. */
static exit_code write_file(const char *path, const char *text, size_t bytes)
{
    bool is_temporary = is_replaceable(path);
    size_t room = strlen(path) + sizeof ".XXXXXX";
    char *temporary = malloc(room);
    if (!temporary)
        return complain(EXIT_FAILED, "out of memory");
    snprintf(temporary, room, "%s.XXXXXX", path);
    int descriptor =
        is_temporary ? open_temporary(temporary) : open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    bool is_written = file && write_whole(file, text, bytes, is_temporary) &&
                      (!is_temporary || rename(temporary, path) == 0);
    exit_code code = is_written ? EXIT_OK : complain(EXIT_FAILED, "%s: %s", path, strerror(errno));
    if (descriptor >= 0 && !file)
        close(descriptor);
    if (descriptor >= 0 && is_temporary && !is_written)
        unlink(temporary);
    free(temporary);
    return code;
}

/* ---- The data ---- */

void report_numbers(const double values[], size_t count, size_t step, int digits)
{
    output_text("[");
    for (size_t i = 0; i < count; i++) {
        output_text(i > 0 ? "," : "");
        if (isfinite(values[i * step]))
            output_print("%.*g", digits, values[i * step]);
        else
            output_text("null");
    }
    output_text("]");
}

void report_list(const char *name, const double values[], size_t count, size_t step, int digits)
{
    output_print("\"%s\":", name);
    report_numbers(values, count, step, digits);
}

void report_text(const char *name, const char *text)
{
    output_print("\"%s\":", name);
    quoting_write_json(text, strlen(text));
}

static void print_head(const eval_page *report)
{
    const eval_run *evaluation = report->evaluation;
    const eval_rows *rows = &evaluation->rows;
    double delay = report->best->mean[MEASURE_DELAY_SECONDS], times[] = {NAN, NAN};
    char alerts[ALERTS_TEXT_BYTES], duration[DURATION_TEXT_BYTES];
    if (rows->seconds) {
        times[0] = rows->seconds[0];
        times[1] = rows->seconds[rows->count - 1];
    }
    output_print("{\"version\":\"%s\",", oif_version());
    report_text("name", evaluation->input->source.name);
    output_print(",\"alerts_by\":\"%s\",\"is_timed\":%s,\"has_keys\":%s,"
                 "\"rows\":%zu,\"columns\":%zu,\"keys\":%zu,\"anomalies\":%zu,"
                 "\"labelled_episodes\":%zu,\"runs\":%zu,\"median_delay\":\"%s\",",
                 eval_alerts_text(evaluation, alerts), eval_is_timed(evaluation) ? "true" : "false",
                 rows->keys ? "true" : "false", rows->count, report->column_count, rows->key_count,
                 rows->anomaly_count, rows->labelled_episodes, evaluation->run_count,
                 isnan(delay) ? "" : duration_text(delay, duration));
    report_list("times", times, 2, 1, REPORT_TIME_DIGITS);
}

/* Text between the tags of a script: < could end it. */
static void print_escaped(const char *text, size_t bytes)
{
    const char *end = text + bytes;
    while (text < end) {
        const char *next = memchr(text, '<', (size_t)(end - text));
        output_write(text, (size_t)((next ? next : end) - text));
        if (next)
            output_text("\\u003c");
        text = next ? next + 1 : end;
    }
}

static exit_code print_data(eval_page *report)
{
    size_t bytes;
    output_divert();
    print_head(report);
    bool has_memory = report_detectors(report);
    report_severities(report);
    exit_code code = has_memory ? report_episodes(report) : EXIT_OK;
    output_text("}");
    char *text = output_diverted(&bytes);
    if (!has_memory || !text)
        code = complain(EXIT_FAILED, "out of memory");
    if (code == EXIT_OK)
        print_escaped(text, bytes);
    free(text);
    return code;
}

/* ---- The whole ---- */

static exit_code print_page(eval_page *report)
{
    static const char place[] = "@DATA@";
    const eval_rows *rows = &report->evaluation->rows;
    const char *frame = (const char *)embedded_find("/report.html")->bytes;
    const char *data = strstr(frame, place);
    output_write(frame, (size_t)(data - frame));
    output_text("<script type=\"application/json\" id=\"data\">");
    exit_code code = print_data(report);
    output_print("</script>\n<noscript><p>%s, %zu rows with %zu labelled episodes: %zu found, "
                 "%zu missed, %zu false. Charts and tables need JavaScript.</p></noscript>",
                 report->best->name, rows->count, rows->labelled_episodes,
                 report->episodes[EPISODE_FOUND], report->episodes[EPISODE_MISSED],
                 report->episodes[EPISODE_FALSE]);
    output_text(data + sizeof place - 1);
    return code;
}

static exit_code name_columns(eval_page *report)
{
    const eval_run *evaluation = report->evaluation;
    const oif_pipeline *pipeline = report->shown->pipeline;
    report->column_count = oif_pipeline_learned_columns(pipeline);
    report->names = calloc(report->column_count, sizeof *report->names);
    bool has_memory = report->names != NULL;
    for (size_t i = 0; i < report->column_count && has_memory; i++) {
        report->names[i] = derive_name(pipeline, &evaluation->input->columns, i);
        has_memory = report->names[i] != NULL;
    }
    return has_memory ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
}

static exit_code write_page(eval_page *report)
{
    size_t bytes;
    output_divert();
    exit_code code = print_page(report);
    char *text = output_diverted(&bytes);
    if (code == EXIT_OK)
        code = text ? write_file(report->evaluation->settings->eval.report, text, bytes)
                    : complain(EXIT_FAILED, "out of memory");
    free(text);
    return code;
}

exit_code eval_write_report(eval_run *evaluation)
{
    const eval_contestant *best = &evaluation->contestants[evaluation->order[0]];
    eval_page report = {.evaluation = evaluation, .best = best, .shown = &best->tries[0]};
    exit_code code = name_columns(&report);
    if (code == EXIT_OK)
        code = write_page(&report);
    for (size_t i = 0; report.names && i < report.column_count; i++)
        free(report.names[i]);
    free(report.names);
    return code;
}
