/* The shapes of a column: a few stretches of its values, less their mean, that stand for all seen
 * so far. A stretch that is far from each of them has an unusual shape, even if each of its values
 * is usual.
 *
 * Shapes are found by k-means, row by row: a stretch moves the nearest shape a little towards
 * itself. One that is far from all takes an empty place, or later the place of the shape that is
 * used least.
 */
#ifndef OIF_PIPELINE_SHAPES_H
#define OIF_PIPELINE_SHAPES_H

#include "base/four.h"
#include "base/state_visitor.h"
#include "base/unchanged.h"

enum {
    OIF_SHAPES = 32,
    OIF_SHAPE_POINTS = 16, /* values of a stretch */
    OIF_SHAPE_GROUPS = OIF_SHAPES / OIF_FOUR
};

/* Larger values count as this large, so no square overflows. */
#define OIF_MOVES_MOST 1e150

typedef struct oif_shapes {
    double uses[OIF_SHAPES]; /* stretches nearest to it, older ones count less; 0: empty place */
    /* Four shapes lie side by side and are compared together. */
    double points[OIF_SHAPE_GROUPS][OIF_SHAPE_POINTS][OIF_FOUR];
} oif_shapes;

/* The nearest shape: its number, and the root mean square difference of the points. If none is
 * known: 0 and the number OIF_SHAPES. */
typedef struct oif_nearest_shape {
    double distance;
    uint32_t number;
} oif_nearest_shape;

/* `known`: the number of shapes, which is kept elsewhere. */
oif_nearest_shape oif_shapes_nearest(const oif_shapes *shapes, uint32_t known,
                                     const double stretch[OIF_SHAPE_POINTS]);

/* Learns a stretch, after as many others. `spread`: the standard deviation of the column. Returns
 * the number of shapes known from now on. */
uint32_t oif_shapes_learn(oif_shapes *shapes, uint32_t known,
                          const double stretch[OIF_SHAPE_POINTS], oif_nearest_shape nearest,
                          double spread, uint64_t others);

/* Reports empty places, which never were anything else. */
void oif_shapes_unchanged(const oif_shapes *shapes, uint32_t known, const oif_unchanged *unchanged);

void oif_shapes_visit_fields(oif_shapes *shapes, oif_state_visitor *visitor);
bool oif_shapes_check(const oif_shapes *shapes, uint32_t known);

#endif
