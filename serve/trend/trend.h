/* The rows of a key over hours and days, in buckets of time: the lowest, the highest and the mean
 * value of each column and of the score, so a spike of one row stays visible.
 *
 *     rows     . . . . . . . . . . . . . . . . . . . . . . .
 *     10 s     [     ][     ][     ][     ][     ]...          the finest level that is worth it
 *     1 min    [                                ][ ...         is made of the buckets below it
 *     10 min   [ ...
 *     1 h      [ ...
 *
 * A key has one open bucket per level. A row goes into the finest one. A bucket that ends is merged
 * into the one of the next level, and given to a sink, which keeps it (trend_store.h). A level
 * whose buckets would have fewer than two rows is left out: the next one says as much.
 *
 * Cost: some 20 instructions per row and column. */
#ifndef OIF_SERVE_TREND_H
#define OIF_SERVE_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREND_LEVELS = 4 };
extern const double trend_seconds[TREND_LEVELS];

typedef struct trend_column {
    float low, high, mean;             /* NaN: no value */
    uint32_t count;                    /* of values */
    float expected_low, expected_high; /* the widest of what was expected; NaN: unknown */
} trend_column;

/* Without padding: buckets are kept as they are in memory. */
typedef struct trend_bucket {
    uint64_t checksum;           /* of what follows, in files */
    uint64_t key;                /* hash */
    uint64_t closed;             /* rows of the stream when it ended */
    double time;                 /* of its start */
    uint32_t rows, anomalies;    /* 0 rows: it is empty */
    float score_low, score_high; /* NaN: no score */
    float score_mean, threshold; /* the latest threshold; infinity: none yet */
    uint32_t scored, grade;      /* rows with a score; the worst grade */
} trend_bucket;                  /* followed by its columns */

size_t trend_bucket_bytes(size_t columns);
trend_column *trend_columns(trend_bucket *bucket);
const trend_column *trend_columns_of(const trend_bucket *bucket);

/* An empty bucket. */
void trend_bucket_clear(trend_bucket *bucket, size_t columns);

/* Adds one bucket to another, whose time stays. */
void trend_bucket_merge(trend_bucket *to, const trend_bucket *from, size_t columns);

/* One row. `values` and `expected` (low and high of each column) may be NULL. */
typedef struct trend_row {
    double time, score;
    float threshold;
    uint32_t grade;
    const float *values, *expected;
} trend_row;

/* The time of the bucket stays. */
void trend_bucket_add(trend_bucket *bucket, const trend_row *row, size_t columns);

/* ---- A key ---- */

/* The open buckets of a key: one block of trend_bytes(). */
typedef struct trend {
    uint64_t key; /* hash */
    uint32_t columns;
    uint32_t finest; /* level that rows go into */
    uint32_t wanted; /* the same, once the levels below it are empty */
    uint32_t sparse; /* hours with hardly any rows, before now */
} trend;             /* followed by a bucket per level */

size_t trend_bytes(size_t columns);
void trend_init(trend *one, uint64_t key, size_t columns);
trend_bucket *trend_open(const trend *one, size_t level);

/* Whether the bytes, which may come from a file, are a trend of this key. */
bool trend_check(const trend *one, uint64_t key, size_t columns);

typedef struct trend_sink {
    void (*take)(void *context, size_t level, const trend_bucket *ended);
    void *context;
} trend_sink;

/* `expected` of the row is what is known before it: it belongs to the bucket that ends. `rows`: of
 * the stream, with this one. */
void trend_add(trend *one, const trend_row *row, uint64_t rows, const trend_sink *sink);

/* Ends all buckets. */
void trend_end(trend *one, uint64_t rows, const trend_sink *sink);

#endif
