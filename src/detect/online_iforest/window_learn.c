/* How a tree learns a row: counts it in its leaf, widens the leaf's box, cuts the leaf if it is
 * full, uncounts the row that leaves the window, undoes cuts if it must.
 *
 * Trees are learned in groups, in one of several loops that differ in what they know: whether the
 * window is full, how wide boxes are, whether inner boxes are looked at, whether there is AVX2. All
 * but learn_in_trees_slowly, which any row may take, are for speed. */
#include "detect/online_iforest/window_learn.h"

#include "detect/online_iforest/keyed_row.h"
#include "detect/online_iforest/window_depth.h"
#include "detect/online_iforest/window_walk.h"

enum {
    MOST_PLAIN_ROWS = 64, /* that do not look at inner boxes, until one does again */
    REGISTER_STEPS = 4    /* of inner boxes, in which the marks of a row stay in registers */
};

/* What all trees need to learn one row. */
typedef struct row_visit {
    const oif_keyed_row *row;
    const double *mirror; /* the row in the shape of a box */
    /* of the mirror, where inner boxes are looked at; or NULL */
    const int16_t *marks;
    oif_window_pace *pace;
    const uint32_t *extra_depths;
    oif_window_depths wanted;
    bool forgets;    /* the window is full: a row has to go */
    uint32_t slot;   /* of the ring, for this row */
    uint32_t oldest; /* of the ring, the row that goes */
    /* in depth units: no leaf that deep can be cut, a tree counts too few rows for that */
    uint32_t uncut_depth;
} row_visit;

/* Whether this tree learns the row. */
static bool draw_counted(oif_window_state *forest, uint32_t tree)
{
    return forest->subsample >= 1 ||
           oif_random_unit(&oif_window_tree_at(forest, tree)->random) < forest->subsample;
}

/* The rest of what a tree does for a row that it has counted: cuts the leaf if it is high
 * enough, forgets the oldest row, undoes cuts if it must. Returns the depth that the row has
 * then. */
static __attribute__((noinline)) uint32_t reshape_tree(oif_window_state *forest, uint32_t number,
                                                       const row_visit *visit)
{
    oif_window_tree *tree = oif_window_tree_at(forest, number);
    const uint8_t *labels = oif_window_labels(forest, tree);
    uint32_t label = labels[visit->slot];
    if (label != OIF_WINDOW_NOT_COUNTED) {
        const oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, label);
        if (leaf->height >= leaf->cut_at && leaf->depth < visit->uncut_depth)
            oif_window_tree_cut(forest, number, label,
                                visit->forgets && labels[visit->oldest] == label);
    }
    if (visit->forgets && labels[visit->oldest] != OIF_WINDOW_NOT_COUNTED) {
        uint32_t old = labels[visit->oldest];
        oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, old);
        if (--leaf->height < leaf->guard)
            oif_window_tree_settle(forest, number, old);
    }
    /* The label has followed every cut and merge. Without one, and where heights decide the
     * way, walk again. */
    label = labels[visit->slot];
    if (label == OIF_WINDOW_NOT_COUNTED || !visit->row->complete)
        label = oif_window_tree_walk(forest, number, visit->row->values);
    return oif_window_row_depth(forest, oif_window_leaf_of(forest, tree, label));
}

/* The same; returns the depth that the row had before it was counted. */
static __attribute__((noinline)) uint32_t
reshape_tree_after_score(oif_window_state *forest, uint32_t number, const row_visit *visit)
{
    const oif_window_tree *tree = oif_window_tree_at(forest, number);
    const oif_window_leaf *leaf =
        oif_window_leaf_of(forest, tree, oif_window_labels(forest, tree)[visit->slot]);
    const uint32_t depth = oif_window_depth_at_height(forest, leaf, leaf->height - 1);
    (void)reshape_tree(forest, number, visit);
    return depth;
}

