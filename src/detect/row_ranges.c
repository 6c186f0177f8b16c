#include "detect/row_ranges.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    GROUPS = OIF_RANGE_GROUPS,
    FIRST_GROUPS = 4, /* that are filled first, by themselves */
    START_ROWS = GROUPS * OIF_RANGE_ROWS,
    EXCESS_MEMORY = 256, /* rows */
    FADE_ROWS = 16,      /* from one fading of the excesses to the next */
    LANES = 4 /* sums that are added up side by side: so the bits of the sum depend on it */
};

/* Boxes in use are kept in quarters: no difference of two numbers, nor a sum of two such
 * differences, overflows. */
static const double quarter = 0.25;

typedef oif_row_ranges ranges;

/* ---- Where things are ---- */

enum { /* numbers per column before an array begins */
       LOWS = 0,
       HIGHS = LOWS + GROUPS,
       FILLING_LOWS = HIGHS + GROUPS,
       FILLING_HIGHS = FILLING_LOWS + GROUPS,
       INNER_LOWS = FILLING_HIGHS + GROUPS,
       INNER_HIGHS = INNER_LOWS + 1,
       WIDTHS = INNER_HIGHS + 1,
       EXCESSES = WIDTHS + 1,
       MASKS = EXCESSES + 1,
       NUMBERS = MASKS + 1 /* two masks take the place of one number */
};

static inline double *array_at(const ranges *r, uint32_t numbers_before)
{
    return (double *)r->numbers + (size_t)numbers_before * r->columns;
}

static inline double *lows_of(const ranges *r, size_t column)
{
    return array_at(r, LOWS) + column * GROUPS;
}

static inline double *highs_of(const ranges *r, size_t column)
{
    return array_at(r, HIGHS) + column * GROUPS;
}

static inline double *filling_low(const ranges *r, uint32_t group)
{
    return array_at(r, FILLING_LOWS + group);
}

static inline double *filling_high(const ranges *r, uint32_t group)
{
    return array_at(r, FILLING_HIGHS + group);
}

static inline uint32_t *missing_of(const ranges *r)
{
    return (uint32_t *)array_at(r, MASKS);
}

static inline uint32_t *filling_missing_of(const ranges *r)
{
    return missing_of(r) + r->columns;
}

/* ---- Creation ---- */

size_t oif_row_ranges_bytes(size_t columns)
{
    return oif_size_align(
        oif_size_add(sizeof(ranges), oif_size_multiply(columns, NUMBERS * sizeof(double))));
}

static void fill_with(double *numbers, size_t count, double number)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = number;
}

static void empty_filling(ranges *r, uint32_t group)
{
    fill_with(filling_low(r, group), r->columns, INFINITY);
    fill_with(filling_high(r, group), r->columns, -INFINITY);
    for (uint32_t j = 0; j < r->columns; j++)
        filling_missing_of(r)[j] &= ~(UINT32_C(1) << group);
}

/* A group without a box judges nothing: every number, and none, is inside. */
void oif_row_ranges_init(ranges *r, size_t columns)
{
    r->columns = (uint32_t)columns;
    fill_with(array_at(r, LOWS), columns * GROUPS, -INFINITY);
    fill_with(array_at(r, HIGHS), columns * GROUPS, INFINITY);
    fill_with(array_at(r, INNER_LOWS), columns, -INFINITY);
    fill_with(array_at(r, INNER_HIGHS), columns, INFINITY);
    memset(missing_of(r), 0xff, columns * sizeof(uint32_t));
    for (uint32_t group = 0; group < GROUPS; group++)
        empty_filling(r, group);
}

/* ---- Which columns are outside ---- */

static bool is_vector_work(const ranges *r)
{
    return r->columns >= LANES && oif_machine_has_avx2();
}

/* Whether a number may be outside a box; a missing one always may. */
OIF_INLINE bool is_outside(double low, double high, double number)
{
    return !(number >= low && number <= high);
}

