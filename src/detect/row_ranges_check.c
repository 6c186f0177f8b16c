/* Ranges of recent rows: snapshots, and checks of their consistency. */
#include "base/error.h"
#include "detect/row_ranges_layout.h"

#include <float.h>
#include <math.h>

/* ---- Snapshots ---- */

void oif_row_ranges_visit_fields(oif_row_ranges *ranges, oif_state_visitor *visitor)
{
    const size_t boxes = (size_t)ranges->columns * GROUPS;
    oif_visit_u64(visitor, "range_rows", &ranges->rows, 1);
    oif_visit_u32(visitor, "range_groups", &ranges->groups, 1);
    oif_visit_f64(visitor, "lows", array_at(ranges, LOWS), boxes);
    oif_visit_f64(visitor, "highs", array_at(ranges, HIGHS), boxes);
    oif_visit_u32(visitor, "missing", missing_of(ranges), ranges->columns);
    oif_visit_f64(visitor, "filling_lows", array_at(ranges, FILLING_LOWS), boxes);
    oif_visit_f64(visitor, "filling_highs", array_at(ranges, FILLING_HIGHS), boxes);
    oif_visit_u32(visitor, "filling_missing", filling_missing_of(ranges), ranges->columns);
    oif_visit_f64(visitor, "inner_lows", array_at(ranges, INNER_LOWS), ranges->columns);
    oif_visit_f64(visitor, "inner_highs", array_at(ranges, INNER_HIGHS), ranges->columns);
    oif_visit_f64(visitor, "widths", array_at(ranges, WIDTHS), ranges->columns);
    oif_visit_f64(visitor, "excesses", array_at(ranges, EXCESSES), ranges->columns);
}

/* ---- Checking ---- */

/* The number of groups in use follows from the rows learned: a full box is used from the next row
 * on. */
static uint32_t groups_after(uint64_t rows)
{
    uint32_t groups = 0;
    while (groups < GROUPS && rows > (uint64_t)next_groups(groups) * OIF_RANGE_ROWS)
        groups = next_groups(groups);
    return groups;
}

/* A range of numbers, or the empty range. */
static bool is_range(double low, double high, bool may_be_empty)
{
    return (low >= -DBL_MAX && low <= high && high <= DBL_MAX) ||
           (may_be_empty && low == INFINITY && high == -INFINITY);
}

static bool boxes_in_use_are_ranges(const oif_row_ranges *ranges, uint32_t column)
{
    const double *lows = lows_of(ranges, column), *highs = highs_of(ranges, column);
    const uint32_t missing = missing_of(ranges)[column];
    for (uint32_t group = 0; group < GROUPS; group++) {
        bool had_missing = missing >> group & 1;
        if (group >= ranges->groups
                ? lows[group] != -INFINITY || highs[group] != INFINITY || !had_missing
                : !is_range(lows[group], highs[group], had_missing))
            return false;
    }
    return true;
}

static bool filling_boxes_are_ranges(const oif_row_ranges *ranges)
{
    for (uint32_t group = 0; group < GROUPS; group++)
        for (uint32_t j = 0; j < ranges->columns; j++)
            if (!is_range(filling_low(ranges, group)[j], filling_high(ranges, group)[j], true))
                return false;
    return true;
}

static bool derived_is_right(const oif_row_ranges *ranges, uint32_t column)
{
    oif_ranges_derived d = oif_row_ranges_derive(ranges, column, 0);
    return array_at(ranges, INNER_LOWS)[column] == d.inner_low &&
           array_at(ranges, INNER_HIGHS)[column] == d.inner_high &&
           array_at(ranges, WIDTHS)[column] == d.width;
}

static bool is_share(double number)
{
    return number >= 0 && number <= 1;
}

oif_status oif_row_ranges_check(const oif_row_ranges *ranges, oif_error *error)
{
    if (ranges->rows > OIF_RANGE_ROWS_MAX)
        return oif_fail(error, OIF_EINVARIANT, "the ranges have more rows than any stream has");
    if (ranges->groups != groups_after(ranges->rows))
        return oif_fail(error, OIF_EINVARIANT,
                        "other groups of ranges judge than have enough rows");
    if (!filling_boxes_are_ranges(ranges))
        return oif_fail(error, OIF_EINVARIANT, "a box that is being filled is not a range");
    for (uint32_t j = 0; j < ranges->columns; j++) {
        if (!boxes_in_use_are_ranges(ranges, j))
            return oif_fail(error, OIF_EINVARIANT, "column %u: a box is not a range", j + 1);
        if (!is_share(array_at(ranges, EXCESSES)[j]))
            return oif_fail(error, OIF_EINVARIANT, "column %u: the usual excess is not a share",
                            j + 1);
        if (!derived_is_right(ranges, j))
            return oif_fail(error, OIF_EINVARIANT, "column %u: bounds do not follow from the boxes",
                            j + 1);
    }
    return OIF_OK;
}
