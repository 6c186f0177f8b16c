#include "trend.h"

#include <math.h>
#include <string.h>

const double trend_seconds[TREND_LEVELS] = {10, 60, 600, 3600};

/* ---- Buckets ---- */

size_t trend_bucket_bytes(size_t columns)
{
    return sizeof(trend_bucket) + columns * sizeof(trend_column);
}

trend_column *trend_columns(trend_bucket *bucket)
{
    return (trend_column *)(void *)(bucket + 1);
}

const trend_column *trend_columns_of(const trend_bucket *bucket)
{
    return (const trend_column *)(const void *)(bucket + 1);
}

void trend_bucket_clear(trend_bucket *bucket, size_t columns)
{
    const trend_column none = {
        .low = NAN, .high = NAN, .mean = NAN, .expected_low = NAN, .expected_high = NAN};
    *bucket = (trend_bucket){
        .time = NAN, .score_low = NAN, .score_high = NAN, .score_mean = NAN, .threshold = INFINITY};
    for (size_t i = 0; i < columns; i++)
        trend_columns(bucket)[i] = none;
}

/* Of numbers of which one may be NaN. */
static float lower(float a, float b)
{
    return b < a || isnan(a) ? b : a;
}

static float higher(float a, float b)
{
    return b > a || isnan(a) ? b : a;
}

/* The mean of `count` numbers, and of `more` with the mean `other`. */
static float joined_mean(float mean, uint32_t count, float other, uint32_t more)
{
    if (more == 0)
        return mean;
    return count == 0 ? other : mean + (other - mean) * ((float)more / (float)(count + more));
}

static void merge_column(trend_column *to, const trend_column *from)
{
    to->low = lower(to->low, from->low);
    to->high = higher(to->high, from->high);
    to->mean = joined_mean(to->mean, to->count, from->mean, from->count);
    to->count += from->count;
    to->expected_low = lower(to->expected_low, from->expected_low);
    to->expected_high = higher(to->expected_high, from->expected_high);
}

void trend_bucket_merge(trend_bucket *to, const trend_bucket *from, size_t columns)
{
    if (from->rows == 0)
        return;
    to->rows += from->rows;
    to->anomalies += from->anomalies;
    to->score_low = lower(to->score_low, from->score_low);
    to->score_high = higher(to->score_high, from->score_high);
    to->score_mean = joined_mean(to->score_mean, to->scored, from->score_mean, from->scored);
    to->scored += from->scored;
    to->threshold = from->threshold;
    to->grade = to->grade > from->grade ? to->grade : from->grade;
    for (size_t i = 0; i < columns; i++)
        merge_column(&trend_columns(to)[i], &trend_columns_of(from)[i]);
}

static void add_value(trend_column *to, float value)
{
    if (!isfinite(value))
        return;
    to->low = lower(to->low, value);
    to->high = higher(to->high, value);
    to->count++;
    to->mean = to->count == 1 ? value : to->mean + (value - to->mean) / (float)to->count;
}

void trend_bucket_add(trend_bucket *bucket, const trend_row *row, size_t columns)
{
    const float score = (float)row->score;
    bucket->rows++;
    bucket->anomalies += row->grade > 0;
    bucket->grade = row->grade > bucket->grade ? row->grade : bucket->grade;
    bucket->threshold = row->threshold;
    if (isfinite(score)) {
        bucket->score_low = lower(bucket->score_low, score);
        bucket->score_high = higher(bucket->score_high, score);
        bucket->scored++;
        bucket->score_mean = joined_mean(bucket->score_mean, bucket->scored - 1, score, 1);
    }
    for (size_t i = 0; row->values && i < columns; i++)
        add_value(&trend_columns(bucket)[i], row->values[i]);
}

/* ---- A key ---- */

size_t trend_bytes(size_t columns)
{
    return sizeof(trend) + TREND_LEVELS * trend_bucket_bytes(columns);
}

trend_bucket *trend_open(const trend *one, size_t level)
{
    char *first = (char *)(uintptr_t)(one + 1);
    return (trend_bucket *)(void *)(first + level * trend_bucket_bytes(one->columns));
}

