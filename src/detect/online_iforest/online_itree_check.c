/* Whether a tree of an Online Isolation Forest holds together. Its fields may come from a
 * damaged snapshot, so nothing is believed but what follows from the parameters. Takes O(nodes
 * x levels + rows x levels). */
#include "detect/online_iforest/online_itree.h"

#include "base/error.h"

typedef oif_iforest_state forest;
typedef oif_spot spot;
typedef oif_range range;

/* What a walk over all nodes gathers. */
typedef struct findings {
    const forest *forest;
    const oif_itree *tree;
    uint32_t number;
    uint32_t leaves_seen, levels;
    bool seen[OIF_MAX_LEAVES];
    uint32_t rows[OIF_MAX_LEAVES]; /* of the window, by the leaf that counts them */
    oif_error *error;
} findings;

#define REQUIRE(condition, words)                                                                  \
    do                                                                                             \
        if (!(condition))                                                                          \
            return oif_fail(found->error, OIF_EINVARIANT, "tree %u: %s", found->number, words);    \
    while (0)

/* No split may hide below a node that is not cut: the walk would follow it, or find it when the
 * node is cut one day. Wherever the walk ends it finds the leaf. */
static oif_status check_below_leaf(findings *found, spot at, uint32_t number)
{
    const forest *f = found->forest;
    for (uint32_t wide = 1; at.depth <= f->depth_limit; at = oif_left(at), wide *= 2) {
        REQUIRE(oif_leaf_at(f)[at.index] == number,
                "a place below a leaf has the number of another");
        for (uint32_t i = at.index; at.depth < f->depth_limit && i < at.index + wide; i++) {
            REQUIRE(oif_last_lefts(f)[i] == OIF_UNCUT, "a cut lies below a leaf");
            REQUIRE(oif_features(f)[i] == 0, "a node without a cut has a feature");
        }
    }
    return OIF_OK;
}

static bool is_finite_or_empty(range r)
{
    return (r.low == INFINITY && r.high == -INFINITY) ||
           (r.low > -INFINITY && r.low <= r.high && r.high < INFINITY);
}

static oif_status check_leaf_box(findings *found, const double *box)
{
    for (uint32_t i = 0; i < found->forest->dimension; i++)
        REQUIRE(is_finite_or_empty(oif_box_range(box, found->forest->dimension, i)),
                "a box is inside out");
    return OIF_OK;
}

static oif_status check_leaf(findings *found, spot at)
{
    const forest *f = found->forest;
    uint32_t number = oif_leaf_number(f, at);
    REQUIRE(number < f->leaf_capacity, "a leaf's number is too large");
    const oif_leaf *leaf = oif_leaf_of(f, found->tree, number);
    REQUIRE(leaf->depth != OIF_VACANT, "a vacant leaf stands in the tree");
    REQUIRE(!found->seen[number], "a leaf stands in two places");
    REQUIRE(leaf->depth == at.depth << OIF_DEPTH_BITS, "a leaf's depth is not that of its place");
    REQUIRE(leaf->index == at.index, "a leaf does not know its place");
    REQUIRE(leaf->cut_at == oif_cut_height(f, at.depth), "a leaf is cut at the wrong height");
    REQUIRE(leaf->height >= leaf->guard, "a leaf's height is under its guard");
    found->seen[number] = true;
    found->leaves_seen++;
    found->levels = at.depth > found->levels ? at.depth : found->levels;
    oif_status status = check_leaf_box(found, leaf->box);
    return status == OIF_OK ? check_below_leaf(found, at, number) : status;
}

/* The box of each leaf below lies on its side of the cut. */
static oif_status check_sides(findings *found, spot at, uint32_t feature, double value, bool right)
{
    const forest *f = found->forest;
    if (oif_is_cut(f, at)) {
        oif_status status = check_sides(found, oif_left(at), feature, value, right);
        return status == OIF_OK ? check_sides(found, oif_right(at), feature, value, right) : status;
    }
    range r = oif_box_range(oif_leaf_here(f, at)->box, f->dimension, feature);
    REQUIRE(r.low > r.high || (right ? r.low >= value : r.high <= value),
            "a box crosses a cut above it");
    return OIF_OK;
}

