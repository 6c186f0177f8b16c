/* Judges rows by the ranges of recent rows: which values are outside, and how that changes the
 * depth of the row. */
#include "base/stable_math.h"
#include "detect/row_ranges_layout.h"

#include <math.h>

/* ---- Which columns are outside ---- */

static bool any_outside(const double *low, const double *high, const double *row, size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        if (is_outside(low[j], high[j], row[j]))
            return true;
    return false;
}

/* Some columns of a row, at most 32. */
enum { PART_COLUMNS = 32 };

static inline size_t columns_of_part(const oif_row_ranges *ranges, size_t first)
{
    const size_t left = ranges->columns - first;
    return left < PART_COLUMNS ? left : PART_COLUMNS;
}

/* Bit i: value first + i of the row may be outside. */
OIF_INLINE uint32_t find_outside(const oif_row_ranges *ranges, const double *row, size_t first)
{
    const double *low = array_at(ranges, INNER_LOWS) + first,
                 *high = array_at(ranges, INNER_HIGHS) + first;
    const size_t columns = columns_of_part(ranges, first);
    uint32_t found = 0;
    for (size_t j = 0; j < columns; j++)
        found |= (uint32_t)is_outside(low[j], high[j], row[first + j]) << j;
    return found;
}

#if OIF_HAS_AVX2_CODE
/* All ones in the lanes of values that may be outside. */
OIF_AVX2 OIF_INLINE __m256d outside_4(const double *low, const double *high, const double *four)
{
    __m256d x = _mm256_loadu_pd(four);
    return _mm256_or_pd(_mm256_cmp_pd(x, _mm256_loadu_pd(low), _CMP_NGE_UQ),
                        _mm256_cmp_pd(x, _mm256_loadu_pd(high), _CMP_NLE_UQ));
}

/* For at least four columns. Here and below, the last four may overlap the ones before. */
OIF_AVX2 static bool any_outside_avx2(const double *low, const double *high, const double *row,
                                      size_t columns)
{
    const size_t last = columns - LANES;
    __m256d found = outside_4(low + last, high + last, row + last);
    for (size_t j = 0; j < last; j += LANES)
        found = _mm256_or_pd(found, outside_4(low + j, high + j, row + j));
    return _mm256_movemask_pd(found) != 0;
}

