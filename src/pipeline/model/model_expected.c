/* What was expected of a column in the last row, in the terms of who found it unusual. */
#include "pipeline/model/model_parts.h"

#include <math.h>

/* By the sense or the move that decided, if it is about this column. */
static bool expected_by_finding(const oif_model *m, size_t column, oif_expected *expected)
{
    const uint32_t sense = m->judge - (uint32_t)m->detector_count;
    if (m->judge < m->detector_count)
        return false;
    const oif_finding found = oif_model_finding(m);
    expected->basis = found.reason;
    if (found.column != column)
        return false;
    if (found.reason == OIF_REASON_JUMP)
        return oif_motion_expected(motion_of(m), column, &expected->low, &expected->high);
    return sense < senses_of(m)->count &&
           oif_senses_expected(senses_of(m), sense, last_row_of(m), column, &expected->low,
                               &expected->high);
}

/* By the usual values, of a detector without ranges. As many values are within as if these were
 * normally distributed and within the ranges of others. */
static bool expected_by_usual(const oif_usual *usual, oif_expected *expected)
{
    const double deviations = 2.7; /* mean absolute ones */
    expected->low = 2 * (usual->half_mean - deviations * usual->half_spread);
    expected->high = 2 * (usual->half_mean + deviations * usual->half_spread);
    return isfinite(expected->low) && isfinite(expected->high);
}

oif_expected oif_model_expected(const oif_model *model, size_t column)
{
    oif_expected expected = {.low = NAN, .high = NAN};
    if (expected_by_finding(model, column, &expected))
        return expected;
    expected.basis = OIF_REASON_VALUES;
    if (!oif_detector_usual_range(model->detectors[0], column, &expected.low, &expected.high) &&
        !expected_by_usual(&oif_model_usual(model)[column], &expected))
        expected.low = expected.high = NAN;
    return expected;
}
