/* Ranges of recent rows that get more columns: as if these had been missing in all rows so far. */
#include "detect/row_ranges_layout.h"

#include <math.h>
#include <string.h>

/* Bit g: a row was learned into the box of group g that is being filled. */
static uint32_t groups_with_rows(const oif_row_ranges *ranges)
{
    uint32_t groups = 0;
    for (uint32_t j = 0; j < ranges->columns; j++)
        groups |= filling_missing_of(ranges)[j];
    for (uint32_t group = 0; group < GROUPS; group++)
        for (uint32_t j = 0; j < ranges->columns; j++)
            if (filling_low(ranges, group)[j] <= filling_high(ranges, group)[j])
                groups |= UINT32_C(1) << group;
    return groups;
}

static void copy_column(oif_row_ranges *wide, size_t to, const oif_row_ranges *ranges, size_t from)
{
    static const uint32_t single[] = {INNER_LOWS, INNER_HIGHS, WIDTHS, EXCESSES};
    memcpy(lows_of(wide, to), lows_of(ranges, from), GROUPS * sizeof(double));
    memcpy(highs_of(wide, to), highs_of(ranges, from), GROUPS * sizeof(double));
    for (uint32_t group = 0; group < GROUPS; group++) {
        filling_low(wide, group)[to] = filling_low(ranges, group)[from];
        filling_high(wide, group)[to] = filling_high(ranges, group)[from];
    }
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        array_at(wide, single[i])[to] = array_at(ranges, single[i])[from];
    missing_of(wide)[to] = missing_of(ranges)[from];
    filling_missing_of(wide)[to] = filling_missing_of(ranges)[from];
}

/* The boxes in use have no value of it; those that are filled next may get one. */
static void begin_column(oif_row_ranges *wide, uint32_t column, uint32_t filling_groups)
{
    for (uint32_t group = 0; group < wide->groups; group++) {
        lows_of(wide, column)[group] = INFINITY;
        highs_of(wide, column)[group] = -INFINITY;
    }
    filling_missing_of(wide)[column] = filling_groups;
    const oif_ranges_derived derived = oif_row_ranges_derive(wide, column, 0);
    array_at(wide, INNER_LOWS)[column] = derived.inner_low;
    array_at(wide, INNER_HIGHS)[column] = derived.inner_high;
    array_at(wide, WIDTHS)[column] = derived.width;
}

void oif_row_ranges_widen(oif_row_ranges *wide, const oif_row_ranges *ranges,
                          const oif_widening *widening)
{
    const uint32_t filling_groups = groups_with_rows(ranges);
    wide->groups = ranges->groups;
    wide->rows = ranges->rows;
    for (size_t j = 0; j < ranges->columns; j++)
        copy_column(wide, oif_widened(widening, j), ranges, j);
    for (uint32_t j = 0; j < wide->columns; j++)
        if (oif_is_new_number(widening, j))
            begin_column(wide, j, filling_groups);
}
