/* The internals of a stream, for the files that implement it. */
#ifndef OIF_SERVE_STREAM_PARTS_H
#define OIF_SERVE_STREAM_PARTS_H

#include "front/input/stream_clock.h"
#include "front/session/silence_clock.h"
#include "front/text/write_json.h"
#include "history.h"
#include "incident_reports.h"
#include "serve/agents/waiting_rows.h"
#include "serve/base/arrival_gaps.h"
#include "serve/base/journal.h"
#include "serve/bodies/body_reader.h"
#include "serve/senders/senders.h"
#include "serve/trend/trend_file.h"
#include "stream_settings.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BODY_READERS = 4, ERROR_BYTES = PROBLEM_MESSAGE_BYTES };

/* What settings.json says about the snapshot, to notice its loss, and what later rows need that is
 * not in the state. */
typedef struct stream_snapshot {
    bool exists;
    uint64_t rows;
    oif_time_format times;
    uint64_t bad_rows; /* also before the first snapshot */
} stream_snapshot;

struct stream {
    char name[STREAM_NAME_BYTES];
    char *folder; /* NULL: nothing is stored */
    feed *events;
    bool sends_incidents;
    size_t references; /* protected by the registry's lock */
    struct streams *all;

    pthread_mutex_t saving;    /* held during a snapshot; taken before the others, or tried */
    pthread_mutex_t sync_lock; /* one sync at a time; taken before those below */
    pthread_mutex_t changing;  /* held by a changing thread; taken before those below */
    pthread_mutex_t turn;      /* held while waiting for `lock` */
    pthread_mutex_t lock;      /* protects everything below */
    atomic_uint waiting;       /* number of threads waiting to look */
    stream_settings settings;
    body_shape shape;
    body_reader readers[BODY_READERS];
    oif_pipeline *pipeline; /* NULL: no row yet */
    stream_clock times;
    silence_clock quiet;
    arrival_gaps gaps;
    bool is_dead; /* rows no longer come */
    history *past;
    stream_incidents incidents;
    char *notes;     /* messages of the first rows; NULL: none */
    names_text late; /* keys that came too late to be learned */
    senders *senders;
    trend_file *trends; /* hours and days; NULL: none */
    waiting_rows *held; /* rows of samples that may get more columns */

    oif_state_file *file;
    journal log;
    bool is_removed;
    bool is_provisional;           /* made by rows, of which none was accepted yet */
    bool is_replaying;             /* nothing is reported meanwhile */
    uint64_t saved;                /* rows on disk */
    json_t *kept_settings;         /* in settings.json; later ones are in the journal */
    stream_snapshot kept_snapshot; /* also in settings.json */
    uint64_t snapshot_rows;
    uint64_t changes, saved_changes; /* of settings and keys; those in the last snapshot */
    size_t snapshot_bytes;
    bool is_dirty;           /* the journal has unsynced data */
    bool must_save;          /* the thread that processes the current body saves after it */
    bool is_failing;         /* the last sync or snapshot failed; a snapshot comes next */
    uint64_t failures;       /* of syncs and snapshots */
    size_t refused_bytes;    /* that the disk refused last; 0: none */
    char error[ERROR_BYTES]; /* why it cannot work, or what fails; "": nothing */
    bool is_broken;          /* it could not be loaded */
    oif_cause cause;         /* why it could not */
    char remedy[PROBLEM_REMEDY_BYTES];

    stream_figures counted; /* only what stream_get_figures cannot find elsewhere */
    uint64_t bad_rows;
    double opened_at; /* by the wall clock; no row could come before */
    double now;       /* of the body or the look that is being processed, by the wall clock */
    double rate, rate_at;
    uint64_t told_rows, told_saved; /* in the last event about the stream */
};

/* ---- stream_turns.c ---- */

/* Takes the lock to look at the stream, between two rows if a body is being processed. */
void stream_read_lock(stream *one);
void stream_read_unlock(stream *one);

/* Takes the lock to change the stream; no other thread changes it before the end. The second
 * returns false instead of waiting for another change. */
void stream_begin_change(stream *one);
bool stream_may_change_now(stream *one);
void stream_end_change(stream *one);

/* For a changing thread, between two rows: lets waiting threads look. */
void stream_let_look(stream *one);

/* ---- stream_rows.c ---- */

uint64_t stream_row_count(const stream *one);

/* Processes the rows of a journal record again, at most `limit`. */
void stream_replay_rows(stream *one, const journal_record *record, uint64_t limit);

/* Rows per second over about the last ten seconds. */
double stream_rate(const stream *one, double now);

/* ---- stream_body.c ---- */

/* Processing the rows of a body. */
typedef struct body_run {
    stream *one;
    body_reader *reader;
    const rows_request *request;
    rows_answer *answer;
    bad_rows bad;
    sender from;        /* SENDER_NONE: unknown */
    uint64_t skip;      /* rows processed earlier */
    uint64_t limit;     /* of a replay: rows of the stream after which it ends */
    double now;         /* by the wall clock */
    bool is_in_journal; /* as a record of its own */
    bool is_header_written;
    bool is_shape_new; /* no row, but a header that is new */
    bool seeks_decimal;
} body_run;

