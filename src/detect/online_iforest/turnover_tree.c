/* One tree of a forest that forgets by turnover: being emptied, cutting a leaf, finding the way
 * without a number. */
#include "detect/online_iforest/turnover_tree.h"

#include "base/stable_math.h"

#include <string.h>

/* ---- The ring ---- */

/* The oldest tree is to be emptied; a shadow that has not begun is empty and begins instead. */
static uint32_t take_turn(const oif_turnover_state *forest, oif_turnover_ring *ring)
{
    if (ring->shadows_begun < forest->shadow_trees) {
        ring->shadows_begun++;
        return forest->tree_count;
    }
    uint32_t emptied = ring->oldest;
    ring->oldest = oif_turnover_tree_behind(forest, ring, 1);
    return emptied;
}

uint32_t oif_turnover_ring_advance(const oif_turnover_state *forest, oif_turnover_ring *ring)
{
    uint32_t emptied = forest->tree_count;
    if (ring->turn >= forest->maturity) {
        ring->turn -= forest->maturity;
        emptied = take_turn(forest, ring);
    }
    ring->turn += forest->shadow_trees;
    ring->rows += ring->rows <= forest->maturity;
    return emptied;
}

/* ---- Depths and heights ---- */

uint32_t oif_turnover_average_depth(const oif_turnover_state *forest, uint32_t rows)
{
    if (rows <= forest->max_leaf_samples)
        return 0;
    return (uint32_t)(oif_log2((double)rows / forest->max_leaf_samples) * (1 << OIF_DEPTH_BITS) +
                      0.5);
}

uint32_t oif_turnover_scale_at(const oif_turnover_state *forest, uint32_t age)
{
    const uint32_t least = 1 << (OIF_DEPTH_BITS - 5);
    uint32_t expected = oif_turnover_average_depth(forest, age);
    if (expected == 0)
        return 0;
    double whole = (double)(INT64_C(1) << (OIF_DEPTH_BITS + forest->scale_bits));
    return (uint32_t)(whole / (expected > least ? expected : least) + 0.5);
}

uint32_t oif_turnover_threshold(const oif_turnover_state *forest, uint32_t depth)
{
    return forest->max_leaf_samples << (forest->growth == OIF_ADAPTIVE ? depth : 0);
}

uint32_t oif_turnover_look_at_height(const oif_turnover_state *forest, uint32_t depth)
{
    if (depth == forest->depth_limit)
        return forest->height_count;
    uint32_t threshold = oif_turnover_threshold(forest, depth);
    return threshold < forest->height_count ? threshold : forest->height_count;
}

/* The leaf at a node that is not cut. */
static oif_turnover_leaf *leaf_of_node(const oif_turnover_state *forest, uint32_t tree, size_t node)
{
    return oif_turnover_leaf_of(forest, tree,
                                oif_turnover_leaf_number(oif_turnover_words(forest)[node]));
}

/* Rows below a node: a leaf's height, or the sum of all leaves'. */
static uint32_t height_below(const oif_turnover_state *forest, uint32_t tree, size_t node)
{
    if (!oif_turnover_is_cut(forest, node))
        return leaf_of_node(forest, tree, node)->height;
    size_t left = oif_turnover_link_of(forest, node)->left;
    return height_below(forest, tree, left) + height_below(forest, tree, left + 1);
}

size_t oif_turnover_step(const oif_turnover_state *forest, uint32_t tree, size_t node,
                         const double *row)
{
    const oif_turnover_link *link = oif_turnover_link_of(forest, node);
    size_t left = link->left;
    double number = row[link->column];
    if (isnan(number))
        return left + (height_below(forest, tree, left + 1) > height_below(forest, tree, left));
    return left + (oif_sort_key(number) > oif_turnover_words(forest)[node]);
}

/* ---- Growing ---- */

static void make_leaf(oif_turnover_state *forest, uint32_t tree, size_t node, uint32_t leaf,
                      uint32_t depth, uint32_t height)
{
    oif_turnover_leaf *record = oif_turnover_leaf_of(forest, tree, leaf);
    record->height = height;
    record->depth = depth;
    oif_turnover_words(forest)[node] = UINT64_MAX - leaf;
    *oif_turnover_link_of(forest, node) = (oif_turnover_link){.column = 0, .left = (uint32_t)node};
}

uint32_t oif_turnover_levels_of_lane(const oif_turnover_state *forest, uint32_t lane)
{
    uint32_t first = lane * OIF_LANES, deepest = 0;
    for (uint32_t i = first; i < first + OIF_LANES && i < forest->tree_count; i++)
        for (uint32_t leaf = 0; leaf < oif_turnover_tree_at(forest, i)->leaf_count; leaf++) {
            uint32_t depth = oif_turnover_leaf_of(forest, i, leaf)->depth;
            deepest = depth > deepest ? depth : deepest;
        }
    return deepest;
}