static bool any_outside(const double *low, const double *high, const double *row, size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        if (is_outside(low[j], high[j], row[j]))
            return true;
    return false;
}

/* Some columns of a row, at most 32. */
enum { PART_COLUMNS = 32 };

static inline size_t columns_of_part(const ranges *r, size_t first)
{
    const size_t left = r->columns - first;
    return left < PART_COLUMNS ? left : PART_COLUMNS;
}

/* Bit i: number first + i of the row may be outside. */
OIF_INLINE uint32_t find_outside(const ranges *r, const double *row, size_t first)
{
    const double *low = array_at(r, INNER_LOWS) + first, *high = array_at(r, INNER_HIGHS) + first;
    const size_t columns = columns_of_part(r, first);
    uint32_t found = 0;
    for (size_t j = 0; j < columns; j++)
        found |= (uint32_t)is_outside(low[j], high[j], row[first + j]) << j;
    return found;
}

#if OIF_HAS_AVX2_CODE
/* All ones where one of four numbers may be outside. */
OIF_AVX2 OIF_INLINE __m256d outside_4(const double *low, const double *high, const double *four)
{
    __m256d x = _mm256_loadu_pd(four);
    return _mm256_or_pd(_mm256_cmp_pd(x, _mm256_loadu_pd(low), _CMP_NGE_UQ),
                        _mm256_cmp_pd(x, _mm256_loadu_pd(high), _CMP_NLE_UQ));
}

/* For at least four columns; here and below the last four may overlap the others. */
OIF_AVX2 static bool any_outside_avx2(const double *low, const double *high, const double *row,
                                      size_t columns)
{
    const size_t last = columns - LANES;
    __m256d found = outside_4(low + last, high + last, row + last);
    for (size_t j = 0; j < last; j += LANES)
        found = _mm256_or_pd(found, outside_4(low + j, high + j, row + j));
    return _mm256_movemask_pd(found) != 0;
}

OIF_AVX2 OIF_INLINE uint32_t find_outside_avx2(const ranges *r, const double *row, size_t first)
{
    const double *low = array_at(r, INNER_LOWS) + first, *high = array_at(r, INNER_HIGHS) + first;
    const size_t columns = columns_of_part(r, first), last = columns - LANES;
    if (columns < LANES)
        return find_outside(r, row, first);
    row += first;
    uint32_t found = (uint32_t)_mm256_movemask_pd(outside_4(low + last, high + last, row + last))
                     << last;
    for (size_t j = 0; j < last; j += LANES)
        found |= (uint32_t)_mm256_movemask_pd(outside_4(low + j, high + j, row + j)) << j;
    return found;
}
#else
#define any_outside_avx2 any_outside
#define find_outside_avx2 find_outside
#endif

bool oif_row_ranges_may_be_outside(const ranges *r, const double *row)
{
    const double *low = array_at(r, INNER_LOWS), *high = array_at(r, INNER_HIGHS);
    return is_vector_work(r) ? any_outside_avx2(low, high, row, r->columns)
                             : any_outside(low, high, row, r->columns);
}

/* ---- Learning ---- */

/* How many groups judge after those that judge now: at the start twice as many, then all. */
static uint32_t next_groups(uint32_t groups)
{
    return groups == 0 ? FIRST_GROUPS : groups < GROUPS ? 2 * groups : GROUPS;
}

/* At the start rows are dealt out to the groups that come next, then to all. */
static uint32_t group_of_next_row(const ranges *r)
{
    if (r->groups == GROUPS)
        return (uint32_t)(r->rows % GROUPS);
    return r->groups + (uint32_t)(r->rows % (next_groups(r->groups) - r->groups));
}

/* What follows from the boxes in use. */
typedef struct derived {
    double inner_low, inner_high, width;
} derived;

/* How many widths are below `width`, and how many below or equal. */
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

