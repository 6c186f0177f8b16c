/* A snapshot of a stream, written while rows come. The machine may stop after any of its steps:
 *
 *     trend.*         the buckets up to here: later, no journal could bring them back
 *     settings.json   the shape of the bodies, with the previous settings
 *     history.new     with the number of rows
 *     state           from here on this is the snapshot: history.new fits it, history does not
 *     history         is replaced by history.new
 *     settings.json   with the settings and the row number of the snapshot
 *     journal         is emptied, except for what came since the snapshot began; until then,
 *                     records from before the snapshot are skipped
 *
 * Everything is as it was when the snapshot began, between two bodies:
 *
 *     with the lock       history.new is written, the texts of settings.json made, and the models
 *                         of some keys packed, again and again
 *     without             all else: the state, most of the time, and every sync of these files
 */
#include "stream_parts.h"

#include "front/options/options.h"
#include "serve/base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct begun_snapshot {
    stream *one;
    json_t *settings;
    stream_snapshot after;          /* what settings.json will say */
    char *text_before, *text_after; /* of settings.json */
    uint64_t journal_bytes;         /* what came before the snapshot */
    bool is_beside_written;         /* the files that the state needs */
    bool has_failed;                /* to write them */
    problem *why;
} begun_snapshot;

/* ---- The start, with the lock ---- */

static bool begin(begun_snapshot *begun, problem *why)
{
    stream *one = begun->one;
    if (one->trends)
        trend_file_sync(one->trends);
    begun->settings = json_incref(one->settings.object);
    begun->after = (stream_snapshot){true, stream_row_count(one), one->times.format, one->bad_rows};
    begun->text_before = settings_file_text(one, one->kept_settings, &one->kept_snapshot);
    begun->text_after = settings_file_text(one, begun->settings, &begun->after);
    begun->journal_bytes = one->log.bytes;
    return stream_save_history(one, why);
}

static void end(begun_snapshot *begun)
{
    json_decref(begun->settings);
    free(begun->text_before);
    free(begun->text_after);
}

/* ---- The state ---- */

static bool sync_file(const stream *one, const char *name, problem *why)
{
    char path[STREAM_PATH_BYTES];
    int fd = open(stream_path(one, name, path), O_RDONLY | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return is_synced || stream_fail_on_file(why, path, "cannot be written");
}

/* Before the state is replaced. */
static bool write_beside(begun_snapshot *begun)
{
    const stream *one = begun->one;
    begun->is_beside_written = true;
    begun->has_failed = !settings_file_put(one, begun->text_before, begun->why) ||
                        !sync_file(one, "history.new", begun->why);
    return !begun->has_failed;
}

static bool let_others(void *context)
{
    begun_snapshot *begun = context;
    stream_read_unlock(begun->one);
    return begun->is_beside_written ? !begun->has_failed : write_beside(begun);
}

static void look_again(void *context)
{
    stream_read_lock(((begun_snapshot *)context)->one);
}

static bool save_state(begun_snapshot *begun, problem *why)
{
    stream *one = begun->one;
    const oif_turns turns = {let_others, look_again, begun};
    oif_error error;
    /* With models of evicted keys in a file, the lock is not released. */
    if (params_keep_evicted(oif_pipeline_options(one->pipeline)) && !write_beside(begun))
        return false;
    oif_status status =
        oif_state_file_save_pipeline_in_turns(one->file, one->pipeline, &turns, &error);
    return status == OIF_OK ||
           (!begun->has_failed && problem_set_error(why, 507, stream_disk_remedy, &error));
}

/* ---- The journal ---- */

/* Rows that came during the snapshot stay. Nothing else syncs the journal meanwhile: what a sync
 * has reported as saved is in the new journal, and on disk, before that replaces the old one. */
static bool cut_journal(stream *one, uint64_t place, problem *why)
{
    journal_rest rest = {.to = -1, .place = place};
    pthread_mutex_lock(&one->sync_lock);
    stream_read_lock(one);
    rest.from = journal_descriptor(&one->log);
    rest.end = one->log.bytes;
    stream_read_unlock(one);
    bool is_cut = journal_copy_rest(&one->log, &rest, why);
    stream_begin_change(one);
    is_cut = is_cut && journal_take_rest(&one->log, &rest, why);
    one->is_dirty |= is_cut;
    stream_end_change(one);
    if (is_cut && !folder_sync(one->folder))
        is_cut = stream_fail_on_file(why, one->log.path, "cannot be written");
    if (rest.from >= 0)
        close(rest.from);
    if (rest.to >= 0)
        close(rest.to);
    pthread_mutex_unlock(&one->sync_lock);
    return is_cut;
}

bool stream_empty_journal(stream *one, problem *why)
{
    const bool is_empty = journal_clear(&one->log, why);
    one->is_dirty &= !is_empty;
    return is_empty;
}

/* Under the lock, for a change. */
static bool shorten_journal(begun_snapshot *begun, problem *why)
{
    stream *one = begun->one;
    settings_file_is(one, begun->settings, &begun->after);
    if (one->log.bytes == begun->journal_bytes)
        return stream_empty_journal(one, why);
    stream_end_change(one);
    const bool is_cut = cut_journal(one, begun->journal_bytes, why);
    stream_begin_change(one);
    return is_cut;
}

/* ---- All steps ---- */

bool stream_write_snapshot(stream *one, problem *why)
{
    begun_snapshot begun = {.one = one, .why = why};
    bool is_good = begin(&begun, why);
    pthread_mutex_unlock(&one->changing); /* the lock is still held */
    is_good = is_good && save_state(&begun, why);
    stream_read_unlock(one);
    is_good =
        is_good && stream_take_history(one, why) && settings_file_put(one, begun.text_after, why);
    stream_begin_change(one);
    is_good = is_good && shorten_journal(&begun, why);
    end(&begun);
    return is_good;
}
