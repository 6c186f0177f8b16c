/* Ranges of recent rows: creation and learning. row_ranges_judge.c judges rows by them,
 * row_ranges_check.c saves and validates them. */
#include "base/memory.h"
#include "detect/row_ranges_layout.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Creation ---- */

size_t oif_row_ranges_bytes(size_t columns)
{
    return oif_size_align(
        oif_size_add(sizeof(oif_row_ranges), oif_size_multiply(columns, NUMBERS * sizeof(double))));
}

static void fill_with(double *numbers, size_t count, double number)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = number;
}

static void empty_filling(oif_row_ranges *ranges, uint32_t group)
{
    fill_with(filling_low(ranges, group), ranges->columns, INFINITY);
    fill_with(filling_high(ranges, group), ranges->columns, -INFINITY);
    for (uint32_t j = 0; j < ranges->columns; j++)
        filling_missing_of(ranges)[j] &= ~(UINT32_C(1) << group);
}

/* A group without a box judges nothing: every value is inside, and so is a missing one. */
void oif_row_ranges_init(oif_row_ranges *ranges, size_t columns)
{
    ranges->columns = (uint32_t)columns;
    fill_with(array_at(ranges, LOWS), columns * GROUPS, -INFINITY);
    fill_with(array_at(ranges, HIGHS), columns * GROUPS, INFINITY);
    fill_with(array_at(ranges, INNER_LOWS), columns, -INFINITY);
    fill_with(array_at(ranges, INNER_HIGHS), columns, INFINITY);
    memset(missing_of(ranges), 0xff, columns * sizeof(uint32_t));
    for (uint32_t group = 0; group < GROUPS; group++)
        empty_filling(ranges, group);
}

/* ---- Learning ---- */

/* At the start rows are dealt out to the groups that come next, later to all. Either is a power of
 * two, so no division is needed. */
static uint32_t group_of_row(const oif_row_ranges *ranges, uint64_t row)
{
    const bool start = ranges->groups < GROUPS;
    const uint32_t first = start ? ranges->groups : 0, dealt = next_groups(ranges->groups) - first;
    const uint64_t round = row >> __builtin_ctz(dealt);
    return first + (uint32_t)((row + turn_of(round)) & (dealt - 1));
}

/* Counts the widths below `width`, and those below or equal. */
OIF_INLINE void count_widths(const double widths[GROUPS], double width, uint64_t *below,
                             uint64_t *up_to)
{
    uint64_t b = 0, u = 0;
    for (uint32_t group = 0; group < GROUPS; group++) {
        b += widths[group] < width;
        u += widths[group] <= width;
    }
    *below = b;
    *up_to = u;
}

OIF_INLINE double next_smaller(const double widths[GROUPS], double width)
{
    double next[LANES] = {0};
    for (uint32_t group = 0; group < GROUPS; group += LANES)
        for (uint32_t i = 0; i < LANES; i++) {
            double w = widths[group + i] < width ? widths[group + i] : 0;
            next[i] = w > next[i] ? w : next[i];
        }
    next[0] = next[1] > next[0] ? next[1] : next[0];
    next[2] = next[3] > next[2] ? next[3] : next[2];
    return next[2] > next[0] ? next[2] : next[0];
}

/* Infinity if there is none. */
OIF_INLINE double next_larger(const double widths[GROUPS], double width)
{
    double next[LANES] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (uint32_t group = 0; group < GROUPS; group += LANES)
        for (uint32_t i = 0; i < LANES; i++) {
            double w = widths[group + i] > width ? widths[group + i] : INFINITY;
            next[i] = w < next[i] ? w : next[i];
        }
    next[0] = next[1] < next[0] ? next[1] : next[0];
    next[2] = next[3] < next[2] ? next[3] : next[2];
    return next[2] < next[0] ? next[2] : next[0];
}

/* The median box width of a column or, if more than half of the widths are 0, the smallest that is
 * not. The search may start anywhere and steps from width to width. It starts at the previous usual
 * width, which is at most one step away if one box was replaced. */
OIF_INLINE double usual_width(const double widths[GROUPS], uint32_t groups, double start)
{
    const uint32_t middle = groups / 2;
    double width = start;
    for (;;) {
        uint64_t below, up_to;
        count_widths(widths, width, &below, &up_to);
        if (below > middle)
            width = next_smaller(widths, width);
        else if (up_to <= middle)
            width = next_larger(widths, width);
        else
            break;
    }
    if (width > 0)
        return width;
    width = next_larger(widths, 0);
    return width <= DBL_MAX ? width : 0;
}

