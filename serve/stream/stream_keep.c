/* How a stream is stored and loaded.
 *
 * A snapshot is made in steps. The machine may stop after any of them:
 *
 *     incidents       of all streams: later, no journal could bring back what the file lacks
 *     trend.*         the buckets up to here: later, no journal could bring them back
 *     settings.json   the shape of the bodies, with the previous settings
 *     history.new     with the number of rows
 *     senders.new     the same
 *     state           from here on this is the snapshot: history.new fits it, history does not
 *     history         is replaced by history.new
 *     senders         is replaced by senders.new
 *     settings.json   with the current settings, and the row number of the snapshot
 *     journal         is emptied; until then, records from before the snapshot are skipped
 */
#include "stream_parts.h"

#include "front/options/key_room.h"
#include "front/text/clock.h"
#include "front/text/cut.h"
#include "serve/base/background.h"
#include "serve/base/descriptors.h"
#include "serve/base/folder.h"
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOURNAL_BYTES_MAX = 64 << 20 };

const char stream_copy_remedy[] = "restore a backup of it, or remove the stream";
static const char disk_remedy[] = "make room on the disk, or fix its permissions",
                  whole_copy_remedy[] =
                      "restore a backup of the whole folder, or remove the stream";

/* Stored along with the history. */
typedef struct kept_figures {
    oif_time_format times;
    silence_clock quiet;
    double last_row_at;
    uint64_t bad_rows, batches, incident_events;
    /* since 0.2 */
    arrival_gaps gaps;
    uint64_t is_dead, dead_incident, unusual;
} kept_figures;

bool stream_fail_on_file(problem *why, const char *path, const char *what)
{
    int reason = errno;
    problem_set(why, reason == ENOSPC || reason == EDQUOT ? 507 : 503,
                descriptors_remedy(reason, disk_remedy), "%s: %s: %s", path, what,
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
    figures->batches = one->counted.batches;
    figures->incident_events = one->incident_events;
    figures->gaps = one->gaps;
    figures->is_dead = one->is_dead;
    figures->dead_incident = one->dead_incident;
    figures->unusual = one->unusual;
}

static bool save_history(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES];
    kept_figures figures;
    fill_kept_figures(one, &figures);
    const history_extra extra = {stream_row_count(one), &figures, sizeof figures};
    FILE *file = fopen(stream_path(one, "history.new", path), "we");
    bool is_saved = file && history_save(one->past, file, &extra) && fsync(fileno(file)) == 0;
    if (file && fclose(file) != 0)
        is_saved = false;
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

static bool load_history_file(stream *one, const char *name)
{
    char path[STREAM_PATH_BYTES];
    kept_figures figures;
    FILE *file = fopen(stream_path(one, name, path), "re");
    history *past = file ? history_new(one->past->limit_bytes) : NULL;
    bool is_loaded =
        past && history_load(past, file, stream_row_count(one), &figures, sizeof figures);
    if (file)
        fclose(file);
    if (!is_loaded) {
        history_free(past);
        return false;
    }
    history_free(one->past);
    one->past = past;
    resume_times(one, &figures.times);
    one->quiet = figures.quiet;
    one->counted.last_row_at = figures.last_row_at;
    one->bad_rows = figures.bad_rows;
    one->counted.batches = figures.batches;
    one->incident_events = figures.incident_events;
    one->gaps = figures.gaps;
    one->is_dead = figures.is_dead != 0;
    one->dead_incident = figures.dead_incident;
    one->unusual = figures.unusual;
    return true;
}

/* The time format decides what later times mean. */
static void go_on_without_history(stream *one)
{
    const stream_snapshot *snapshot = &one->kept_snapshot;
    if (snapshot->exists)
        resume_times(one, &snapshot->times);
    if (one->shape.time && (!snapshot->exists || snapshot->rows != stream_row_count(one)))
        complain(EXIT_FAILED,
                 "stream %s: its history is lost, and begins again; how its times are written is "
                 "not known for certain either: compare those of its next rows",
                 one->name);
    else
        note("stream %s: its history is lost, and begins again; its state is not affected",
             one->name);
}

/* The last step of a snapshot for the history. */
static bool take_history(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES], new_path[STREAM_PATH_BYTES];
    stream_path(one, "history", path);
    stream_path(one, "history.new", new_path);
    return (rename(new_path, path) == 0 && folder_sync(one->folder)) ||
           stream_fail_on_file(why, path, "cannot be written");
}