/* Learns the row and forgets the oldest in `count` trees from `first` on, where it falls into
 * the leaves `found`; returns the sum of the depths it has then, or had before. For every row. */
static __attribute__((noinline)) uint64_t learn_in_trees_slowly(oif_window_state *forest,
                                                                uint32_t first, uint32_t count,
                                                                const row_visit *visit,
                                                                const size_t *found)
{
    const uint64_t sum_before = visit->wanted == OIF_DEPTHS_BEFORE_COUNTING
                                    ? oif_window_sum_depths(forest, first, count, found)
                                    : 0;
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        oif_window_tree *tree = oif_window_tree_at(forest, first + i);
        bool counted = draw_counted(forest, first + i);
        oif_window_labels(forest, tree)[visit->slot] =
            counted ? (uint8_t)found[i] : OIF_WINDOW_NOT_COUNTED;
        if (counted) {
            oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, (uint32_t)found[i]);
            oif_box_widen(oif_window_box(forest, leaf), visit->mirror, forest->box_width, false);
            leaf->height++;
        }
        depth_sum += reshape_tree(forest, first + i, visit);
    }
    return visit->wanted == OIF_DEPTHS_BEFORE_COUNTING ? sum_before : depth_sum;
}

/* Widens the boxes of the trees whose inner boxes the row is not in. */
static __attribute__((noinline)) void widen_outside(oif_window_state *forest, uint32_t first,
                                                    const row_visit *visit, const size_t *found,
                                                    const uint8_t *outside, uint32_t count)
{
    const oif_grid grid = oif_window_grid(forest);
    for (uint32_t i = 0; i < count; i++) {
        oif_window_leaf *leaf = oif_window_leaf_of(
            forest, oif_window_tree_at(forest, first + outside[i]), (uint32_t)found[outside[i]]);
        oif_inner_box_widen(&grid, oif_window_inner_box(leaf, forest->inner_width),
                            oif_window_box(forest, leaf), visit->marks, visit->mirror,
                            forest->dimension);
    }
    visit->pace->outside += count;
}

OIF_INLINE uint64_t reshape_waiting(oif_window_state *forest, uint32_t first,
                                    const row_visit *visit, const uint8_t *waiting, uint32_t count)
{
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++)
        depth_sum += visit->wanted == OIF_DEPTHS_BEFORE_COUNTING
                         ? reshape_tree_after_score(forest, first + waiting[i], visit)
                         : reshape_tree(forest, first + waiting[i], visit);
    return depth_sum;
}

/* How wide boxes are, known to the compiler where boxes are short. */
typedef struct box_shape {
    size_t box_width, inner_width;
    bool looks_inside; /* at inner boxes; otherwise boxes are widened by every row */
} box_shape;

/* Widens the box of a leaf by the row, or looks whether its inner box has the row. Returns false if
 * the box has yet to be widened. */
OIF_INLINE bool enter_box(oif_window_leaf *leaf, const double *mirror, const int16_t *marks,
                          box_shape shape, bool avx2)
{
    if (shape.looks_inside)
        return oif_inner_box_has(oif_window_inner_box(leaf, shape.inner_width), marks,
                                 shape.inner_width, avx2);
    oif_box_widen(oif_block_part(leaf, oif_window_box_at(shape.inner_width)), mirror,
                  shape.box_width, avx2);
    return true;
}

/* The same for a complete row that every tree learns when a row is forgotten. A tree that has
 * to change its shape, or whose leaf has an unusual height, waits until the others are done:
 * with nothing to call, the loop has all registers. So does one whose box has to be widened. Where
 * this is inlined, the shape is constant for short rows, which makes straight code of the loop over
 * a box, and so is `wanted`. */
