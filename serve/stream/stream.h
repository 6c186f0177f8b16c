/* One stream: rows in, the lines of `oif score` out, and the state of its keys. Any thread may make
 * any call; a stream does one thing at a time. */
#ifndef OIF_SERVE_STREAM_H
#define OIF_SERVE_STREAM_H

#include "serve/base/feed.h"
#include "serve/base/problem.h"

#include "oif_rows.h"

#include <jansson.h>

typedef struct stream stream;

/* ---- Rows ---- */

typedef enum rows_answer_kind {
    ANSWER_RESULTS, /* the lines that `oif score` would print */
    ANSWER_ALERTS,  /* only the anomalous ones */
    ANSWER_COUNT    /* no lines */
} rows_answer_kind;

typedef struct rows_request {
    const char *body; /* not compressed */
    size_t bytes;
    int format;         /* 0: detect; else 1 + OIF_FORMAT_CSV or 1 + OIF_FORMAT_NDJSON */
    bool must_have_row; /* a header alone is refused: it may be any text */
    bool has_first_row;
    uint64_t first_row; /* number of the first row of the body, from 0 */
    const char *writer; /* whose rows first_row counts; NULL: those of the stream */
    const char *digest; /* of the body: one that has come before is not processed; NULL: none */
    bool may_wait;      /* rows of samples: they wait for others if the settings say so */
    rows_answer_kind answer;
    bool is_durable; /* return only once the rows are on disk */
} rows_request;

typedef struct rows_answer {
    uint64_t rows, saved; /* of the stream: processed, and on disk */
    uint64_t accepted;    /* rows of this body that were processed */
    uint64_t skipped;     /* rows processed earlier, by first_row or the digest of the body; they
                             have no lines */
    uint64_t waiting;     /* rows of the stream that wait for more samples */
    bool has_writer;
    uint64_t writer_rows; /* of the writer, processed so far */
    uint64_t bad;         /* unreadable rows that were skipped or repaired */
    uint64_t alerts;
    bool is_csv;      /* format of the lines */
    bool is_a_header; /* there was no row, but a header, which later rows may lack */
} rows_answer;

/* Processes a body. The lines are written to the (diverted) output. On failure, rows before the bad
 * one were accepted: the answer is valid, `why` has the position, and lines may have been written.
 *
 * 400        a row cannot be read, and why->line and why->column say where; or there is none
 * 409        first_row is past the rows of the stream or the writer, the columns do not fit, or
 *            rows must be durable where nothing is stored
 * 413        there are too many columns
 * 503, 507   it could not be written to disk; nothing was processed */
bool stream_rows(stream *one, const rows_request *request, rows_answer *answer, problem *why);

/* ---- Settings and keys ---- */

/* Changes the settings named in the object; null removes a setting. Only settings that affect later
 * alerts and output can change; others are a problem, 409. */
bool stream_change(stream *one, json_t *settings, problem *why);

/* Whether the settings named in the object are those of the stream; else 409. */
bool stream_check_settings(stream *one, json_t *settings, problem *why);

/* Removes the model of a key and everything known about it; 404: there is none. */
bool stream_forget_key(stream *one, const char *key, size_t key_bytes, problem *why);

/* ---- Feedback ---- */

typedef struct episode_name {
    const char *key; /* NULL: a stream without keys */
    size_t key_bytes;
    uint64_t number;
} episode_name;

/* {"rule": "mute ..."}: a rule as narrow as a past episode; null: no rule describes it. 404: it is
 * not remembered. */
bool stream_write_proposal(stream *one, const episode_name *name, problem *why);
json_t *stream_copy_settings(stream *one); /* the caller frees it; NULL: out of memory */
int stream_format(stream *one);            /* that the settings name, as in rows_request; 0: none */
const char *stream_name(const stream *one); /* valid while the caller holds the stream */

/* ---- JSON, written to the (diverted) output ---- */

void stream_write(stream *one);

typedef enum keys_order {
    KEYS_BY_SEVERITY,
    KEYS_BY_SCORE,
    KEYS_BY_RECENT,
    KEYS_BY_NAME
} keys_order;

typedef struct keys_query {
    keys_order order;
    const char *find; /* a part of the key; NULL: all keys */
    size_t find_bytes;
    const char *key; /* the whole key; NULL: all keys */
    size_t key_bytes;
    size_t limit, offset; /* limit 0: 100 */
} keys_query;

/* {"keys": [Key, ...], "total": n} */
void stream_write_keys(stream *one, const keys_query *query);

typedef struct points_query {
    const char *key; /* NULL: the key of a stream without keys, or the most recent one */
    size_t key_bytes;
    size_t limit;        /* the latest; 0: all */
    double since;        /* seconds since 1970; NaN or 0: all */
    bool wants_expected; /* what was expected of the columns, too */
} points_query;

/* Hours and days: buckets of equal width, with the lowest, the highest and the mean values. */
typedef struct history_query {
    const char *key; /* as in points_query */
    size_t key_bytes;
    double from, to; /* seconds since 1970; NaN: up to the latest row */
    double span;     /* seconds before `to`, if there is no `from` */
    size_t points;   /* at most */
} history_query;

/* 404: nothing is known of the key; 400: the range is empty. */
bool stream_write_history(stream *one, const history_query *query, problem *why);

/* Points; 404: the key is unknown. */
bool stream_write_points(stream *one, const points_query *query, problem *why);

/* Newest first. */
typedef struct events_query {
    const char *key; /* NULL: all */
    size_t key_bytes;
    size_t limit;   /* 0: 100 */
    double since;   /* by their last row; NaN or 0: all */
    bool only_open; /* episodes */
} events_query;