OIF_INLINE oif_ranges_derived derive(const oif_row_ranges *ranges, uint32_t column, double start)
{
    const double *lows = lows_of(ranges, column), *highs = highs_of(ranges, column);
    double low[LANES], high[LANES], widths[GROUPS];
    for (uint32_t i = 0; i < LANES; i++) {
        low[i] = -INFINITY;
        high[i] = INFINITY;
    }
    /* Groups without a box have infinite width. They sort behind the middle, which counts only
     * groups in use. */
    for (uint32_t group = 0; group < GROUPS; group += LANES)
        for (uint32_t i = 0; i < LANES; i++) {
            double l = lows[group + i], h = highs[group + i], w = h - l;
            low[i] = l > low[i] ? l : low[i];
            high[i] = h < high[i] ? h : high[i];
            widths[group + i] = w > 0 ? w : 0;
        }
    for (uint32_t i = 1; i < LANES; i++) {
        low[0] = low[i] > low[0] ? low[i] : low[0];
        high[0] = high[i] < high[0] ? high[i] : high[0];
    }
    return (oif_ranges_derived){low[0] / quarter, high[0] / quarter,
                                ranges->groups > 0 ? usual_width(widths, ranges->groups, start)
                                                   : 0};
}

oif_ranges_derived oif_row_ranges_derive(const oif_row_ranges *ranges, uint32_t column,
                                         double start)
{
    return derive(ranges, column, start);
}

OIF_INLINE void derive_column(oif_row_ranges *ranges, uint32_t column)
{
    oif_ranges_derived d = derive(ranges, column, array_at(ranges, WIDTHS)[column]);
    array_at(ranges, INNER_LOWS)[column] = d.inner_low;
    array_at(ranges, INNER_HIGHS)[column] = d.inner_high;
    array_at(ranges, WIDTHS)[column] = d.width;
}

static void derive_column_portable(oif_row_ranges *ranges, uint32_t column)
{
    derive_column(ranges, column);
}

OIF_AVX2 static void derive_column_avx2(oif_row_ranges *ranges, uint32_t column)
{
    derive_column(ranges, column);
}

static void update_derived(oif_row_ranges *ranges, uint32_t column)
{
    (oif_machine_has_avx2() ? derive_column_avx2 : derive_column_portable)(ranges, column);
}

/* A range, in quarters. */
typedef struct quarters {
    double low, high;
} quarters;

/* Whether replacing one box leaves the derived values unchanged: neither the old nor the new box
 * determines them. */
static bool decides_nothing(const oif_row_ranges *ranges, uint32_t column, quarters old,
                            quarters new)
{
    const double low = array_at(ranges, INNER_LOWS)[column] * quarter,
                 high = array_at(ranges, INNER_HIGHS)[column] * quarter,
                 width = array_at(ranges, WIDTHS)[column];
    const double old_width = old.high - old.low, new_width = new.high - new.low;
    if (old.low == new.low && old.high == new.high)
        return true;
    const bool bounds_stay = old.low<low &&new.low<low && old.high> high &&new.high> high;
    /* A width below the median may be replaced by any other below it. But if the usual width is the
     * smallest that is not 0, a box of width 0 must not get a width. */
    const bool both_below = old_width < width && new_width < width;
    const bool both_above = old_width > width && new_width > width;
    return bounds_stay && (both_above || (both_below && (old_width > 0 || new_width <= 0)));
}

static void replace_box(oif_row_ranges *ranges, uint32_t column, uint32_t group, quarters new)
{
    double *low = lows_of(ranges, column) + group, *high = highs_of(ranges, column) + group;
    const quarters old = {*low, *high};
    *low = new.low;
    *high = new.high;
    if (!decides_nothing(ranges, column, old, new))
        update_derived(ranges, column);
}

/* Replaces the box in use by the filled one. */
static void use_filled(oif_row_ranges *ranges, uint32_t group)
{
    const uint32_t bit = UINT32_C(1) << group;
    uint32_t *missing = missing_of(ranges);
    const uint32_t *filling_missing = filling_missing_of(ranges);
    const double *low = filling_low(ranges, group), *high = filling_high(ranges, group);
    for (uint32_t j = 0; j < ranges->columns; j++) {
        replace_box(ranges, j, group, (quarters){low[j] * quarter, high[j] * quarter});
        missing[j] = (missing[j] & ~bit) | (filling_missing[j] & bit);
    }
    empty_filling(ranges, group);
}

/* At the start several groups fill up at once. */
static void use_more_groups(oif_row_ranges *ranges)
{
    const uint32_t next = next_groups(ranges->groups);
    if (ranges->rows != (uint64_t)next * OIF_RANGE_ROWS)
        return;
    for (uint32_t group = ranges->groups; group < next; group++)
        use_filled(ranges, group);
    ranges->groups = next;
    for (uint32_t j = 0; j < ranges->columns; j++)
        update_derived(ranges, j);
}

/* Replaces boxes that have become full. A box is first used for the row after the one that
 * completed it, so no row is judged by a box that contains it. */
