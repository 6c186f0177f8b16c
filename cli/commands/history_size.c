#include "history_size.h"

#include <math.h>

/* What serve/stream and serve/trend allocate; tests/serve/parts/test_stream_size.c compares. */
enum {
    USUAL_LIMIT = 64 << 20,
    KEY_BYTES = 208,
    POINT_BYTES = 32,
    BAND_BYTES = 8,
    BUCKET_BYTES = 72,
    BUCKET_COLUMN_BYTES = 16,
    SLOT_BYTES = 8,
    LARGEST_POOLED = 32 << 10
};
enum { FIRST_POINTS = 2, POINTS_MAX = 4096, POINTS_PER_BAND = 4, ROWS_PER_BAND = 16 };
enum { BAND_COLUMNS_MAX = 64, TREND_COLUMNS_MAX = 4096 };

/* A block in serve/base/block_pool.h: four sizes from one power of two to the next. */
static double room(double bytes)
{
    if (bytes > LARGEST_POOLED)
        return bytes;
    const double step = exp2(floor(log2(fmax(bytes, 32))) - 2);
    return ceil(fmax(bytes, 32) / step) * step;
}

/* A ring that has doubled until the items fit. */
static double ring_bytes(double items, double first, double most, double item_bytes)
{
    const double capacity = exp2(ceil(log2(fmax(items, first))));
    return items > 0 ? room(fmin(capacity, most) * item_bytes) : 0;
}

static double count_bands(const history_size *size)
{
    const double per_band = ROWS_PER_BAND * (double)size->learned_columns;
    return size->is_learning || size->columns > BAND_COLUMNS_MAX ? 0
                                                                 : 1 + floor(size->rows / per_band);
}

/* Of a key with at most that many points. */
static double key_bytes(const history_size *size, double points)
{
    const double columns = (double)size->columns, floats = columns * sizeof(float),
                 point = ceil((POINT_BYTES + floats) / 8) * 8,
                 bucket = size->columns <= TREND_COLUMNS_MAX
                              ? room(BUCKET_BYTES + BUCKET_COLUMN_BYTES * columns)
                              : 0;
    return room(KEY_BYTES + size->key_text_bytes + 1) + bucket +
           ring_bytes(size->rows, FIRST_POINTS, points, point) +
           ring_bytes(count_bands(size), 1, fmax(1, points / POINTS_PER_BAND),
                      BAND_BYTES + 2 * floats);
}

static double slots_bytes(double keys)
{
    return SLOT_BYTES * exp2(ceil(log2(2 * (keys + 1))));
}

void history_size_estimate(history_size *size)
{
    const double limit = size->limit_bytes > 0 ? size->limit_bytes : USUAL_LIMIT;
    double points = POINTS_MAX;
    while (points > 1 && size->keys * key_bytes(size, points) > limit)
        points /= 2;
    const double each = key_bytes(size, points);
    size->kept_points = fmin(points, size->rows);
    size->kept_keys = fmin(size->keys, floor(limit / each));
    size->bytes = fmin(size->keys * each, limit) + slots_bytes(size->kept_keys);
    size->needed_bytes = size->keys * key_bytes(size, 1);
}
