/* What was expected of the columns of a key, as a band around the values on the page. A page has no
 * room for more than some columns: streams with more have no bands. */
#include "front/results/expected_due.h"
#include "stream_parts.h"

#include <math.h>

enum { COLUMNS_MAX = 64 };

/* ---- Keeping ---- */

/* A column that is learned only as another one, such as its rate, has no band of its own. */
static void find_ends(const oif_pipeline *pipeline, float ends[2 * COLUMNS_MAX])
{
    oif_expected expected[COLUMNS_MAX];
    oif_pipeline_expected(pipeline, expected);
    for (size_t i = 0; i < oif_pipeline_learned_columns(pipeline); i++) {
        oif_derive kind;
        const size_t column = oif_pipeline_learned_from(pipeline, i, &kind);
        if (kind != OIF_DERIVE_NONE)
            continue;
        ends[2 * column] = (float)expected[i].low;
        ends[2 * column + 1] = (float)expected[i].high;
    }
}

/* A key whose history was lost has no band yet. No band says that nothing is known,
 * so a key that learns needs none. */
static bool is_due(const stream *one, const history_key *key, const oif_result *result)
{
    if (key->bands.count == 0 && !result->ready)
        return false;
    const expected_before before = {.rows = key->info.rows,
                                    .was_ready = isfinite(key->info.threshold),
                                    .was_anomaly = key->info.grade > OIF_GRADE_NONE};
    return key->bands.count == 0 ||
           expected_is_due(&before, oif_pipeline_learned_columns(one->pipeline), result);
}

void stream_remember_band(stream *one, history_key *key, const oif_result *result)
{
    const size_t columns = one->past->value_count;
    float ends[2 * COLUMNS_MAX];
    if (!is_due(one, key, result) || columns > COLUMNS_MAX ||
        oif_pipeline_learned_columns(one->pipeline) > COLUMNS_MAX)
        return;
    for (size_t i = 0; i < 2 * columns; i++)
        ends[i] = NAN;
    if (result->ready)
        find_ends(one->pipeline, ends);
    history_add_band(one->past, key, stream_row_count(one) - 1, ends);
}

/* ---- Writing ---- */

static bool is_known(const float *ends, size_t column)
{
    return ends && isfinite(ends[2 * column]) && isfinite(ends[2 * column + 1]);
}

static void write_ends(const float *ends, size_t column)
{
    if (is_known(ends, column))
        output_print("[%.7g,%.7g]", (double)ends[2 * column], (double)ends[2 * column + 1]);
    else
        output_print("null");
}

static const float *ends_at(const history *past, const history_key *key, uint32_t index)
{
    return history_band_of(past, key, history_point_at(past, key, index)->row);
}

static bool is_ever_known(const history *past, const history_key *key, uint32_t first,
                          size_t column)
{
    for (uint32_t i = first; i < key->points.count; i++)
        if (is_known(ends_at(past, key, i), column))
            return true;
    return false;
}

void stream_write_bands(const stream *one, const history_key *key, uint32_t first)
{
    size_t written = 0;
    output_print(",\"expected\":{");
    for (size_t column = 0; column < one->past->value_count; column++) {
        if (!is_ever_known(one->past, key, first, column))
            continue;
        output_print(written++ > 0 ? "," : "");
        stream_write_column_name(one, column);
        output_print(":");
        for (uint32_t i = first; i < key->points.count; i++) {
            output_print(i > first ? "," : "[");
            write_ends(ends_at(one->past, key, i), column);
        }
        output_print("]");
    }
    output_print("}");
}