/* Loads the history of the snapshot. If the server was killed before it took history.new, it is
 * taken now: the next snapshot would write over it. */
static void load_history(stream *one)
{
    problem ignored; /* the next snapshot has it, too */
    history_start(one->past, oif_pipeline_columns(one->pipeline));
    if (load_history_file(one, "history.new"))
        take_history(one, &ignored);
    else if (!load_history_file(one, "history"))
        go_on_without_history(one);
}

/* ---- The senders ---- */

static bool save_senders(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES];
    FILE *file = fopen(stream_path(one, "senders.new", path), "we");
    bool is_saved =
        file && senders_save(one->senders, stream_row_count(one), file) && fsync(fileno(file)) == 0;
    if (file && fclose(file) != 0)
        is_saved = false;
    return is_saved || stream_fail_on_file(why, path, "cannot be written");
}

static bool take_senders(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES], new_path[STREAM_PATH_BYTES];
    stream_path(one, "senders", path);
    stream_path(one, "senders.new", new_path);
    return (rename(new_path, path) == 0 && folder_sync(one->folder)) ||
           stream_fail_on_file(why, path, "cannot be written");
}

static bool load_senders_file(stream *one, const char *name)
{
    char path[STREAM_PATH_BYTES];
    FILE *file = fopen(stream_path(one, name, path), "re");
    senders *all = file ? senders_new() : NULL;
    bool is_loaded = all && senders_load(all, stream_row_count(one), file);
    if (file)
        fclose(file);
    if (is_loaded) {
        senders_free(one->senders);
        one->senders = all;
    } else
        senders_free(all);
    return is_loaded;
}

/* Those that belong to the state; an earlier version had none. */
static void load_senders(stream *one)
{
    char path[STREAM_PATH_BYTES];
    problem ignored; /* the next snapshot has them, too */
    if (load_senders_file(one, "senders.new"))
        take_senders(one, &ignored);
    else if (!load_senders_file(one, "senders") &&
             access(stream_path(one, "senders", path), F_OK) == 0)
        complain(EXIT_FAILED,
                 "stream %s: %s: does not belong to the state; which rows its writers have sent is "
                 "not known, and rows that they send again count twice",
                 one->name, path);
}

/* ---- Saving ---- */

static bool save_state(stream *one, problem *why)
{
    oif_error error;
    if (oif_state_file_save_pipeline(one->file, one->pipeline, &error) == OIF_OK)
        return true;
    return problem_set_error(why, 507, disk_remedy, &error);
}

static bool save_steps(stream *one, problem *why)
{
    incident_list_save(one->incidents, incident_list_copy(one->incidents)); /* reports failures */
    stream_trend_sync(one);
    const stream_snapshot before = one->kept_snapshot,
                          after = {true, stream_row_count(one), one->times.format, one->bad_rows};
    return settings_file_write(one, one->kept_settings, &before, why) && save_history(one, why) &&
           save_senders(one, why) && save_state(one, why) && take_history(one, why) &&
           take_senders(one, why) && settings_file_write(one, one->settings.object, &after, why) &&
           journal_clear(&one->log, why);
}

/* Before the first row there is no state; settings.json has everything. */
static bool save_beginning(stream *one, problem *why)
{
    const stream_snapshot none = {.exists = false, .bad_rows = one->bad_rows};
    return settings_file_write(one, one->settings.object, &none, why) &&
           journal_clear(&one->log, why);
}

static void set_error(stream *one, const char *message)
{
    bool was_failing = one->is_failing;
    one->is_failing = true;
    snprintf(one->error, sizeof one->error, "%s", message);
    if (!was_failing)
        complain(EXIT_FAILED, "stream %s: %s", one->name, message);
}

static void clear_error(stream *one)
{
    if (one->is_failing)
        note("stream %s: is saved again", one->name);
    one->is_failing = false;
    one->refused_bytes = 0;
    one->error[0] = '\0';
}

