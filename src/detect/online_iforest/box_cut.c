/* How a box of points is cut in two at random, without drawing the points. */
#include "detect/online_iforest/box_cut.h"

#include "base/vector.h"

#include <string.h>

typedef oif_range range;

static const range empty_range = {INFINITY, -INFINITY};

static void set_box_range(double *box, uint32_t dimension, uint32_t feature, range r)
{
    box[feature] = r.low;
    box[dimension + feature] = -r.high;
}

static double point_in(range r, double fraction)
{
    double point = r.low * (1.0 - fraction) + r.high * fraction; /* high - low could overflow */
    return point < r.low ? r.low : point > r.high ? r.high : point;
}

static range range_within(range r, double least, double greatest)
{
    range within = {point_in(r, least), point_in(r, greatest)};
    within.low =
        /* rounding may swap them, a few ulps apart */
        within.low < within.high ? within.low : within.high;
    return within;
}

range oif_range_draw(oif_random *random, uint32_t count, range from)
{
    double least, greatest;
    if (count == 0 || from.low > from.high)
        return empty_range;
    oif_random_extremes(random, count, 1, &least, &greatest);
    return range_within(from, least, greatest);
}

typedef oif_box_cut cut;

bool oif_box_cut_draw_feature(oif_random *random, const double *box, uint32_t dimension,
                              uint32_t *feature)
{
    uint32_t known = 0;
    *feature = oif_random_below(random, dimension);
    if (box[*feature] < INFINITY)
        return true;
    for (uint32_t i = 0; i < dimension; i++)
        known += box[i] < INFINITY;
    if (known == 0)
        return false;
    uint32_t chosen = oif_random_below(random, known);
    for (*feature = 0; box[*feature] == INFINITY || chosen-- > 0; ++*feature)
        ;
    return true;
}

void oif_box_cut_draw_in_box(oif_random *random, uint32_t count, range box, cut *c)
{
    double fraction = oif_random_unit(random);
    c->value = point_in(box, fraction);
    c->left_count = c->value > box.low ? oif_random_binomial(random, count, fraction) : 0;
    c->right_count = count - c->left_count;
    c->left = oif_range_draw(random, c->left_count, (range){box.low, c->value});
    c->right = oif_range_draw(random, c->right_count, (range){c->value, box.high});
}

void oif_box_cut_draw_between_points(oif_random *random, uint32_t count, range points, cut *c)
{
    double fraction = oif_random_unit(random);
    c->value = point_in(points, fraction);
    if (c->value <= points.low) { /* all points are the same: none is below it */
        oif_box_cut_draw_in_box(random, count, points, c);
        return;
    }
    uint32_t left_others = oif_random_binomial(random, count - 2, fraction);
    uint32_t right_others = count - 2 - left_others;
    c->left_count = left_others + 1;
    c->right_count = right_others + 1;
    c->left = (range){points.low, points.low};
    c->right = (range){points.high, points.high};
    if (left_others)
        c->left.high = oif_range_draw(random, left_others, (range){points.low, c->value}).high;
    if (right_others)
        c->right.low = oif_range_draw(random, right_others, (range){c->value, points.high}).low;
}

static void include_point(range *r, double point)
{
    r->low = point < r->low ? point : r->low;
    r->high = point > r->high ? point : r->high;
}

/* Shares out points whose range is known, in a feature that has no part in the cut: the
 * outermost two are any of them, on either side, and the others uniform between. */
static void share_range(oif_random *random, const cut *c, range whole, range *left, range *right)
{
    uint32_t count = c->left_count + c->right_count;
    bool lowest_left = oif_random_below(random, count) < c->left_count;
    bool highest_left = count == 1
                            ? lowest_left
                            : oif_random_below(random, count - 1) < c->left_count - lowest_left;
    uint32_t left_outer = count == 1 ? lowest_left : (uint32_t)lowest_left + highest_left;
    uint32_t right_outer = (count == 1 ? 1 : 2) - left_outer;
    *left = oif_range_draw(random, c->left_count - left_outer, whole);
    *right = oif_range_draw(random, c->right_count - right_outer, whole);
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

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static void stretch_ranges_avx2(const double *lows, const double *minus_highs,
                                         uint32_t times, double *least, double *greatest)
{
    stretch_ranges(lows, minus_highs, times, least, greatest);
}
#endif

static void stretch(const double *lows, const double *minus_highs, uint32_t times, double *least,
                    double *greatest)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        stretch_ranges_avx2(lows, minus_highs, times, least, greatest);
        return;
    }
#endif
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
        uint32_t times =
            dimension - first < OIF_EXTREMES_AT_ONCE ? dimension - first : OIF_EXTREMES_AT_ONCE;
        oif_random_extremes(random, count, times, least, greatest);
        stretch(box + first, box + dimension + first, times, least, greatest);
        memcpy(drawn + first, least, times * sizeof *least);
        memcpy(drawn + dimension + first, greatest, times * sizeof *greatest);
    }
}

void oif_box_cut_draw_boxes(oif_random *random, const cut *c, bool newborn, double *left,
                            double *right, uint32_t dimension)
{
    if (newborn) {
        for (uint32_t i = 0; i < dimension; i++) {
            range whole = oif_box_range(left, dimension, i), left_range = empty_range,
                  right_range = empty_range;
            if (whole.low <= whole.high)
                share_range(random, c, whole, &left_range, &right_range);
            set_box_range(left, dimension, i, left_range);
            set_box_range(right, dimension, i, right_range);
        }
    } else {
        oif_box_draw(random, c->right_count, left, right, dimension);
        oif_box_draw(random, c->left_count, left, left, dimension);
    }
    set_box_range(left, dimension, c->feature, c->left);
    set_box_range(right, dimension, c->feature, c->right);
}
