/* Cutting a box of points in two at random, without drawing the points. */
#include "detect/online_iforest/box.h"

#include "base/block.h"

#include <string.h>

static const oif_range empty_range = {INFINITY, -INFINITY};

static void set_box_range(double *box, uint32_t dimension, uint32_t column, oif_range range)
{
    box[column] = range.low;
    box[dimension + column] = -range.high;
}

static double point_in(oif_range range, double fraction)
{
    /* high - low could overflow */
    double point = range.low * (1.0 - fraction) + range.high * fraction;
    return point < range.low ? range.low : point > range.high ? range.high : point;
}

static oif_range range_within(oif_range range, double least, double greatest)
{
    oif_range within = {point_in(range, least), point_in(range, greatest)};
    /* rounding may swap them, a few ulps apart */
    within.low = within.low < within.high ? within.low : within.high;
    return within;
}

oif_range oif_range_draw(oif_random *random, uint32_t count, oif_range from)
{
    double least, greatest;
    if (count == 0 || from.low > from.high)
        return empty_range;
    oif_random_extremes(random, count, 1, &least, &greatest);
    return range_within(from, least, greatest);
}

static bool can_be_cut(const double *box, uint32_t dimension, uint32_t column, bool varying)
{
    return varying ? box[column] < -box[dimension + column] : box[column] < INFINITY;
}

bool oif_box_cut_draw_column(oif_random *random, const double *box, uint32_t dimension,
                             bool varying, uint32_t *column)
{
    uint32_t candidates = 0;
    *column = oif_random_below(random, dimension);
    if (can_be_cut(box, dimension, *column, varying))
        return true;
    for (uint32_t i = 0; i < dimension; i++)
        candidates += can_be_cut(box, dimension, i, varying);
    if (candidates == 0)
        return false;
    uint32_t chosen = oif_random_below(random, candidates);
    for (*column = 0; !can_be_cut(box, dimension, *column, varying) || chosen-- > 0; ++*column)
        ;
    return true;
}

void oif_box_cut_draw_in_box(oif_random *random, uint32_t count, oif_range box, oif_box_cut *cut)
{
    double fraction = oif_random_unit(random);
    cut->value = point_in(box, fraction);
    cut->left_count = cut->value > box.low ? oif_random_binomial(random, count, fraction) : 0;
    cut->right_count = count - cut->left_count;
    cut->left = oif_range_draw(random, cut->left_count, (oif_range){box.low, cut->value});
    cut->right = oif_range_draw(random, cut->right_count, (oif_range){cut->value, box.high});
}

void oif_box_cut_draw_between_points(oif_random *random, uint32_t count, oif_range points,
                                     oif_box_cut *cut)
{
    double fraction = oif_random_unit(random);
    cut->value = point_in(points, fraction);
    if (cut->value <= points.low) { /* all points are the same: none is below it */
        oif_box_cut_draw_in_box(random, count, points, cut);
        return;
    }
    uint32_t left_others = oif_random_binomial(random, count - 2, fraction);
    uint32_t right_others = count - 2 - left_others;
    cut->left_count = left_others + 1;
    cut->right_count = right_others + 1;
    cut->left = (oif_range){points.low, points.low};
    cut->right = (oif_range){points.high, points.high};
    if (left_others)
        cut->left.high =
            oif_range_draw(random, left_others, (oif_range){points.low, cut->value}).high;
    if (right_others)
        cut->right.low =
            oif_range_draw(random, right_others, (oif_range){cut->value, points.high}).low;
}

static void include_point(oif_range *range, double point)
{
    range->low = point < range->low ? point : range->low;
    range->high = point > range->high ? point : range->high;
}

/* Shares out points whose range is known, in a column that has no part in the cut: the
 * outermost two are any of them, on either side, and the others uniform between. */
