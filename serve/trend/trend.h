/* Five minutes of a key: the lowest, the highest and the mean of the severity and of each column.
 * So a month fits on a disk, and a spike of one row stays visible.
 *
 *     rows      . . . . . . . . . . . . . . . . . . .
 *     5 min     [            ][            ][        ...   one bucket of a key is open
 *
 * A bucket that ends goes into the file of its stream (trend_file.h). */
#ifndef OIF_SERVE_TREND_H
#define OIF_SERVE_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREND_SECONDS = 300 };

typedef struct trend_values {
    float low, high, mean; /* NaN: no value */
    uint32_t count;        /* of values */
} trend_values;

/* Without padding: buckets are stored as they are in memory. */
typedef struct trend_bucket {
    uint64_t checksum;               /* of what follows, in the file */
    uint64_t number;                 /* in the file, from 0 */
    uint64_t key;                    /* hash; never 0 */
    uint64_t closed;                 /* rows of the stream when it ended */
    double time;                     /* of its start */
    uint32_t rows, anomalies, grade; /* 0 rows: it is empty; grade: the worst */
    float threshold;                 /* the latest; infinity: none yet */
} trend_bucket; /* followed by trend_values of the severity and of each column */

size_t trend_bucket_bytes(size_t columns);

/* Of the severity, then of the columns. */
trend_values *trend_values_of(trend_bucket *bucket);

/* An empty bucket. */
void trend_bucket_clear(trend_bucket *bucket, uint64_t key, size_t columns);

/* `values` may be NULL. */
typedef struct trend_row {
    double time;
    float severity, threshold;
    uint32_t grade;
    const float *values;
} trend_row;

/* Whether a row of this time belongs to the bucket. A row that is a little late counts now. */
bool trend_bucket_fits(const trend_bucket *bucket, double time);

/* The time of a bucket is that of its first row, rounded down. */
void trend_bucket_add(trend_bucket *bucket, const trend_row *row, size_t columns);

/* Adds one bucket to another, which gets the later time and threshold of both. */
void trend_bucket_merge(trend_bucket *to, trend_bucket *from, size_t columns);

#endif
