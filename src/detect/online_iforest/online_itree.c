/* One tree of an Online Isolation Forest: cutting a leaf, undoing cuts, and what must hold in
 * between. These are the only places where a tree changes its shape; they run for one row in
 * ten or so, counted over the whole forest.
 *
 * The paper cuts a leaf of height h by drawing h rows uniformly from its box and counting them
 * on either side. Here no row is drawn: how many fall left is binomial, and the least and
 * greatest of n uniform numbers have known laws, so a cut costs O(dimension) and has the same
 * law (docs/algorithms/online-iforest.md).
 */
#include "detect/online_iforest/online_itree.h"

#include "base/error.h"
#include "base/vector.h"

#include <string.h>

typedef oif_iforest_state forest;
typedef oif_spot spot;
typedef oif_range range;
typedef oif_box_cut cut;

/* ---- Thresholds and heights ---- */

int32_t oif_threshold(const forest *f, uint32_t depth)
{
    return (int32_t)(f->max_leaf_samples << (f->growth == OIF_ADAPTIVE ? depth : 0));
}

bool oif_depth_allows_cut(const forest *f, uint32_t depth, int64_t rows_in_tree)
{
    int64_t least = f->max_leaf_samples, window = f->window_size;
    switch (f->variant) {
    case OIF_PAPER: return (least << depth) < window;
    case OIF_RUNNING: return (least << depth) < (rows_in_tree < window ? rows_in_tree : window);
    case OIF_REFERENCE: return (least << 2 * depth) < rows_in_tree;
    }
    return false;
}

/* The leaf at a node that is not cut. */
static oif_leaf *leaf_standing(const forest *f, const oif_itree *tree, spot at)
{
    return oif_leaf_of(f, tree, oif_leaf_at(f)[at.index]);
}

/* What the leaves below a node add up to. */
typedef struct totals {
    int32_t height;
    int32_t guard; /* what the cuts above it rely on */
} totals;

static totals totals_below(const forest *f, const oif_itree *tree, spot at)
{
    if (!oif_is_cut(f, at)) {
        const oif_leaf *leaf = leaf_standing(f, tree, at);
        return (totals){leaf->height, leaf->guard};
    }
    totals left = totals_below(f, tree, oif_left(at)), right = totals_below(f, tree, oif_right(at));
    return (totals){left.height + right.height, left.guard + right.guard};
}

int32_t oif_height(const forest *f, spot at)
{
    return totals_below(f, oif_tree_of(f, at), at).height;
}

int32_t oif_cut_height(const forest *f, uint32_t depth)
{
    return depth < f->depth_limit ? oif_threshold(f, depth) : (int32_t)f->window_size + 2;
}

static void make_leaf(forest *f, spot at, uint32_t number, int32_t height)
{
    *oif_leaf_of(f, oif_tree_of(f, at), number) = (oif_leaf){.height = height,
                                                             .guard = height - OIF_NO_GUARD,
                                                             .cut_at = oif_cut_height(f, at.depth),
                                                             .depth = at.depth << OIF_DEPTH_BITS,
                                                             .index = at.index};
    for (; at.depth <= f->depth_limit; at = oif_left(at))
        oif_leaf_at(f)[at.index] = (uint8_t)number;
}

void oif_itree_init(forest *f, uint32_t number, uint64_t seed)
{
    oif_itree *tree = oif_tree(f, number);
    tree->random = oif_random_stream(seed, number);
    for (uint32_t leaf = 0; leaf < f->leaf_capacity; leaf++)
        oif_leaf_of(f, tree, leaf)->depth = OIF_VACANT;
    make_leaf(f, oif_root(f, number), 0, 0);
    for (uint32_t i = 0; i < f->box_width; i++)
        oif_leaf_of(f, tree, 0)->box[i] = INFINITY;
}

/* Hands the slack of a node, the rows that may leave it before a cut has to be undone, down to
 * the leaves below: each guards its share. `height` is the node's. */
static void share_slack(forest *f, oif_itree *tree, spot at, int32_t height, int32_t slack)
{
    if (!oif_is_cut(f, at)) {
        leaf_standing(f, tree, at)->guard = height - slack;
        return;
    }
    int32_t own = height - oif_threshold(f, at.depth),
            left = totals_below(f, tree, oif_left(at)).height;
    slack = own < slack ? own : slack;
    share_slack(f, tree, oif_left(at), left, slack / 2);
    share_slack(f, tree, oif_right(at), height - left, slack - slack / 2);
}

static void set_levels(forest *f, uint32_t tree, uint32_t levels)
{
    uint32_t first = tree - tree % OIF_LANES;
    uint8_t most = 0;
    oif_levels(f)[tree] = (uint8_t)levels;
    for (uint32_t i = first; i < first + OIF_LANES && i < f->num_trees; i++)
        most = oif_levels(f)[i] > most ? oif_levels(f)[i] : most;
    oif_lane_levels(f)[first / OIF_LANES] = most;
}

/* ---- Cutting ---- */

/* Of one block of labels, those of rows that go right become `right`. Without a branch, so that
 * compilers look at several rows at once. */
