/* The hours and days of a stream: each key has one open bucket in memory (serve/trend/trend.h), and
 * those that ended are in a file. Without a folder there are recent rows only. */
#include "stream_parts.h"
#include "streams.h"

#include <math.h>

enum { COLUMNS_MAX = 4096 }; /* wider rows have recent rows only */

/* Also of a key that is dropped for lack of memory. */
static void end_bucket(void *context, const history_key *key)
{
    const stream *one = context;
    if (!key->bucket || key->bucket->rows == 0)
        return;
    key->bucket->closed = stream_row_count(one);
    trend_file_add(one->trends, key->bucket);
}

void stream_trend_start(stream *one)
{
    char path[STREAM_PATH_BYTES];
    const size_t columns = one->past->value_count;
    trend_file_close(one->trends);
    one->trends =
        one->folder && columns > 0 && columns <= COLUMNS_MAX
            ? trend_file_open(stream_path(one, "days", path), columns,
                              streams_asked(one->all)->history_disk_bytes, stream_row_count(one))
            : NULL;
    one->past->on_drop = one->trends ? end_bucket : NULL;
    one->past->drop_context = one;
}

trend_row stream_trend_row_of(const history_point *point)
{
    return (trend_row){.time = point->time,
                       .severity = point->severity,
                       .threshold = point->threshold,
                       .grade = (oif_grade)point->grade,
                       .values = history_values(point)};
}

void stream_trend_row(stream *one, history_key *key, const history_point *point, double now)
{
    trend_bucket *open = one->trends ? history_bucket(one->past, key) : NULL;
    trend_row row = stream_trend_row_of(point);
    if (!open)
        return;
    if (isnan(row.time))
        row.time = now;
    if (!trend_bucket_fits(open, row.time)) {
        end_bucket(one, key);
        trend_bucket_clear(open, open->key, one->past->value_count);
    }
    trend_bucket_add(open, &row, one->past->value_count);
}
