/* The file of a stream beside its state: the history, with how many rows its senders sent. It is
 * written under another name first, and takes its own once the state is written
 * (stream_snapshot.c). */
#include "stream_parts.h"

#include "serve/base/descriptors.h"
#include "serve/base/folder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char stream_copy_remedy[] = "restore a backup of it, or remove the stream",
           stream_disk_remedy[] = "make room on the disk, or fix its permissions";

/* Stored along with the history. */
typedef struct kept_figures {
    oif_time_format times;
    silence_clock quiet;
    double last_row_at;
    uint64_t bad_rows;
    arrival_gaps gaps;
    uint64_t is_dead;
} kept_figures;

bool stream_fail_on_file(problem *why, const char *path, const char *what)
{
    int reason = errno;
    problem_set(why, reason == ENOSPC || reason == EDQUOT ? 507 : 503,
                descriptors_remedy(reason, stream_disk_remedy), "%s: %s: %s", path, what,
                strerror(reason));
    why->cause = OIF_CAUSE_SYSTEM;
    return false;
}

const char *stream_path(const stream *one, const char *file, char path[STREAM_PATH_BYTES])
{
    snprintf(path, STREAM_PATH_BYTES, "%s/%s", one->folder, file);
    return path;
}

/* ---- The history ---- */

/* Field by field, so that the file gets no stray bytes of memory from the padding of the times. */
static void fill_kept_figures(const stream *one, kept_figures *figures)
{
    const oif_time_format *times = &one->times.format;
    memset(figures, 0, sizeof *figures);
    figures->times.form = times->form;
    figures->times.year = times->year;
    figures->times.per_second = times->per_second;
    figures->times.last_seconds = times->last_seconds;
    figures->times.has_zone = times->has_zone;
    figures->times.lacks_zone = times->lacks_zone;
    figures->times.is_uncertain = times->is_uncertain;
    figures->quiet = one->quiet;
    figures->last_row_at = one->counted.last_row_at;
    figures->bad_rows = one->bad_rows;
    figures->gaps = one->gaps;
    figures->is_dead = one->is_dead;
}

bool stream_save_history(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES];
    kept_figures figures;
    fill_kept_figures(one, &figures);
    output_divert();
    output_write((const char *)&figures, sizeof figures);
    senders_write(one->senders);
    stream_incidents_write(&one->incidents);
    history_extra extra = {.rows = stream_row_count(one)};
    extra.bytes = output_diverted(&extra.count);
    FILE *file = fopen(stream_path(one, "history.new", path), "we");
    bool is_saved = file && extra.bytes && history_save(one->past, file, &extra);
    if (file && fclose(file) != 0)
        is_saved = false;
    free(extra.bytes);
    return is_saved || stream_fail_on_file(why, path, "cannot be written");
}

/* What the settings and the first body say about times was known before. */
static void resume_times(stream *one, const oif_time_format *kept)
{
    const oif_day_order day_order = one->times.format.day_order;
    const char *pattern = one->times.format.pattern;
    one->times.format = *kept;
    one->times.format.day_order = day_order;
    one->times.format.pattern = pattern;
}

static bool resume_senders(stream *one, bytes_left *from)
{
    senders *all = senders_new();
    if (!all || !senders_read(all, from)) {
        senders_free(all);
        return false;
    }
    senders_free(one->senders);
    one->senders = all;
    return true;
}

static bool resume_figures(stream *one, const history_extra *extra)
{
    bytes_left from = {extra->bytes, extra->count};
    kept_figures figures;
    if (!bytes_left_take(&from, &figures, sizeof figures) || !resume_senders(one, &from))
        return false;
    resume_times(one, &figures.times);
    one->quiet = figures.quiet;
    one->counted.last_row_at = figures.last_row_at;
    one->bad_rows = figures.bad_rows;
    one->gaps = figures.gaps;
    one->is_dead = figures.is_dead != 0;
    stream_incidents_free(&one->incidents);
    if (!stream_incidents_read(&one->incidents, &from))
        note("stream %s: its incidents are lost and begin again", one->name);
    if (!one->sends_incidents)
        incident_reports_sent(&one->incidents.reports, UINT64_MAX);
    return true;
}

static bool load_history_file(stream *one, const char *name)
{
    char path[STREAM_PATH_BYTES];
    history_extra extra = {.rows = stream_row_count(one)};
    FILE *file = fopen(stream_path(one, name, path), "re");
    history *past = file ? history_new(one->past->limit_bytes) : NULL;
    bool is_loaded = past && history_load(past, file, &extra);
    if (file)
        fclose(file);
    is_loaded = is_loaded && resume_figures(one, &extra);
    free(extra.bytes);
    if (!is_loaded) {
        history_free(past);
        return false;
    }
    history_free(one->past);
    one->past = past;
    return true;
}

/* The time format decides what later times mean. */
static void go_on_without_history(stream *one)
{
    const stream_snapshot *snapshot = &one->kept_snapshot;
    if (snapshot->exists)
        resume_times(one, &snapshot->times);
    const bool is_uncertain =
        one->shape.time && (!snapshot->exists || snapshot->rows != stream_row_count(one));
    complain(EXIT_FAILED,
             "stream %s: its history is lost and begins again; what its writers and agents sent is "
             "unknown, and rows sent again count twice%s",
             one->name,
             is_uncertain ? "; the format of its times is uncertain too: check the times of its "
                            "next rows"
                          : "");
}

/* The last step of a snapshot for the history. */
bool stream_take_history(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES], new_path[STREAM_PATH_BYTES];
    stream_path(one, "history", path);
    stream_path(one, "history.new", new_path);
    return (rename(new_path, path) == 0 && folder_sync(one->folder)) ||
           stream_fail_on_file(why, path, "cannot be written");
}

/* Loads the history of the snapshot. If the server was killed before it took history.new, it is
 * taken now: the next snapshot would write over it. */
void stream_load_history(stream *one)
{
    problem ignored; /* the next snapshot has it, too */
    history_start(one->past, oif_pipeline_columns(one->pipeline));
    if (load_history_file(one, "history.new"))
        stream_take_history(one, &ignored);
    else if (!load_history_file(one, "history"))
        go_on_without_history(one);
}
