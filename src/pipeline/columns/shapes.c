#include "pipeline/columns/shapes.h"

#include "base/four.h"
#include "base/stable_math.h"

#include <math.h>

enum {
    LANES = OIF_FOUR,
    RECRUIT_EVERY = 4, /* stretches: those in between overlap too much */
    FORGET_EVERY = 8
};

/* Distances in standard deviations. A stretch becomes a shape if it is further from all others. One
 * that is still further, such as a counter's reset, would spoil the shape that it moves. */
static const double apart = 0.05, far_apart = 0.2 /* replaces another shape */, too_far = 2;

static const double most_uses = 50, forgetting = 0.97, possible_uses = 600;

/* ---- The nearest ---- */

/* The sums of squared differences, and the shapes' numbers. */
typedef struct distances {
    oif_four squares;
    oif_four_masks numbers;
} distances;

OIF_INLINE void compare_group(const double (*points)[LANES], const double *stretch,
                              oif_four *squares)
{
    *squares = (oif_four){0};
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++) {
        oif_four difference;
        oif_four_load(&difference, points[i]);
        difference -= stretch[i];
        *squares += difference * difference;
    }
}

/* Keeps in each lane the nearer shape; of equal ones the first. Places from `known` on are
 * empty. */
OIF_INLINE void keep_nearer(distances *nearest, const distances *others, uint32_t known)
{
    const oif_four_masks is_nearer =
        (others->squares < nearest->squares) & (others->numbers < (int64_t)known);
    oif_four_choose(&is_nearer, &others->squares, &nearest->squares);
    nearest->numbers = (is_nearer & others->numbers) | (~is_nearer & nearest->numbers);
}

OIF_INLINE oif_nearest_shape nearest_lane(const distances *found)
{
    oif_nearest_shape nearest = {INFINITY, OIF_SHAPES};
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const oif_nearest_shape here = {found->squares[lane], (uint32_t)found->numbers[lane]};
        if (here.distance < nearest.distance ||
            (here.distance == nearest.distance && here.number < nearest.number))
            nearest = here;
    }
    return nearest;
}

OIF_INLINE oif_nearest_shape find_nearest(const oif_shapes *shapes, uint32_t known,
                                          const double *stretch)
{
    const oif_four_masks none = {OIF_SHAPES, OIF_SHAPES, OIF_SHAPES, OIF_SHAPES};
    distances nearest = {(oif_four){0} + INFINITY, none};
    distances group = {.numbers = {0, 1, 2, 3}};
    for (uint32_t i = 0; i * LANES < known; i++) {
        compare_group(shapes->points[i], stretch, &group.squares);
        keep_nearer(&nearest, &group, known);
        group.numbers += LANES;
    }
    const oif_nearest_shape found = nearest_lane(&nearest);
    return (oif_nearest_shape){known > 0 ? oif_sqrt(found.distance / OIF_SHAPE_POINTS) : 0,
                               found.number};
}

OIF_AVX2 static oif_nearest_shape find_nearest_avx2(const oif_shapes *shapes, uint32_t known,
                                                    const double *stretch)
{
    return find_nearest(shapes, known, stretch);
}

static oif_nearest_shape find_nearest_portable(const oif_shapes *shapes, uint32_t known,
                                               const double *stretch)
{
    return find_nearest(shapes, known, stretch);
}

oif_nearest_shape oif_shapes_nearest(const oif_shapes *shapes, uint32_t known,
                                     const double stretch[OIF_SHAPE_POINTS])
{
    return (oif_machine_has_avx2() ? find_nearest_avx2 : find_nearest_portable)(shapes, known,
                                                                                stretch);
}

/* ---- Learning ---- */

static double *point_of(oif_shapes *shapes, uint32_t number, uint32_t point)
{
    return &shapes->points[number / LANES][point][number % LANES];
}

static void add(oif_shapes *shapes, uint32_t place, const double *stretch)
{
    shapes->uses[place] = 1;
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++)
        *point_of(shapes, place, i) = stretch[i];
}

static void move(oif_shapes *shapes, uint32_t number, const double *stretch)
{
    shapes->uses[number] += shapes->uses[number] < possible_uses - 1;
    const double uses = shapes->uses[number], share = 1 / (uses < most_uses ? uses : most_uses);
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++) {
        double *point = point_of(shapes, number, i);
        *point += (stretch[i] - *point) * share;
    }
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

uint32_t oif_shapes_learn(oif_shapes *shapes, uint32_t known,
                          const double stretch[OIF_SHAPE_POINTS], oif_nearest_shape nearest,
                          double spread, uint64_t others)
{
    if (known < OIF_SHAPES && others % RECRUIT_EVERY == 0 &&
        (known == 0 || nearest.distance > apart * spread)) {
        add(shapes, known, stretch);
        return known + 1;
    }
    if (known == 0)
        return 0;
    if (nearest.distance <= too_far * spread)
        move(shapes, nearest.number, stretch);
    if (others % FORGET_EVERY != 0)
        return known;
    forget(shapes, known);
    if (known == OIF_SHAPES && nearest.distance > far_apart * spread)
        add(shapes, least_used(shapes), stretch);
    return known;
}

/* ---- Snapshots ---- */

void oif_shapes_unchanged(const oif_shapes *shapes, uint32_t known, const oif_unchanged *unchanged)
{
    const uint32_t groups = (known + LANES - 1) / LANES;
    oif_unchanged_add(unchanged, shapes->points[groups],
                      (OIF_SHAPE_GROUPS - groups) * sizeof shapes->points[0]);
}

void oif_shapes_visit_fields(oif_shapes *shapes, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "shape_uses", shapes->uses, OIF_SHAPES);
    oif_visit_f64(visitor, "shapes", &shapes->points[0][0][0], OIF_SHAPES * OIF_SHAPE_POINTS);
}

bool oif_shapes_check(const oif_shapes *shapes, uint32_t known)
{
    const double *points = &shapes->points[0][0][0];
    for (uint32_t i = 0; i < OIF_SHAPES; i++)
        if (!(i < known ? shapes->uses[i] > 0 && shapes->uses[i] <= possible_uses
                        : shapes->uses[i] == 0))
            return false;
    for (uint32_t i = 0; i < OIF_SHAPES * OIF_SHAPE_POINTS; i++)
        if (!(fabs(points[i]) <= 2 * OIF_MOVES_MOST))
            return false;
    return true;
}