static oif_status check_node(findings *found, spot at)
{
    const forest *f = found->forest;
    if (!oif_is_cut(f, at))
        return check_leaf(found, at);
    uint32_t feature = oif_features(f)[at.index];
    double value = oif_cut_value(f, at);
    REQUIRE(feature < f->dimension, "a cut's feature does not exist");
    REQUIRE(isfinite(value), "a cut's value is not a number");
    oif_status status = check_node(found, oif_left(at));
    if (status == OIF_OK)
        status = check_node(found, oif_right(at));
    if (status == OIF_OK)
        status = check_sides(found, oif_left(at), feature, value, false);
    if (status == OIF_OK)
        status = check_sides(found, oif_right(at), feature, value, true);
    return status;
}

/* What the leaves below a node add up to; wide, as they may be anything. */
typedef struct sums {
    int64_t heights, guards, rows;
} sums;

/* No height is far from the rows that it stands for: a cut puts at most as many rows too few on
 * a side as there are, and so too many on the other. So sums of heights, and of guards, which
 * are not above them, fit 32 bits. */
static oif_status check_sums(findings *found, spot at, sums *all)
{
    const forest *f = found->forest;
    const int64_t furthest = (int64_t)at.depth * ((int64_t)f->window_size + 1);
    if (!oif_is_cut(f, at)) {
        uint32_t number = oif_leaf_number(f, at);
        const oif_leaf *leaf = oif_leaf_of(f, found->tree, number);
        *all = (sums){leaf->height, leaf->guard, found->rows[number]};
    } else {
        sums left, right;
        oif_status status = check_sums(found, oif_left(at), &left);
        if (status == OIF_OK)
            status = check_sums(found, oif_right(at), &right);
        if (status != OIF_OK)
            return status;
        *all = (sums){left.heights + right.heights, left.guards + right.guards,
                      left.rows + right.rows};
        REQUIRE(all->heights >= oif_threshold(f, at.depth),
                "an inner height is under its threshold");
        REQUIRE(all->guards >= oif_threshold(f, at.depth),
                "the guards of the leaves do not add up to the threshold above");
    }
    if (at.depth == 0)
        REQUIRE(all->heights == all->rows, "the heights do not add up to the rows in the window");
    REQUIRE(all->heights - all->rows <= furthest && all->rows - all->heights <= furthest,
            "a height is far from the rows below");
    REQUIRE(all->guards >= -furthest - OIF_NO_GUARD, "a guard is lower than none");
    return OIF_OK;
}

/* Every row of the window is counted by the leaf that it falls into. */
static oif_status check_labels(findings *found)
{
    const forest *f = found->forest;
    for (uint32_t age = 1; age <= f->rows_held; age++) {
        uint32_t slot = f->next_slot >= age ? f->next_slot - age : f->next_slot + f->slots - age;
        uint32_t label = oif_labels(f, found->tree)[slot];
        REQUIRE(label != OIF_NOT_COUNTED || f->subsample < 1, "a row is counted by no leaf");
        if (label == OIF_NOT_COUNTED)
            continue;
        spot at = oif_root(f, found->number);
        bool missing = false;
        while (!missing && oif_is_cut(f, at)) {
            double number = oif_column(f, oif_features(f)[at.index])[slot];
            missing = isnan(number);
            at = number >= oif_cut_value(f, at) ? oif_right(at) : oif_left(at);
        }
        REQUIRE(label < f->leaf_capacity && found->seen[label],
                "a row is counted by a leaf that does not stand");
        REQUIRE(missing || label == oif_leaf_number(f, at),
                "a row is counted by a leaf that it does not fall into");
        found->rows[label]++;
    }
    return OIF_OK;
}

oif_status oif_itree_check(const forest *f, uint32_t number, oif_error *error)
{
    findings all = {.forest = f, .tree = oif_tree(f, number), .number = number, .error = error},
             *found = &all;
    oif_status status = check_node(found, oif_root(f, number));
    if (status != OIF_OK)
        return status;
    uint32_t occupied = 0;
    for (uint32_t leaf = 0; leaf < f->leaf_capacity; leaf++)
        occupied += oif_leaf_of(f, found->tree, leaf)->depth != OIF_VACANT;
    REQUIRE(occupied == found->leaves_seen, "a leaf that is not vacant stands nowhere");
    REQUIRE(oif_levels(f)[number] == found->levels,
            "the number of levels is not that of the deepest leaf");
    REQUIRE(oif_lane_levels(f)[number / OIF_LANES] >= found->levels,
            "the trees walked beside it go less deep");
    REQUIRE(oif_lane_levels(f)[number / OIF_LANES] <= f->depth_limit,
            "the trees walked beside it go deeper than trees can");
    sums all_leaves;
    status = check_labels(found);
    return status == OIF_OK ? check_sums(found, oif_root(f, number), &all_leaves) : status;
}
