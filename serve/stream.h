/* One stream: rows in, the lines of `oif score` out, and what is known about its keys. Every call
 * may come from any thread; a stream does one thing at a time. */
#ifndef OIF_SERVE_STREAM_H
#define OIF_SERVE_STREAM_H

#include "feed.h"
#include "problem.h"

#include "oif_rows.h"

#include <jansson.h>

typedef struct stream stream;

/* ---- Rows ---- */

typedef enum rows_answer_kind {
    ANSWER_RESULTS, /* the lines that `oif score` would print */
    ANSWER_ALERTS,  /* those of them that are anomalous */
    ANSWER_COUNT    /* no lines */
} rows_answer_kind;

typedef struct rows_request {
    const char *body; /* not compressed */
    size_t bytes;
    int format; /* 0: to be found; else 1 + OIF_FORMAT_CSV or 1 + OIF_FORMAT_NDJSON */
    bool has_first_row;
    uint64_t first_row; /* the number of the first row of the body, from 0 */
    rows_answer_kind answer;
    bool is_durable; /* return only once the rows are on disk */
} rows_request;

typedef struct rows_answer {
    uint64_t rows, saved; /* of the stream: processed, and those on disk */
    uint64_t accepted;    /* rows of this body that were processed */
    uint64_t skipped;     /* that were processed before, by first_row */
    uint64_t bad;         /* that could not be read and were left out or mended */
    uint64_t alerts;
    bool is_csv; /* of the lines */
} rows_answer;

/* Processes a body. The lines are written to the (diverted) output. If it fails, rows before the
 * bad one were accepted: the answer is valid, `why` says where it ended, and lines may have been
 * written.
 *
 * 400   a row cannot be read; why->line and why->column say where
 * 409   first_row is past the rows of the stream, or the columns do not fit
 * 413   there are too many columns
 * 503, 507   it could not be written to the disk; nothing was processed */
bool stream_rows(stream *one, const rows_request *request, rows_answer *answer, problem *why);

/* ---- Settings and keys ---- */

/* Changes the settings that the object names; null is as if it had not been given. Only those that
 * decide about later alerts and about what is written can be changed; others are a problem, 409. */
bool stream_change(stream *one, json_t *settings, problem *why);

/* The model of a key and what is known about it is removed; 404: there is none. */
bool stream_forget_key(stream *one, const char *key, size_t key_bytes, problem *why);

const char *stream_name(const stream *one); /* valid as long as the stream is held */

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
    size_t limit, offset; /* limit 0: 100 */
} keys_query;

/* {"keys": [Key, ...], "total": n} */
void stream_write_keys(stream *one, const keys_query *query);

typedef struct points_query {
    const char *key; /* NULL: that of a stream without keys, or the most recent one */
    size_t key_bytes;
    size_t limit; /* the latest; 0: all that are kept */
    double since; /* seconds since 1970; NaN or 0: all */
} points_query;

/* Points; 404: the key is not known. */
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

/* The alert or the point of a row; 404: it is too old. */
bool stream_write_row(stream *one, uint64_t row, problem *why);

typedef struct explain_request {
    const char *body; /* one row */
    size_t bytes;
    int format;
    const char *key; /* NULL: that of the row */
    size_t key_bytes;
} explain_request;

/* What the row would get if it came now; it is not learned. */
bool stream_write_explanation(stream *one, const explain_request *request, problem *why);

/* ---- Figures ---- */

/* The upper bounds of the histogram's buckets in seconds; the last bucket has none. */
enum { LATENCY_BUCKETS = 16 };
extern const double stream_latency_bounds[LATENCY_BUCKETS - 1];

typedef struct stream_figures {
    uint64_t rows, saved, bad_rows, batches;
    uint64_t alerts[OIF_GRADE_CRITICAL + 1]; /* by grade, of this process; [0] is not used */
    uint64_t episodes;                       /* that began */
    size_t episodes_open, keys, silent_keys;
    uint64_t evictions, rows_without_model;
    size_t memory_bytes, history_bytes, journal_bytes;
    double rows_per_second, alert_rate;
    double last_row_at; /* by the machine's clock, seconds since 1970; NaN: none yet */
    double last_save_seconds, save_seconds; /* of a snapshot: the last, and all together */
    uint64_t saves, failed_saves;
    uint64_t latency[LATENCY_BUCKETS]; /* how many calls of stream_rows took up to that long */
    double latency_seconds;            /* all together */
    bool has_error;
} stream_figures;

void stream_get_figures(stream *one, stream_figures *figures);

typedef struct stream_key {
    const char *key; /* "" without keys; not terminated */
    size_t key_bytes;
    uint64_t rows;
    double last_seen; /* the time of its last row, or else when it came; NaN: unknown */
    double score, threshold, severity;
    oif_grade grade;
    uint64_t episode;   /* the number of the open one; 0: none */
    const char *reason; /* of that; "" */
    bool is_silent;
} stream_key;

/* Visits up to `limit` keys, the most recently seen first. `visit` is called under the lock of the
 * stream: it must not call the stream. */
void stream_each_key(stream *one, size_t limit, void (*visit)(void *context, const stream_key *key),
                     void *context);

typedef struct stream_episode {
    const char *stream, *key; /* the key ends with a NUL too; "" without keys */
    size_t key_bytes;
    bool has_key;                 /* the stream has keys */
    uint64_t number;              /* among the episodes of its key, from 1 */
    uint64_t first_row, last_row; /* of the stream, from 0 */
    double began, ended;          /* ended only if is_over */
    double last_seen;             /* the time of the last row */
    bool has_time;                /* these are times of rows; else when the rows came */
    bool is_over;
    uint64_t anomalies, rows;
    double peak_score, peak_severity;
    oif_grade grade;
    const char *column, *reason; /* "disk.inflight", "disk.inflight high"; "": unknown */
    const char *text;            /* "disk.inflight high since 12:15, 14 rows, severity 3" */
} stream_episode;

/* The open episodes of a stream, the newest first. Called under the lock as well. */
void stream_each_open_episode(stream *one,
                              void (*visit)(void *context, const stream_episode *episode),
                              void *context);

/* {"stream": ..., "key": ..., ...}: the Episode of the API. */
void stream_episode_write(const stream_episode *episode);

#endif
