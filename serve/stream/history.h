/* The history of a stream, for people: the recent points of each key, its current state, the
 * episodes and the alerts.
 *
 *     keys by name -> key <-> key <-> key   the most recently seen first
 *                      |
 *                      ring of points: row, time, threshold, severity, grade, values
 *                      ring of bands: a row, and what was expected of each column from it on
 *
 * What is expected changes seldom: a band is stored only where it differs from the one before it.
 *
 * A ring grows by doubling, up to a maximum; there may be a band for every fourth point. If all
 * rings together become too large, the maximum is halved and longer rings are cut to their latest
 * items, down to one; then the least recently seen keys are dropped. So memory is bounded for any
 * number of keys.
 *
 * Keys and all that they point to are in a pool: keys of their own would lie between models. */
#ifndef OIF_SERVE_HISTORY_H
#define OIF_SERVE_HISTORY_H

#include "front/text/byte_table.h"
#include "history_ring.h"
#include "serve/trend/trend.h"
#include "stream.h"

#include <stdio.h>

enum { POINTS_MAX = 4096, POINTS_MIN = 1, ENDED_MAX = 1000, ALERTS_MAX = 1000 };

typedef struct history_point {
    uint64_t row; /* of the stream, from 0 */
    double time;  /* seconds since 1970; NaN: unknown */
    float threshold, severity;
    uint64_t grade; /* of 8 bytes, as points go whole into the file */
} history_point;    /* followed by values, a float each */

typedef struct history_band {
    uint64_t row; /* from which on it is known; it lasts until the next band */
} history_band;   /* followed by low and high of each column, two floats; NaN: unknown */

typedef struct history_episode {
    stream_episode info; /* owns its texts; `text` is made on demand */
    struct history_episode *newer, *older;
} history_episode;

typedef struct history_key {
    byte_item item;
    stream_key info; /* its key is that of `item`; `episode` and `reason` are those of `open` */
    struct history_key *newer, *older;
    history_episode *open; /* NULL: none */
    double silent_at;      /* by the wall clock: when a silence counts; 0: none waits */
    uint64_t shut;         /* number of an episode that ended before its rows did; 0: none */
    history_ring points, bands;
    trend_bucket *bucket; /* of the hours and days, open; NULL: none */
} history_key;

typedef struct history_alert {
    uint64_t row;
    double time;
    char *key;
    size_t key_bytes;
    char *text; /* the Alert of the API */
    size_t bytes;
} history_alert;

typedef struct history {
    size_t limit_bytes, bytes;
    size_t value_count, point_bytes, band_bytes;
    uint32_t points_max;
    block_pool pool; /* of keys, and of what they point to */
    byte_table keys; /* of history_key */
    history_key *newest, *oldest;
    history_episode *open; /* newest first */
    size_t open_count;
    history_episode *ended[ENDED_MAX]; /* a ring */
    size_t ended_count, ended_start;
    history_alert alerts[ALERTS_MAX]; /* a ring */
    size_t alert_count, alert_start;
    uint64_t episodes;                       /* that began */
    uint64_t graded[OIF_GRADE_CRITICAL + 1]; /* rows by grade */
    /* Called before a key and its open bucket are dropped; NULL: nothing is called. */
    void (*on_drop)(void *context, const history_key *key);
    void *drop_context;
    size_t silent_count, waiting_count; /* keys that are silent; those whose silence waits */
    size_t learning_count;              /* keys that are not ready */
    uint64_t learning_rows;             /* of these */
} history;

/* NULL: out of memory. */
history *history_new(size_t limit_bytes);
void history_free(history *past);

/* Call it before the first point: the number of values per point. */
void history_start(history *past, size_t value_count);

/* The hash of a key; never 0. */
uint64_t history_hash(const char *key, size_t bytes);

/* NULL: there is none. */
history_key *history_find(const history *past, const char *key, size_t bytes);

/* The key, which becomes the most recently seen; NULL: out of memory. */
history_key *history_touch(history *past, const char *key, size_t bytes);
void history_forget(history *past, history_key *key);

/* Counts a row of the key. */
void history_count_row(history *past, history_key *key, bool is_ready, bool is_anomaly);

/* Whether a key is silent from `at` on, by the wall clock; 0: it no longer is. */
void history_wait_silent(history *past, history_key *key, double at);
void history_set_silent(history *past, history_key *key, bool is_silent);

/* Returns it as it is kept; NULL: no memory. */
const history_point *history_add_point(history *past, history_key *key, const history_point *point,
                                       const double *values);

/* Room for the next point of a key and its values; NULL: no memory for even one. */
void *history_new_point(history *past, history_key *key);

/* The point of a key, 0 being the oldest; and its values. */
const history_point *history_point_at(const history *past, const history_key *key, uint32_t index);
const float *history_values(const history_point *point);

/* The open bucket of a key; NULL: out of memory. */
trend_bucket *history_bucket(history *past, history_key *key);

/* What is expected from a row on: low and high of each column. */
void history_add_band(history *past, history_key *key, uint64_t row, const float *ends);
void *history_new_band(history *past, history_key *key); /* like history_new_point */

/* What was expected of the columns in a row of the key: low and high of each; NULL: unknown. */
const float *history_band_of(const history *past, const history_key *key, uint64_t row);

/* Ends the open episode of a key, with its latest row unless it is over. */
void history_end(history *past, history_key *key);

/* Updates the open episode of a key from `info`, whose texts are copied; starts a new one if there
 * is none or its number differs. Ends it if it is over. Returns it, valid until the next call;
 * NULL: out of memory. */
history_episode *history_episode_now(history *past, history_key *key, const stream_episode *info);

/* The open or an ended episode of a key; NULL: it is not remembered. */
history_episode *history_find_episode(const history *past, const char *key, size_t key_bytes,
                                      uint64_t number);

/* Ends an open episode before its rows do. */
void history_shut(history *past, history_episode *episode);

/* Whether a row belongs to an episode that is, or becomes, open. Rows of an episode that was shut
 * leave it so, but after a silence an anomaly opens it again. */
bool history_row_opens(history *past, history_key *key, uint64_t number, const oif_result *result);

/* Ended episodes, 0 being the latest. */
const history_episode *history_ended_at(const history *past, size_t index);

/* Takes ownership of `text`. */
void history_add_alert(history *past, uint64_t row, double time, const char *key, size_t key_bytes,
                       char *text, size_t bytes);

/* 0 is the latest. */
const history_alert *history_alert_at(const history *past, size_t index);

/* Data of the stream stored along with the history. */
typedef struct history_extra {
    uint64_t rows; /* of the stream at the time of writing */
    void *bytes;   /* history_save does not change them */
    size_t count;
} history_extra;

/* Writes everything, with a checksum. */
bool history_save(const history *past, FILE *file, const history_extra *extra);

/* Loads only a complete file written after exactly extra->rows rows. The caller frees its bytes. */
bool history_load(history *past, FILE *file, history_extra *extra);

#endif
