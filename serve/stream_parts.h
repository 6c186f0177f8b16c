/* The inside of a stream, for the files that work on it. */
#ifndef OIF_SERVE_STREAM_PARTS_H
#define OIF_SERVE_STREAM_PARTS_H

#include "../cli/stream_clock.h"
#include "body_reader.h"
#include "history.h"
#include "journal.h"
#include "stream_settings.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BODY_READERS = 4, ERROR_BYTES = PROBLEM_MESSAGE_BYTES };

/* When silence is heard by the machine's clock; cli/silence_monitor.h has the rules. */
typedef struct stream_quiet {
    double latest;       /* the latest time of a row; NaN: none */
    double longest_idle; /* seconds between two bodies */
    uint64_t arrivals;
} stream_quiet;

/* What settings.json says about the snapshot, so that its loss is noticed, and what later rows need
 * and the state does not hold. */
typedef struct stream_snapshot {
    bool exists;
    uint64_t rows;
    oif_time_format times;
    uint64_t bad_rows; /* also before there is one */
} stream_snapshot;

struct stream {
    char name[STREAM_NAME_BYTES];
    char *folder; /* NULL: nothing is kept */
    feed *events;
    double save_every;
    size_t references; /* under the lock of the registry */
    struct streams *all;

    pthread_mutex_t changing;  /* of who changes it; taken before the others */
    pthread_mutex_t sync_lock; /* one sync at a time; taken before `turn` */
    pthread_mutex_t turn;      /* of who waits for `lock` */
    pthread_mutex_t lock;      /* for all that follows */
    atomic_uint waiting;       /* how many wait to look */
    stream_settings settings;
    body_shape shape;
    body_reader readers[BODY_READERS];
    oif_pipeline *pipeline; /* NULL: no row has come yet */
    stream_clock times;
    stream_quiet quiet;
    history *past;
    char *notes; /* what was found out and said when the first rows came; NULL: nothing */

    oif_state_file *file;
    journal log;
    bool is_removed;
    bool is_replaying;             /* then no one is told anything */
    uint64_t saved;                /* rows on disk */
    json_t *kept_settings;         /* those in settings.json; later ones are in the journal */
    stream_snapshot kept_snapshot; /* in settings.json, too */
    uint64_t snapshot_rows;
    uint64_t changes, saved_changes; /* of settings and keys; those in the last snapshot */
    size_t snapshot_bytes;
    bool is_dirty;           /* the journal has what is not synced yet */
    bool is_failing;         /* the last sync or snapshot has failed; the next is a snapshot */
    size_t refused_bytes;    /* which the disk did not take last; 0: it took them */
    char error[ERROR_BYTES]; /* why it cannot work, or what fails; "": nothing */
    bool is_broken;          /* it could not be loaded */
    char remedy[PROBLEM_REMEDY_BYTES];

    /* Figures. */
    uint64_t bad_rows, batches;
    double last_row_at; /* NaN: none */
    double rate, rate_at;
    uint64_t saves, failed_saves;
    double last_save_seconds, save_seconds;
    uint64_t latency[LATENCY_BUCKETS];
    double latency_seconds;
    uint64_t told_rows, told_saved; /* in the last event about the stream */
};

/* ---- stream_turns.c ---- */

/* Who looks has the lock, between two rows if a body is being processed. */
void stream_begin_look(stream *one);
void stream_end_look(stream *one);

/* Who changes the stream has the lock, and no one else changes it before the end. The second
 * returns false instead of waiting for another change to end. */
void stream_begin_change(stream *one);
bool stream_may_change_now(stream *one);
void stream_end_change(stream *one);

/* Between two rows, for who changes: lets those look who wait for it. */
void stream_let_look(stream *one);

/* ---- stream_rows.c ---- */

uint64_t stream_row_count(const stream *one);

/* Processes the rows of a record of the journal again: no more than `limit`. */
void stream_replay_rows(stream *one, const journal_record *record, uint64_t limit);

/* Starts the clock of the stream by its settings. */
void stream_start_times(stream *one);

/* Adds to a pipeline what is not in the settings of a new one: the columns that are derived, and
 * their names. */
exit_code stream_name_columns(const stream *one, const cli_columns *columns,
                              oif_pipeline *pipeline);