/* The median of the widths that boxes have in a column, or, if more than half of them are 0, the
 * smallest that is not. The search may start anywhere and goes from width to width; it starts at
 * the usual width so far, as that is a step away at most if one box was replaced. */
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

OIF_INLINE derived derive(const ranges *r, uint32_t column, double start)
{
    const double *lows = lows_of(r, column), *highs = highs_of(r, column);
    double low[LANES], high[LANES], widths[GROUPS];
    for (uint32_t i = 0; i < LANES; i++) {
        low[i] = -INFINITY;
        high[i] = INFINITY;
    }
    /* Groups without a box are the widest: beyond the middle, as that counts groups that judge. */
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
    return (derived){low[0] / quarter, high[0] / quarter,
                     r->groups > 0 ? usual_width(widths, r->groups, start) : 0};
}

OIF_INLINE void derive_column(ranges *r, uint32_t column)
{
    derived d = derive(r, column, array_at(r, WIDTHS)[column]);
    array_at(r, INNER_LOWS)[column] = d.inner_low;
    array_at(r, INNER_HIGHS)[column] = d.inner_high;
    array_at(r, WIDTHS)[column] = d.width;
}

static void derive_column_portable(ranges *r, uint32_t column)
{
    derive_column(r, column);
}

OIF_AVX2 static void derive_column_avx2(ranges *r, uint32_t column)
{
    derive_column(r, column);
}

static void update_derived(ranges *r, uint32_t column)
{
    (oif_machine_has_avx2() ? derive_column_avx2 : derive_column_portable)(r, column);
}

/* A range in quarters. */
typedef struct quarters {
    double low, high;
} quarters;

/* Whether what follows from the boxes stays the same if one of them is replaced: it did not
 * decide anything, nor does the new one. */
static bool decides_nothing(const ranges *r, uint32_t column, quarters old, quarters new)
{
    const double low = array_at(r, INNER_LOWS)[column] * quarter,
                 high = array_at(r, INNER_HIGHS)[column] * quarter,
                 width = array_at(r, WIDTHS)[column];
    const double old_width = old.high - old.low, new_width = new.high - new.low;
    if (old.low == new.low && old.high == new.high)
        return true;
    return old.low<low &&new.low<low && old.high> high &&new.high> high &&
           ((old_width < width && new_width < width) || (old_width > width && new_width > width));
}

static void replace_box(ranges *r, uint32_t column, uint32_t group, quarters new)
{
    double *low = lows_of(r, column) + group, *high = highs_of(r, column) + group;
    const quarters old = {*low, *high};
    *low = new.low;
    *high = new.high;
    if (!decides_nothing(r, column, old, new))
        update_derived(r, column);
}

/* The box that was filled replaces the one in use. */
static void use_filled(ranges *r, uint32_t group)
{
    const uint32_t bit = UINT32_C(1) << group;
    uint32_t *missing = missing_of(r);
    const uint32_t *filling_missing = filling_missing_of(r);
    const double *low = filling_low(r, group), *high = filling_high(r, group);
    for (uint32_t j = 0; j < r->columns; j++) {
        replace_box(r, j, group, (quarters){low[j] * quarter, high[j] * quarter});
        missing[j] = (missing[j] & ~bit) | (filling_missing[j] & bit);
    }
    empty_filling(r, group);
}

/* At the start several groups are full at once. */
static void use_more_groups(ranges *r)
{
    const uint32_t next = next_groups(r->groups);
    if (r->rows != (uint64_t)next * OIF_RANGE_ROWS)
        return;
    for (uint32_t group = r->groups; group < next; group++)
        use_filled(r, group);
    r->groups = next;
    for (uint32_t j = 0; j < r->columns; j++)
        update_derived(r, j);
}

/* Replaces boxes that have become full. A box is first used for the row after the one that
 * completed it: so no row is ever judged by a box that it is in itself. */