static bool is_saved_already(const stream *one)
{
    return !one->is_failing && one->snapshot_rows == stream_row_count(one) &&
           one->saved_changes == one->changes;
}

static bool is_journal_long(const stream *one)
{
    uint64_t twice = 2 * (uint64_t)one->snapshot_bytes;
    return one->log.bytes > (twice > JOURNAL_BYTES_MAX ? twice : JOURNAL_BYTES_MAX);
}

/* Of the file: to count them would pack every model once more. */
static size_t bytes_of_state(const stream *one)
{
    char path[STREAM_PATH_BYTES];
    struct stat info;
    const bool is_there = one->pipeline && stat(stream_path(one, "state", path), &info) == 0;
    return is_there ? (size_t)info.st_size : 0;
}

bool stream_save(stream *one, problem *why)
{
    double started = clock_seconds();
    if (!one->folder || one->is_broken || one->is_removed ||
        (one->pipeline ? is_saved_already(one) : !is_journal_long(one)))
        return true;
    bool is_saved = stream_end_all_waiting(one, why) &&
                    (one->pipeline ? save_steps(one, why) : save_beginning(one, why));
    one->counted.last_save_seconds = clock_seconds() - started;
    one->counted.save_seconds += one->counted.last_save_seconds;
    one->counted.saves += is_saved;
    one->counted.failed_saves += !is_saved;
    if (!is_saved) {
        set_error(one, why->message);
        return false;
    }
    clear_error(one);
    one->saved = one->snapshot_rows = stream_row_count(one);
    one->saved_changes = one->changes;
    one->snapshot_bytes = bytes_of_state(one);
    one->is_dirty = false;
    return true;
}

bool stream_is_save_due(const stream *one)
{
    return one->folder && !one->is_broken && (one->is_failing || is_journal_long(one));
}

/* The state of many keys has gigabytes, so it is not rewritten for a few rows. */
bool stream_is_cheap_to_replay(const stream *one)
{
    const uint64_t few_bytes = 1 << 20, large_bytes = 64 << 20;
    return one->folder && !one->is_failing && one->snapshot_bytes > large_bytes &&
           one->log.bytes < few_bytes;
}

static void begin_refusal(stream *one, size_t bytes, const problem *why)
{
    if (one->refused_bytes == 0)
        complain(EXIT_FAILED, "stream %s: %s", one->name, why->message);
    one->refused_bytes = bytes + 1;
    if (!one->is_failing)
        snprintf(one->error, sizeof one->error, "%s", why->message);
}

static void end_refusal(stream *one)
{
    if (one->refused_bytes == 0)
        return;
    note("stream %s: can be written again", one->name);
    one->refused_bytes = 0;
    if (!one->is_failing)
        one->error[0] = '\0';
}

bool stream_keep_record(stream *one, const journal_record *record, problem *why)
{
    if (!one->folder)
        return true;
    one->is_dirty = true;
    bool is_kept = journal_append(&one->log, record, why);
    if (is_kept)
        end_refusal(one);
    else
        begin_refusal(one, record->bytes, why);
    return is_kept;
}

static bool write_zeros(int fd, size_t bytes)
{
    static const char zeros[4096];
    while (bytes > 0) {
        ssize_t written = write(fd, zeros, bytes < sizeof zeros ? bytes : sizeof zeros);
        if (written <= 0)
            return false;
        bytes -= (size_t)written;
    }
    return true;
}