static __attribute__((noinline)) void renew(oif_row_ranges *ranges)
{
    const uint32_t group = (uint32_t)(ranges->rows / OIF_RANGE_ROWS % GROUPS);
    if (ranges->groups < GROUPS)
        use_more_groups(ranges);
    else if (ranges->rows < 2 * START_ROWS) /* the group started too late to be full */
        empty_filling(ranges, group);
    else
        use_filled(ranges, group);
}

static void widen(double *low, double *high, const double *row, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        low[j] = row[j] < low[j] ? row[j] : low[j];
        high[j] = row[j] > high[j] ? row[j] : high[j];
    }
}

#if OIF_HAS_AVX2_CODE
/* For at least four columns. The last four may overlap the ones before; widening twice is
 * harmless. */
OIF_AVX2 static void widen_avx2(double *low, double *high, const double *row, size_t columns)
{
    for (size_t j = 0; j + LANES < columns; j += LANES) {
        oif_lower_4_avx2(low + j, row + j);
        oif_raise_4_avx2(high + j, row + j);
    }
    oif_lower_4_avx2(low + columns - LANES, row + columns - LANES);
    oif_raise_4_avx2(high + columns - LANES, row + columns - LANES);
}
#else
#define widen_avx2 widen
#endif

/* How far a value is outside the tightest bounds, as a q. */
static double excess_of(const oif_row_ranges *ranges, size_t j, double number)
{
    const double x = number * quarter, width = array_at(ranges, WIDTHS)[j];
    const double below = array_at(ranges, INNER_LOWS)[j] * quarter - x,
                 above = x - array_at(ranges, INNER_HIGHS)[j] * quarter;
    const double distance = below > above ? below : above;
    /* 0 if the value, or every value so far, is missing. */
    return distance > 0 && distance <= DBL_MAX ? distance / (distance + width) : 0;
}

/* Older rows count less, about 1/e after EXCESS_MEMORY rows. Tiny excesses become 0 before they
 * turn subnormal, which is slow. At an excess of 1 the fade removes as much as FADE_ROWS rows can
 * add, so an excess never exceeds 1. */
static void fade_excesses(oif_row_ranges *ranges)
{
    const double keep = 1 - (double)FADE_ROWS / EXCESS_MEMORY, least = 0x1p-40;
    double *excesses = array_at(ranges, EXCESSES);
    for (size_t j = 0; j < ranges->columns; j++) {
        double kept = excesses[j] * keep;
        excesses[j] = kept > least ? kept : 0;
    }
}

/* Returns whether a value of the row may be outside. */
static bool learn_excesses(oif_row_ranges *ranges, const double *row)
{
    if (ranges->rows % FADE_ROWS == 0)
        fade_excesses(ranges);
    if (!oif_row_ranges_may_be_outside(ranges, row))
        return false;
    for (size_t j = 0; j < ranges->columns; j++)
        if (is_outside(array_at(ranges, INNER_LOWS)[j], array_at(ranges, INNER_HIGHS)[j], row[j]))
            array_at(ranges, EXCESSES)[j] += excess_of(ranges, j, row[j]) * (1.0 / EXCESS_MEMORY);
    return true;
}

bool oif_row_ranges_learn(oif_row_ranges *ranges, const double *row, bool complete)
{
    if (ranges->rows % OIF_RANGE_ROWS == 0 && ranges->rows > 0)
        renew(ranges);
    bool may_be_outside = ranges->groups > 0 && learn_excesses(ranges, row);
    uint32_t group = group_of_row(ranges, ranges->rows);
    (is_vector_work(ranges) ? widen_avx2 : widen)(
        filling_low(ranges, group), filling_high(ranges, group), row, ranges->columns);
    for (uint32_t j = 0; j < ranges->columns && !complete; j++)
        if (row[j] != row[j])
            filling_missing_of(ranges)[j] |= UINT32_C(1) << group;
    ranges->rows++;
    return may_be_outside;
}

/* Boxes in use change only when some are full, at the first of 64 rows. A row widens one of those
 * that are being filled. */
void oif_row_ranges_unchanged(const oif_row_ranges *ranges, const oif_unchanged *unchanged)
{
    const size_t group_bytes = ranges->columns * sizeof(double);
    if (ranges->rows == 0 || (ranges->rows - 1) % OIF_RANGE_ROWS < unchanged->rows)
        return;
    oif_unchanged_add(unchanged, ranges->numbers, 2 * GROUPS * group_bytes);
    if (unchanged->rows != 1)
        return;
    const uint32_t widened = group_of_row(ranges, ranges->rows - 1), after = GROUPS - widened - 1;
    oif_unchanged_add(unchanged, filling_low(ranges, 0), widened * group_bytes);
    oif_unchanged_add(unchanged, filling_low(ranges, widened + 1), after * group_bytes);
    oif_unchanged_add(unchanged, filling_high(ranges, 0), widened * group_bytes);
    oif_unchanged_add(unchanged, filling_high(ranges, widened + 1), after * group_bytes);
}
