/* Whether a forest that forgets by turnover is consistent. Its fields may come from a damaged
 * snapshot, so nothing is trusted but what follows from the parameters. Takes O(nodes x
 * levels). */
#include "base/invariant.h"
#include "detect/online_iforest/turnover_tree.h"

/* A tree that is being checked. */
typedef struct tree_check {
    oif_check base;
    const oif_turnover_state *forest;
    const oif_turnover_tree *tree;
    uint32_t leaves_seen;
    bool claimed[OIF_TURNOVER_MAX_LEAVES]; /* pairs of nodes that are children of a cut */
} tree_check;

/* ---- Ages ---- */

/* The age of the tree `places` places behind the oldest, if it was ever emptied: see
 * turnover_tree.h. */
static uint64_t age_by_turns(const oif_turnover_state *forest, uint32_t places)
{
    uint64_t turns = oif_turnover_learners(forest, &forest->ring) - 1 - places;
    return (turns * forest->maturity + forest->ring.turn) / forest->shadow_trees;
}

/* Trees that were never emptied began with the first row and have the age of the oldest. A new
 * forest has as many rows as its oldest shadow. */
static oif_status check_ages(const oif_turnover_state *forest, oif_error *error)
{
    const uint32_t learners = oif_turnover_learners(forest, &forest->ring);
    const uint32_t oldest = oif_turnover_ages(forest)[forest->ring.oldest];
    const uint64_t shadow = age_by_turns(forest, forest->num_trees);
    const bool is_new = forest->ring.shadows_begun < forest->shadow_trees;
    if (oldest > age_by_turns(forest, 0) || oldest < shadow || (is_new && oldest != shadow) ||
        (is_new && forest->ring.oldest != 0))
        return oif_fail(error, OIF_EINVARIANT,
                        "the age of the oldest tree is not that of its turn");
    if (forest->ring.rows != (oldest <= forest->maturity ? oldest : forest->maturity + 1))
        return oif_fail(error, OIF_EINVARIANT, "the oldest tree has not learned all rows");
    for (uint32_t places = 0; places < forest->tree_count; places++) {
        uint64_t age = places < learners ? age_by_turns(forest, places) : 0;
        uint32_t number = oif_turnover_tree_behind(forest, &forest->ring, places);
        if (oif_turnover_ages(forest)[number] != (age < oldest ? age : oldest))
            return oif_fail(error, OIF_EINVARIANT, "tree %u: its age is not that of its turn",
                            number);
    }
    return OIF_OK;
}

/* ---- Trees ---- */

static oif_status check_leaf(tree_check *check, size_t node, uint32_t depth, uint32_t number,
                             uint64_t *height)
{
    const oif_turnover_state *forest = check->forest;
    const oif_turnover_link *link = oif_turnover_link_of(forest, node);
    OIF_REQUIRE(&check->base, oif_turnover_words(forest)[node] == UINT64_MAX - number,
                "a node has the leaf of another");
    const oif_turnover_leaf *leaf = oif_turnover_leaf_of(forest, check->base.number, number);
    const double *box = oif_turnover_box_of(forest, check->base.number, number);
    OIF_REQUIRE(&check->base, link->left == node, "a leaf sends rows elsewhere");
    OIF_REQUIRE(&check->base, link->column == 0, "a node without a cut has a column");
    OIF_REQUIRE(&check->base, leaf->depth == depth, "a leaf's depth is not that of its place");
    for (uint32_t i = 0; i < forest->dimension; i++)
        OIF_REQUIRE(&check->base,
                    oif_range_is_finite_or_empty(oif_box_range(box, forest->dimension, i)),
                    "a box is inside out");
    *height = leaf->height;
    return OIF_OK;
}

/* The box of each leaf below lies on its side of the cut. */
static oif_status check_sides(tree_check *check, size_t node, uint32_t column, double value,
                              bool right)
{
    const oif_turnover_state *forest = check->forest;
    if (oif_turnover_is_cut(forest, node)) {
        size_t left = oif_turnover_link_of(forest, node)->left;
        oif_status status = check_sides(check, left, column, value, right);
        return status == OIF_OK ? check_sides(check, left + 1, column, value, right) : status;
    }
    uint32_t number = oif_turnover_leaf_number(oif_turnover_words(forest)[node]);
    oif_range range = oif_box_range(oif_turnover_box_of(forest, check->base.number, number),
                                    forest->dimension, column);
    OIF_REQUIRE(&check->base,
                range.low > range.high || (right ? range.low >= value : range.high <= value),
                "a box crosses a cut above it");
    return OIF_OK;
}

/* What a cut says of itself, before the check follows it. Children come after their
 * parents, so there are no cycles. `pair`: the number of the children. */