OIF_AVX2 OIF_INLINE uint32_t find_outside_avx2(const oif_row_ranges *ranges, const double *row,
                                               size_t first)
{
    const double *low = array_at(ranges, INNER_LOWS) + first,
                 *high = array_at(ranges, INNER_HIGHS) + first;
    const size_t columns = columns_of_part(ranges, first), last = columns - LANES;
    if (columns < LANES)
        return find_outside(ranges, row, first);
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

bool oif_row_ranges_may_be_outside(const oif_row_ranges *ranges, const double *row)
{
    const double *low = array_at(ranges, INNER_LOWS), *high = array_at(ranges, INNER_HIGHS);
    return is_vector_work(ranges) ? any_outside_avx2(low, high, row, ranges->columns)
                                  : any_outside(low, high, row, ranges->columns);
}

/* ---- Judging ---- */

static bool is_left_out(const oif_columns_left_out *left_out, size_t column)
{
    return left_out && column % left_out->step == left_out->column;
}

/* Raises the worst q to 1 for groups in which this column was never missing. */
static __attribute__((noinline)) void judge_missing(const oif_row_ranges *ranges, size_t j,
                                                    double worst[GROUPS])
{
    const uint32_t had_missing = missing_of(ranges)[j];
    for (uint32_t group = 0; group < GROUPS; group++)
        if (!(had_missing >> group & 1))
            worst[group] = 1;
}

/* Raises the worst q to 1 for groups that have no value in this column. */
static __attribute__((noinline)) void judge_empty(const double *lows, double worst[GROUPS])
{
    for (uint32_t group = 0; group < GROUPS; group++)
        worst[group] = lows[group] == INFINITY ? 1 : worst[group];
}

/* What is subtracted from the q of a column, and the factor that makes 1 of the largest q again.
 * After a level shift almost every row is far outside, until the boxes are renewed: the cap keeps
 * values much further outside visible. */
typedef struct usual_excess {
    double usual, scale;
} usual_excess;

OIF_INLINE usual_excess excess_in(const oif_row_ranges *ranges, size_t j)
{
    const double most = 0.98, excess = array_at(ranges, EXCESSES)[j],
                 usual = excess < most ? excess : most;
    return (usual_excess){usual, 1 / (1 - usual)};
}

/* Raises the worst q so far of each group to the q of one more column.
 *
 * Inside a box the distance is between 0 and minus half the width, so q is not above 0. It is NaN
 * if both the box and the usual width are 0; NaN changes nothing. The same holds for groups without
 * a box (-infinity to infinity) and with an empty one (infinity to -infinity): their q is always
 * NaN. */
OIF_INLINE void judge_number(const oif_row_ranges *ranges, size_t j, double number,
                             double worst[GROUPS])
{
    const double *lows = lows_of(ranges, j), *highs = highs_of(ranges, j);
    const double x = number * quarter, usual = array_at(ranges, WIDTHS)[j];
    const usual_excess excess = excess_in(ranges, j);
    for (uint32_t group = 0; group < GROUPS; group++) {
        double low = lows[group], high = highs[group];
        double below = low - x, above = x - high, width = high - low;
        double distance = below > above ? below : above;
        width = width > usual ? width : usual;
        double q = (distance / (distance + width) - excess.usual) * excess.scale;
        worst[group] = q > worst[group] ? q : worst[group];
    }
}

/* ---- Columns that have begun of late ---- */

/* The range of all values of a column that the boxes have, in use or being filled. False if fewer
 * than three of four groups have two of them: then the range would be too small. */
static bool find_hull(const oif_row_ranges *ranges, size_t j, double *low, double *high)
{
    const double *lows = lows_of(ranges, j), *highs = highs_of(ranges, j);
    uint32_t known = 0;
    *low = INFINITY;
    *high = -INFINITY;
    for (uint32_t group = 0; group < GROUPS; group++) {
        double l = filling_low(ranges, group)[j] * quarter,
               h = filling_high(ranges, group)[j] * quarter;
        if (group < ranges->groups) {
            l = lows[group] < l ? lows[group] : l;
            h = highs[group] > h ? highs[group] : h;
        }
        known += l < h;
        *low = l < *low ? l : *low;
        *high = h > *high ? h : *high;
    }
    return known >= GROUPS * 3 / 4;
}

/* Groups without a box of the column judge by the range of all its values. Without it a new column
 * would be judged by all groups only after 2,048 rows. */
static __attribute__((noinline)) void judge_begun(const oif_row_ranges *ranges, size_t j,
                                                  double number, double worst[GROUPS])
{
    double low, high;
    const double x = number * quarter;
    if (!find_hull(ranges, j, &low, &high))
        return;
    const double distance = low - x > x - high ? low - x : x - high;
    const usual_excess excess = excess_in(ranges, j);
    const double q = (distance / (distance + (high - low)) - excess.usual) * excess.scale;
    for (uint32_t group = 0; group < ranges->groups; group++)
        if (lows_of(ranges, j)[group] == INFINITY && q > worst[group])
            worst[group] = q;
}

/* The probability that a row is isolated at each level: x^2 / (x^2 + 2), where x = q / (1 - q) is
 * its distance in widths. */
OIF_INLINE double probability_of(double q)
{
    const double inside = 1 - q;
    return q * q / (q * q + 2 * (inside * inside));
}

/* The mean loss of depth over the groups. Half of the groups without a box count, with no loss. A
 * row is isolated with the probability p at each level, so a walk of `depth` levels ends after (1 -
 * (1 - p)^depth) / p of them on average. depth / (1 + (depth - 1) (p + p^2) / 2) has the same
 * values and slopes at both ends and needs no powers. */
OIF_INLINE double mean_loss(const double worst[GROUPS], double depth, uint32_t groups)
{
    double sums[LANES] = {0};
    const double half_below = (depth - 1) / 2;
    for (uint32_t group = 0; group < GROUPS; group += LANES)
        for (uint32_t i = 0; i < LANES; i++) {
            double p = probability_of(worst[group + i]);
            sums[i] += depth - depth / (1 + half_below * (p + p * p));
        }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (0.5 * (groups + GROUPS));
}

/* The mean probability of one value over the groups in use. */
OIF_INLINE double mean_probability(const oif_row_ranges *ranges, size_t j, double number)
{
    double q[GROUPS] = {0}, sums[LANES] = {0};
    judge_number(ranges, j, number, q);
    if (array_at(ranges, INNER_LOWS)[j] == INFINITY)
        judge_begun(ranges, j, number, q);
    for (uint32_t group = 0; group < GROUPS; group += LANES)
        for (uint32_t i = 0; i < LANES; i++)
            sums[i] += probability_of(q[group + i]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / ranges->groups;
}

static double mean_probability_portable(const oif_row_ranges *ranges, size_t j, double number)
{
    return mean_probability(ranges, j, number);
}

OIF_AVX2 static double mean_probability_avx2(const oif_row_ranges *ranges, size_t j, double number)
{
    return mean_probability(ranges, j, number);
}

static double probability_in(const oif_row_ranges *ranges, size_t j, double number)
{
    return (oif_machine_has_avx2() ? mean_probability_avx2 : mean_probability_portable)(ranges, j,
                                                                                        number);
}

/* ---- How broad and how extreme ---- */

/* The mean probability of one value, also if it is missing. */
static double probability_of_value(const oif_row_ranges *ranges, size_t j, double number)
{
    if (number == number)
        return probability_in(ranges, j, number);
    return 1 - (double)__builtin_popcount(missing_of(ranges)[j]) / GROUPS;
}

/* The depth of a row whose worst column alone would give it the depth `inserted`.
 *
 * By the worst column alone, a blip equals an incident of the whole machine, and 10 widths equal
 * 1,000. So other columns that are outside make the row shallower, and so does a value that is
 * further outside than isolation alone needs. The first change in a constant column has no such
 * distance. */
static __attribute__((noinline)) double judge_breadth(const oif_row_ranges *ranges,
                                                      const double *row, double inserted,
                                                      const oif_columns_left_out *left_out)
{
    const double ordinary = 0.1, extremity = 0.3, breadth = 0.3, least_left = 0x1p-40;
    const double *low = array_at(ranges, INNER_LOWS), *high = array_at(ranges, INNER_HIGHS);
    double sum = 0, most = 0;
    for (size_t j = 0; j < ranges->columns; j++) {
        if (!is_outside(low[j], high[j], row[j]) || is_left_out(left_out, j))
            continue;
        const double p = probability_of_value(ranges, j, row[j]), left = 1 - p;
        if (!(p > ordinary))
            continue;
        const double weight = (p - ordinary) / (1 - ordinary);
        most = weight > most ? weight : most;
        sum += weight;
        if (row[j] == row[j] && array_at(ranges, WIDTHS)[j] > 0)
            sum -= weight * extremity * oif_log2(left > least_left ? left : least_left);
    }
    return inserted / (1 + breadth * oif_log2(1 + (sum - most)));
}

/* ---- Depth ---- */

/* Whether a value was learned since the boxes in use were filled. */
static __attribute__((noinline)) bool is_filling(const oif_row_ranges *ranges, size_t j)
{
    for (uint32_t group = 0; group < GROUPS; group++)
        if (filling_low(ranges, group)[j] <= filling_high(ranges, group)[j])
            return true;
    return false;
}

/* A column that was always missing is extreme with its first value. Once that is learned, the
 * column is new rather than extreme: groups that have no box of it say nothing. */
OIF_INLINE void judge_present(const oif_row_ranges *ranges, size_t j, double number,
                              double worst[GROUPS])
{
    judge_number(ranges, j, number, worst);
    if (array_at(ranges, INNER_LOWS)[j] != INFINITY)
        return;
    if (is_filling(ranges, j))
        judge_begun(ranges, j, number, worst);
    else
        judge_empty(lows_of(ranges, j), worst);
}

OIF_INLINE void judge_part(const oif_row_ranges *ranges, const double *row, size_t first,
                           uint32_t outside, const oif_columns_left_out *left_out,
                           double worst[GROUPS])
{
    for (; outside; outside &= outside - 1) {
        const size_t j = first + (size_t)__builtin_ctz(outside);
        if (is_left_out(left_out, j))
            continue;
        if (row[j] != row[j])
            judge_missing(ranges, j, worst);
        else
            judge_present(ranges, j, row[j], worst);
    }
}

static double judge(const oif_row_ranges *ranges, const double *row, double depth,
                    const oif_columns_left_out *left_out)
{
    double worst[GROUPS] = {0};
    for (size_t first = 0; first < ranges->columns; first += PART_COLUMNS)
        judge_part(ranges, row, first, find_outside(ranges, row, first), left_out, worst);
    return depth - mean_loss(worst, depth, ranges->groups);
}

OIF_AVX2 static double judge_avx2(const oif_row_ranges *ranges, const double *row, double depth,
                                  const oif_columns_left_out *left_out)
{
    double worst[GROUPS] = {0};
    for (size_t first = 0; first < ranges->columns; first += PART_COLUMNS)
        judge_part(ranges, row, first, find_outside_avx2(ranges, row, first), left_out, worst);
    return depth - mean_loss(worst, depth, ranges->groups);
}

double oif_row_ranges_depth(const oif_row_ranges *ranges, const double *row, double depth,
                            const oif_columns_left_out *left_out)
{
    if (ranges->groups == 0)
        return depth;
    double inserted = depth;
    if (depth > 1)
        inserted = (oif_machine_has_avx2() ? judge_avx2 : judge)(ranges, row, depth, left_out);
    /* Of what insertion can take from the depth, it has hardly taken anything. */
    const bool is_ordinary = depth > 1 && inserted > depth - (depth - 1) / 20;
    return is_ordinary ? inserted : judge_breadth(ranges, row, inserted, left_out);
}

/* ---- The usual range ---- */

/* The median of the finite numbers, the lower one of two; NaN if there are none. */
static double median_of(const double *numbers, uint32_t count)
{
    double sorted[GROUPS];
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i]))
            continue;
        uint32_t at = known++;
        for (; at > 0 && sorted[at - 1] > numbers[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = numbers[i];
    }
    return known > 0 ? sorted[(known - 1) / 2] : NAN;
}

bool oif_row_ranges_usual(const oif_row_ranges *ranges, size_t column, double *low, double *high)
{
    *low = median_of(lows_of(ranges, column), ranges->groups) / quarter;
    *high = median_of(highs_of(ranges, column), ranges->groups) / quarter;
    return *low <= *high && isfinite(*low) && isfinite(*high);
}