OIF_INLINE uint64_t learn_in_trees(oif_window_state *forest, uint32_t first, uint32_t count,
                                   const row_visit *visit, const size_t *found,
                                   const double *mirror, const int16_t *marks, box_shape shape,
                                   oif_window_depths wanted, bool avx2)
{
    const uint32_t *const extra_depths = visit->extra_depths;
    const size_t tree_bytes = forest->tree_bytes, box_at = oif_window_box_at(shape.inner_width);
    const size_t leaf_bytes = box_at + shape.box_width * sizeof(double);
    const size_t label_at = forest->labels_at - forest->leaves_at + visit->slot,
                 oldest_at = label_at - visit->slot + visit->oldest;
    unsigned char *leaves =
        oif_block_part(forest, forest->trees_at + first * tree_bytes + forest->leaves_at);
    uint64_t depth_sum = 0;
    uint32_t waiting_count = 0, outside_count = 0;
    uint8_t waiting[OIF_WINDOW_GROUP], outside[OIF_WINDOW_GROUP] = {0};

    OIF_UNROLL_2
    for (uint32_t i = 0; i < count; i++, leaves += tree_bytes) {
        oif_window_leaf *leaf = oif_block_part(leaves, found[i] * leaf_bytes);
        leaves[label_at] = (uint8_t)found[i];
        outside[outside_count] = (uint8_t)i;
        outside_count += !enter_box(leaf, mirror, marks, shape, avx2);
        oif_window_leaf *old = oif_block_part(leaves, leaves[oldest_at] * leaf_bytes);
        const int32_t height_before = leaf->height;
        /* A height under 0 is a large one without its sign. */
        if ((uint32_t)++leaf->height >= (uint32_t)leaf->cut_at || old->height <= old->guard) {
            waiting[waiting_count++] = (uint8_t)i;
            continue;
        }
        old->height--;
        if (wanted == OIF_NO_DEPTHS)
            continue;
        depth_sum +=
            leaf->depth +
            extra_depths[wanted == OIF_DEPTHS_BEFORE_COUNTING ? height_before : leaf->height];
    }
    if (shape.looks_inside)
        widen_outside(forest, first, visit, found, outside, outside_count);
    return depth_sum + reshape_waiting(forest, first, visit, waiting, waiting_count);
}

/* The same while the window fills: no row is forgotten. With variant `reference` most leaves are
 * high enough to be cut long before their tree counts the rows that their depth asks for; those
 * need not wait. */
OIF_INLINE uint64_t learn_in_filling_trees(oif_window_state *forest, uint32_t first, uint32_t count,
                                           const row_visit *visit, const size_t *found,
                                           const int16_t *marks, box_shape shape,
                                           oif_window_depths wanted, bool avx2)
{
    /* before the row was counted, heights were lower by one */
    const uint32_t *const extra_depths =
        visit->extra_depths - (wanted == OIF_DEPTHS_BEFORE_COUNTING);
    const uint32_t uncut_depth = visit->uncut_depth, too_high = forest->window_size + 1;
    const size_t tree_bytes = forest->tree_bytes, box_at = oif_window_box_at(shape.inner_width);
    const size_t leaf_bytes = box_at + shape.box_width * sizeof(double);
    const size_t label_at = forest->labels_at - forest->leaves_at + visit->slot;
    unsigned char *leaves =
        oif_block_part(forest, forest->trees_at + first * tree_bytes + forest->leaves_at);
    uint64_t depth_sum = 0;
    uint32_t waiting_count = 0, outside_count = 0;
    uint8_t waiting[OIF_WINDOW_GROUP], outside[OIF_WINDOW_GROUP] = {0};

    for (uint32_t i = 0; i < count; i++, leaves += tree_bytes) {
        oif_window_leaf *leaf = oif_block_part(leaves, found[i] * leaf_bytes);
        leaves[label_at] = (uint8_t)found[i];
        outside[outside_count] = (uint8_t)i;
        outside_count += !enter_box(leaf, visit->mirror, marks, shape, avx2);
        /* No branch to find the height at which it waits: leaves differ at random. Heights that the
         * table does not have are above, without their sign. */
        const uint32_t height = (uint32_t)++leaf->height,
                       waits_at = leaf->depth < uncut_depth ? (uint32_t)leaf->cut_at : too_high;
        if (height >= waits_at) {
            waiting[waiting_count++] = (uint8_t)i;
            continue;
        }
        if (wanted != OIF_NO_DEPTHS)
            depth_sum += leaf->depth + extra_depths[height];
    }
    if (shape.looks_inside)
        widen_outside(forest, first, visit, found, outside, outside_count);
    return depth_sum + reshape_waiting(forest, first, visit, waiting, waiting_count);
}

