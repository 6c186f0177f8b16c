/* Whether a forest that forgets by turnover holds together. Its fields may come from a damaged
 * snapshot, so nothing is believed but what follows from the parameters. Takes O(nodes x
 * levels). */
#include "base/error.h"
#include "detect/online_iforest/turnover_tree.h"

typedef oif_turnover_state forest;

/* A tree that is being looked at. */
typedef struct subject {
    const forest *forest;
    const oif_turnover_tree *tree;
    uint32_t number;
    uint32_t leaves_seen;
    bool claimed[OIF_TURNOVER_MAX_LEAVES]; /* pairs of nodes that are children of a cut */
    oif_error *error;
} subject;

#define REQUIRE(condition, words)                                                                  \
    do                                                                                             \
        if (!(condition))                                                                          \
            return oif_fail(of->error, OIF_EINVARIANT, "tree %u: %s", of->number, words);          \
    while (0)

/* ---- Ages ---- */

/* The age of the tree so many places behind the oldest, if it was ever emptied: see
 * turnover_tree.h. */
static uint64_t age_by_turns(const forest *f, uint32_t places)
{
    uint64_t turns = oif_turnover_learners(f, &f->ring) - 1 - places;
    return (turns * f->maturity + f->ring.turn) / f->shadow_trees;
}

/* Trees that were never emptied began with the first row and have the age of the oldest. A new
 * forest has as many rows as its oldest shadow. */
static oif_status check_ages(const forest *f, oif_error *error)
{
    const uint32_t learners = oif_turnover_learners(f, &f->ring);
    const uint32_t oldest = oif_turnover_ages(f)[f->ring.oldest];
    const uint64_t shadow = age_by_turns(f, f->num_trees);
    const bool is_new = f->ring.shadows_begun < f->shadow_trees;
    if (oldest > age_by_turns(f, 0) || oldest < shadow || (is_new && oldest != shadow) ||
        (is_new && f->ring.oldest != 0))
        return oif_fail(error, OIF_EINVARIANT,
                        "the age of the oldest tree is not that of its turn");
    if (f->ring.rows != (oldest <= f->maturity ? oldest : f->maturity + 1))
        return oif_fail(error, OIF_EINVARIANT, "the oldest tree has not learned all rows");
    for (uint32_t places = 0; places < f->tree_count; places++) {
        uint64_t age = places < learners ? age_by_turns(f, places) : 0;
        uint32_t number = oif_turnover_tree_behind(f, &f->ring, places);
        if (oif_turnover_ages(f)[number] != (age < oldest ? age : oldest))
            return oif_fail(error, OIF_EINVARIANT, "tree %u: its age is not that of its turn",
                            number);
    }
    return OIF_OK;
}

/* ---- Trees ---- */

static bool is_finite_or_empty(oif_range r)
{
    return (r.low == INFINITY && r.high == -INFINITY) ||
           (r.low > -INFINITY && r.low <= r.high && r.high < INFINITY);
}

static oif_status check_leaf(subject *of, size_t node, uint32_t depth, uint32_t number,
                             uint64_t *height)
{
    const forest *f = of->forest;
    const oif_turnover_link *link = oif_turnover_link_of(f, node);
    REQUIRE(oif_turnover_words(f)[node] == UINT64_MAX - number, "a node has the leaf of another");
    const oif_turnover_leaf *leaf = oif_turnover_leaf_of(f, of->number, number);
    const double *box = oif_turnover_box_of(f, of->number, number);
    REQUIRE(link->left == node, "a leaf sends rows elsewhere");
    REQUIRE(link->feature == 0, "a node without a cut has a feature");
    REQUIRE(leaf->depth == depth, "a leaf's depth is not that of its place");
    for (uint32_t i = 0; i < f->dimension; i++)
        REQUIRE(is_finite_or_empty(oif_box_range(box, f->dimension, i)), "a box is inside out");
    *height = leaf->height;
    return OIF_OK;
}

/* The box of each leaf below lies on its side of the cut. */
static oif_status check_sides(subject *of, size_t node, uint32_t feature, double value, bool right)
{
    const forest *f = of->forest;
    if (oif_turnover_is_cut(f, node)) {
        size_t left = oif_turnover_link_of(f, node)->left;
        oif_status status = check_sides(of, left, feature, value, right);
        return status == OIF_OK ? check_sides(of, left + 1, feature, value, right) : status;
    }
    uint32_t number = oif_turnover_leaf_number(oif_turnover_words(f)[node]);
    oif_range r = oif_box_range(oif_turnover_box_of(f, of->number, number), f->dimension, feature);
    REQUIRE(r.low > r.high || (right ? r.low >= value : r.high <= value),
            "a box crosses a cut above it");
    return OIF_OK;
}

/* What a cut says of itself, before anyone goes where it leads. Children come after their
 * parents, so nobody walks in circles. `pair`: the number of the children. */
