/* When to ask a model what it expected of the columns of a row, to draw it as a band around them.
 *
 * The range of recent rows changes slowly and costs two medians per column, 4,700 instructions. So
 * it is asked for when the model becomes ready, at every anomaly, whose reason may expect something
 * else, at the row after it, and then so seldom that it costs 300 instructions per row at most. The
 * rows between have the band of the row before. A model that is not ready expects nothing. */
#ifndef OIF_FRONT_EXPECTED_DUE_H
#define OIF_FRONT_EXPECTED_DUE_H

#include "oif.h"

/* What a key was before the row. */
typedef struct expected_before {
    uint64_t rows;
    bool was_ready, was_anomaly;
} expected_before;

bool expected_is_due(const expected_before *before, size_t learned_columns,
                     const oif_result *result);

#endif