/* Learns in one loop or the other. */
OIF_INLINE uint64_t learn_in_either(oif_window_state *forest, uint32_t first, uint32_t count,
                                    const row_visit *visit, const size_t *found,
                                    const int16_t *marks, box_shape shape, oif_window_depths wanted,
                                    bool forgets)
{
    return forgets ? learn_in_trees(forest, first, count, visit, found, visit->mirror, marks, shape,
                                    wanted, true)
                   : learn_in_filling_trees(forest, first, count, visit, found, marks, shape,
                                            wanted, true);
}

/* With inner boxes of that many steps; the marks of the row are kept in registers. */
OIF_INLINE uint64_t learn_at_inner_steps(oif_window_state *forest, uint32_t first, uint32_t count,
                                         const row_visit *visit, const size_t *found, size_t steps,
                                         bool forgets)
{
    const box_shape shape = {forest->box_width, steps * OIF_INNER_BOX_STEP, true};
    int16_t marks[REGISTER_STEPS * OIF_INNER_BOX_STEP];
    for (size_t i = 0; i < steps * OIF_INNER_BOX_STEP; i++)
        marks[i] = visit->marks[i];
    return visit->wanted == OIF_NO_DEPTHS ? learn_in_either(forest, first, count, visit, found,
                                                            marks, shape, OIF_NO_DEPTHS, forgets)
                                          : learn_in_either(forest, first, count, visit, found,
                                                            marks, shape, visit->wanted, forgets);
}

/* With inner boxes. Complete rows of 36 numbers take 0.7 of the time that they take without. */
OIF_INLINE uint64_t learn_inside(oif_window_state *forest, uint32_t first, uint32_t count,
                                 const row_visit *visit, const size_t *found, bool forgets)
{
    const box_shape shape = {forest->box_width, forest->inner_width, true};
    switch (forest->inner_width / OIF_INNER_BOX_STEP) {
    case 1: return learn_at_inner_steps(forest, first, count, visit, found, 1, forgets);
    case 2: return learn_at_inner_steps(forest, first, count, visit, found, 2, forgets);
    case 3: return learn_at_inner_steps(forest, first, count, visit, found, 3, forgets);
    case REGISTER_STEPS:
        return learn_at_inner_steps(forest, first, count, visit, found, REGISTER_STEPS, forgets);
    default:
        return learn_in_either(forest, first, count, visit, found, visit->marks, shape,
                               visit->wanted, forgets);
    }
}

OIF_AVX2 static uint64_t learn_in_filling_trees_avx2(oif_window_state *forest, uint32_t first,
                                                     uint32_t count, const row_visit *visit,
                                                     const size_t *found)
{
    const box_shape plain = {forest->box_width, forest->inner_width, false};
    return visit->marks ? learn_inside(forest, first, count, visit, found, false)
                        : learn_in_filling_trees(forest, first, count, visit, found, NULL, plain,
                                                 visit->wanted, true);
}

static uint64_t learn_in_filling_trees_portable(oif_window_state *forest, uint32_t first,
                                                uint32_t count, const row_visit *visit,
                                                const size_t *found)
{
    const box_shape shape = {forest->box_width, forest->inner_width, visit->marks != NULL};
    return learn_in_filling_trees(forest, first, count, visit, found, visit->marks, shape,
                                  visit->wanted, false);
}

