/* One tree of an Online Isolation Forest: cutting a leaf, undoing cuts, and what must hold in between. These are the
 * only places where a tree changes its shape; they run for one row in ten or so, counted over the whole forest.
 *
 * The paper cuts a leaf of height h by drawing h rows uniformly from its box and counting them on either side. Here no
 * row is drawn: how many fall left is binomial, and the least and greatest of n uniform numbers have known laws, so a
 * cut costs O(dimension) and has the same law (docs/algorithms/online-iforest.md).
 */
#include "detect/online_itree.h"

#include "base/error.h"
#include "base/vector.h"

#include <string.h>

typedef oif_iforest_state forest;
typedef oif_spot spot;

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

/* Hands the slack of a node, the rows that may leave it before a cut has to be undone, down to the leaves below: each
 * guards its share. `height` is the node's. */
static void share_slack(forest *f, oif_itree *tree, spot at, int32_t height, int32_t slack)
{
    if (!oif_is_cut(f, at)) {
        leaf_standing(f, tree, at)->guard = height - slack;
        return;
    }
    int32_t own = height - oif_threshold(f, at.depth), left = totals_below(f, tree, oif_left(at)).height;
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

/* ---- Drawing a cut ---- */

typedef oif_range range;

static const range empty_range = {INFINITY, -INFINITY};

static void set_box_range(double *box, uint32_t dimension, uint32_t feature, range r)
{
    box[feature] = r.low;
    box[dimension + feature] = -r.high;
}

static double point_in(range r, double fraction)
{
    double point = r.low * (1.0 - fraction) + r.high * fraction; /* high - low could overflow */
    return point < r.low ? r.low : point > r.high ? r.high : point;
}

static range range_within(range r, double least, double greatest)
{
    range within = {point_in(r, least), point_in(r, greatest)};
    within.low =
        within.low < within.high ? within.low : within.high; /* rounding may swap them, a few ulps apart */
    return within;
}

/* The least range around `count` points drawn uniformly from a range. */
static range draw_range(oif_random *random, uint32_t count, range from)
{
    double least, greatest;
    if (count == 0 || from.low > from.high)
        return empty_range;
    oif_random_extremes(random, count, 1, &least, &greatest);
    return range_within(from, least, greatest);
}

typedef struct cut {
    double value;
    uint32_t feature;
    uint32_t left_count, right_count;
    range left, right; /* of the cut's own feature */
} cut;

/* Uniform among the features that ever had a value in this box; false when none had. */
static bool draw_feature(oif_random *random, const double *box, uint32_t dimension, uint32_t *feature)
{
    uint32_t known = 0;
    *feature = oif_random_below(random, dimension);
    if (box[*feature] < INFINITY)
        return true;
    for (uint32_t i = 0; i < dimension; i++)
        known += box[i] < INFINITY;
    if (known == 0)
        return false;
    uint32_t chosen = oif_random_below(random, known);
    for (*feature = 0; box[*feature] == INFINITY || chosen-- > 0; ++*feature)
        ;
    return true;
}

/* The paper's text: a value in the box, then `count` points in the box. */
static void draw_cut_in_box(oif_random *random, uint32_t count, range box, cut *c)
{
    double fraction = oif_random_unit(random);
    c->value = point_in(box, fraction);
    c->left_count = c->value > box.low ? oif_random_binomial(random, count, fraction) : 0;
    c->right_count = count - c->left_count;
    c->left = draw_range(random, c->left_count, (range){box.low, c->value});
    c->right = draw_range(random, c->right_count, (range){c->value, box.high});
}

/* The authors' code: a value between the outermost of `count` points. Those two are then on either side of it, and the
 * others uniform between them. */
static void draw_cut_between_points(oif_random *random, uint32_t count, range points, cut *c)
{
    double fraction = oif_random_unit(random);
    c->value = point_in(points, fraction);
    if (c->value <= points.low) { /* all points are the same: none is below it */
        draw_cut_in_box(random, count, points, c);
        return;
    }
    uint32_t left_others = oif_random_binomial(random, count - 2, fraction);
    uint32_t right_others = count - 2 - left_others;
    c->left_count = left_others + 1;
    c->right_count = right_others + 1;
    c->left = (range){points.low, points.low};
    c->right = (range){points.high, points.high};
    if (left_others)
        c->left.high = draw_range(random, left_others, (range){points.low, c->value}).high;
    if (right_others)
        c->right.low = draw_range(random, right_others, (range){c->value, points.high}).low;
}

static void include_point(range *r, double point)
{
    r->low = point < r->low ? point : r->low;
    r->high = point > r->high ? point : r->high;
}

/* Shares out points whose range is known, in a feature that has no part in the cut: the outermost two are any of them, on
 * either side, and the others uniform between. */
static void share_range(oif_random *random, const cut *c, range whole, range *left, range *right)
{
    uint32_t count = c->left_count + c->right_count;
    bool lowest_left = oif_random_below(random, count) < c->left_count;
    bool highest_left =
        count == 1 ? lowest_left : oif_random_below(random, count - 1) < c->left_count - lowest_left;
    uint32_t left_outer = count == 1 ? lowest_left : (uint32_t)lowest_left + highest_left;
    uint32_t right_outer = (count == 1 ? 1 : 2) - left_outer;
    *left = draw_range(random, c->left_count - left_outer, whole);
    *right = draw_range(random, c->right_count - right_outer, whole);
    include_point(lowest_left ? left : right, whole.low);
    include_point(highest_left ? left : right, whole.high);
}

/* Turns the least and greatest of points drawn from [0, 1] into those of points drawn from the ranges of a box, the
 * greatest with their signs turned as a box has them. The numbers are those of range_within, without a branch. */
OIF_INLINE void stretch_ranges(const double *restrict lows, const double *restrict minus_highs,
                               uint32_t times, double *restrict least, double *restrict greatest)
{
    for (uint32_t i = 0; i < times; i++) {
        double low = lows[i], high = -minus_highs[i];
        double first = low * (1.0 - least[i]) + high * least[i];
        double last = low * (1.0 - greatest[i]) + high * greatest[i];
        first = first > high ? high : first;
        first = first < low ? low : first;
        last = last > high ? high : last;
        last = last < low ? low : last;
        first = first < last ? first : last;
        least[i] = low > high ? INFINITY : first;
        greatest[i] = low > high ? INFINITY : -last;
    }
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static void stretch_ranges_avx2(const double *lows, const double *minus_highs, uint32_t times,
                                         double *least, double *greatest)
{
    stretch_ranges(lows, minus_highs, times, least, greatest);
}
#endif

static void stretch(const double *lows, const double *minus_highs, uint32_t times, double *least,
                    double *greatest)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        stretch_ranges_avx2(lows, minus_highs, times, least, greatest);
        return;
    }
#endif
    stretch_ranges(lows, minus_highs, times, least, greatest);
}

