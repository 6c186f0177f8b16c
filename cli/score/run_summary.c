#include "run_summary.h"

#include "front/input/input_file.h"
#include "front/text/cut.h"
#include "front/text/durations.h"
#include "front/text/name_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In a pipe nothing is said, because somebody may have redirected stderr to the same file. */
run_summary run_summary_start(const run_settings *settings)
{
    struct stat status;
    const bool to_file = fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
    return (run_summary){.is_wanted = isatty(STDERR_FILENO) && !settings->is_silent &&
                                      !settings->score.watch && (to_file || isatty(STDOUT_FILENO))};
}

/* ---- The worst ---- */

bool run_summary_takes(const run_summary *summary, const oif_result *result)
{
    return summary->is_wanted && result->anomaly &&
           (summary->count < WORST_EPISODES ||
            result->severity > summary->worst[WORST_EPISODES - 1].severity);
}

/* Where an episode is, or where one is to be replaced. */
static size_t place_of(const run_summary *summary, const worst_episode *made)
{
    size_t i = 0;
    while (i < summary->count && (summary->worst[i].number != made->number ||
                                  strcmp(summary->worst[i].key, made->key) != 0))
        i++;
    return i < WORST_EPISODES ? i : WORST_EPISODES - 1;
}

void run_summary_add(run_summary *summary, const row_verdict *verdict, oif_text key, uint64_t line)
{
    worst_episode made = {.severity = verdict->result.severity,
                          .seconds = verdict->seconds,
                          .grade = verdict->result.grade,
                          .line = line,
                          .number = verdict->episode.number};
    const size_t key_bytes = key.text ? cut_bytes(key.text, key.bytes, WORST_KEY_BYTES - 1) : 0;
    if (key_bytes > 0)
        memcpy(made.key, key.text, key_bytes);
    result_fields_reasons_text(verdict, made.why, sizeof made.why);
    size_t i = place_of(summary, &made);
    if (i < summary->count && summary->worst[i].number == made.number &&
        strcmp(summary->worst[i].key, made.key) == 0 && summary->worst[i].severity >= made.severity)
        return;
    summary->count += i == summary->count;
    for (; i > 0 && summary->worst[i - 1].severity < made.severity; i--)
        summary->worst[i] = summary->worst[i - 1];
    summary->worst[i] = made;
}

/* "  line 312, 2026-11-15T19:05:01Z, web-1: flow high 71% (critical, severity 6.2)" */
static void print_worst(const worst_episode *worst)
{
    char moment[MOMENT_TEXT_BYTES] = "";
    if (isfinite(worst->seconds))
        moment_text(worst->seconds, moment);
    note("  line %" PRIu64 "%s%s%s%s: %s (%s, severity %.1f)", worst->line, *moment ? ", " : "",
         moment, worst->key[0] ? ", " : "", worst->key, worst->why, grade_word(worst->grade),
         worst->severity);
}

/* ---- The end ---- */

static void print_left_out(const input_columns *columns)
{
    names_text names = {.count = 0};
    for (size_t i = 0; i < columns->use_count; i++)
        if (columns->uses[i] == COLUMN_IS_TEXT || columns->uses[i] == COLUMN_GOES_BACK ||
            columns->uses[i] == COLUMN_LABEL || columns->uses[i] == COLUMN_ADDED)
            names_text_add(&names, oif_reader_column_name(columns->from.reader, i));
    if (names.count > 0)
        note("left out: %s", names_text_read(&names));
}

static void print_next(const run_summary *summary, const run_settings *settings)
{
    char path[PASTED_PATH_BYTES];
    if (!settings->file || strcmp(settings->file, "-") == 0)
        return;
    path_to_paste(settings->file, path);
    if (summary->count == 0)
        note("to see what is learned: oif score -v %s > /dev/null", path);
    else if (settings->score.rows == PRINT_ALL)
        note("to see one line per episode, and why: oif score --only-alerts %s", path);
    else
        note("to see all of it as a picture: oif score --watch %s", path);
}

void run_summary_print(const run_summary *summary, const run_settings *settings,
                       const input_columns *columns)
{
    if (!summary->is_wanted)
        return;
    if (summary->count > 0)
        note("the worst:");
    for (size_t i = 0; i < summary->count; i++)
        print_worst(&summary->worst[i]);
    print_left_out(columns);
    print_next(summary, settings);
}
