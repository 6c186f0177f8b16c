/* Boxes of rows, and cutting one in two, as the trees of online-iforest do: a column and a
 * value at random, then the points on either side. No point is drawn: how many fall left is
 * binomial, and the least and greatest of n uniform numbers have known laws, so a cut costs
 * O(dimension).
 *
 *     box     | lowest x of every column | lowest -x of every column | padding |
 *
 * +infinity where no value was seen. So one loop of minima widens a box. A row in this shape is
 * called its mirror. */
#ifndef OIF_DETECT_BOX_H
#define OIF_DETECT_BOX_H

#include "base/random.h"
#include "base/vector.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- Boxes ---- */

enum {
    OIF_BOX_STEP = 4,  /* numbers of a box that are worked on at a time */
    OIF_SHORT_BOX = 24 /* numbers; boxes up to this have code of their own for each width */
};

/* Numbers in a box: two per column, rounded up to whole steps. */
static inline uint32_t oif_box_width(uint32_t dimension)
{
    return (dimension * 2 + OIF_BOX_STEP - 1) / OIF_BOX_STEP * OIF_BOX_STEP;
}

/* Widens a box by another one or by a mirror, both `width` numbers. */
OIF_INLINE void oif_box_widen(double *restrict box, const double *restrict other, size_t width,
                              bool avx2)
{
    (void)avx2;
#if OIF_HAS_AVX2_CODE
    if (avx2) {
        const size_t paired = width / (2 * OIF_BOX_STEP) * (2 * OIF_BOX_STEP);
        /* two steps per iteration: 9% fewer instructions at d = 36 */
        for (size_t i = 0; i < paired; i += 2 * OIF_BOX_STEP) {
            oif_lower_4_avx2(box + i, other + i);
            oif_lower_4_avx2(box + i + OIF_BOX_STEP, other + i + OIF_BOX_STEP);
        }
        if (paired < width)
            oif_lower_4_avx2(box + paired, other + paired);
        return;
    }
#endif
    for (size_t i = 0; i < width; i++)
        box[i] = other[i] < box[i] ? other[i] : box[i];
}

/* One column of a box: [low, high], empty when low > high. */
typedef struct oif_range {
    double low, high;
} oif_range;

static inline oif_range oif_box_range(const double *box, uint32_t dimension, uint32_t column)
{
    return (oif_range){box[column], -box[dimension + column]};
}

static inline bool oif_range_is_finite_or_empty(oif_range range)
{
    return (range.low == INFINITY && range.high == -INFINITY) ||
           (range.low > -INFINITY && range.low <= range.high && range.high < INFINITY);
}

/* The least range around `count` points drawn uniformly from a range. */
oif_range oif_range_draw(oif_random *random, uint32_t count, oif_range from);

/* The least box around `count` points drawn uniformly from a box; `box` may be `drawn`. */
void oif_box_draw(oif_random *random, uint32_t count, const double *box, double *drawn,
                  uint32_t dimension);

/* ---- Cuts ---- */

typedef struct oif_box_cut {
    double value;
    uint32_t column;
    uint32_t left_count, right_count;
    oif_range left, right; /* of the cut's own column */
} oif_box_cut;

/* Uniform among the columns that ever had a value in this box, or with `varying` more than one;
 * false when none had. */
bool oif_box_cut_draw_column(oif_random *random, const double *box, uint32_t dimension,
                             bool varying, uint32_t *column);

/* The paper's text: a value in the box, then `count` points in the box. */
void oif_box_cut_draw_in_box(oif_random *random, uint32_t count, oif_range box, oif_box_cut *cut);

/* The authors' code: a value between the outermost of `count` points. Those two are then on
 * either side of it, and the others uniform between them. */
void oif_box_cut_draw_between_points(oif_random *random, uint32_t count, oif_range points,
                                     oif_box_cut *cut);

/* Turns the box of the leaf that is cut into that of its left child, and fills that of the
 * right one. The leaf holds points drawn uniformly from its box or, when it is newborn, points
 * that its box just encloses. */
void oif_box_cut_draw_boxes(oif_random *random, const oif_box_cut *cut, bool newborn, double *left,
                            double *right, uint32_t dimension);

#endif