void trend_init(trend *one, uint64_t key, size_t columns)
{
    *one = (trend){.key = key, .columns = (uint32_t)columns};
    for (size_t level = 0; level < TREND_LEVELS; level++)
        trend_bucket_clear(trend_open(one, level), columns);
}

bool trend_check(const trend *one, uint64_t key, size_t columns)
{
    return one->key == key && one->columns == columns && one->finest < TREND_LEVELS &&
           one->wanted < TREND_LEVELS && one->sparse < TREND_LEVELS;
}

/* Which level is worth its space, by the rows of a bucket that has ended. Minutes are given up only
 * after some hours: one wrong time makes a bucket of one row. */
static void choose_level(trend *one, size_t level, uint32_t rows)
{
    const uint32_t hourly = 12, minutely = 20, secondly = 120, sparse_hours = 3;
    if (level == 3) {
        one->sparse = rows >= hourly ? 0 : one->sparse + (one->sparse < sparse_hours);
        one->wanted = one->sparse == sparse_hours ? 3 : one->wanted == 3 ? 2 : one->wanted;
    } else if (level == 2 && one->wanted < 3) {
        one->wanted = rows >= secondly ? 0 : rows >= minutely ? 1 : 2;
    }
}

static void start_bucket(trend_bucket *bucket, size_t level, double time)
{
    bucket->time = floor(time / trend_seconds[level]) * trend_seconds[level];
}

/* A row that is a little late counts now; one that is far from the bucket begins another. */
static bool fits(const trend_bucket *bucket, size_t level, double time)
{
    const double seconds = trend_seconds[level];
    return bucket->rows == 0 || (time < bucket->time + seconds && time >= bucket->time - seconds);
}

static void take_expected(trend_bucket *ended, const float *expected, size_t columns)
{
    for (size_t i = 0; expected && i < columns; i++) {
        trend_columns(ended)[i].expected_low = expected[2 * i];
        trend_columns(ended)[i].expected_high = expected[2 * i + 1];
    }
}

static void end_bucket(trend *one, size_t level, uint64_t rows, const trend_sink *sink);

static void merge_into_next(trend *one, size_t next, const trend_bucket *ended, uint64_t rows,
                            const trend_sink *sink)
{
    trend_bucket *open = trend_open(one, next);
    if (!fits(open, next, ended->time))
        end_bucket(one, next, rows, sink);
    if (open->rows == 0)
        start_bucket(open, next, ended->time);
    trend_bucket_merge(open, ended, one->columns);
}

static void end_bucket(trend *one, size_t level, uint64_t rows, const trend_sink *sink)
{
    trend_bucket *ended = trend_open(one, level);
    ended->key = one->key;
    ended->closed = rows;
    sink->take(sink->context, level, ended);
    if (level + 1 < TREND_LEVELS)
        merge_into_next(one, level + 1, ended, rows, sink);
    choose_level(one, level, ended->rows);
    trend_bucket_clear(ended, one->columns);
}

/* A coarser level may be the finest only if nothing below it waits to be merged. */
static void change_finest(trend *one)
{
    for (size_t level = one->finest; level < one->wanted; level++)
        if (trend_open(one, level)->rows > 0)
            return;
    one->finest = one->wanted;
}

/* All levels that the row does not fit into end, the finest first: each is part of the next. */
static void end_buckets(trend *one, const trend_row *row, uint64_t rows, const trend_sink *sink)
{
    take_expected(trend_open(one, one->finest), row->expected, one->columns);
    for (size_t level = one->finest; level < TREND_LEVELS; level++)
        if (!fits(trend_open(one, level), level, row->time))
            end_bucket(one, level, rows, sink);
    change_finest(one);
}

void trend_add(trend *one, const trend_row *row, uint64_t rows, const trend_sink *sink)
{
    if (!fits(trend_open(one, one->finest), one->finest, row->time))
        end_buckets(one, row, rows, sink);
    trend_bucket *open = trend_open(one, one->finest);
    if (open->rows == 0)
        start_bucket(open, one->finest, row->time);
    trend_bucket_add(open, row, one->columns);
}

void trend_end(trend *one, uint64_t rows, const trend_sink *sink)
{
    for (size_t level = 0; level < TREND_LEVELS; level++)
        if (trend_open(one, level)->rows > 0)
            end_bucket(one, level, rows, sink);
}