/* Uses a separate file, because the journal may contain only records. */
void stream_try_disk(stream *one)
{
    const size_t most = 1 << 20, bytes = one->refused_bytes;
    char path[STREAM_PATH_BYTES];
    if (bytes == 0 || !one->folder || one->is_removed)
        return;
    int fd =
        open(stream_path(one, "room.new", path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bool has_room = write_zeros(fd, bytes < most ? bytes : most);
    has_room = close(fd) == 0 && has_room;
    unlink(path);
    if (has_room)
        end_refusal(one);
}

static void count_saved(stream *one, uint64_t rows)
{
    if (one->folder && !one->is_failing && rows > one->saved)
        one->saved = rows;
}

/* After a failed sync, data may be lost although the next sync succeeds. So a snapshot is made
 * after a failure. */
static bool sync_journal(stream *one)
{
    stream_begin_look(one);
    uint64_t rows = stream_row_count(one);
    int descriptor = one->folder && one->is_dirty ? journal_descriptor(&one->log) : -1;
    bool is_needed = one->folder && one->is_dirty;
    one->is_dirty = false;
    if (!is_needed) /* the last sync may have covered a body that was only partly processed then */
        count_saved(one, rows);
    stream_end_look(one);
    if (!is_needed)
        return true;
    bool is_synced = descriptor >= 0 && fdatasync(descriptor) == 0;
    int reason = errno;
    if (descriptor >= 0)
        close(descriptor);
    stream_begin_look(one);
    if (!is_synced) {
        char message[ERROR_BYTES];
        snprintf(message, sizeof message, "%.*s: cannot be written: %s",
                 (int)cut_bytes(one->log.path, strlen(one->log.path), 900), one->log.path,
                 strerror(reason));
        set_error(one, message);
        one->is_dirty = true;
    } else if (one->is_failing && !one->pipeline) {
        clear_error(one); /* there is nothing to make a snapshot of */
    } else {
        count_saved(one, rows);
    }
    stream_end_look(one);
    return is_synced;
}

/* A thread that comes during another sync waits for it: that sync is not on disk yet. */
bool stream_sync(stream *one)
{
    pthread_mutex_lock(&one->sync_lock);
    bool is_synced = sync_journal(one);
    pthread_mutex_unlock(&one->sync_lock);
    return is_synced;
}

/* ---- Loading ---- */

static bool break_off(stream *one, const problem *why)
{
    const char *remedy = why->remedy[0] ? why->remedy : "repair it, or restore a backup";
    one->is_broken = true;
    one->cause = why->cause;
    snprintf(one->error, sizeof one->error, "%s", why->message);
    snprintf(one->remedy, sizeof one->remedy, "%.200s; then start the server again", remedy);
    complain(EXIT_FAILED, "stream %s: %s: %s", one->name, one->error, one->remedy);
    return false;
}

bool stream_tell_broken(const stream *one, problem *why)
{
    problem_set(why, 503, one->remedy, "%s", one->error);
    why->cause = one->cause;
    return false;
}

/* A newer snapshot has what the settings did to the pipeline. To do it again would drop the counts
 * of rules that came later. */
static void replay_settings(stream *one, const journal_record *record)
{
    problem ignored;
    json_t *object = json_loadb(record->payload, record->bytes, 0, NULL);
    if (object)
        stream_apply_settings(one, object, record->first_row < stream_row_count(one), &ignored);
    json_decref(object);
}

static void replay_change(stream *one, const journal_record *record)
{
    switch (record->kind) {
    case JOURNAL_FORGET: stream_drop_key(one, record->payload, record->bytes); break;
    case JOURNAL_BAD_ROWS:
        one->bad_rows = record->skip + (record->format == BAD_ROWS_IN_ALL ? 0 : one->bad_rows);
        break;
    case JOURNAL_CLOCK:
        if (one->pipeline)
            stream_silent_at(one, record->seconds);
        break;
    case JOURNAL_MARK: stream_replay_mark(one, record); break;
    case JOURNAL_RULE: stream_replay_rule(one, record); break;
    case JOURNAL_ACKNOWLEDGE: stream_replay_acknowledgement(one, record); break;
    case JOURNAL_END: stream_replay_end(one, record); break;
    case JOURNAL_NO_DATA: stream_feed_dies(one, record->seconds); break;
    default: break;
    }
}

/* Skips records from before the snapshot, except settings: settings.json may be older than that. */
static bool replay_record(void *context, const journal_record *record, const journal_record *next)
{
    stream *one = context;
    uint64_t rows = stream_row_count(one);
    problem why;
    if (record->kind == JOURNAL_SETTINGS)
        replay_settings(one, record);
    if (record->first_row < rows || record->kind == JOURNAL_SETTINGS || record->kind == JOURNAL_CUT)
        return true;
    if (record->first_row > rows) {
        problem_set(&why, 503, whole_copy_remedy,
                    "%s: continues after %llu rows, but the state has %llu", one->log.path,
                    (unsigned long long)record->first_row, (unsigned long long)rows);
        return break_off(one, &why);
    }
    bool is_cut = next && next->kind == JOURNAL_CUT;
    if (record->kind == JOURNAL_ROWS || record->kind == JOURNAL_SENT ||
        record->kind == JOURNAL_WAITED)
        stream_replay_rows(one, record, is_cut ? next->first_row : UINT64_MAX);
    else
        replay_change(one, record);
    return true;
}

static bool replay(stream *one, problem *why)
{
    if (one->log.cut_bytes > 0)
        note("stream %s: %llu bytes at the end of its journal were not complete, and are left out; "
             "they are now in %s.torn",
             one->name, (unsigned long long)one->log.cut_bytes, one->log.path);
    one->is_replaying = true;
    bool is_replayed = journal_replay(&one->log, replay_record, one, why);
    one->is_replaying = false;
    return is_replayed && !one->is_broken;
}

/* The state file is written before settings.json or the history mention it. */
static bool check_no_state(const stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES];
    if (!one->kept_snapshot.exists && access(stream_path(one, "history", path), F_OK) != 0)
        return true;
    return problem_set(why, 503, whole_copy_remedy,
                       "%s: is missing, although the stream was saved; nothing was changed",
                       stream_path(one, "state", path));
}

static bool check_state(const stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES];
    uint64_t rows = stream_row_count(one), saved = one->kept_snapshot.rows;
    return rows >= saved ||
           problem_set(why, 503, whole_copy_remedy,
                       "%s: is older than the rest: it has %llu rows, but %llu were saved",
                       stream_path(one, "state", path), (unsigned long long)rows,
                       (unsigned long long)saved);
}