static __attribute__((noinline)) void renew(ranges *r)
{
    const uint32_t group = (uint32_t)(r->rows / OIF_RANGE_ROWS % GROUPS);
    if (r->groups < GROUPS)
        use_more_groups(r);
    else if (r->rows < 2 * START_ROWS) /* the group has begun too late to be full */
        empty_filling(r, group);
    else
        use_filled(r, group);
}

static void widen(double *low, double *high, const double *row, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        low[j] = row[j] < low[j] ? row[j] : low[j];
        high[j] = row[j] > high[j] ? row[j] : high[j];
    }
}

#if OIF_HAS_AVX2_CODE
/* For at least four columns. The last four may overlap the others: to widen twice is to widen
 * once. */
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

/* How far a number is outside the boxes that are tightest, as a q. */
static double excess_of(const ranges *r, size_t j, double number)
{
    const double x = number * quarter, width = array_at(r, WIDTHS)[j];
    const double below = array_at(r, INNER_LOWS)[j] * quarter - x,
                 above = x - array_at(r, INNER_HIGHS)[j] * quarter;
    const double distance = below > above ? below : above;
    /* Not where a number is missing, or all were. */
    return distance > 0 && distance <= DBL_MAX ? distance / (distance + width) : 0;
}

/* Older rows count less, to about 1/e after EXCESS_MEMORY of them; at last nothing, as numbers that
 * small are slow. */
static void fade_excesses(ranges *r)
{
    const double keep = 0.94, least = 0x1p-40; /* 0.94^16 is about 1/e, and 16 x 16 rows 256 */
    double *excesses = array_at(r, EXCESSES);
    for (size_t j = 0; j < r->columns; j++) {
        double kept = excesses[j] * keep;
        excesses[j] = kept > least ? kept : 0;
    }
}

/* Whether a number of the row may be outside. */
static bool learn_excesses(ranges *r, const double *row)
{
    if (r->rows % FADE_ROWS == 0)
        fade_excesses(r);
    if (!oif_row_ranges_may_be_outside(r, row))
        return false;
    for (size_t j = 0; j < r->columns; j++)
        if (is_outside(array_at(r, INNER_LOWS)[j], array_at(r, INNER_HIGHS)[j], row[j]))
            array_at(r, EXCESSES)[j] += excess_of(r, j, row[j]) * (1.0 / EXCESS_MEMORY);
    return true;
}

bool oif_row_ranges_learn(ranges *r, const double *row, bool complete)
{
    if (r->rows % OIF_RANGE_ROWS == 0 && r->rows > 0)
        renew(r);
    bool may_be_outside = r->groups > 0 && learn_excesses(r, row);
    uint32_t group = group_of_next_row(r);
    (is_vector_work(r) ? widen_avx2 : widen)(filling_low(r, group), filling_high(r, group), row,
                                             r->columns);
    for (uint32_t j = 0; j < r->columns && !complete; j++)
        if (row[j] != row[j])
            filling_missing_of(r)[j] |= UINT32_C(1) << group;
    r->rows++;
    return may_be_outside;
}

/* ---- Judging ---- */

static bool is_left_out(const oif_columns_left_out *left_out, size_t column)
{
    return left_out && column % left_out->step == left_out->column;
}

/* Raises to 1 what belongs to a group that has never missed this column's number. */
static __attribute__((noinline)) void judge_missing(const ranges *r, size_t j, double worst[GROUPS])
{
    const uint32_t had_missing = missing_of(r)[j];
    for (uint32_t group = 0; group < GROUPS; group++)
        if (!(had_missing >> group & 1))
            worst[group] = 1;
}

/* Raises to 1 what belongs to a group that has had no number in this column. */
static __attribute__((noinline)) void judge_empty(const double *lows, double worst[GROUPS])
{
    for (uint32_t group = 0; group < GROUPS; group++)
        worst[group] = lows[group] == INFINITY ? 1 : worst[group];
}