/* Why a body ended. */
typedef enum run_end { BODY_READ, BODY_BAD_ROW, BODY_REFUSED, BODY_FAILED } run_end;

run_end stream_run_body(body_run *run, problem *why);

/* Starts the clock of the stream from its settings. */
void stream_start_times(stream *one);

/* Processes a body that is in the journal, or follows from it. */
bool stream_take_rows(stream *one, body_run *run, problem *why);

/* ---- stream_senders.c ---- */

/* Who sends a body; and whether its rows follow those that were processed: else 409. */
sender stream_sender_of(const rows_request *request);
bool stream_check_sender(const stream *one, const sender *from, problem *why);

/* How many rows of the sender were processed. */
uint64_t stream_position(const stream *one, const sender *from);

/* The payload of JOURNAL_SENT, which the caller frees: a line about the sender, then the body.
 * NULL: out of memory. And the request of such a record; `texts` holds what it points to. */
char *stream_write_sent(const rows_request *request, size_t *bytes);
bool stream_read_sent(const journal_record *record, rows_request *request, json_t **texts);

/* Under the lock. Rows of samples wait, except very many in one body. Those that have waited long
 * enough are processed with the next body, and once per second; all of them before a snapshot, as
 * it does not have them. */
bool stream_waits(const stream *one, const rows_request *request);
bool stream_take_waiting(stream *one, const rows_request *request, rows_answer *answer,
                         problem *why);
void stream_end_waiting(stream *one, double now);
bool stream_end_all_waiting(stream *one, problem *why);

/* Both with at most `limit` rows of the stream; the second without new rows. */
void stream_replay_waiting(stream *one, const rows_request *request, double seconds,
                           uint64_t limit);
void stream_replay_waited(stream *one, const journal_record *record, uint64_t limit);

/* ---- stream_bands.c ---- */

/* Call it after a row, before the state of the key is that of the row. */
void stream_remember_band(stream *one, history_key *key, const oif_result *result);

/* ,"expected":{"flow":[[38,42],null]} of the points from `first` on, without columns of which
 * nothing is known. */
void stream_write_bands(const stream *one, const history_key *key, uint32_t first);

/* ---- stream_silence.c ---- */

/* take_silence reports a key that fell silent. Call hear_result after a row, and hear_idle when
 * no row comes. silent_at returns how many keys have become silent since its previous call.
 * feed_arrives and feed_dies are about the stream as a whole. */
void stream_take_silence(void *one, const oif_silence *silence);
void stream_feed_arrives(stream *one, double now);
void stream_feed_dies(stream *one, double now);
void stream_note_result(stream *one, history_key *key, double seconds, const oif_result *result);
void stream_note_idle(stream *one, double now);
size_t stream_silent_at(stream *one, double seconds);

/* ---- stream_state.c ---- */

/* Under the lock. This is the only place that decides what a stream or a key is. */
stream_state stream_state_of(const stream *one, double now);
stream_state stream_key_state(const stream *one, const history_key *key, double now);
bool stream_is_recovering(const stream *one, const history_episode *open);

/* ,"state":"alert","state_since":...,"state_grade":...,"state_severity":...,"learning":... */
void stream_write_state(const stream_state *state);

/* ---- stream_trend.c ---- */

/* After a start, or before the first row. */
void stream_trend_start(stream *one);

/* `now`: the arrival, for rows without a time. */
void stream_trend_row(stream *one, history_key *key, const history_point *point, double now);
trend_row stream_trend_row_of(const history_point *point);

/* ---- stream_incidents.c ---- */

/* Under the lock. An episode begins or has become worse, or has ended. `now` is by the wall
 * clock. */
void stream_join_incident(stream *one, history_episode *episode, double now);
void stream_leave_incident(stream *one, const history_episode *episode, double now);

/* The feed has died, or is back. */
void stream_join_no_data(stream *one, double now);
void stream_leave_no_data(stream *one, double now);

/* The stream is removed. */
void stream_end_incidents(stream *one, double now);

/* ---- streams_incidents.c ---- */

/* What the webhook has sent. Keep is for a changing thread: it writes a record if there is more. */
void stream_keep_reported(stream *one);
void stream_replay_reported(stream *one, const journal_record *record);

/* Reports of removed streams, until they are sent. */
typedef struct removed_reports {
    pthread_mutex_t lock;
    incident_reports reports;
    uint64_t numbers;
} removed_reports;

removed_reports *streams_removed_reports(struct streams *all);
void streams_keep_reports(struct streams *all, stream *one); /* under the lock of the stream */

/* ---- stream_change.c ---- */

/* Under the lock: whether the stream exists and is not broken; else sets `why`. */
bool stream_check_usable(const stream *one, problem *why);