/* The format of a body: what was asked for, what the settings say, or what it looks like. */
oif_format stream_body_format(const stream *one, int asked, oif_text body);

/* Rows per second of the last ten seconds, or about that. */
double stream_rate(const stream *one, double now);

/* ---- stream_silence.c ---- */

/* Before a row, and after it; and when none comes. The last returns how many keys are silent since
 * it was called before. */
void stream_hear_row(stream *one, double seconds);
void stream_hear_result(stream *one, history_key *key, double seconds, const oif_result *result);
void stream_hear_arrival(stream *one, double now);
void stream_hear_idle(stream *one, double now);
size_t stream_silent_at(stream *one, double seconds);

/* ---- stream_change.c ---- */

/* Under the lock: whether the stream is there and not broken; else `why` says so. */
bool stream_check_usable(const stream *one, problem *why);

/* Both without a journal. */
bool stream_apply_settings(stream *one, json_t *object, problem *why);
void stream_drop_key(stream *one, const char *key, size_t key_bytes);

/* ---- stream_keep.c ---- */

/* Makes the stream's folder, or loads what is in it. `settings` is NULL for the latter. False only
 * if there is nothing to go on with. */
stream *stream_new(struct streams *all, const char *name, const char *folder, json_t *settings,
                   feed *events, double save_every, size_t history_bytes, problem *why);
void stream_free(stream *one);

/* The path of a file of the stream. */
enum { STREAM_PATH_BYTES = 4096 };
const char *stream_path(const stream *one, const char *file, char path[STREAM_PATH_BYTES]);

/* What errno says about a file: 507 if the disk is full. Returns false. */
bool stream_fail_on_file(problem *why, const char *path, const char *what);
extern const char stream_copy_remedy[];

/* Under the lock: writes a snapshot and empties the journal. */
bool stream_save(stream *one, problem *why);

/* Takes the lock itself: has the disk take the journal; false if it does not. */
bool stream_sync(stream *one);

/* Under the lock: puts something into the journal. */
bool stream_keep_record(stream *one, const journal_record *record, problem *why);

/* Under the lock, once a second: whether the disk takes again what it did not take last. */
void stream_try_disk(stream *one);

/* Under the lock: whether the journal is so long that a snapshot is due. */
bool stream_is_save_due(const stream *one);

/* Under the lock: why a broken stream cannot be used; returns false. */
bool stream_tell_broken(const stream *one, problem *why);

/* Under the lock, at the end: whether the journal is as good as a snapshot. */
bool stream_is_cheap_to_replay(const stream *one);

/* ---- settings_file.c ---- */

/* Writes settings.json: these settings and this snapshot, and what is found out so far. */
bool settings_file_write(stream *one, json_t *settings, const stream_snapshot *snapshot,
                         problem *why);
bool settings_file_read(stream *one, problem *why);

/* ---- stream_text.c ---- */

/* The texts of events, and the figures of an episode. */
void stream_write_alert(const stream *one, const row_verdict *verdict, uint64_t row,
                        const history_key *key);
void stream_tell_episode(const stream *one, const history_episode *episode);
void stream_tell_silence(const stream *one, const char *key, size_t key_bytes, bool begins,
                         double since, double seconds);
void stream_tell_row(const stream *one, const history_key *key, const history_point *point);
void stream_tell_rows(stream *one);

/* Under the lock, the newest first. */
void stream_visit_open(const stream *one,
                       void (*visit)(void *context, const stream_episode *episode), void *context);
void stream_visit_ended(const stream *one,
                        void (*visit)(void *context, const stream_episode *episode), void *context);

/* A number, or null if it is not finite; and a member with its name: ,"name":0.5 */
void write_json_number(double value);
void write_json_member(const char *name, double value);

/* A member with a text, or null if it is empty; and a key, or null if the stream has none. */
void write_json_text(const char *name, const char *text);
void write_json_key(bool has_key, const char *key, size_t key_bytes);

/* {"stream":"pump","key":"a" */
void stream_begin_object(const stream *one, const char *key, size_t key_bytes);

/* Two digits are as much as anyone reads. */
double rounded_severity(double severity);

#endif