static bool load_state(stream *one, problem *why)
{
    oif_error error;
    oif_status status = oif_state_file_load_pipeline(one->file, &one->pipeline, &error);
    if (status == OIF_END)
        return check_no_state(one, why);
    if (status != OIF_OK)
        return problem_set_error(why, 503, stream_copy_remedy, &error);
    if (!check_state(one, why))
        return false;
    if (!stream_keep_episodes(one->pipeline, &error)) /* an older version did not */
        return problem_set_error(why, 503, NULL, &error);
    one->settings.cli.score.time = one->shape.time;
    key_room_limit(one->pipeline);
    stream_start_times(one);
    load_history(one);
    load_senders(one);
    stream_trend_resume(one);
    one->snapshot_rows = stream_row_count(one);
    one->snapshot_bytes = bytes_of_state(one);
    return true;
}

/* ---- Opening ---- */

static bool open_state(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES];
    oif_error error;
    if (!descriptors_allow(streams_count(one->all) + 1, why))
        return false;
    if (oif_state_file_open(stream_path(one, "state", path), &one->file, &error) == OIF_OK)
        return true;
    return problem_set_error(why, 503, descriptors_remedy(error.system_errno, disk_remedy), &error);
}

static bool open_journal(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES];
    return journal_open(&one->log, stream_path(one, "journal", path), why);
}

/* Every stream has a journal. It is missing if an operator moved a damaged one away, as the remedy
 * says. */
static void look_for_journal(const stream *one)
{
    char path[STREAM_PATH_BYTES];
    if (access(stream_path(one, "journal", path), F_OK) != 0)
        complain(EXIT_FAILED,
                 "stream %s: %s: is missing; a new one begins, and rows that came after the last "
                 "snapshot are lost",
                 one->name, path);
}

static bool load(stream *one, problem *why)
{
    if (!settings_file_read(one, why) || !open_state(one, why) || !load_state(one, why))
        return break_off(one, why);
    look_for_journal(one);
    if (!open_journal(one, why))
        return break_off(one, why);
    one->settings.cli.state = one->name;
    bool is_loaded = replay(one, why);
    one->is_provisional &= is_loaded && !one->pipeline && !one->shape.header;
    one->saved = stream_row_count(one);
    return is_loaded || (!one->is_broken && break_off(one, why));
}

/* Creates all files of a stream in the folder `path`. */
static bool make_files(stream *one, const char *path, problem *why)
{
    const stream_snapshot none = {.exists = false};
    char *place = one->folder;
    folder_remove(path); /* left by a crash, if any */
    if (mkdir(path, 0700) != 0)
        return stream_fail_on_file(why, path, "cannot be made");
    one->folder = (char *)(uintptr_t)path;
    bool is_made =
        settings_file_write(one, one->settings.object, &none, why) && open_journal(one, why);
    journal_close(&one->log);
    one->folder = place;
    if (is_made && !folder_sync(path))
        is_made = stream_fail_on_file(why, path, "cannot be written");
    if (!is_made)
        folder_remove(path);
    return is_made;
}

