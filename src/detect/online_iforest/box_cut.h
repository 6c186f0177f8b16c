/* Cutting a box of points in two, as the trees of online-iforest do: a feature and a value at
 * random, then the points on either side. No point is drawn: how many fall left is binomial,
 * and the least and greatest of n uniform numbers have known laws, so a cut costs O(dimension).
 *
 * A box holds the lowest x and then the lowest -x of every feature, +infinity where none was
 * seen, so that one loop of minima widens it. */
#ifndef OIF_DETECT_BOX_CUT_H
#define OIF_DETECT_BOX_CUT_H

#include "base/double_bits.h"
#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- Numbers as keys ---- */

/* A whole number for every number: keys are in the order of the numbers, and 0.0 and -0.0 have
 * the same one. */
static inline uint64_t oif_key(double number)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits = oif_bits_of_double(number + 0.0); /* turns -0.0 into 0.0 */
    return bits ^ ((0 - (bits >> 63)) | sign);
}

static inline double oif_number_of_key(uint64_t key)
{
    const uint64_t sign = UINT64_C(1) << 63;
    return oif_double_from_bits(key & sign ? key ^ sign : ~key);
}

#define OIF_UNCUT UINT64_MAX /* every key goes left */

/* ---- Boxes ---- */

/* One feature of a box: [low, high], empty when low > high. */
typedef struct oif_range {
    double low, high;
} oif_range;

static inline oif_range oif_box_range(const double *box, uint32_t dimension, uint32_t feature)
{
    return (oif_range){box[feature], -box[dimension + feature]};
}

/* The least range around `count` points drawn uniformly from a range. */
oif_range oif_range_draw(oif_random *random, uint32_t count, oif_range from);

/* The least box around `count` points drawn uniformly from a box; `box` may be `drawn`. */
void oif_box_draw(oif_random *random, uint32_t count, const double *box, double *drawn,
                  uint32_t dimension);

/* ---- Cuts ---- */

typedef struct oif_box_cut {
    double value;
    uint32_t feature;
    uint32_t left_count, right_count;
    oif_range left, right; /* of the cut's own feature */
} oif_box_cut;

/* Uniform among the features that ever had a value in this box; false when none had. */
bool oif_box_cut_draw_feature(oif_random *random, const double *box, uint32_t dimension,
                              uint32_t *feature);

/* The paper's text: a value in the box, then `count` points in the box. */
void oif_box_cut_draw_in_box(oif_random *random, uint32_t count, oif_range box, oif_box_cut *c);

/* The authors' code: a value between the outermost of `count` points. Those two are then on
 * either side of it, and the others uniform between them. */
void oif_box_cut_draw_between_points(oif_random *random, uint32_t count, oif_range points,
                                     oif_box_cut *c);

/* Turns the box of the leaf that is cut into that of its left child, and fills that of the
 * right one. The leaf holds points drawn uniformly from its box or, when it is newborn, points
 * that its box just encloses. */
void oif_box_cut_draw_boxes(oif_random *random, const oif_box_cut *c, bool newborn, double *left,
                            double *right, uint32_t dimension);

#endif