/* The least box around `count` points drawn uniformly from a box; `box` may be `drawn`. */
static void draw_box(oif_random *random, uint32_t count, const double *box, double *drawn, uint32_t dimension)
{
    double least[OIF_EXTREMES_AT_ONCE], greatest[OIF_EXTREMES_AT_ONCE];
    if (count == 0) {
        for (uint32_t i = 0; i < 2 * dimension; i++)
            drawn[i] = INFINITY;
        return;
    }
    for (uint32_t first = 0; first < dimension; first += OIF_EXTREMES_AT_ONCE) {
        uint32_t times = dimension - first < OIF_EXTREMES_AT_ONCE ? dimension - first : OIF_EXTREMES_AT_ONCE;
        oif_random_extremes(random, count, times, least, greatest);
        stretch(box + first, box + dimension + first, times, least, greatest);
        memcpy(drawn + first, least, times * sizeof *least);
        memcpy(drawn + dimension + first, greatest, times * sizeof *greatest);
    }
}

/* Turns the box of the leaf that is cut into that of its left child, and fills that of the right one. The leaf holds
 * points drawn uniformly from its box or, when it is newborn, points that its box just encloses. */
static void draw_boxes(oif_random *random, const cut *c, bool newborn, double *left, double *right,
                       uint32_t dimension)
{
    if (newborn) {
        for (uint32_t i = 0; i < dimension; i++) {
            range whole = oif_box_range(left, dimension, i), left_range = empty_range,
                  right_range = empty_range;
            if (whole.low <= whole.high)
                share_range(random, c, whole, &left_range, &right_range);
            set_box_range(left, dimension, i, left_range);
            set_box_range(right, dimension, i, right_range);
        }
    } else {
        draw_box(random, c->right_count, left, right, dimension);
        draw_box(random, c->left_count, left, left, dimension);
    }
    set_box_range(left, dimension, c->feature, c->left);
    set_box_range(right, dimension, c->feature, c->right);
}

