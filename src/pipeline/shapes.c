#include "pipeline/shapes.h"

#include "base/stable_math.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

enum {
    LANES = 4,         /* independent partial sums; the bits of the total depend on their number */
    RECRUIT_EVERY = 8, /* stretches: those in between overlap too much */
    FORGET_EVERY = 16
};

/* Distances in standard deviations. A stretch becomes a shape if it is further from all others. One
 * that is still further, such as a counter's reset, would spoil the shape that it moves. */
static const double apart = 0.05, far_apart = 0.2 /* replaces another shape */, too_far = 2;

static const double most_uses = 50, forgetting = 0.97, possible_uses = 600;

uint32_t oif_shapes_known(const oif_shapes *shapes)
{
    uint32_t known = 0;
    while (known < OIF_SHAPES && shapes->uses[known] > 0)
        known++;
    return known;
}

/* ---- The nearest ---- */

OIF_INLINE double squared_distance(const double *a, const double *b)
{
    double sums[LANES] = {0};
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i += LANES)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const double difference = a[i + lane] - b[i + lane];
            sums[lane] += difference * difference;
        }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

OIF_INLINE oif_nearest_shape find_nearest(const oif_shapes *shapes, const double *stretch,
                                          uint32_t known)
{
    double least = INFINITY;
    uint32_t number = OIF_SHAPES;
    for (uint32_t i = 0; i < known; i++) {
        const double distance = squared_distance(shapes->points[i], stretch);
        number = distance < least ? i : number;
        least = distance < least ? distance : least;
    }
    return (oif_nearest_shape){known > 0 ? oif_sqrt(least / OIF_SHAPE_POINTS) : 0, number};
}

OIF_AVX2 static oif_nearest_shape find_nearest_avx2(const oif_shapes *shapes, const double *stretch,
                                                    uint32_t known)
{
    return find_nearest(shapes, stretch, known);
}

static oif_nearest_shape find_nearest_portable(const oif_shapes *shapes, const double *stretch,
                                               uint32_t known)
{
    return find_nearest(shapes, stretch, known);
}

oif_nearest_shape oif_shapes_nearest(const oif_shapes *shapes,
                                     const double stretch[OIF_SHAPE_POINTS])
{
    const uint32_t known = oif_shapes_known(shapes);
    return (oif_machine_has_avx2() ? find_nearest_avx2 : find_nearest_portable)(shapes, stretch,
                                                                                known);
}

/* ---- Learning ---- */

static void add(oif_shapes *shapes, uint32_t place, const double *stretch)
{
    shapes->uses[place] = 1;
    memcpy(shapes->points[place], stretch, sizeof shapes->points[place]);
}

static void move(oif_shapes *shapes, uint32_t number, const double *stretch)
{
    double *points = shapes->points[number];
    shapes->uses[number] += shapes->uses[number] < possible_uses - 1;
    const double uses = shapes->uses[number], share = 1 / (uses < most_uses ? uses : most_uses);
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++)
        points[i] += (stretch[i] - points[i]) * share;
}

/* A shape that was ever used never becomes an empty place. */
static void forget(oif_shapes *shapes, uint32_t known)
{
    const double least = 1e-9;
    for (uint32_t i = 0; i < known; i++)
        shapes->uses[i] = shapes->uses[i] * forgetting + least;
}

static uint32_t least_used(const oif_shapes *shapes)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < OIF_SHAPES; i++)
        least = shapes->uses[i] < shapes->uses[least] ? i : least;
    return least;
}

void oif_shapes_learn(oif_shapes *shapes, const double stretch[OIF_SHAPE_POINTS],
                      oif_nearest_shape nearest, double spread, uint64_t others)
{
    const uint32_t known = oif_shapes_known(shapes);
    if (known < OIF_SHAPES && others % RECRUIT_EVERY == 0 &&
        (known == 0 || nearest.distance > apart * spread)) {
        add(shapes, known, stretch);
        return;
    }
    if (known == 0)
        return;
    if (nearest.distance <= too_far * spread)
        move(shapes, nearest.number, stretch);
    if (others % FORGET_EVERY != 0)
        return;
    forget(shapes, known);
    if (known == OIF_SHAPES && nearest.distance > far_apart * spread)
        add(shapes, least_used(shapes), stretch);
}

/* ---- Snapshots ---- */

void oif_shapes_visit_fields(oif_shapes *shapes, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "shape_uses", shapes->uses, OIF_SHAPES);
    oif_visit_f64(visitor, "shapes", &shapes->points[0][0], OIF_SHAPES * OIF_SHAPE_POINTS);
}

bool oif_shapes_check(const oif_shapes *shapes)
{
    const double *points = &shapes->points[0][0];
    const uint32_t known = oif_shapes_known(shapes);
    for (uint32_t i = 0; i < OIF_SHAPES; i++)
        if (!(i < known ? shapes->uses[i] <= possible_uses : shapes->uses[i] == 0))
            return false;
    for (uint32_t i = 0; i < OIF_SHAPES * OIF_SHAPE_POINTS; i++)
        if (!(fabs(points[i]) <= 2 * OIF_MOVES_MOST))
            return false;
    return true;
}
