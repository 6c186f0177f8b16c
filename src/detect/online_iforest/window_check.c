/* Whether a tree of an Online Isolation Forest is consistent. Its fields may come from a
 * damaged snapshot, so nothing is trusted but what follows from the parameters. Takes O(nodes
 * x levels + rows). */
#include "detect/online_iforest/window_tree.h"

#include "base/invariant.h"

/* A tree that is being checked, and what a walk over all nodes gathers. */
typedef struct tree_check {
    oif_check base;
    const oif_window_state *forest;
    const oif_window_tree *tree;
    uint32_t leaves_seen, levels;
    bool seen[OIF_WINDOW_MAX_LEAVES];
    uint32_t rows[OIF_WINDOW_MAX_LEAVES + 1]; /* of the window, by the leaf that counts them */
} tree_check;

/* No split may hide below a node that is not cut: the walk would follow it, or find it when the
 * node is cut one day. Wherever the walk ends it finds the leaf. */
static oif_status check_below_leaf(tree_check *check, oif_window_node at, uint32_t number)
{
    const oif_window_state *forest = check->forest;
    for (uint32_t wide = 1; at.depth <= forest->depth_limit; at = oif_window_left(at), wide *= 2) {
        OIF_REQUIRE(&check->base, oif_window_leaf_at(forest)[at.index] == number,
                    "a place below a leaf has the number of another");
        for (uint32_t i = at.index; at.depth < forest->depth_limit && i < at.index + wide; i++) {
            OIF_REQUIRE(&check->base, oif_window_last_lefts(forest)[i] == OIF_WINDOW_UNCUT,
                        "a cut lies below a leaf");
            OIF_REQUIRE(&check->base, oif_window_cut_columns(forest)[i] == 0,
                        "a node without a cut has a column");
        }
    }
    return OIF_OK;
}

static oif_status check_leaf_box(tree_check *check, const oif_window_leaf *leaf)
{
    const double *box = oif_window_box(check->forest, leaf);
    const oif_grid grid = oif_window_grid(check->forest);
    OIF_REQUIRE(&check->base,
                oif_inner_box_is_inside(&grid,
                                        oif_window_inner_box(leaf, check->forest->inner_width), box,
                                        check->forest->dimension),
                "an inner box is not inside its box");
    for (uint32_t i = 0; i < check->forest->dimension; i++)
        OIF_REQUIRE(&check->base,
                    oif_range_is_finite_or_empty(oif_box_range(box, check->forest->dimension, i)),
                    "a box is inside out");
    return OIF_OK;
}

static oif_status check_leaf(tree_check *check, oif_window_node at)
{
    const oif_window_state *forest = check->forest;
    uint32_t number = oif_window_leaf_number(forest, at);
    OIF_REQUIRE(&check->base, number < forest->leaf_capacity, "a leaf's number is too large");
    const oif_window_leaf *leaf = oif_window_leaf_of(forest, check->tree, number);
    OIF_REQUIRE(&check->base, leaf->depth != OIF_WINDOW_VACANT, "a vacant leaf is in the tree");
    OIF_REQUIRE(&check->base, !check->seen[number], "a leaf is in two places");
    OIF_REQUIRE(&check->base, leaf->depth == at.depth << OIF_DEPTH_BITS,
                "a leaf's depth is not that of its place");
    OIF_REQUIRE(&check->base, leaf->index == at.index, "a leaf does not know its place");
    OIF_REQUIRE(&check->base, leaf->cut_at == oif_window_cut_height(forest, at.depth),
                "a leaf is cut at the wrong height");
    OIF_REQUIRE(&check->base, leaf->height >= leaf->guard, "a leaf's height is under its guard");
    check->seen[number] = true;
    check->leaves_seen++;
    check->levels = at.depth > check->levels ? at.depth : check->levels;
    oif_status status = check_leaf_box(check, leaf);
    return status == OIF_OK ? check_below_leaf(check, at, number) : status;
}

/* The box of each leaf below lies on its side of the cut. */
static oif_status check_sides(tree_check *check, oif_window_node at, uint32_t column, double value,
                              bool right)
{
    const oif_window_state *forest = check->forest;
    if (oif_window_is_cut(forest, at)) {
        oif_status status = check_sides(check, oif_window_left(at), column, value, right);
        return status == OIF_OK ? check_sides(check, oif_window_right(at), column, value, right)
                                : status;
    }
    oif_range range = oif_box_range(oif_window_box(forest, oif_window_leaf_here(forest, at)),
                                    forest->dimension, column);
    OIF_REQUIRE(&check->base,
                range.low > range.high || (right ? range.low >= value : range.high <= value),
                "a box crosses a cut above it");
    return OIF_OK;
}