static void relabel_block(uint8_t *restrict labels, uint8_t left, uint8_t right,
                          const double *restrict column, double value, bool missing_right)
{
    uint8_t goes_right[OIF_SLOT_BLOCK];
    if (missing_right)
        for (int i = 0; i < OIF_SLOT_BLOCK; i++)
            goes_right[i] = !(column[i] < value);
    else
        for (int i = 0; i < OIF_SLOT_BLOCK; i++)
            goes_right[i] = column[i] >= value;
    for (int i = 0; i < OIF_SLOT_BLOCK; i++)
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
static void relabel_cut(forest *f, oif_itree *tree, uint8_t left, uint8_t right, const cut *c)
{
    uint8_t *labels = oif_labels(f, tree);
    const double *column = oif_column(f, c->feature);
    const bool missing_right = c->right_count > c->left_count;
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        relabel_rows_avx2(labels, f->slots, left, right, column, c->value, missing_right);
        return;
    }
#endif
    for (uint32_t slot = 0; slot < f->slots; slot += OIF_SLOT_BLOCK)
        relabel_block(labels + slot, left, right, column + slot, c->value, missing_right);
}

static uint32_t vacant_leaf(const forest *f, const oif_itree *tree)
{
    uint32_t number = 0;
    while (number < f->leaf_capacity && oif_leaf_of(f, tree, number)->depth != OIF_VACANT)
        number++;
    return number;
}

/* Whether the leaf at this spot may be cut: by its depth, the records left, and having a
 * feature to cut. */
static bool may_cut(const forest *f, spot at)
{
    const oif_itree *tree = oif_tree_of(f, at);
    return at.depth < f->depth_limit && vacant_leaf(f, tree) < f->leaf_capacity &&
           oif_depth_allows_cut(f, at.depth, oif_height(f, oif_root(f, oif_tree_number(f, at))));
}

/* Cuts the leaf at this spot, if it may be cut. `newborn`: a cut has just made it. */
static void cut_leaf(forest *f, spot at, bool newborn)
{
    oif_itree *tree = oif_tree_of(f, at);
    oif_random *random = &tree->random;
    uint32_t left = oif_leaf_number(f, at), right = vacant_leaf(f, tree);
    const int32_t height = oif_leaf_of(f, tree, left)->height,
                  guard = oif_leaf_of(f, tree, left)->guard;
    double *box = oif_leaf_of(f, tree, left)->box;
    cut c;
    if (!may_cut(f, at) || !oif_box_cut_draw_feature(random, box, f->dimension, &c.feature))
        return;

    range own = oif_box_range(box, f->dimension, c.feature);
    uint32_t count = (uint32_t)height;
    if (f->variant == OIF_REFERENCE)
        oif_box_cut_draw_between_points(random, count,
                                        newborn ? own : oif_range_draw(random, count, own), &c);
    else
        oif_box_cut_draw_in_box(random, count, own, &c);
    oif_box_cut_draw_boxes(random, &c, newborn, box, oif_leaf_of(f, tree, right)->box,
                           f->dimension);

    oif_set_cut(f, at, c.feature, c.value);
    make_leaf(f, oif_left(at), left, (int32_t)c.left_count);
    make_leaf(f, oif_right(at), right, (int32_t)c.right_count);
    share_slack(f, tree, at, height, height - guard);
    relabel_cut(f, tree, (uint8_t)left, (uint8_t)right, &c);
    if (oif_levels(f)[oif_tree_number(f, at)] <= at.depth)
        set_levels(f, oif_tree_number(f, at), at.depth + 1);
    tree->cuts_made++;

    if (f->variant != OIF_REFERENCE)
        return;
    /* the authors' code goes on while it can */
    if ((int32_t)c.left_count >= oif_threshold(f, at.depth + 1))
        cut_leaf(f, oif_left(at), true);
    if ((int32_t)c.right_count >= oif_threshold(f, at.depth + 1))
        cut_leaf(f, oif_right(at), true);
}

void oif_itree_cut(forest *f, uint32_t number, uint32_t leaf, bool loses_row)
{
    oif_itree *tree = oif_tree(f, number);
    spot at = oif_spot_of(oif_leaf_of(f, tree, leaf));
    int32_t height = oif_leaf_of(f, tree, leaf)->height;
    if (loses_row && height == oif_threshold(f, at.depth) && may_cut(f, at)) {
        /* The cut would be undone at once, and only the points that it draws would remain, in
         * the box of the leaf. One cut in four is of this kind. */
        double *box = oif_leaf_of(f, tree, leaf)->box;
        oif_box_draw(&tree->random, (uint32_t)height, box, box, f->dimension);
        tree->cuts_made++;
        tree->cuts_undone++;
        return;
    }
    cut_leaf(f, at, false);
}

/* ---- Undoing cuts ---- */

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static void replace_labels_avx2(uint8_t *labels, uint32_t slots, uint8_t from, uint8_t to)
{
    for (size_t slot = 0; slot < slots; slot += 32)
        oif_replace_32_avx2(labels + slot, from, to, _mm256_set1_epi8(-1));
}
#endif

