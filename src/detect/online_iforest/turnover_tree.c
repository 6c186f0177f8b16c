/* One tree of a forest that forgets by turnover: being emptied, cutting a leaf, finding the way
 * without a number. */
#include "detect/online_iforest/turnover_tree.h"

#include "base/stable_math.h"

#include <string.h>

typedef oif_turnover_state forest;

/* ---- The ring ---- */

/* The oldest tree is to be emptied; a shadow that has not begun is empty and begins instead. */
static uint32_t take_turn(const forest *f, oif_turnover_ring *ring)
{
    if (ring->shadows_begun < f->shadow_trees) {
        ring->shadows_begun++;
        return f->tree_count;
    }
    uint32_t emptied = ring->oldest;
    ring->oldest = oif_turnover_tree_behind(f, ring, 1);
    return emptied;
}

uint32_t oif_turnover_ring_advance(const forest *f, oif_turnover_ring *ring)
{
    uint32_t emptied = f->tree_count;
    if (ring->turn >= f->maturity) {
        ring->turn -= f->maturity;
        emptied = take_turn(f, ring);
    }
    ring->turn += f->shadow_trees;
    ring->rows += ring->rows <= f->maturity;
    return emptied;
}

/* ---- Depths and heights ---- */

uint32_t oif_turnover_average_depth(const forest *f, uint32_t rows)
{
    if (rows <= f->max_leaf_samples)
        return 0;
    return (uint32_t)(oif_log2((double)rows / f->max_leaf_samples) * (1 << OIF_DEPTH_BITS) + 0.5);
}

uint32_t oif_turnover_scale_at(const forest *f, uint32_t age)
{
    const uint32_t least = 1 << (OIF_DEPTH_BITS - 5);
    uint32_t expected = oif_turnover_average_depth(f, age);
    if (expected == 0)
        return 0;
    double whole = (double)(INT64_C(1) << (OIF_DEPTH_BITS + f->scale_bits));
    return (uint32_t)(whole / (expected > least ? expected : least) + 0.5);
}

uint32_t oif_turnover_threshold(const forest *f, uint32_t depth)
{
    return f->max_leaf_samples << (f->growth == OIF_ADAPTIVE ? depth : 0);
}

uint32_t oif_turnover_look_at_height(const forest *f, uint32_t depth)
{
    if (depth == f->depth_limit)
        return f->height_count;
    uint32_t threshold = oif_turnover_threshold(f, depth);
    return threshold < f->height_count ? threshold : f->height_count;
}

/* The leaf at a node that is not cut. */
static oif_turnover_leaf *leaf_standing(const forest *f, uint32_t tree, size_t node)
{
    return oif_turnover_leaf_of(f, tree, oif_turnover_leaf_number(oif_turnover_words(f)[node]));
}

/* Rows below a node: a leaf's height, or the sum of all leaves'. */
static uint32_t height_below(const forest *f, uint32_t tree, size_t node)
{
    if (!oif_turnover_is_cut(f, node))
        return leaf_standing(f, tree, node)->height;
    size_t left = oif_turnover_link_of(f, node)->left;
    return height_below(f, tree, left) + height_below(f, tree, left + 1);
}

size_t oif_turnover_step(const forest *f, uint32_t tree, size_t node, const double *row)
{
    const oif_turnover_link *link = oif_turnover_link_of(f, node);
    size_t left = link->left;
    double number = row[link->feature];
    if (isnan(number))
        return left + (height_below(f, tree, left + 1) > height_below(f, tree, left));
    return left + (oif_key(number) > oif_turnover_words(f)[node]);
}

/* ---- Growing ---- */

static void make_leaf(forest *f, uint32_t tree, size_t node, uint32_t leaf, uint32_t depth,
                      uint32_t height)
{
    oif_turnover_leaf *record = oif_turnover_leaf_of(f, tree, leaf);
    record->height = height;
    record->depth = depth;
    oif_turnover_words(f)[node] = UINT64_MAX - leaf;
    *oif_turnover_link_of(f, node) = (oif_turnover_link){.feature = 0, .left = (uint32_t)node};
}

uint32_t oif_turnover_levels_of_lane(const forest *f, uint32_t lane)
{
    uint32_t first = lane * OIF_TURNOVER_LANES, deepest = 0;
    for (uint32_t i = first; i < first + OIF_TURNOVER_LANES && i < f->tree_count; i++)
        for (uint32_t leaf = 0; leaf < oif_turnover_tree_at(f, i)->leaf_count; leaf++) {
            uint32_t depth = oif_turnover_leaf_of(f, i, leaf)->depth;
            deepest = depth > deepest ? depth : deepest;
        }
    return deepest;
}

