/* The rows of a stream over hours and days: kept as buckets (trend.h, trend_store.h), and answered
 * as many points as are asked for. */
#include "stream_parts.h"
#include "streams.h"

#include <math.h>

enum { COLUMNS_MAX = 4096 }; /* wider rows have recent points only */

/* ---- Keeping ---- */

static void keep_bucket(void *context, size_t level, const trend_bucket *ended)
{
    trend_store_add(context, level, ended);
}

/* A key that is dropped for lack of memory is still on disk. */
static void end_key(void *context, const history_key *key)
{
    const stream *one = context;
    const trend_sink sink = {keep_bucket, one->trends};
    if (one->trends && key->trend && key->trend->columns == one->past->value_count)
        trend_end(key->trend, stream_row_count(one), &sink);
}

void stream_trend_start(stream *one)
{
    const size_t columns = one->past->value_count,
                 limit = streams_asked(one->all)->history_disk_bytes;
    trend_store_close(one->trends);
    one->trends = columns > 0 && columns <= COLUMNS_MAX
                      ? trend_store_open(limit > 0 ? one->folder : NULL, columns, limit)
                      : NULL;
    one->past->on_drop = end_key;
    one->past->drop_context = one;
}

void stream_trend_resume(stream *one)
{
    stream_trend_start(one);
    if (one->trends)
        trend_store_cut(one->trends, stream_row_count(one));
}

void stream_trend_row(stream *one, history_key *key, const history_point *point, double now)
{
    const trend_sink sink = {keep_bucket, one->trends};
    trend *open = one->trends ? history_trend(one->past, key) : NULL;
    if (!open)
        return;
    const trend_row row = {.time = isnan(point->time) ? now : point->time,
                           .score = point->score,
                           .threshold = point->threshold,
                           .grade = point->grade,
                           .values = history_values(point),
                           .expected = history_latest_band(one->past, key)};
    trend_add(open, &row, point->row + 1, &sink);
}

void stream_trend_forget(stream *one, const char *key, size_t key_bytes)
{
    if (one->trends)
        trend_store_forget(one->trends, history_hash(key, key_bytes));
}

/* What could not be written is counted. Rows matter more than their history, so nothing fails. */
void stream_trend_sync(stream *one)
{
    if (one->trends)
        trend_store_sync(one->trends);
}