/* For short boxes: an empty box widened by the mirror is its copy, but here the compiler sees
 * that nothing changes it and keeps it in registers. */
OIF_INLINE uint64_t learn_at_width(oif_window_state *forest, uint32_t first, uint32_t count,
                                   const row_visit *visit, const size_t *found, size_t box_width,
                                   oif_window_depths wanted, bool avx2)
{
    const box_shape shape = {.box_width = box_width};
    double mirror[OIF_SHORT_BOX];
    for (size_t i = 0; i < box_width; i++)
        mirror[i] = INFINITY;
    oif_box_widen(mirror, visit->mirror, box_width, avx2);
    return learn_in_trees(forest, first, count, visit, found, mirror, NULL, shape, wanted, avx2);
}

OIF_INLINE uint64_t learn_in_trees_short(oif_window_state *forest, uint32_t first, uint32_t count,
                                         const row_visit *visit, const size_t *found,
                                         oif_window_depths wanted, bool avx2)
{
    switch (forest->box_width) {
    case 4: return learn_at_width(forest, first, count, visit, found, 4, wanted, avx2);
    case 8: return learn_at_width(forest, first, count, visit, found, 8, wanted, avx2);
    case 12: return learn_at_width(forest, first, count, visit, found, 12, wanted, avx2);
    case 16: return learn_at_width(forest, first, count, visit, found, 16, wanted, avx2);
    case 20: return learn_at_width(forest, first, count, visit, found, 20, wanted, avx2);
    default: return learn_at_width(forest, first, count, visit, found, OIF_SHORT_BOX, wanted, avx2);
    }
}

/* Boxes four numbers at a time: 12% faster at d = 10. */
OIF_AVX2 static uint64_t learn_in_trees_short_avx2(oif_window_state *forest, uint32_t first,
                                                   uint32_t count, const row_visit *visit,
                                                   const size_t *found)
{
    switch (visit->wanted) {
    case OIF_NO_DEPTHS:
        return learn_in_trees_short(forest, first, count, visit, found, OIF_NO_DEPTHS, true);
    case OIF_DEPTHS_BEFORE_COUNTING:
        return learn_in_trees_short(forest, first, count, visit, found, OIF_DEPTHS_BEFORE_COUNTING,
                                    true);
    default:
        return learn_in_trees_short(forest, first, count, visit, found, OIF_DEPTHS_AFTER_COUNTING,
                                    true);
    }
}

OIF_AVX2 static uint64_t learn_in_trees_long_avx2(oif_window_state *forest, uint32_t first,
                                                  uint32_t count, const row_visit *visit,
                                                  const size_t *found)
{
    const box_shape plain = {forest->box_width, forest->inner_width, false};
    return learn_in_trees(forest, first, count, visit, found, visit->mirror, NULL, plain,
                          visit->wanted, true);
}

OIF_AVX2 static uint64_t learn_in_trees_inside_avx2(oif_window_state *forest, uint32_t first,
                                                    uint32_t count, const row_visit *visit,
                                                    const size_t *found)
{
    return learn_inside(forest, first, count, visit, found, true);
}

static uint64_t learn_in_trees_portable(oif_window_state *forest, uint32_t first, uint32_t count,
                                        const row_visit *visit, const size_t *found)
{
    const box_shape shape = {forest->box_width, forest->inner_width, visit->marks != NULL};
    /* what is wanted is no constant: the code would be twice as long */
    if (forest->box_width <= OIF_SHORT_BOX)
        return learn_in_trees_short(forest, first, count, visit, found, visit->wanted, false);
    return learn_in_trees(forest, first, count, visit, found, visit->mirror, visit->marks, shape,
                          visit->wanted, false);
}