void oif_turnover_empty(forest *f, uint32_t number)
{
    oif_turnover_tree *tree = oif_turnover_tree_at(f, number);
    const size_t root = oif_turnover_root(f, number);
    const uint32_t lane = number / OIF_TURNOVER_LANES;
    /* What grows next must not depend on what stood here, not even in bytes that nobody reads. */
    const size_t used = tree->leaf_count;
    memset(&oif_turnover_words(f)[root], 0, used * OIF_TURNOVER_PAIR_WORDS * sizeof(uint64_t));
    memset(oif_turnover_leaf_of(f, number, 0), 0, used * sizeof(oif_turnover_leaf));
    memset(oif_turnover_box_of(f, number, 0), 0, used * f->box_width * sizeof(double));
    oif_turnover_ages(f)[number] = 0;
    tree->leaf_count = 1;
    make_leaf(f, number, root, 0, 0, 0);
    oif_turnover_lane_levels(f)[lane] = (uint8_t)oif_turnover_levels_of_lane(f, lane);
    for (uint32_t i = 0; i < f->box_width; i++)
        oif_turnover_box_of(f, number, 0)[i] = INFINITY;
}

/* High enough, above the depth limit c(age), and with a record left for the new leaf. */
static bool may_cut(const forest *f, uint32_t tree, const oif_turnover_leaf *leaf)
{
    return leaf->depth < f->depth_limit && leaf->height >= oif_turnover_threshold(f, leaf->depth) &&
           (uint64_t)f->max_leaf_samples << leaf->depth < oif_turnover_ages(f)[tree] &&
           oif_turnover_tree_at(f, tree)->leaf_count < f->leaf_capacity;
}

void oif_turnover_cut(forest *f, uint32_t number, size_t node)
{
    oif_turnover_tree *tree = oif_turnover_tree_at(f, number);
    const uint32_t left = oif_turnover_leaf_number(oif_turnover_words(f)[node]),
                   right = tree->leaf_count;
    const oif_turnover_leaf *leaf = oif_turnover_leaf_of(f, number, left);
    double *box = oif_turnover_box_of(f, number, left);
    oif_box_cut c;
    if (!may_cut(f, number, leaf) ||
        !oif_box_cut_draw_feature(&tree->random, box, f->dimension, &c.feature))
        return;

    const uint32_t depth = leaf->depth + 1;
    oif_box_cut_draw_in_box(&tree->random, leaf->height,
                            oif_box_range(box, f->dimension, c.feature), &c);
    oif_box_cut_draw_boxes(&tree->random, &c, false, box, oif_turnover_box_of(f, number, right),
                           f->dimension);
    const size_t child = oif_turnover_root(f, number) + (size_t)right * OIF_TURNOVER_PAIR_WORDS;
    oif_turnover_words(f)[node] = oif_key(c.value) - 1;
    *oif_turnover_link_of(f, node) =
        (oif_turnover_link){.feature = c.feature, .left = (uint32_t)child};
    make_leaf(f, number, child, left, depth, c.left_count);
    make_leaf(f, number, child + 1, right, depth, c.right_count);
    tree->leaf_count++;
    uint8_t *levels = &oif_turnover_lane_levels(f)[number / OIF_TURNOVER_LANES];
    *levels = (uint8_t)(depth > *levels ? depth : *levels);
    tree->cuts_made++;
}

/* ---- Snapshots ---- */

void oif_turnover_visit_fields(forest *f, uint32_t number, oif_state_visitor *visitor)
{
    oif_turnover_tree *tree = oif_turnover_tree_at(f, number);
    size_t root = oif_turnover_root(f, number);
    oif_visit_u64(visitor, "random", &tree->random.state, 1);
    oif_visit_u64(visitor, "cuts_made", &tree->cuts_made, 1);
    oif_visit_u32(visitor, "age", &oif_turnover_ages(f)[number], 1);
    oif_visit_u32(visitor, "leaf_count", &tree->leaf_count, 1);
    for (uint32_t i = 0; i < f->leaf_capacity; i++) {
        size_t pair = root + (size_t)i * OIF_TURNOVER_PAIR_WORDS;
        oif_visit_u64(visitor, "cuts", &oif_turnover_words(f)[pair], 2);
        for (size_t side = 0; side < 2; side++) {
            oif_visit_u32(visitor, "feature", &oif_turnover_link_of(f, pair + side)->feature, 1);
            oif_visit_u32(visitor, "left", &oif_turnover_link_of(f, pair + side)->left, 1);
        }
    }
    for (uint32_t i = 0; i < f->leaf_capacity; i++) {
        oif_turnover_leaf *leaf = oif_turnover_leaf_of(f, number, i);
        oif_visit_u32(visitor, "height", &leaf->height, 1);
        oif_visit_u32(visitor, "depth", &leaf->depth, 1);
        oif_visit_f64(visitor, "box", oif_turnover_box_of(f, number, i), f->box_width);
    }
}