/* The folder is renamed once it is complete, so after a crash it is complete or absent. */
static bool make_folder(stream *one, problem *why)
{
    char new_path[STREAM_PATH_BYTES], parent[STREAM_PATH_BYTES];
    size_t parent_bytes = strlen(one->folder) - strlen(one->name);
    snprintf(parent, sizeof parent, "%.*s.", (int)parent_bytes, one->folder);
    snprintf(new_path, sizeof new_path, "%.*s.new-%s", (int)parent_bytes, one->folder, one->name);
    if (!make_files(one, new_path, why))
        return false;
    if (rename(new_path, one->folder) != 0) {
        stream_fail_on_file(why, one->folder, "cannot be made");
        folder_remove(new_path);
        return false;
    }
    bool is_made = folder_sync(parent) || stream_fail_on_file(why, one->folder, "cannot be made");
    is_made = is_made && open_state(one, why) && open_journal(one, why);
    if (!is_made)
        folder_remove(one->folder);
    return is_made;
}

void stream_confirm(stream *one)
{
    problem why;
    stream_begin_change(one);
    bool was_provisional = one->is_provisional;
    one->is_provisional = false;
    if (was_provisional && one->folder &&
        !settings_file_write(one, one->settings.object, &one->kept_snapshot, &why))
        set_error(one, why.message);
    stream_end_change(one);
}

static bool create(stream *one, json_t *settings, problem *why)
{
    if (!stream_settings_open(&one->settings, settings, one->folder != NULL, why))
        return false;
    one->settings.cli.state = one->name;
    return !one->folder ||
           (descriptors_allow(streams_count(one->all) + 1, why) && make_folder(one, why));
}

stream *stream_new(struct streams *all, const stream_asked *asked, problem *why)
{
    stream *one = calloc(1, sizeof *one);
    if (!one) {
        problem_set(why, 503, NULL, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&one->changing, NULL);
    pthread_mutex_init(&one->sync_lock, NULL);
    pthread_mutex_init(&one->turn, NULL);
    pthread_mutex_init(&one->lock, NULL);
    snprintf(one->name, sizeof one->name, "%s", asked->name);
    one->all = all;
    one->events = streams_feed(all);
    one->incidents = streams_incidents(all);
    one->references = 1;
    one->log.fd = -1;
    one->counted.last_row_at = one->quiet.latest = NAN;
    one->past = history_new(streams_asked(all)->history_bytes);
    one->senders = senders_new();
    one->held = waiting_rows_new();
    one->is_provisional = asked->is_provisional;
    one->folder = asked->folder ? strdup(asked->folder) : NULL;
    if (!one->past || !one->senders || !one->held || (asked->folder && !one->folder)) {
        problem_set(why, 503, NULL, "out of memory");
        stream_free(one);
        return NULL;
    }
    if (!asked->settings) {
        load(one, why);
        one->opened_at = background_wall_seconds();
        if (one->past->learning_count > 0)
            stream_count_needed(one);
        return one;
    }
    if (create(one, asked->settings, why))
        return one;
    stream_free(one);
    return NULL;
}

void stream_free(stream *one)
{
    for (size_t i = 0; i < BODY_READERS; i++)
        body_reader_close(&one->readers[i]);
    journal_close(&one->log);
    oif_state_file_close(one->file);
    oif_pipeline_free(one->pipeline);
    trend_store_close(one->trends);
    history_free(one->past);
    senders_free(one->senders);
    waiting_rows_free(one->held);
    stream_settings_close(&one->settings);
    body_shape_free(&one->shape);
    json_decref(one->kept_settings);
    free(one->notes);
    free(one->folder);
    pthread_mutex_destroy(&one->lock);
    pthread_mutex_destroy(&one->turn);
    pthread_mutex_destroy(&one->sync_lock);
    pthread_mutex_destroy(&one->changing);
    free(one);
}