/* Raises the worst of the columns so far, for each group, to that of one more column.
 *
 * Inside a box the distance is not above 0, and not below half the width taken negatively: so q
 * is not above 0 either, or, where box and usual width are 0, not a number, and changes nothing.
 * Nor does a group without a box, from -infinity to infinity, or with an empty one, from infinity
 * to -infinity: there q is never a number. */
OIF_INLINE void judge_number(const ranges *r, size_t j, double number, double worst[GROUPS])
{
    const double *lows = lows_of(r, j), *highs = highs_of(r, j);
    const double x = number * quarter, usual = array_at(r, WIDTHS)[j];
    const double usual_excess = array_at(r, EXCESSES)[j];
    for (uint32_t group = 0; group < GROUPS; group++) {
        double low = lows[group], high = highs[group];
        double below = low - x, above = x - high, width = high - low;
        double distance = below > above ? below : above;
        width = width > usual ? width : usual;
        double q = distance / (distance + width) - usual_excess;
        worst[group] = q > worst[group] ? q : worst[group];
    }
    if (array_at(r, INNER_LOWS)[j] == INFINITY)
        judge_empty(lows, worst);
}

/* The depth that is lost on average over the groups; half of those that have no box yet count as
 * content. A row whose distance is x = q / (1 - q) widths is set apart with the probability
 * p = x^2 / (x^2 + 2) at each level. A walk of `depth` levels then ends after
 * (1 - (1 - p)^depth) / p of them on average; depth / (1 + (depth - 1) (p + p^2) / 2) has the
 * same values and slopes at both ends and needs no powers. */
OIF_INLINE double mean_loss(const double worst[GROUPS], double depth, uint32_t groups)
{
    double sums[LANES] = {0};
    const double half_below = (depth - 1) / 2;
    for (uint32_t group = 0; group < GROUPS; group += LANES)
        for (uint32_t i = 0; i < LANES; i++) {
            double q = worst[group + i], inside = 1 - q;
            double p = q * q / (q * q + 2 * (inside * inside));
            sums[i] += depth - depth / (1 + half_below * (p + p * p));
        }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (0.5 * (groups + GROUPS));
}

OIF_INLINE void judge_part(const ranges *r, const double *row, size_t first, uint32_t outside,
                           const oif_columns_left_out *left_out, double worst[GROUPS])
{
    for (; outside; outside &= outside - 1) {
        const size_t j = first + (size_t)__builtin_ctz(outside);
        if (is_left_out(left_out, j))
            continue;
        if (row[j] != row[j])
            judge_missing(r, j, worst);
        else
            judge_number(r, j, row[j], worst);
    }
}

static double judge(const ranges *r, const double *row, double depth,
                    const oif_columns_left_out *left_out)
{
    double worst[GROUPS] = {0};
    for (size_t first = 0; first < r->columns; first += PART_COLUMNS)
        judge_part(r, row, first, find_outside(r, row, first), left_out, worst);
    return depth - mean_loss(worst, depth, r->groups);
}

OIF_AVX2 static double judge_avx2(const ranges *r, const double *row, double depth,
                                  const oif_columns_left_out *left_out)
{
    double worst[GROUPS] = {0};
    for (size_t first = 0; first < r->columns; first += PART_COLUMNS)
        judge_part(r, row, first, find_outside_avx2(r, row, first), left_out, worst);
    return depth - mean_loss(worst, depth, r->groups);
}

double oif_row_ranges_depth(const ranges *r, const double *row, double depth,
                            const oif_columns_left_out *left_out)
{
    if (!(depth > 1 && r->groups > 0))
        return depth;
    return (oif_machine_has_avx2() ? judge_avx2 : judge)(r, row, depth, left_out);
}

/* ---- Snapshots ---- */