void oif_turnover_empty(oif_turnover_state *forest, uint32_t number)
{
    oif_turnover_tree *tree = oif_turnover_tree_at(forest, number);
    const size_t root = oif_turnover_root(forest, number);
    const uint32_t lane = number / OIF_LANES;
    /* What grows next must not depend on what was here before, not even in bytes that are never
     * read. */
    const size_t used = tree->leaf_count;
    memset(&oif_turnover_words(forest)[root], 0, used * OIF_TURNOVER_PAIR_WORDS * sizeof(uint64_t));
    memset(oif_turnover_leaf_of(forest, number, 0), 0, used * sizeof(oif_turnover_leaf));
    memset(oif_turnover_box_of(forest, number, 0), 0, used * forest->box_width * sizeof(double));
    oif_turnover_ages(forest)[number] = 0;
    tree->leaf_count = 1;
    make_leaf(forest, number, root, 0, 0, 0);
    oif_turnover_lane_levels(forest)[lane] = (uint8_t)oif_turnover_levels_of_lane(forest, lane);
    for (uint32_t i = 0; i < forest->box_width; i++)
        oif_turnover_box_of(forest, number, 0)[i] = INFINITY;
}

/* High enough, above the depth limit c(age), and with a record left for the new leaf. */
static bool may_cut(const oif_turnover_state *forest, uint32_t tree, const oif_turnover_leaf *leaf)
{
    return leaf->depth < forest->depth_limit &&
           leaf->height >= oif_turnover_threshold(forest, leaf->depth) &&
           (uint64_t)forest->max_leaf_samples << leaf->depth < oif_turnover_ages(forest)[tree] &&
           oif_turnover_tree_at(forest, tree)->leaf_count < forest->leaf_capacity;
}

void oif_turnover_cut(oif_turnover_state *forest, uint32_t number, size_t node)
{
    oif_turnover_tree *tree = oif_turnover_tree_at(forest, number);
    const uint32_t left = oif_turnover_leaf_number(oif_turnover_words(forest)[node]),
                   right = tree->leaf_count;
    const oif_turnover_leaf *leaf = oif_turnover_leaf_of(forest, number, left);
    double *box = oif_turnover_box_of(forest, number, left);
    oif_box_cut cut;
    if (!may_cut(forest, number, leaf) ||
        !oif_box_cut_draw_column(&tree->random, box, forest->dimension, forest->cuts_varying,
                                 &cut.column))
        return;

    const uint32_t depth = leaf->depth + 1;
    oif_box_cut_draw_in_box(&tree->random, leaf->height,
                            oif_box_range(box, forest->dimension, cut.column), &cut);
    oif_box_cut_draw_boxes(&tree->random, &cut, false, box,
                           oif_turnover_box_of(forest, number, right), forest->dimension);
    const size_t child =
        oif_turnover_root(forest, number) + (size_t)right * OIF_TURNOVER_PAIR_WORDS;
    oif_turnover_words(forest)[node] = oif_sort_key(cut.value) - 1;
    *oif_turnover_link_of(forest, node) =
        (oif_turnover_link){.column = cut.column, .left = (uint32_t)child};
    make_leaf(forest, number, child, left, depth, cut.left_count);
    make_leaf(forest, number, child + 1, right, depth, cut.right_count);
    tree->leaf_count++;
    uint8_t *levels = &oif_turnover_lane_levels(forest)[number / OIF_LANES];
    *levels = (uint8_t)(depth > *levels ? depth : *levels);
    tree->cuts_made++;
}

/* ---- Snapshots ---- */

void oif_turnover_visit_fields(oif_turnover_state *forest, uint32_t number,
                               oif_state_visitor *visitor)
{
    oif_turnover_tree *tree = oif_turnover_tree_at(forest, number);
    size_t root = oif_turnover_root(forest, number);
    oif_visit_u64(visitor, "random", &tree->random.state, 1);
    oif_visit_u64(visitor, "cuts_made", &tree->cuts_made, 1);
    oif_visit_u32(visitor, "age", &oif_turnover_ages(forest)[number], 1);
    oif_visit_u32(visitor, "leaf_count", &tree->leaf_count, 1);
    for (uint32_t i = 0; i < forest->leaf_capacity; i++) {
        size_t pair = root + (size_t)i * OIF_TURNOVER_PAIR_WORDS;
        oif_visit_u64(visitor, "cuts", &oif_turnover_words(forest)[pair], 2);
        for (size_t side = 0; side < 2; side++) {
            oif_visit_u32(visitor, "column", &oif_turnover_link_of(forest, pair + side)->column, 1);
            oif_visit_u32(visitor, "left", &oif_turnover_link_of(forest, pair + side)->left, 1);
        }
    }
    for (uint32_t i = 0; i < forest->leaf_capacity; i++) {
        oif_turnover_leaf *leaf = oif_turnover_leaf_of(forest, number, i);
        oif_visit_u32(visitor, "height", &leaf->height, 1);
        oif_visit_u32(visitor, "depth", &leaf->depth, 1);
        oif_visit_f64(visitor, "box", oif_turnover_box_of(forest, number, i), forest->box_width);
    }
}
