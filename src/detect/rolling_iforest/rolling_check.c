/* Invariants of the trees of rolling-iforest. */
#include "detect/rolling_iforest/rolling_tree.h"

#include "base/invariant.h"

#include <float.h>
#include <string.h>

/* The state of a walk over the nodes of a tree. */
typedef struct tree_check {
    oif_check base;
    const oif_rolling_trees *trees;
    const oif_rolling_node *nodes;
    uint32_t next; /* expected node; nodes are in the order in which they were grown */
    const oif_rolling_node *path[OIF_ROLLING_MAX_DEPTH]; /* the ancestors ... */
    uint32_t sides[OIF_ROLLING_MAX_DEPTH];               /* ... and the side taken at each */
} tree_check;

/* A range lies within every range of the same column above it, and on the correct side of its
 * cut. The nearest one is enough: its own range was compared with those above it. */
static oif_status check_range(const tree_check *check, const oif_rolling_node *at, uint32_t depth)
{
    uint32_t i = depth;
    while (i > 0 && check->path[i - 1]->column != at->column)
        i--;
    if (i == 0)
        return OIF_OK;
    const oif_rolling_node *above = check->path[i - 1];
    OIF_REQUIRE(&check->base, at->low >= above->low && at->high <= above->high,
                "a range reaches beyond one above it");
    OIF_REQUIRE(&check->base, check->sides[i - 1] ? at->low >= above->cut : at->high < above->cut,
                "a range reaches across a cut above it");
    return OIF_OK;
}

static oif_status check_node(tree_check *check, uint32_t node, uint32_t depth, uint32_t *rows);

/* Checks a child and its descendants, and counts their rows. */
static inline oif_status check_child(tree_check *check, uint32_t child, uint32_t depth,
                                     uint32_t *rows)
{
    *rows = child & OIF_ROLLING_NUMBER;
    if (!(child & OIF_ROLLING_LEAF))
        return check_node(check, *rows, depth, rows);
    OIF_REQUIRE(&check->base, *rows > 0, "a leaf has no rows");
    return OIF_OK;
}

static oif_status check_node(tree_check *check, uint32_t node, uint32_t depth, uint32_t *rows)
{
    const oif_rolling_shape *shape = &check->trees->shape;
    uint32_t counts[2] = {0, 0};
    OIF_REQUIRE(&check->base, node == check->next && check->next < check->trees->node_capacity,
                "a node is not where it should be");
    OIF_REQUIRE(&check->base, depth < shape->max_depth, "a node is too deep");
    const oif_rolling_node *at = &check->nodes[check->next++];
    OIF_REQUIRE(&check->base,
                at->low >= -DBL_MAX && at->high <= DBL_MAX && at->low < at->cut &&
                    at->cut <= at->high,
                "a cut is not within its range");
    OIF_REQUIRE(&check->base, at->column < check->trees->dimension,
                "a cut's column does not exist");
    oif_status status = check_range(check, at, depth);
    check->path[depth] = at;
    for (uint32_t side = 0; side < 2 && status == OIF_OK; side++) {
        check->sides[depth] = side;
        status = check_child(check, at->children[side], depth + 1, &counts[side]);
    }
    if (status != OIF_OK)
        return status;
    *rows = counts[0] + counts[1];
    OIF_REQUIRE(&check->base, *rows >= shape->max_leaf_samples, "a node of few rows is cut");
    const bool heavier_right = counts[1] > counts[0];
    OIF_REQUIRE(&check->base,
                at->children[heavier_right] & OIF_ROLLING_MISSING &&
                    !(at->children[!heavier_right] & OIF_ROLLING_MISSING),
                "missing numbers do not go to the heavier side");
    return OIF_OK;
}

/* Unused nodes are zero. A walk relies on it: while it waits at a leaf it keeps reading the first
 * node, which a tree of one leaf does not use (rolling_walk.c). Words instead of memcmp: most nodes
 * of a model that is loaded are not used. */
static oif_status check_rest(const tree_check *check)
{
    uint64_t words[sizeof(oif_rolling_node) / sizeof(uint64_t)], any = 0;
    for (uint32_t i = check->next; i < check->trees->node_capacity; i++) {
        memcpy(words, &check->nodes[i], sizeof words);
        any |= words[0] | words[1] | words[2] | words[3];
    }
    OIF_REQUIRE(&check->base, any == 0, "a node that is not used is not empty");
    return OIF_OK;
}

oif_status oif_rolling_check(const oif_rolling_trees *trees, oif_error *error)
{
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < trees->shape.num_trees && status == OIF_OK; tree++) {
        tree_check here = {
            .base = {error, "tree", tree}, .trees = trees, .nodes = oif_rolling_nodes(trees, tree)};
        tree_check *check = &here;
        uint32_t grown_from = oif_rolling_rows(trees)[tree], rows = 0;
        if (grown_from > 0)
            status = check_child(check, oif_rolling_roots(trees)[tree], 0, &rows);
        if (status == OIF_OK && grown_from > 0)
            OIF_REQUIRE(&check->base,
                        rows == grown_from && rows >= 2 && rows <= trees->shape.sample_size,
                        "its leaves do not have the rows that it was grown from");
        if (status == OIF_OK)
            status = check_rest(check);
    }
    return status;
}