void oif_row_ranges_visit_fields(ranges *r, oif_state_visitor *visitor)
{
    const size_t boxes = (size_t)r->columns * GROUPS;
    oif_visit_u64(visitor, "range_rows", &r->rows, 1);
    oif_visit_u32(visitor, "range_groups", &r->groups, 1);
    oif_visit_f64(visitor, "lows", array_at(r, LOWS), boxes);
    oif_visit_f64(visitor, "highs", array_at(r, HIGHS), boxes);
    oif_visit_u32(visitor, "missing", missing_of(r), r->columns);
    oif_visit_f64(visitor, "filling_lows", array_at(r, FILLING_LOWS), boxes);
    oif_visit_f64(visitor, "filling_highs", array_at(r, FILLING_HIGHS), boxes);
    oif_visit_u32(visitor, "filling_missing", filling_missing_of(r), r->columns);
    oif_visit_f64(visitor, "inner_lows", array_at(r, INNER_LOWS), r->columns);
    oif_visit_f64(visitor, "inner_highs", array_at(r, INNER_HIGHS), r->columns);
    oif_visit_f64(visitor, "widths", array_at(r, WIDTHS), r->columns);
    oif_visit_f64(visitor, "excesses", array_at(r, EXCESSES), r->columns);
}

/* ---- Checking ---- */

/* The groups that judge follow from the rows learned: a full box is used from the next row on. */
static uint32_t groups_after(uint64_t rows)
{
    uint32_t groups = 0;
    while (groups < GROUPS && rows > (uint64_t)next_groups(groups) * OIF_RANGE_ROWS)
        groups = next_groups(groups);
    return groups;
}

/* A range of numbers, or that of no number. */
static bool is_range(double low, double high, bool may_be_empty)
{
    return (low >= -DBL_MAX && low <= high && high <= DBL_MAX) ||
           (may_be_empty && low == INFINITY && high == -INFINITY);
}

static bool boxes_in_use_are_ranges(const ranges *r, uint32_t column)
{
    const double *lows = lows_of(r, column), *highs = highs_of(r, column);
    const uint32_t missing = missing_of(r)[column];
    for (uint32_t group = 0; group < GROUPS; group++) {
        bool had_missing = missing >> group & 1;
        if (group >= r->groups
                ? lows[group] != -INFINITY || highs[group] != INFINITY || !had_missing
                : !is_range(lows[group], highs[group], had_missing))
            return false;
    }
    return true;
}

static bool filling_boxes_are_ranges(const ranges *r)
{
    for (uint32_t group = 0; group < GROUPS; group++)
        for (uint32_t j = 0; j < r->columns; j++)
            if (!is_range(filling_low(r, group)[j], filling_high(r, group)[j], true))
                return false;
    return true;
}

static bool derived_is_right(const ranges *r, uint32_t column)
{
    derived d = derive(r, column, 0);
    return array_at(r, INNER_LOWS)[column] == d.inner_low &&
           array_at(r, INNER_HIGHS)[column] == d.inner_high &&
           array_at(r, WIDTHS)[column] == d.width;
}

static bool is_share(double number)
{
    return number >= 0 && number <= 1;
}

oif_status oif_row_ranges_check(const ranges *r, oif_error *error)
{
    if (r->groups != groups_after(r->rows))
        return oif_fail(error, OIF_EINVARIANT,
                        "other groups of ranges judge than have enough rows");
    if (!filling_boxes_are_ranges(r))
        return oif_fail(error, OIF_EINVARIANT, "a box that is being filled is not a range");
    for (uint32_t j = 0; j < r->columns; j++) {
        if (!boxes_in_use_are_ranges(r, j))
            return oif_fail(error, OIF_EINVARIANT, "column %u: a box is not a range", j + 1);
        if (!is_share(array_at(r, EXCESSES)[j]))
            return oif_fail(error, OIF_EINVARIANT, "column %u: the usual excess is not a share",
                            j + 1);
        if (!derived_is_right(r, j))
            return oif_fail(error, OIF_EINVARIANT, "column %u: bounds do not follow from the boxes",
                            j + 1);
    }
    return OIF_OK;
}
