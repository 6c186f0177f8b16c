/* What is remembered of a stream for people: the recent points of each key, its state now, the
 * episodes and the alerts.
 *
 *     keys by name -> key <-> key <-> key   the most recently seen first
 *                      |
 *                      ring of points: row, time, score, threshold, severity, grade, values
 *
 * A ring grows by doubling, up to a maximum. If all rings together become too large, the maximum is
 * halved and longer rings are cut to their latest points; then the least recently seen keys are
 * dropped. So memory is bounded, whatever the number of keys is. */
#ifndef OIF_SERVE_HISTORY_H
#define OIF_SERVE_HISTORY_H

#include "stream.h"

#include <stdio.h>

enum { POINTS_MAX = 4096, POINTS_MIN = 4, ENDED_MAX = 1000, ALERTS_MAX = 1000 };

typedef struct history_point {
    uint64_t row; /* of the stream, from 0 */
    double time;  /* seconds since 1970; NaN: unknown */
    double score;
    float threshold, severity;
    uint32_t grade, reserved;
} history_point; /* values follow, a float each */

typedef struct history_episode {
    stream_episode info; /* whose texts belong to it; `text` is made when it is asked for */
    struct history_episode *newer, *older;
} history_episode;

typedef struct history_key {
    stream_key info; /* whose key belongs to it; `episode` and `reason` are those of `open` */
    uint64_t hash;
    struct history_key *next; /* in its bucket */
    struct history_key *newer, *older;
    history_episode *open; /* NULL: none */
    char *points;
    uint32_t capacity, count, start; /* of the ring */
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
    size_t value_count, point_bytes;
    uint32_t points_max;
    history_key **buckets;
    size_t bucket_count, key_count;
    history_key *newest, *oldest;
    history_episode *open; /* the newest first */
    size_t open_count;
    history_episode *ended[ENDED_MAX]; /* a ring */
    size_t ended_count, ended_start;
    history_alert alerts[ALERTS_MAX]; /* a ring */
    size_t alert_count, alert_start;
    uint64_t episodes;                       /* that began */
    uint64_t graded[OIF_GRADE_CRITICAL + 1]; /* rows of each grade */
    size_t silent_count;
} history;

/* NULL: no memory. */
history *history_new(size_t limit_bytes);
void history_free(history *past);

/* Before the first point: how many values it has. */
void history_start(history *past, size_t value_count);

/* NULL: there is none. */
history_key *history_find(const history *past, const char *key, size_t bytes);

/* The key, which becomes the most recently seen one; NULL: no memory. */
history_key *history_touch(history *past, const char *key, size_t bytes);
void history_forget(history *past, history_key *key);

void history_add_point(history *past, history_key *key, const history_point *point,
                       const double *values);

/* The point of a key from 0, the oldest; and its values. */
const history_point *history_point_at(const history *past, const history_key *key, uint32_t index);
const float *history_values(const history_point *point);

/* The open episode of a key becomes what `info` says, whose texts are copied; a new one if there is
 * none or if it has another number. If it is over it ends. Returns it; NULL: no memory. Valid until
 * the next. */
history_episode *history_episode_now(history *past, history_key *key, const stream_episode *info);

/* The ended ones from 0, the latest. */
const history_episode *history_ended_at(const history *past, size_t index);

/* Takes `text`, which is to be freed. */
void history_add_alert(history *past, uint64_t row, double time, const char *key, size_t key_bytes,
                       char *text, size_t bytes);

/* From 0, the latest. */
const history_alert *history_alert_at(const history *past, size_t index);

/* What belongs to the stream and is kept beside it. */
typedef struct history_extra {
    uint64_t rows; /* of the stream when it was written */
    const void *bytes;
    size_t count;
} history_extra;

/* Writes all of it, with a checksum. */
bool history_save(const history *past, FILE *file, const history_extra *extra);

/* Only if the file is whole and was written after `rows` rows. `extra->bytes` is filled with up to
 * `extra->count` bytes. */
bool history_load(history *past, FILE *file, uint64_t rows, void *extra, size_t extra_bytes);

#endif