static oif_status check_node(tree_check *check, oif_window_node at)
{
    const oif_window_state *forest = check->forest;
    if (!oif_window_is_cut(forest, at))
        return check_leaf(check, at);
    uint32_t column = oif_window_cut_columns(forest)[at.index];
    double value = oif_window_cut_value(forest, at);
    OIF_REQUIRE(&check->base, column < forest->dimension, "a cut's column does not exist");
    OIF_REQUIRE(&check->base, isfinite(value), "a cut's value is not a number");
    oif_status status = check_node(check, oif_window_left(at));
    if (status == OIF_OK)
        status = check_node(check, oif_window_right(at));
    if (status == OIF_OK)
        status = check_sides(check, oif_window_left(at), column, value, false);
    if (status == OIF_OK)
        status = check_sides(check, oif_window_right(at), column, value, true);
    return status;
}

/* What the leaves below a node add up to; wide, as they may be anything. */
typedef struct sums {
    int64_t heights, guards, rows;
} sums;

/* No height is far from the rows that it counts: a cut puts at most as many rows too few on
 * a side as there are, and so too many on the other. So sums of heights, and of guards, which
 * are not above them, fit 32 bits. */
static oif_status check_sums(tree_check *check, oif_window_node at, sums *all)
{
    const oif_window_state *forest = check->forest;
    const int64_t furthest = (int64_t)at.depth * ((int64_t)forest->window_size + 1);
    if (!oif_window_is_cut(forest, at)) {
        uint32_t number = oif_window_leaf_number(forest, at);
        const oif_window_leaf *leaf = oif_window_leaf_of(forest, check->tree, number);
        *all = (sums){leaf->height, leaf->guard, check->rows[number]};
    } else {
        sums left, right;
        oif_status status = check_sums(check, oif_window_left(at), &left);
        if (status == OIF_OK)
            status = check_sums(check, oif_window_right(at), &right);
        if (status != OIF_OK)
            return status;
        *all = (sums){left.heights + right.heights, left.guards + right.guards,
                      left.rows + right.rows};
        OIF_REQUIRE(&check->base, all->heights >= oif_window_threshold(forest, at.depth),
                    "an inner height is under its threshold");
        OIF_REQUIRE(&check->base, all->guards >= oif_window_threshold(forest, at.depth),
                    "the guards of the leaves do not add up to the threshold above");
    }
    if (at.depth == 0)
        OIF_REQUIRE(&check->base, all->heights == all->rows,
                    "the heights do not add up to the rows in the window");
    OIF_REQUIRE(&check->base,
                all->heights - all->rows <= furthest && all->rows - all->heights <= furthest,
                "a height is far from the rows below");
    OIF_REQUIRE(&check->base, all->guards >= -furthest - OIF_WINDOW_NO_GUARD,
                "a guard is lower than none");
    return OIF_OK;
}

/* ---- Rows ---- */

/* Counts the rows of the window by the leaves that their labels name. Whether a row falls into
 * that leaf is for oif_window_labels_check. */
static oif_status count_rows(tree_check *check)
{
    const oif_window_state *forest = check->forest;
    const uint8_t *labels = oif_window_labels(forest, check->tree);
    const uint32_t first = oif_window_oldest_slot(forest),
                   behind = oif_min_u32(forest->rows_held, forest->slots - first);
    for (uint32_t i = 0; i < behind; i++)
        check->rows[labels[first + i]]++;
    for (uint32_t i = 0; i < forest->rows_held - behind; i++)
        check->rows[labels[i]]++;
    OIF_REQUIRE(&check->base, check->rows[OIF_WINDOW_NOT_COUNTED] == 0 || forest->subsample < 1,
                "a row is counted by no leaf");
    for (uint32_t leaf = 0; leaf < OIF_WINDOW_MAX_LEAVES; leaf++)
        OIF_REQUIRE(&check->base, check->rows[leaf] == 0 || check->seen[leaf],
                    "a row is counted by a leaf that is not in the tree");
    return OIF_OK;
}

oif_status oif_window_tree_check(const oif_window_state *forest, uint32_t number, oif_error *error)
{
    tree_check all = {.base = {error, "tree", number},
                      .forest = forest,
                      .tree = oif_window_tree_at(forest, number)},
               *check = &all;
    oif_status status = check_node(check, oif_window_root(forest, number));
    if (status != OIF_OK)
        return status;
    uint32_t occupied = 0;
    for (uint32_t leaf = 0; leaf < forest->leaf_capacity; leaf++)
        occupied += oif_window_leaf_of(forest, check->tree, leaf)->depth != OIF_WINDOW_VACANT;
    OIF_REQUIRE(&check->base, occupied == check->leaves_seen,
                "a leaf that is not vacant is nowhere in the tree");
    OIF_REQUIRE(&check->base, oif_window_levels(forest)[number] == check->levels,
                "the number of levels is not that of the deepest leaf");
    OIF_REQUIRE(&check->base, oif_window_lane_levels(forest)[number / OIF_LANES] >= check->levels,
                "the trees walked beside it go less deep");
    OIF_REQUIRE(&check->base,
                oif_window_lane_levels(forest)[number / OIF_LANES] <= forest->depth_limit,
                "the trees walked beside it go deeper than trees can");
    sums all_leaves;
    status = count_rows(check);
    return status == OIF_OK ? check_sums(check, oif_window_root(forest, number), &all_leaves)
                            : status;
}