/* ---- Cutting ---- */

/* Of one block of labels, those of rows that go right become `right`. Without a branch, so that compilers look at several
 * rows at once. */
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
            oif_replace_32_avx2(labels + slot, left, right, oif_at_least_32_avx2(column + slot, value, true));
    else
        for (size_t slot = 0; slot < slots; slot += 32)
            oif_replace_32_avx2(labels + slot, left, right,
                                oif_at_least_32_avx2(column + slot, value, false));
}
#endif

/* Gives the rows of the window that go right their new label; a missing number goes with the heavier child. */
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

/* Whether the leaf at this spot may be cut: by its depth, the records left, and having a feature to cut. */
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
    const int32_t height = oif_leaf_of(f, tree, left)->height, guard = oif_leaf_of(f, tree, left)->guard;
    double *box = oif_leaf_of(f, tree, left)->box;
    cut c;
    if (!may_cut(f, at) || !draw_feature(random, box, f->dimension, &c.feature))
        return;

    range own = oif_box_range(box, f->dimension, c.feature);
    uint32_t count = (uint32_t)height;
    if (f->variant == OIF_REFERENCE)
        draw_cut_between_points(random, count, newborn ? own : draw_range(random, count, own), &c);
    else
        draw_cut_in_box(random, count, own, &c);
    draw_boxes(random, &c, newborn, box, oif_leaf_of(f, tree, right)->box, f->dimension);

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
    if ((int32_t)c.left_count >= oif_threshold(f, at.depth + 1)) /* the authors' code goes on while it can */
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
        /* The cut would be undone at once, and only the points that it draws would remain, in the box of the leaf. One cut
         * in four is of this kind. */
        double *box = oif_leaf_of(f, tree, leaf)->box;
        draw_box(&tree->random, (uint32_t)height, box, box, f->dimension);
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

/* Moves the boxes and rows of the leaves below a node to the leaf `kept` and forgets their cuts. */
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

/* Climbs from the leaf to the root. Cuts with too few rows are undone; if there are none, the first node that has rows to
 * spare shares its slack anew. Algorithm 3 comes from above, but a cut undone first below and then above leaves the same
 * tree. */
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
    share_slack(f, tree, at, below.height,
                OIF_NO_GUARD); /* nothing above relies on the root: it has slack to give */
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

void oif_itree_tell_fields(forest *f, uint32_t number, oif_fields *fields)
{
    oif_itree *tree = oif_tree(f, number);
    oif_field_u64(fields, "random", &tree->random.state, 1);
    oif_field_u64(fields, "cuts_made", &tree->cuts_made, 1);
    oif_field_u64(fields, "cuts_undone", &tree->cuts_undone, 1);
    oif_field_u8(fields, "labels", oif_labels(f, tree), f->slots);
    for (uint32_t i = 0; i < f->leaf_capacity; i++) {
        oif_leaf *leaf = oif_leaf_of(f, tree, i);
        oif_field_i32(fields, "height", &leaf->height, 1);
        oif_field_i32(fields, "guard", &leaf->guard, 1);
        oif_field_i32(fields, "cut_at", &leaf->cut_at, 1);
        oif_field_u32(fields, "depth", &leaf->depth, 1);
        oif_field_u32(fields, "index", &leaf->index, 1);
        oif_field_f64(fields, "box", leaf->box, f->box_width);
    }
}