static uint64_t learn_in_group(oif_window_state *forest, uint32_t first, uint32_t count,
                               const row_visit *visit)
{
    size_t found[OIF_WINDOW_GROUP];
    oif_window_find_leaves(forest, first, count, visit->row, found);
    if (!visit->row->complete || forest->subsample < 1)
        return learn_in_trees_slowly(forest, first, count, visit, found);
    if (!oif_machine_has_avx2())
        return visit->forgets ? learn_in_trees_portable(forest, first, count, visit, found)
                              : learn_in_filling_trees_portable(forest, first, count, visit, found);
    if (!visit->forgets)
        return learn_in_filling_trees_avx2(forest, first, count, visit, found);
    if (forest->box_width <= OIF_SHORT_BOX)
        return learn_in_trees_short_avx2(forest, first, count, visit, found);
    return visit->marks ? learn_in_trees_inside_avx2(forest, first, count, visit, found)
                        : learn_in_trees_long_avx2(forest, first, count, visit, found);
}

/* ---- Inner boxes ---- */

/* Makes the marks of a row if inner boxes are looked at for it. */
static void mark_row(const oif_window_state *forest, row_visit *visit, unsigned part)
{
    void *scratch = oif_window_scratch(forest, part);
    visit->pace = oif_block_part(scratch, forest->pace_at);
    visit->pace->outside = 0;
    if (!visit->row->complete || forest->subsample < 1)
        return;
    if (visit->pace->plain_rows > 0) {
        visit->pace->plain_rows--;
        return;
    }
    const oif_grid grid = oif_window_grid(forest);
    int16_t *marks = oif_block_part(scratch, forest->row_marks_at);
    oif_grid_mark_row(&grid, visit->mirror, forest->dimension, marks);
    visit->marks = marks;
}

/* A row with marks has been learned in `trees` trees. */
static void set_pace(oif_window_pace *pace, uint32_t trees)
{
    if (2 * pace->outside <= trees) {
        pace->plain_next = 0;
        return;
    }
    pace->plain_rows = pace->plain_next;
    pace->plain_next = oif_min_u32(2 * pace->plain_next + 1, MOST_PLAIN_ROWS);
}

/* ---- Rows ---- */

/* The depth, in depth units, from which on a tree that counts at most this many rows cuts no
 * leaf. */
static uint32_t uncut_depth(const oif_window_state *forest, int64_t rows_in_tree)
{
    uint32_t depth = 0;
    while (depth < forest->depth_limit && oif_window_depth_allows_cut(forest, depth, rows_in_tree))
        depth++;
    return depth << OIF_DEPTH_BITS;
}

uint64_t oif_window_learn_row(oif_window_state *forest, const oif_rows *rows, size_t i,
                              uint32_t ahead, oif_window_depths wanted, oif_window_part part)
{
    double *mirror = oif_window_scratch(forest, part.number);
    uint32_t slot = oif_window_slot_after(forest, forest->next_slot, ahead);
    const bool forgets = forest->rows_held + ahead >= forest->window_size;
    oif_keyed_row row;
    row_visit visit = {
        .row = &row,
        .mirror = mirror,
        .extra_depths = oif_window_extra_depths(forest),
        .wanted = wanted,
        .forgets = forgets,
        .slot = slot,
        .oldest = oif_window_slot_after(forest, slot, forest->slots - forest->window_size),
        .uncut_depth =
            forgets ? UINT32_MAX : uncut_depth(forest, (int64_t)forest->rows_held + ahead + 1)};
    uint64_t depth_sum = 0;
    oif_keyed_row_init_mirrored(&row, forest->dimension, rows, i, mirror);
    if (forest->grid_is_set)
        mark_row(forest, &visit, part.number);
    for (uint32_t first = part.begin; first < part.end; first += OIF_WINDOW_GROUP)
        depth_sum +=
            learn_in_group(forest, first, oif_min_u32(part.end - first, OIF_WINDOW_GROUP), &visit);
    if (visit.marks)
        set_pace(visit.pace, part.end - part.begin);
    return depth_sum;
}
