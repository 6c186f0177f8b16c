/* One tree of an Online Isolation Forest: cutting a leaf, undoing cuts, and what must hold in
 * between. These are the only places where a tree changes its shape; they run for one row in
 * ten or so, counted over the whole forest.
 *
 * The paper cuts a leaf of height h by drawing h rows uniformly from its box and counting them
 * on either side. Here no row is drawn: how many fall left is binomial, and the least and
 * greatest of n uniform numbers have known laws, so a cut costs O(dimension) and has the same
 * law (docs/algorithms/online-iforest.md).
 */
#include "detect/online_iforest/window_tree.h"

#include "base/error.h"
#include "base/vector.h"

#include <string.h>

/* ---- Thresholds and heights ---- */

int32_t oif_window_threshold(const oif_window_state *forest, uint32_t depth)
{
    return (int32_t)(forest->max_leaf_samples << (forest->growth == OIF_ADAPTIVE ? depth : 0));
}

bool oif_window_depth_allows_cut(const oif_window_state *forest, uint32_t depth,
                                 int64_t rows_in_tree)
{
    int64_t least = forest->max_leaf_samples, window = forest->window_size;
    switch (forest->variant) {
    case OIF_PAPER: return (least << depth) < window;
    case OIF_RUNNING: return (least << depth) < (rows_in_tree < window ? rows_in_tree : window);
    case OIF_REFERENCE: return (least << 2 * depth) < rows_in_tree;
    }
    return false;
}

/* The leaf at a node that is not cut. */
static oif_window_leaf *leaf_of_node(const oif_window_state *forest, const oif_window_tree *tree,
                                     oif_window_node at)
{
    return oif_window_leaf_of(forest, tree, oif_window_leaf_at(forest)[at.index]);
}

/* What the leaves below a node add up to. */
typedef struct totals {
    int32_t height;
    int32_t guard; /* what the cuts above it rely on */
} totals;

static totals totals_below(const oif_window_state *forest, const oif_window_tree *tree,
                           oif_window_node at)
{
    if (!oif_window_is_cut(forest, at)) {
        const oif_window_leaf *leaf = leaf_of_node(forest, tree, at);
        return (totals){leaf->height, leaf->guard};
    }
    totals left = totals_below(forest, tree, oif_window_left(at)),
           right = totals_below(forest, tree, oif_window_right(at));
    return (totals){left.height + right.height, left.guard + right.guard};
}

int32_t oif_window_height(const oif_window_state *forest, oif_window_node at)
{
    return totals_below(forest, oif_window_tree_of(forest, at), at).height;
}

int32_t oif_window_cut_height(const oif_window_state *forest, uint32_t depth)
{
    return depth < forest->depth_limit ? oif_window_threshold(forest, depth)
                                       : (int32_t)forest->window_size + 2;
}

static void make_leaf(oif_window_state *forest, oif_window_node at, uint32_t number, int32_t height)
{
    *oif_window_leaf_of(forest, oif_window_tree_of(forest, at), number) =
        (oif_window_leaf){.height = height,
                          .guard = height - OIF_WINDOW_NO_GUARD,
                          .cut_at = oif_window_cut_height(forest, at.depth),
                          .depth = at.depth << OIF_DEPTH_BITS,
                          .index = at.index};
    for (; at.depth <= forest->depth_limit; at = oif_window_left(at))
        oif_window_leaf_at(forest)[at.index] = (uint8_t)number;
}

/* The box of this leaf is a new one. */
static void fit_inner_box(oif_window_state *forest, oif_window_leaf *leaf)
{
    const oif_grid grid = oif_window_grid(forest);
    if (forest->inner_width)
        oif_inner_box_fit(&grid, oif_window_inner_box(leaf, forest->inner_width),
                          oif_window_box(forest, leaf), forest->dimension);
}