static void share_range(oif_random *random, const oif_box_cut *cut, oif_range whole,
                        oif_range *left, oif_range *right)
{
    uint32_t count = cut->left_count + cut->right_count;
    bool lowest_left = oif_random_below(random, count) < cut->left_count;
    bool highest_left = count == 1
                            ? lowest_left
                            : oif_random_below(random, count - 1) < cut->left_count - lowest_left;
    uint32_t left_outer = count == 1 ? lowest_left : (uint32_t)lowest_left + highest_left;
    uint32_t right_outer = (count == 1 ? 1 : 2) - left_outer;
    *left = oif_range_draw(random, cut->left_count - left_outer, whole);
    *right = oif_range_draw(random, cut->right_count - right_outer, whole);
    include_point(lowest_left ? left : right, whole.low);
    include_point(highest_left ? left : right, whole.high);
}

/* Turns the least and greatest of points drawn from [0, 1] into those of points drawn from the
 * ranges of a box, the greatest with their signs turned as a box has them. The numbers are
 * those of range_within, without a branch. */
OIF_INLINE void stretch_ranges(const double *restrict lows, const double *restrict minus_highs,
                               uint32_t times, double *restrict least, double *restrict greatest)
{
    for (uint32_t i = 0; i < times; i++) {
        double low = lows[i], high = -minus_highs[i];
        double first = low * (1.0 - least[i]) + high * least[i];
        double last = low * (1.0 - greatest[i]) + high * greatest[i];
        first = first > high ? high : first;
        first = first < low ? low : first;
        last = last > high ? high : last;
        last = last < low ? low : last;
        first = first < last ? first : last;
        least[i] = low > high ? INFINITY : first;
        greatest[i] = low > high ? INFINITY : -last;
    }
}

OIF_AVX2 static void stretch_ranges_avx2(const double *lows, const double *minus_highs,
                                         uint32_t times, double *least, double *greatest)
{
    stretch_ranges(lows, minus_highs, times, least, greatest);
}

static void stretch(const double *lows, const double *minus_highs, uint32_t times, double *least,
                    double *greatest)
{
    if (oif_machine_has_avx2())
        stretch_ranges_avx2(lows, minus_highs, times, least, greatest);
    else
        stretch_ranges(lows, minus_highs, times, least, greatest);
}

void oif_box_draw(oif_random *random, uint32_t count, const double *box, double *drawn,
                  uint32_t dimension)
{
    double least[OIF_EXTREMES_AT_ONCE], greatest[OIF_EXTREMES_AT_ONCE];
    if (count == 0) {
        for (uint32_t i = 0; i < 2 * dimension; i++)
            drawn[i] = INFINITY;
        return;
    }
    for (uint32_t first = 0; first < dimension; first += OIF_EXTREMES_AT_ONCE) {
        uint32_t times = oif_min_u32(dimension - first, OIF_EXTREMES_AT_ONCE);
        oif_random_extremes(random, count, times, least, greatest);
        stretch(box + first, box + dimension + first, times, least, greatest);
        memcpy(drawn + first, least, times * sizeof *least);
        memcpy(drawn + dimension + first, greatest, times * sizeof *greatest);
    }
}

void oif_box_cut_draw_boxes(oif_random *random, const oif_box_cut *cut, bool newborn, double *left,
                            double *right, uint32_t dimension)
{
    if (newborn) {
        for (uint32_t i = 0; i < dimension; i++) {
            oif_range whole = oif_box_range(left, dimension, i), left_range = empty_range,
                      right_range = empty_range;
            if (whole.low <= whole.high)
                share_range(random, cut, whole, &left_range, &right_range);
            set_box_range(left, dimension, i, left_range);
            set_box_range(right, dimension, i, right_range);
        }
    } else {
        oif_box_draw(random, cut->right_count, left, right, dimension);
        oif_box_draw(random, cut->left_count, left, left, dimension);
    }
    set_box_range(left, dimension, cut->column, cut->left);
    set_box_range(right, dimension, cut->column, cut->right);
}
