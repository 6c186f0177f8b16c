/* Invariants of the trees of rolling-iforest. */
#include "detect/rolling_iforest/rolling_tree.h"

#include "base/four.h"
#include "base/invariant.h"

#include <float.h>
#include <string.h>

enum { FEW_COLUMNS = 16 };

/* A node above, and the side of it. */
typedef struct above {
    const oif_rolling_node *node;
    uint32_t side;
} above;

/* The state of a walk over the nodes of a tree. */
typedef struct tree_check {
    oif_check base;
    const oif_rolling_trees *trees;
    const oif_rolling_node *nodes;
    uint32_t next; /* expected node; nodes are in the order in which they were grown */
    above path[OIF_ROLLING_MAX_DEPTH]; /* the ancestors */
    above by_column[FEW_COLUMNS];      /* the nearest one of each column, if those are few */
} tree_check;

/* The nearest node above that cuts the column; its node is NULL if there is none. */
static above nearest_above(const tree_check *check, uint32_t column, uint32_t depth)
{
    if (check->trees->dimension <= FEW_COLUMNS)
        return check->by_column[column];
    while (depth > 0 && check->path[depth - 1].node->column != column)
        depth--;
    return depth > 0 ? check->path[depth - 1] : (above){NULL, 0};
}

/* A range lies within every range of the same column above it, and on the correct side of its
 * cut. The nearest one is enough: its own range was compared with those above it. */
static oif_status check_range(const tree_check *check, const oif_rolling_node *at, above nearest)
{
    const oif_rolling_node *node = nearest.node;
    if (!node)
        return OIF_OK;
    OIF_REQUIRE(&check->base, at->low >= node->low && at->high <= node->high,
                "a range reaches beyond one above it");
    OIF_REQUIRE(&check->base, nearest.side ? at->low >= node->cut : at->high < node->cut,
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
    const above nearest = nearest_above(check, at->column, depth);
    above *of_column = &check->by_column[at->column % FEW_COLUMNS];
    oif_status status = check_range(check, at, nearest);
    for (uint32_t side = 0; side < 2 && status == OIF_OK; side++) {
        *of_column = check->path[depth] = (above){at, side};
        status = check_child(check, at->children[side], depth + 1, &counts[side]);
    }
    *of_column = nearest;
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

/* Whether nodes are zero. In fours, because most nodes of a model that is loaded are not used. */
OIF_INLINE bool are_empty(const oif_rolling_node *nodes, size_t count)
{
    oif_four_masks any = {0}, node;
    for (size_t i = 0; i < count; i++) {
        memcpy(&node, &nodes[i], sizeof node);
        any |= node;
    }
    return (any[0] | any[1] | any[2] | any[3]) == 0;
}

OIF_AVX2 static bool are_empty_avx2(const oif_rolling_node *nodes, size_t count)
{
    return are_empty(nodes, count);
}

/* Unused nodes are zero. A walk relies on it: while it waits at a leaf it keeps reading the first
 * node, which a tree of one leaf does not use (rolling_walk.c). */
static oif_status check_rest(const tree_check *check)
{
    const oif_rolling_node *rest = check->nodes + check->next;
    const size_t count = check->trees->node_capacity - check->next;
    OIF_REQUIRE(&check->base, (oif_machine_has_avx2() ? are_empty_avx2 : are_empty)(rest, count),
                "a node that is not used is not empty");
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