void oif_window_tree_init(oif_window_state *forest, uint32_t number, uint64_t seed)
{
    oif_window_tree *tree = oif_window_tree_at(forest, number);
    tree->random = oif_random_stream(seed, number);
    for (uint32_t leaf = 0; leaf < forest->leaf_capacity; leaf++) {
        oif_window_leaf_of(forest, tree, leaf)->depth = OIF_WINDOW_VACANT;
        fit_inner_box(forest, oif_window_leaf_of(forest, tree, leaf));
    }
    make_leaf(forest, oif_window_root(forest, number), 0, 0);
    for (uint32_t i = 0; i < forest->box_width; i++)
        oif_window_box(forest, oif_window_leaf_of(forest, tree, 0))[i] = INFINITY;
}

/* Hands the slack of a node, the rows that may leave it before a cut has to be undone, down to
 * the leaves below: each guards its share. `height` is the node's. */
static void share_slack(oif_window_state *forest, oif_window_tree *tree, oif_window_node at,
                        int32_t height, int32_t slack)
{
    if (!oif_window_is_cut(forest, at)) {
        leaf_of_node(forest, tree, at)->guard = height - slack;
        return;
    }
    int32_t own = height - oif_window_threshold(forest, at.depth),
            left = totals_below(forest, tree, oif_window_left(at)).height;
    slack = own < slack ? own : slack;
    share_slack(forest, tree, oif_window_left(at), left, slack / 2);
    share_slack(forest, tree, oif_window_right(at), height - left, slack - slack / 2);
}

static void set_levels(oif_window_state *forest, uint32_t tree, uint32_t levels)
{
    uint32_t first = tree - tree % OIF_LANES;
    uint8_t most = 0;
    oif_window_levels(forest)[tree] = (uint8_t)levels;
    for (uint32_t i = first; i < first + OIF_LANES && i < forest->num_trees; i++)
        most = oif_window_levels(forest)[i] > most ? oif_window_levels(forest)[i] : most;
    oif_window_lane_levels(forest)[first / OIF_LANES] = most;
}

/* ---- Cutting ---- */

/* Of one block of labels, those of rows that go right become `right`. Without a branch, so that
 * compilers look at several rows at once. */
static void relabel_block(uint8_t *restrict labels, uint8_t left, uint8_t right,
                          const double *restrict column, double value, bool missing_right)
{
    uint8_t goes_right[OIF_WINDOW_SLOT_BLOCK];
    if (missing_right)
        for (int i = 0; i < OIF_WINDOW_SLOT_BLOCK; i++)
            goes_right[i] = !(column[i] < value);
    else
        for (int i = 0; i < OIF_WINDOW_SLOT_BLOCK; i++)
            goes_right[i] = column[i] >= value;
    for (int i = 0; i < OIF_WINDOW_SLOT_BLOCK; i++)
        labels[i] = (labels[i] == left) & goes_right[i] ? right : labels[i];
}

#if OIF_HAS_AVX2_CODE
/* Two fifths of the instructions that gcc makes of the portable code. */
OIF_AVX2 static void relabel_rows_avx2(uint8_t *labels, uint32_t slots, uint8_t left, uint8_t right,
                                       const double *column, double value, bool missing_right)
{
    if (missing_right)
        for (size_t slot = 0; slot < slots; slot += 32)
            oif_replace_32_avx2(labels + slot, left, right,
                                oif_at_least_32_avx2(column + slot, value, true));
    else
        for (size_t slot = 0; slot < slots; slot += 32)
            oif_replace_32_avx2(labels + slot, left, right,
                                oif_at_least_32_avx2(column + slot, value, false));
}
#endif

/* Gives the rows of the window that go right their new label; a missing number goes with the
 * heavier child. */
static void relabel_cut(oif_window_state *forest, oif_window_tree *tree, uint8_t left,
                        uint8_t right, const oif_box_cut *cut)
{
    uint8_t *labels = oif_window_labels(forest, tree);
    const double *column = oif_window_ring_column(forest, cut->column);
    const bool missing_right = cut->right_count > cut->left_count;
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        relabel_rows_avx2(labels, forest->slots, left, right, column, cut->value, missing_right);
        return;
    }