/* Both without a journal record. `is_in_state`: the pipeline has them already. */
bool stream_apply_settings(stream *one, json_t *object, bool is_in_state, problem *why);
void stream_drop_key(stream *one, const char *key, size_t key_bytes, double now);

/* ---- stream_idle.c ---- */

/* Once per second: ends the open episodes of keys without rows for the setting end-after. */
void stream_end_idle_episodes(stream *one, double now);

void stream_replay_end(stream *one, const journal_record *record);

/* ---- stream_open.c ---- */

/* A stream to be made, or loaded if `settings` is NULL. */
typedef struct stream_asked {
    const char *name;
    const char *folder; /* NULL: nothing is stored */
    json_t *settings;
    bool is_provisional;
} stream_asked;

/* Creates the stream's folder, or loads it. False only if there is nothing to continue with. */
stream *stream_new(struct streams *all, const stream_asked *asked, problem *why);
void stream_free(stream *one);

/* A stream that was asked for is not provisional. */
void stream_confirm(stream *one);

/* Under the lock: reports why a broken stream cannot be used; returns false. */
bool stream_publish_broken(const stream *one, problem *why);

/* ---- stream_files.c ---- */

/* The path of a file of the stream. */
enum { STREAM_PATH_BYTES = 4096 };
const char *stream_path(const stream *one, const char *file, char path[STREAM_PATH_BYTES]);

/* Reports errno about a file: 507 if the disk is full. Returns false. */
bool stream_fail_on_file(problem *why, const char *path, const char *what);
extern const char stream_copy_remedy[], stream_disk_remedy[];

/* Save, under the lock, writes a file under a new name, which is not synced yet. Take gives it its
 * own. Load finds the one that belongs to the state. */
bool stream_save_history(stream *one, problem *why);
bool stream_take_history(stream *one, problem *why);
void stream_load_history(stream *one);

/* ---- stream_keep.c ---- */

/* For a changing thread: writes a snapshot, and removes what it has from the journal. Other threads
 * change the stream meanwhile. True at once if another thread saves it now. */
bool stream_save(stream *one, problem *why);

/* Under the lock: what fails, said once; and the size of the state file, 0 without one. */
void stream_set_error(stream *one, const char *message);
size_t stream_state_bytes(const stream *one);

/* Takes the lock itself: syncs the journal; false on failure. */
bool stream_sync(stream *one);

/* Under the lock: appends to the journal. */
bool stream_keep_record(stream *one, const journal_record *record, problem *why);

/* Under the lock, once per second: whether a disk that refused data accepts it again. */
void stream_try_disk(stream *one);

/* Under the lock: whether the journal is long enough for a snapshot. */
bool stream_is_save_due(const stream *one);

/* Under the lock, at the end: whether the journal makes a snapshot unnecessary. */
bool stream_is_cheap_to_replay(const stream *one);

/* ---- stream_snapshot.c ---- */

/* For a changing thread. The lock is released in between, and taken again. */
bool stream_write_snapshot(stream *one, problem *why);
bool stream_empty_journal(stream *one, problem *why);

/* ---- settings_file.c ---- */

/* The text of settings.json, under the lock; the caller frees it; NULL: out of memory. Put writes
 * it without the lock. Is, under the lock, remembers what the file has. */
char *settings_file_text(const stream *one, json_t *settings, const stream_snapshot *snapshot);
bool settings_file_put(const stream *one, const char *text, problem *why);
void settings_file_is(stream *one, json_t *settings, const stream_snapshot *snapshot);

/* Writes settings.json: these settings, this snapshot, and what is known so far. */
bool settings_file_write(stream *one, json_t *settings, const stream_snapshot *snapshot,
                         problem *why);
bool settings_file_read(stream *one, problem *why);

/* ---- stream_text.c ---- */

/* The texts of events, and the figures of an episode. */
void stream_write_episode(const stream *one, const history_episode *episode);
void stream_write_alert(const stream *one, const row_verdict *verdict, uint64_t row,
                        const history_key *key);
void stream_publish_episode(const stream *one, const history_episode *episode);
/* Without a key it is about the whole feed. */
void stream_publish_silence(const stream *one, const char *key, size_t key_bytes, bool begins,
                            double since, double seconds);
void stream_publish_rows(stream *one);

/* Under the lock, newest first. */
void stream_visit_open(const stream *one, episode_visitor *visit, void *context);
void stream_visit_ended(const stream *one, episode_visitor *visit, void *context);

/* Under the lock: the key of a query, or the latest one if there are no keys or none is named;
 * NULL: the history does not have it. */
history_key *stream_find_key(const stream *one, const char *key, size_t key_bytes);

/* "flow"; "x0", "x1", ... if the columns are unnamed. */
void stream_write_column_name(const stream *one, size_t column);

/* {"stream":"pump","key":"a" */
void stream_begin_object(const stream *one, const char *key, size_t key_bytes);

#endif
