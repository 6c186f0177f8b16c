/* How a stream is created, or loaded: the state, then the rest of the journal on top of it. */
#include "stream_parts.h"

#include "front/options/key_room.h"
#include "serve/base/background.h"
#include "serve/base/descriptors.h"
#include "serve/base/folder.h"
#include "streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char whole_copy_remedy[] =
    "restore a backup of the whole folder, or remove the stream";

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

bool stream_publish_broken(const stream *one, problem *why)
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
    case JOURNAL_FORGET:
        stream_drop_key(one, record->payload, record->bytes, record->seconds);
        break;
    case JOURNAL_BAD_ROWS: one->bad_rows = record->skip; break;
    case JOURNAL_CLOCK:
        if (one->pipeline)
            stream_silent_at(one, record->seconds);
        break;
    case JOURNAL_END: stream_replay_end(one, record); break;
    case JOURNAL_NO_DATA: stream_feed_dies(one, record->seconds); break;
    case JOURNAL_REPORTED: stream_replay_reported(one, record); break;
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
    one->settings.cli.score.time = one->shape.time;
    key_room_limit(one->pipeline);
    stream_start_times(one);
    stream_load_history(one);
    stream_trend_start(one);
    one->snapshot_rows = stream_row_count(one);
    one->snapshot_bytes = stream_state_bytes(one);
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
    return problem_set_error(why, 503, descriptors_remedy(error.system_errno, stream_disk_remedy),
                             &error);
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
        return stream_fail_on_file(why, path, "cannot be created");
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
        stream_fail_on_file(why, one->folder, "cannot be created");
        folder_remove(new_path);
        return false;
    }
    bool is_made =
        folder_sync(parent) || stream_fail_on_file(why, one->folder, "cannot be created");
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
        stream_set_error(one, why.message);
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
    pthread_mutex_init(&one->saving, NULL);
    pthread_mutex_init(&one->changing, NULL);
    pthread_mutex_init(&one->sync_lock, NULL);
    pthread_mutex_init(&one->turn, NULL);
    pthread_mutex_init(&one->lock, NULL);
    snprintf(one->name, sizeof one->name, "%s", asked->name);
    one->all = all;
    one->events = streams_feed(all);
    one->sends_incidents = streams_asked(all)->sends_incidents;
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
    trend_file_close(one->trends);
    history_free(one->past);
    stream_incidents_free(&one->incidents);
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
    pthread_mutex_destroy(&one->saving);
    free(one);
}