#endif
    for (uint32_t slot = 0; slot < forest->slots; slot += OIF_WINDOW_SLOT_BLOCK)
        relabel_block(labels + slot, left, right, column + slot, cut->value, missing_right);
}

static uint32_t vacant_leaf(const oif_window_state *forest, const oif_window_tree *tree)
{
    uint32_t number = 0;
    while (number < forest->leaf_capacity &&
           oif_window_leaf_of(forest, tree, number)->depth != OIF_WINDOW_VACANT)
        number++;
    return number;
}

/* Whether the leaf at this spot may be cut: by its depth, the records left, and having a
 * column to cut. */
static bool may_cut(const oif_window_state *forest, oif_window_node at)
{
    const oif_window_tree *tree = oif_window_tree_of(forest, at);
    return at.depth < forest->depth_limit && vacant_leaf(forest, tree) < forest->leaf_capacity &&
           oif_window_depth_allows_cut(
               forest, at.depth,
               oif_window_height(forest,
                                 oif_window_root(forest, oif_window_tree_number(forest, at))));
}

/* Cuts the leaf at this spot, if it may be cut. `newborn`: a cut has just made it. */
static void cut_leaf(oif_window_state *forest, oif_window_node at, bool newborn)
{
    oif_window_tree *tree = oif_window_tree_of(forest, at);
    oif_random *random = &tree->random;
    uint32_t left = oif_window_leaf_number(forest, at), right = vacant_leaf(forest, tree);
    oif_window_leaf *left_leaf = oif_window_leaf_of(forest, tree, left);
    const int32_t height = left_leaf->height, guard = left_leaf->guard;
    double *box = oif_window_box(forest, left_leaf);
    oif_box_cut cut;
    if (!may_cut(forest, at) ||
        !oif_box_cut_draw_column(random, box, forest->dimension, forest->cuts_varying, &cut.column))
        return;

    oif_range own = oif_box_range(box, forest->dimension, cut.column);
    uint32_t count = (uint32_t)height;
    if (forest->variant == OIF_REFERENCE)
        oif_box_cut_draw_between_points(random, count,
                                        newborn ? own : oif_range_draw(random, count, own), &cut);
    else
        oif_box_cut_draw_in_box(random, count, own, &cut);
    oif_window_leaf *right_leaf = oif_window_leaf_of(forest, tree, right);
    oif_box_cut_draw_boxes(random, &cut, newborn, box, oif_window_box(forest, right_leaf),
                           forest->dimension);
    fit_inner_box(forest, left_leaf);
    fit_inner_box(forest, right_leaf);

    oif_window_set_cut(forest, at, cut.column, cut.value);
    make_leaf(forest, oif_window_left(at), left, (int32_t)cut.left_count);
    make_leaf(forest, oif_window_right(at), right, (int32_t)cut.right_count);
    share_slack(forest, tree, at, height, height - guard);
    relabel_cut(forest, tree, (uint8_t)left, (uint8_t)right, &cut);
    if (oif_window_levels(forest)[oif_window_tree_number(forest, at)] <= at.depth)
        set_levels(forest, oif_window_tree_number(forest, at), at.depth + 1);
    tree->cuts_made++;

    if (forest->variant != OIF_REFERENCE)
        return;
    /* the authors' code continues while it can */
    if ((int32_t)cut.left_count >= oif_window_threshold(forest, at.depth + 1))
        cut_leaf(forest, oif_window_left(at), true);
    if ((int32_t)cut.right_count >= oif_window_threshold(forest, at.depth + 1))
        cut_leaf(forest, oif_window_right(at), true);
}

void oif_window_tree_cut(oif_window_state *forest, uint32_t number, uint32_t leaf, bool loses_row)
{
    oif_window_tree *tree = oif_window_tree_at(forest, number);
    oif_window_node at = oif_window_node_of(oif_window_leaf_of(forest, tree, leaf));
    int32_t height = oif_window_leaf_of(forest, tree, leaf)->height;
    if (loses_row && height == oif_window_threshold(forest, at.depth) && may_cut(forest, at)) {
        /* The cut would be undone at once, and only the points that it draws would remain, in
         * the box of the leaf. One cut in four is of this kind. */
        oif_window_leaf *drawn = oif_window_leaf_of(forest, tree, leaf);
        double *box = oif_window_box(forest, drawn);
        oif_box_draw(&tree->random, (uint32_t)height, box, box, forest->dimension);
        fit_inner_box(forest, drawn);
        tree->cuts_made++;
        tree->cuts_undone++;
        return;
    }
    cut_leaf(forest, at, false);
}