static oif_status check_cut(subject *of, size_t node, uint32_t depth, uint32_t *pair)
{
    const forest *f = of->forest;
    const oif_turnover_link *link = oif_turnover_link_of(f, node);
    const size_t root = oif_turnover_root(f, of->number), left = link->left;
    REQUIRE(depth < f->depth_limit, "a cut lies too deep");
    REQUIRE(link->feature < f->dimension, "a cut's feature does not exist");
    REQUIRE(isfinite(oif_number_of_key(oif_turnover_words(f)[node] + 1)),
            "a cut's value is not a number");
    REQUIRE(left > node && (left - root) % OIF_TURNOVER_PAIR_WORDS == 0 &&
                (left - root) / OIF_TURNOVER_PAIR_WORDS < of->tree->leaf_count,
            "a cut's children are not there");
    *pair = (uint32_t)((left - root) / OIF_TURNOVER_PAIR_WORDS);
    REQUIRE(!of->claimed[*pair], "two cuts have the same children");
    of->claimed[*pair] = true;
    return OIF_OK;
}

/* `number`: the record that the leaf here has, or the leftmost one below. */
static oif_status check_node(subject *of, size_t node, uint32_t depth, uint32_t number,
                             uint64_t *height)
{
    const forest *f = of->forest;
    uint32_t pair = 0; /* gcc does not see that it is set where it is used */
    uint64_t below[2];
    of->leaves_seen += !oif_turnover_is_cut(f, node);
    if (!oif_turnover_is_cut(f, node))
        return check_leaf(of, node, depth, number, height);
    oif_status status = check_cut(of, node, depth, &pair);
    if (status != OIF_OK)
        return status;
    const oif_turnover_link *link = oif_turnover_link_of(f, node);
    const double value = oif_number_of_key(oif_turnover_words(f)[node] + 1);
    for (uint32_t side = 0; side < 2 && status == OIF_OK; side++) {
        status =
            check_node(of, link->left + side, depth + 1, side == 0 ? number : pair, &below[side]);
        if (status == OIF_OK)
            status = check_sides(of, link->left + side, link->feature, value, side == 1);
    }
    if (status != OIF_OK)
        return status;
    *height = below[0] + below[1];
    REQUIRE(*height >= oif_turnover_threshold(f, depth), "an inner height is under its threshold");
    return OIF_OK;
}

static oif_status check_tree(const forest *f, uint32_t number, oif_error *error)
{
    subject all = {.forest = f,
                   .tree = oif_turnover_tree_at(f, number),
                   .number = number,
                   .error = error},
            *of = &all;
    const size_t root = oif_turnover_root(f, number);
    uint64_t height = 0;
    REQUIRE(of->tree->leaf_count >= 1 && of->tree->leaf_count <= f->leaf_capacity,
            "it has more leaves than it has room for");
    oif_status status = check_node(of, root, 0, 0, &height);
    if (status != OIF_OK)
        return status;
    REQUIRE(of->leaves_seen == of->tree->leaf_count, "a leaf stands nowhere");
    REQUIRE(height == oif_turnover_ages(f)[of->number],
            "the heights do not add up to the rows learned");
    return OIF_OK;
}

static oif_status check_tables(const forest *f, oif_error *error)
{
    for (uint32_t height = 0; height < f->height_count; height++)
        if (oif_turnover_extra_depths(f)[height] != oif_turnover_average_depth(f, height))
            return oif_fail(error, OIF_EINVARIANT, "the depth added by a height of %u is wrong",
                            height);
    for (uint32_t age = 0; age < f->age_count; age++)
        if (oif_turnover_scales(f)[age] != (age > f->maturity ? oif_turnover_scale_at(f, age) : 0))
            return oif_fail(error, OIF_EINVARIANT, "the scale of an age of %u is wrong", age);
    for (uint32_t depth = 0; depth <= f->depth_limit; depth++)
        if (oif_turnover_cut_heights(f)[depth] != oif_turnover_look_at_height(f, depth))
            return oif_fail(error, OIF_EINVARIANT, "a leaf at depth %u is cut at the wrong height",
                            depth);
    return OIF_OK;
}

oif_status oif_turnover_check(const void *state, oif_error *error)
{
    const forest *f = state;
    if (f->ring.turn >= f->maturity + f->shadow_trees || f->ring.oldest >= f->tree_count ||
        f->ring.shadows_begun < 1 || f->ring.shadows_begun > f->shadow_trees)
        return oif_fail(error, OIF_EINVARIANT, "the ring of trees is broken");
    oif_status status = check_tables(f, error);
    if (status == OIF_OK)
        status = check_ages(f, error);
    for (uint32_t tree = 0; tree < f->tree_count && status == OIF_OK; tree++)
        status = check_tree(f, tree, error);
    for (uint32_t lane = 0; lane < oif_turnover_lane_count(f) && status == OIF_OK; lane++)
        if (oif_turnover_lane_levels(f)[lane] != oif_turnover_levels_of_lane(f, lane))
            status = oif_fail(error, OIF_EINVARIANT,
                              "lane %u: its levels are not those of its deepest leaf", lane);
    return status;
}