static void relabel_merge(forest *f, oif_itree *tree, uint8_t from, uint8_t to)
{
    uint8_t *labels = oif_labels(f, tree);
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        replace_labels_avx2(labels, f->slots, from, to);
        return;
    }
#endif
    for (const uint8_t *end = labels + f->slots; labels < end; labels += OIF_SLOT_BLOCK)
        for (int i = 0; i < OIF_SLOT_BLOCK; i++)
            labels[i] = labels[i] == from ? to : labels[i];
}

/* Moves the boxes and rows of the leaves below a node to the leaf `kept` and forgets their
 * cuts. */
static void absorb_leaves(forest *f, spot at, uint32_t kept)
{
    oif_itree *tree = oif_tree_of(f, at);
    if (oif_is_cut(f, at)) {
        absorb_leaves(f, oif_left(at), kept);
        absorb_leaves(f, oif_right(at), kept);
        oif_last_lefts(f)[at.index] = OIF_UNCUT;
        oif_features(f)[at.index] = 0;
        tree->cuts_undone++;
        return;
    }
    uint32_t number = oif_leaf_number(f, at);
    if (number == kept)
        return;
    double *restrict box = oif_leaf_of(f, tree, kept)->box;
    const double *restrict absorbed = oif_leaf_of(f, tree, number)->box;
    for (uint32_t i = 0; i < f->box_width; i++)
        box[i] = absorbed[i] < box[i] ? absorbed[i] : box[i];
    relabel_merge(f, tree, (uint8_t)number, (uint8_t)kept);
    oif_leaf_of(f, tree, number)->depth = OIF_VACANT;
}

static uint32_t deepest_leaf(const forest *f, spot at)
{
    if (!oif_is_cut(f, at))
        return at.depth;
    uint32_t left = deepest_leaf(f, oif_left(at)), right = deepest_leaf(f, oif_right(at));
    return left > right ? left : right;
}

static void undo_cut(forest *f, spot at, int32_t height)
{
    uint32_t kept = oif_leaf_number(f, at), tree = oif_tree_number(f, at);
    absorb_leaves(f, at, kept);
    make_leaf(f, at, kept, height);
    set_levels(f, tree, deepest_leaf(f, oif_root(f, tree)));
}

/* Climbs from the leaf to the root. Cuts with too few rows are undone; if there are none, the
 * first node that has rows to spare shares its slack anew. Algorithm 3 comes from above, but a
 * cut undone first below and then above leaves the same tree. */
void oif_itree_settle(forest *f, uint32_t number, uint32_t leaf)
{
    oif_itree *tree = oif_tree(f, number);
    spot at = oif_spot_of(oif_leaf_of(f, tree, leaf));
    totals below = totals_below(f, tree, at);
    bool undone = false;
    while (at.depth > 0) {
        totals beside = totals_below(f, tree, oif_sibling(at));
        below = (totals){below.height + beside.height, below.guard + beside.guard};
        at = oif_parent(at);
        if (below.height < oif_threshold(f, at.depth)) {
            undo_cut(f, at, below.height);
            undone = true;
        } else if (!undone && below.height > below.guard) {
            share_slack(f, tree, at, below.height, below.height - below.guard);
            return;
        }
    }
    /* nothing above relies on the root: it has slack to give */
    share_slack(f, tree, at, below.height, OIF_NO_GUARD);
}

/* ---- Walking ---- */

uint32_t oif_itree_walk(const forest *f, uint32_t tree, const double *row)
{
    spot at = oif_root(f, tree);
    while (oif_is_cut(f, at)) {
        double number = row[oif_features(f)[at.index]];
        bool right = isnan(number) ? oif_height(f, oif_right(at)) > oif_height(f, oif_left(at))
                                   : oif_key(number) > oif_last_lefts(f)[at.index];
        at = right ? oif_right(at) : oif_left(at);
    }
    return oif_leaf_number(f, at);
}

/* ---- Snapshots ---- */

void oif_itree_visit_fields(forest *f, uint32_t number, oif_state_visitor *visitor)
{
    oif_itree *tree = oif_tree(f, number);
    oif_visit_u64(visitor, "random", &tree->random.state, 1);
    oif_visit_u64(visitor, "cuts_made", &tree->cuts_made, 1);
    oif_visit_u64(visitor, "cuts_undone", &tree->cuts_undone, 1);
    oif_visit_u8(visitor, "labels", oif_labels(f, tree), f->slots);
    for (uint32_t i = 0; i < f->leaf_capacity; i++) {
        oif_leaf *leaf = oif_leaf_of(f, tree, i);
        oif_visit_i32(visitor, "height", &leaf->height, 1);
        oif_visit_i32(visitor, "guard", &leaf->guard, 1);
        oif_visit_i32(visitor, "cut_at", &leaf->cut_at, 1);
        oif_visit_u32(visitor, "depth", &leaf->depth, 1);
        oif_visit_u32(visitor, "index", &leaf->index, 1);
        oif_visit_f64(visitor, "box", leaf->box, f->box_width);
    }
}