/* ---- Undoing cuts ---- */

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static void replace_labels_avx2(uint8_t *labels, uint32_t slots, uint8_t from, uint8_t to)
{
    for (size_t slot = 0; slot < slots; slot += 32)
        oif_replace_32_avx2(labels + slot, from, to, _mm256_set1_epi8(-1));
}
#endif

static void relabel_merge(oif_window_state *forest, oif_window_tree *tree, uint8_t from, uint8_t to)
{
    uint8_t *labels = oif_window_labels(forest, tree);
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        replace_labels_avx2(labels, forest->slots, from, to);
        return;
    }
#endif
    for (const uint8_t *end = labels + forest->slots; labels < end; labels += OIF_WINDOW_SLOT_BLOCK)
        for (int i = 0; i < OIF_WINDOW_SLOT_BLOCK; i++)
            labels[i] = labels[i] == from ? to : labels[i];
}

/* Moves the boxes and rows of the leaves below a node to the leaf `kept` and forgets their
 * cuts. */
static void absorb_leaves(oif_window_state *forest, oif_window_node at, uint32_t kept)
{
    oif_window_tree *tree = oif_window_tree_of(forest, at);
    if (oif_window_is_cut(forest, at)) {
        absorb_leaves(forest, oif_window_left(at), kept);
        absorb_leaves(forest, oif_window_right(at), kept);
        oif_window_last_lefts(forest)[at.index] = OIF_WINDOW_UNCUT;
        oif_window_cut_columns(forest)[at.index] = 0;
        tree->cuts_undone++;
        return;
    }
    uint32_t number = oif_window_leaf_number(forest, at);
    if (number == kept)
        return;
    oif_box_widen(oif_window_box(forest, oif_window_leaf_of(forest, tree, kept)),
                  oif_window_box(forest, oif_window_leaf_of(forest, tree, number)),
                  forest->box_width, false);
    relabel_merge(forest, tree, (uint8_t)number, (uint8_t)kept);
    oif_window_leaf_of(forest, tree, number)->depth = OIF_WINDOW_VACANT;
}

static uint32_t deepest_leaf(const oif_window_state *forest, oif_window_node at)
{
    if (!oif_window_is_cut(forest, at))
        return at.depth;
    uint32_t left = deepest_leaf(forest, oif_window_left(at)),
             right = deepest_leaf(forest, oif_window_right(at));
    return left > right ? left : right;
}

static void undo_cut(oif_window_state *forest, oif_window_node at, int32_t height)
{
    uint32_t kept = oif_window_leaf_number(forest, at), tree = oif_window_tree_number(forest, at);
    absorb_leaves(forest, at, kept);
    make_leaf(forest, at, kept, height);
    fit_inner_box(forest, oif_window_leaf_here(forest, at));
    set_levels(forest, tree, deepest_leaf(forest, oif_window_root(forest, tree)));
}

/* Climbs from the leaf to the root. Cuts with too few rows are undone; if there are none, the
 * first node that has rows to spare shares its slack again. Algorithm 3 comes from above, but a
 * cut undone first below and then above leaves the same tree. */
