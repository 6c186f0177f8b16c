#include "eval_bands.h"

#include "front/results/expected_due.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES_MAX = 32 << 20 };

struct key_bands {
    expected_before before;
    size_t latest; /* 1 + its place; 0: none */
};

typedef struct band {
    size_t row;
    size_t before; /* 1 + the place of the one before it, of the same key; 0: none */
} band;            /* followed by low and high of each learned column */

/* ---- Room ---- */

static bool start(eval_bands *bands, size_t columns)
{
    bands->columns = columns;
    bands->band_bytes = sizeof(band) + 2 * columns * sizeof(float);
    bands->expected = calloc(columns, sizeof *bands->expected);
    return bands->expected != NULL;
}

static bool make_key_room(eval_bands *bands, uint32_t key)
{
    if (key < bands->key_capacity)
        return true;
    size_t capacity = 2 * (size_t)key + 16;
    key_bands *keys = realloc(bands->keys, capacity * sizeof *keys);
    if (!keys)
        return false;
    memset(keys + bands->key_capacity, 0, (capacity - bands->key_capacity) * sizeof *keys);
    bands->keys = keys;
    bands->key_capacity = capacity;
    return true;
}

static bool make_room(eval_bands *bands)
{
    if (bands->count < bands->capacity)
        return true;
    size_t capacity = 2 * bands->capacity + 64;
    char *list = realloc(bands->list, capacity * bands->band_bytes);
    if (!list)
        return false;
    bands->list = list;
    bands->capacity = capacity;
    return true;
}

void eval_bands_free(eval_bands *bands)
{
    free(bands->list);
    free(bands->keys);
    free(bands->expected);
    *bands = (eval_bands){0};
}

/* ---- Rows ---- */

static band *band_at(const eval_bands *bands, size_t place)
{
    return (band *)(void *)(bands->list + place * bands->band_bytes);
}

static float *ends_of(band *one)
{
    return (float *)(void *)(one + 1);
}

static bool is_number(const oif_pipeline *pipeline, size_t column)
{
    oif_derive kind;
    oif_pipeline_learned_from(pipeline, column, &kind);
    return kind != OIF_DERIVE_CATEGORY;
}

static void fill_ends(const eval_bands *bands, const oif_pipeline *pipeline, bool is_ready,
                      float *ends)
{
    if (is_ready)
        oif_pipeline_expected(pipeline, bands->expected);
    for (size_t i = 0; i < bands->columns; i++) {
        const bool is_known = is_ready && is_number(pipeline, i);
        ends[2 * i] = is_known ? (float)bands->expected[i].low : NAN;
        ends[2 * i + 1] = is_known ? (float)bands->expected[i].high : NAN;
    }
}

/* One that equals the one before it is not counted, and overwritten by the next. */
static bool add_band(eval_bands *bands, const oif_pipeline *pipeline, size_t row, key_bands *key,
                     bool is_ready)
{
    if (!make_room(bands))
        return false;
    band *added = band_at(bands, bands->count);
    *added = (band){row, key->latest};
    fill_ends(bands, pipeline, is_ready, ends_of(added));
    if (key->latest > 0 && memcmp(ends_of(band_at(bands, key->latest - 1)), ends_of(added),
                                  bands->band_bytes - sizeof(band)) == 0)
        return true;
    key->latest = ++bands->count;
    return true;
}

bool eval_bands_row(eval_bands *bands, const oif_pipeline *pipeline, size_t row, uint32_t key,
                    const oif_result *result)
{
    const size_t columns = oif_pipeline_learned_columns(pipeline);
    if ((!bands->expected && !start(bands, columns)) || !make_key_room(bands, key))
        return false;
    key_bands *of = &bands->keys[key];
    const expected_before before = of->before;
    of->before = (expected_before){before.rows + 1, result->ready, result->anomaly};
    if (!expected_is_due(&before, columns, result) ||
        bands->count * bands->band_bytes > LIST_BYTES_MAX)
        return true;
    return add_band(bands, pipeline, row, of, result->ready);
}

void eval_bands_of(const eval_bands *bands, uint32_t key, const size_t rows[], size_t count,
                   const float *ends[])
{
    size_t latest = key < bands->key_capacity ? bands->keys[key].latest : 0;
    for (size_t i = count; i > 0; i--) {
        while (latest > 0 && band_at(bands, latest - 1)->row > rows[i - 1])
            latest = band_at(bands, latest - 1)->before;
        ends[i - 1] = latest > 0 ? ends_of(band_at(bands, latest - 1)) : NULL;
    }
}