void stream_write_episodes(stream *one, const events_query *query); /* {"episodes": [...]} */
void stream_write_alerts(stream *one, const events_query *query);   /* {"alerts": [...]} */

/* ---- States ---- */

/* What a stream or a key is; the worst is last. watch_words has the words for people and programs
 * alike: "quiet", "learning", "recovering", "no data", "alert", "damaged". */
typedef enum watch_state {
    WATCH_QUIET,      /* rows come, can be judged, and are as usual */
    WATCH_LEARNING,   /* too few rows so far: nothing is an anomaly yet */
    WATCH_RECOVERING, /* an episode is open, but its latest rows are calm */
    WATCH_NO_DATA,    /* rows no longer come, or never have */
    WATCH_ALERT,      /* an episode is open */
    WATCH_DAMAGED     /* the stream cannot work; its error says why */
} watch_state;

enum { WATCH_STATES = WATCH_DAMAGED + 1 };
extern const char *const watch_words[WATCH_STATES];

typedef struct stream_state {
    watch_state what;
    double since;        /* by the times of rows if they have any; NaN: unknown */
    oif_grade grade;     /* the worst of the open episodes */
    double severity;     /* the same; NaN: none is open */
    size_t keys;         /* that are so: silent, learning or in an episode */
    double learned_rows; /* of a learning key, on average */
    double needed_rows;  /* how many it needs; NaN: it does not learn */
    double seconds_left; /* at its pace; NaN: unknown */
} stream_state;

/* ---- Figures ---- */

typedef struct stream_figures {
    uint64_t rows, saved, bad_rows;
    uint64_t alerts[OIF_GRADE_CRITICAL + 1]; /* by grade, since the start; [0] is unused */
    uint64_t episodes;                       /* that began */
    size_t episodes_open, keys, silent_keys, learning_keys;
    stream_state state;
    bool is_dead; /* the feed has stopped */
    uint64_t rows_without_model;
    size_t memory_bytes;
    uint64_t trend_lost; /* buckets of hours and days that could not be written */
    double rows_per_second;
    double last_row_at;    /* by the wall clock, seconds since 1970; NaN: none yet */
    uint64_t failed_saves; /* snapshots that could not be written */
    bool has_error;
} stream_figures;

void stream_get_figures(stream *one, stream_figures *figures);

/* Why it cannot work; "" if it can. */
const char *stream_get_error(stream *one, char error[PROBLEM_MESSAGE_BYTES]);

typedef struct stream_key {
    const char *key; /* "" without keys; not NUL-terminated */
    size_t key_bytes;
    uint64_t rows;
    double last_seen; /* time of its last row, or else its arrival; NaN: unknown */
    double score, threshold, severity;
    oif_grade grade;
    uint64_t episode;   /* number of the open one; 0: none */
    const char *reason; /* of that episode; "" if unknown */
    bool is_silent, is_ready;
    uint16_t calm_rows; /* since the last anomaly, at most UINT16_MAX */
} stream_key;

/* Visits up to `limit` keys, most recently seen first. `visit` runs under the lock of the stream,
 * so it must not call the stream. */
void stream_each_key(stream *one, size_t limit, void (*visit)(void *context, const stream_key *key),
                     void *context);

/* What ended an episode, if its rows did not. */
typedef struct stream_episode {
    const char *stream, *key; /* the key is NUL-terminated; "" without keys */
    size_t key_bytes;
    bool has_key;                 /* the stream has keys */
    uint64_t number;              /* among the episodes of its key, from 1 */
    uint64_t first_row, last_row; /* of the stream, from 0 */
    double began, ended;          /* ended: only if is_over */
    double last_seen;             /* time of the last row */
    bool has_time;                /* times of rows; else arrival times */
    bool is_over;
    bool is_recovering; /* its latest rows are calm; made on demand, like `text` */
    uint64_t anomalies, rows;
    uint64_t incident; /* that it belongs to; 0: unknown */
    double peak_score, peak_severity;
    oif_grade grade;
    const char *column, *reason; /* "disk.inflight", "disk.inflight high"; "": unknown */
    const char *text;            /* see episode_text */
    double arrived;              /* its last row, by the wall clock */
    bool is_ended_by_silence;    /* not by its rows */
} stream_episode;

/* The open episodes of a stream, newest first. Also runs under the lock. */
typedef void episode_visitor(void *context, const stream_episode *episode);
void stream_each_open_episode(stream *one, episode_visitor *visit, void *context);

/* ---- Incidents ---- */

typedef struct incidents_query {
    const char *stream; /* NULL: all */
    uint64_t number;    /* in its stream; 0: all */
    bool only_open;
    double since; /* by the last event, seconds since 1970; NaN: all */
    size_t limit;
} incidents_query;

typedef struct incident_answer {
    bool is_over;
    double rank;      /* the severity of its worst open member; or when it was over */
    const char *text; /* its record */
    size_t bytes;
} incident_answer;

typedef struct incident_visit {
    const incidents_query *query;
    void (*visit)(void *context, const incident_answer *answer);
    void *context;
} incident_visit;

void stream_visit_incidents(stream *one, const incident_visit *to);
size_t stream_open_incidents(stream *one);

/* Open episodes of no incident: those of the stream's incidents are as many as can be. */
size_t stream_episodes_of_no_incident(stream *one);

/* {"stream": ..., "key": ..., ...}: an Episode of the API. */
void stream_episode_write(const stream_episode *episode);

#endif