static oif_status check_cut(tree_check *check, size_t node, uint32_t depth, uint32_t *pair)
{
    const oif_turnover_state *forest = check->forest;
    const oif_turnover_link *link = oif_turnover_link_of(forest, node);
    const size_t root = oif_turnover_root(forest, check->base.number), left = link->left;
    OIF_REQUIRE(&check->base, depth < forest->depth_limit, "a cut lies too deep");
    OIF_REQUIRE(&check->base, link->column < forest->dimension, "a cut's column does not exist");
    OIF_REQUIRE(&check->base, isfinite(oif_sort_key_number(oif_turnover_words(forest)[node] + 1)),
                "a cut's value is not a number");
    OIF_REQUIRE(&check->base,
                left > node && (left - root) % OIF_TURNOVER_PAIR_WORDS == 0 &&
                    (left - root) / OIF_TURNOVER_PAIR_WORDS < check->tree->leaf_count,
                "a cut's children are not there");
    *pair = (uint32_t)((left - root) / OIF_TURNOVER_PAIR_WORDS);
    OIF_REQUIRE(&check->base, !check->claimed[*pair], "two cuts have the same children");
    check->claimed[*pair] = true;
    return OIF_OK;
}

/* `number`: the record that the leaf here has, or the leftmost one below. */
static oif_status check_node(tree_check *check, size_t node, uint32_t depth, uint32_t number,
                             uint64_t *height)
{
    const oif_turnover_state *forest = check->forest;
    uint32_t pair = 0; /* gcc does not see that it is set where it is used */
    uint64_t below[2];
    check->leaves_seen += !oif_turnover_is_cut(forest, node);
    if (!oif_turnover_is_cut(forest, node))
        return check_leaf(check, node, depth, number, height);
    oif_status status = check_cut(check, node, depth, &pair);
    if (status != OIF_OK)
        return status;
    const oif_turnover_link *link = oif_turnover_link_of(forest, node);
    const double value = oif_sort_key_number(oif_turnover_words(forest)[node] + 1);
    for (uint32_t side = 0; side < 2 && status == OIF_OK; side++) {
        status = check_node(check, link->left + side, depth + 1, side == 0 ? number : pair,
                            &below[side]);
        if (status == OIF_OK)
            status = check_sides(check, link->left + side, link->column, value, side == 1);
    }
    if (status != OIF_OK)
        return status;
    *height = below[0] + below[1];
    OIF_REQUIRE(&check->base, *height >= oif_turnover_threshold(forest, depth),
                "an inner height is under its threshold");
    return OIF_OK;
}

static oif_status check_tree(const oif_turnover_state *forest, uint32_t number, oif_error *error)
{
    tree_check all = {.base = {error, "tree", number},
                      .forest = forest,
                      .tree = oif_turnover_tree_at(forest, number)},
               *check = &all;
    const size_t root = oif_turnover_root(forest, number);
    uint64_t height = 0;
    OIF_REQUIRE(&check->base,
                check->tree->leaf_count >= 1 && check->tree->leaf_count <= forest->leaf_capacity,
                "it has more leaves than it has room for");
    oif_status status = check_node(check, root, 0, 0, &height);
    if (status != OIF_OK)
        return status;
    OIF_REQUIRE(&check->base, check->leaves_seen == check->tree->leaf_count,
                "a leaf is nowhere in the tree");
    OIF_REQUIRE(&check->base, height == oif_turnover_ages(forest)[check->base.number],
                "the heights do not add up to the rows learned");
    return OIF_OK;
}

static oif_status check_tables(const oif_turnover_state *forest, oif_error *error)
{
    for (uint32_t height = 0; height < forest->height_count; height++)
        if (oif_turnover_extra_depths(forest)[height] != oif_turnover_average_depth(forest, height))
            return oif_fail(error, OIF_EINVARIANT, "the depth added by a height of %u is wrong",
                            height);
    for (uint32_t age = 0; age < forest->age_count; age++)
        if (oif_turnover_scales(forest)[age] !=
            (age > forest->maturity ? oif_turnover_scale_at(forest, age) : 0))
            return oif_fail(error, OIF_EINVARIANT, "the scale of an age of %u is wrong", age);
    for (uint32_t depth = 0; depth <= forest->depth_limit; depth++)
        if (oif_turnover_cut_heights(forest)[depth] != oif_turnover_look_at_height(forest, depth))
            return oif_fail(error, OIF_EINVARIANT, "a leaf at depth %u is cut at the wrong height",
                            depth);
    return OIF_OK;
}

oif_status oif_turnover_check(const void *state, oif_error *error)
{
    const oif_turnover_state *forest = state;
    if (forest->ring.turn >= forest->maturity + forest->shadow_trees ||
        forest->ring.oldest >= forest->tree_count || forest->ring.shadows_begun < 1 ||
        forest->ring.shadows_begun > forest->shadow_trees)
        return oif_fail(error, OIF_EINVARIANT, "the ring of trees is broken");
    oif_status status = check_tables(forest, error);
    if (status == OIF_OK)
        status = check_ages(forest, error);
    for (uint32_t tree = 0; tree < forest->tree_count && status == OIF_OK; tree++)
        status = check_tree(forest, tree, error);
    for (uint32_t lane = 0; lane < oif_turnover_lane_count(forest) && status == OIF_OK; lane++)
        if (oif_turnover_lane_levels(forest)[lane] != oif_turnover_levels_of_lane(forest, lane))
            status = oif_fail(error, OIF_EINVARIANT,
                              "lane %u: its levels are not those of its deepest leaf", lane);
    return status;
}