void oif_window_tree_settle(oif_window_state *forest, uint32_t number, uint32_t leaf)
{
    oif_window_tree *tree = oif_window_tree_at(forest, number);
    oif_window_node at = oif_window_node_of(oif_window_leaf_of(forest, tree, leaf));
    totals below = totals_below(forest, tree, at);
    bool undone = false;
    while (at.depth > 0) {
        totals beside = totals_below(forest, tree, oif_window_sibling(at));
        below = (totals){below.height + beside.height, below.guard + beside.guard};
        at = oif_window_parent(at);
        if (below.height < oif_window_threshold(forest, at.depth)) {
            undo_cut(forest, at, below.height);
            undone = true;
        } else if (!undone && below.height > below.guard) {
            share_slack(forest, tree, at, below.height, below.height - below.guard);
            return;
        }
    }
    /* nothing above relies on the root: it has slack to give */
    share_slack(forest, tree, at, below.height, OIF_WINDOW_NO_GUARD);
}

/* ---- Inner boxes ---- */

static void fit_inner_boxes(oif_window_state *forest)
{
    for (uint32_t number = 0; number < forest->num_trees; number++) {
        const oif_window_tree *tree = oif_window_tree_at(forest, number);
        for (uint32_t i = 0; i < forest->leaf_capacity; i++) {
            oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, i);
            if (leaf->depth != OIF_WINDOW_VACANT)
                fit_inner_box(forest, leaf);
        }
    }
}

void oif_window_fit_grid(oif_window_state *forest)
{
    const oif_window_tree *tree = oif_window_tree_at(forest, 0);
    const oif_grid grid = oif_window_grid(forest);
    double *all = oif_window_scratch(forest, 0); /* which no row needs now */
    for (uint32_t i = 0; i < forest->box_width; i++)
        all[i] = i < 2 * forest->dimension ? INFINITY : 0;
    for (uint32_t i = 0; i < forest->leaf_capacity; i++) {
        const oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, i);
        if (leaf->depth != OIF_WINDOW_VACANT)
            oif_box_widen(all, oif_window_box(forest, leaf), 2 * forest->dimension, false);
    }
    if (oif_grid_fit(&grid, all, forest->dimension))
        fit_inner_boxes(forest);
    forest->grid_is_set = 1;
}

/* ---- Walking ---- */

uint32_t oif_window_tree_walk(const oif_window_state *forest, uint32_t tree, const double *row)
{
    oif_window_node at = oif_window_root(forest, tree);
    while (oif_window_is_cut(forest, at)) {
        double number = row[oif_window_cut_columns(forest)[at.index]];
        bool right = isnan(number) ? oif_window_height(forest, oif_window_right(at)) >
                                         oif_window_height(forest, oif_window_left(at))
                                   : oif_sort_key(number) > oif_window_last_lefts(forest)[at.index];
        at = right ? oif_window_right(at) : oif_window_left(at);
    }
    return oif_window_leaf_number(forest, at);
}

/* ---- Snapshots ---- */

void oif_window_tree_visit_fields(oif_window_state *forest, uint32_t number,
                                  oif_state_visitor *visitor)
{
    oif_window_tree *tree = oif_window_tree_at(forest, number);
    oif_visit_u64(visitor, "random", &tree->random.state, 1);
    oif_visit_u64(visitor, "cuts_made", &tree->cuts_made, 1);
    oif_visit_u64(visitor, "cuts_undone", &tree->cuts_undone, 1);
    oif_visit_u8(visitor, "labels", oif_window_labels(forest, tree), forest->slots);
    const oif_field leaf_fields[] = {
        {"height", OIF_FIELD_I32, offsetof(oif_window_leaf, height), 1},
        {"guard", OIF_FIELD_I32, offsetof(oif_window_leaf, guard), 1},
        {"cut_at", OIF_FIELD_I32, offsetof(oif_window_leaf, cut_at), 1},
        {"depth", OIF_FIELD_U32, offsetof(oif_window_leaf, depth), 1},
        {"index", OIF_FIELD_U32, offsetof(oif_window_leaf, index), 1},
        {"box", OIF_FIELD_F64, oif_window_box_at(forest->inner_width), forest->box_width},
    };
    oif_visit_records(visitor,
                      &(oif_records){leaf_fields, sizeof leaf_fields / sizeof leaf_fields[0],
                                     oif_window_leaf_of(forest, tree, 0), forest->leaf_bytes,
                                     forest->leaf_capacity});
}
