#include "trend.h"

#include <math.h>

size_t trend_bucket_bytes(size_t columns)
{
    return sizeof(trend_bucket) + (1 + columns) * sizeof(trend_values);
}

trend_values *trend_values_of(trend_bucket *bucket)
{
    return (trend_values *)(void *)(bucket + 1);
}

void trend_bucket_clear(trend_bucket *bucket, uint64_t key, size_t columns)
{
    *bucket = (trend_bucket){.key = key, .time = NAN, .threshold = INFINITY};
    for (size_t i = 0; i < 1 + columns; i++)
        trend_values_of(bucket)[i] = (trend_values){.low = NAN, .high = NAN, .mean = NAN};
}

static void merge_values(trend_values *to, const trend_values *from)
{
    if (from->count == 0)
        return;
    if (to->count == 0) {
        *to = *from;
        return;
    }
    to->low = fminf(to->low, from->low);
    to->high = fmaxf(to->high, from->high);
    to->count += from->count;
    to->mean += (from->mean - to->mean) * ((float)from->count / (float)to->count);
}

static void add_value(trend_values *to, float value)
{
    if (isfinite(value))
        merge_values(to, &(trend_values){value, value, value, 1});
}

bool trend_bucket_fits(const trend_bucket *bucket, double time)
{
    return bucket->rows == 0 ||
           (time < bucket->time + TREND_SECONDS && time >= bucket->time - TREND_SECONDS);
}

void trend_bucket_add(trend_bucket *bucket, const trend_row *row, size_t columns)
{
    if (bucket->rows == 0)
        bucket->time = floor(row->time / TREND_SECONDS) * TREND_SECONDS;
    bucket->rows++;
    bucket->anomalies += row->grade > 0;
    bucket->grade = row->grade > bucket->grade ? row->grade : bucket->grade;
    bucket->threshold = row->threshold;
    add_value(trend_values_of(bucket), row->severity);
    for (size_t i = 0; row->values && i < columns; i++)
        add_value(&trend_values_of(bucket)[1 + i], row->values[i]);
}

void trend_bucket_merge(trend_bucket *to, trend_bucket *from, size_t columns)
{
    if (from->rows == 0)
        return;
    to->rows += from->rows;
    to->anomalies += from->anomalies;
    to->grade = to->grade > from->grade ? to->grade : from->grade;
    if (!(from->time < to->time)) {
        to->time = from->time;
        to->threshold = from->threshold;
    }
    for (size_t i = 0; i < 1 + columns; i++)
        merge_values(&trend_values_of(to)[i], &trend_values_of(from)[i]);
}
