/* What must hold in the trees of rolling-iforest between growing and walking them. */
#include "detect/rolling_iforest/rolling_tree.h"

#include "base/error.h"

#include <float.h>
#include <string.h>

typedef oif_rolling_trees trees;
typedef oif_rolling_node node;

/* What a walk over the nodes of a tree knows. */
typedef struct inspection {
    const trees *trees;
    const node *nodes;
    uint32_t tree;
    uint32_t next; /* node that must come, as they stand in the order in which they are grown */
    const node *path[OIF_ROLLING_MAX_DEPTH]; /* the nodes above ... */
    uint32_t sides[OIF_ROLLING_MAX_DEPTH];   /* ... and the side of each on which the walk is */
    oif_error *error;
} inspection;

#define REQUIRE(condition, words)                                                                  \
    do                                                                                             \
        if (!(condition))                                                                          \
            return oif_fail(in->error, OIF_EINVARIANT, "tree %u: %s", in->tree, words);            \
    while (0)

/* A range lies within every range of the same feature above it, and on the right side of the
 * cut there. */
static oif_status check_range(const inspection *in, const node *at, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        const node *above = in->path[i];
        if (above->feature != at->feature)
            continue;
        REQUIRE(at->low >= above->low && at->high <= above->high,
                "a range reaches beyond one above it");
        REQUIRE(in->sides[i] ? at->low >= above->cut : at->high < above->cut,
                "a range reaches across a cut above it");
    }
    return OIF_OK;
}

/* Checks a child and all below it, and counts their rows. */
static oif_status check_child(inspection *in, uint32_t child, uint32_t depth, uint32_t *rows)
{
    const oif_rolling_shape *shape = &in->trees->shape;
    uint32_t counts[2] = {0, 0};
    *rows = child & OIF_ROLLING_NUMBER;
    if (child & OIF_ROLLING_LEAF) {
        REQUIRE(*rows > 0, "a leaf has no rows");
        return OIF_OK;
    }
    REQUIRE(*rows == in->next && in->next < in->trees->node_capacity,
            "a node is not where it should be");
    REQUIRE(depth < shape->max_depth, "a node is too deep");
    const node *at = &in->nodes[in->next++];
    REQUIRE(at->low >= -DBL_MAX && at->high <= DBL_MAX && at->low < at->cut && at->cut <= at->high,
            "a cut is not within its range");
    REQUIRE(at->feature < in->trees->dimension, "a cut's feature does not exist");
    oif_status status = check_range(in, at, depth);
    in->path[depth] = at;
    for (uint32_t side = 0; side < 2 && status == OIF_OK; side++) {
        in->sides[depth] = side;
        status = check_child(in, at->children[side], depth + 1, &counts[side]);
    }
    if (status != OIF_OK)
        return status;
    *rows = counts[0] + counts[1];
    REQUIRE(*rows >= shape->max_leaf_samples, "a node of few rows is cut");
    const bool heavier_right = counts[1] > counts[0];
    REQUIRE(at->children[heavier_right] & OIF_ROLLING_MISSING &&
                !(at->children[!heavier_right] & OIF_ROLLING_MISSING),
            "missing numbers do not go to the heavier side");
    return OIF_OK;
}

/* What is not used is zero. Not for order's sake: a walk that waits at a leaf looks at the
 * first node again and again, which a tree of one leaf does not use (rolling_tree.c). */
static oif_status check_rest(const inspection *in)
{
    static const node unused;
    for (uint32_t i = in->next; i < in->trees->node_capacity; i++)
        REQUIRE(memcmp(&in->nodes[i], &unused, sizeof unused) == 0,
                "a node that is not used is not empty");
    return OIF_OK;
}

oif_status oif_rolling_check(const trees *t, oif_error *error)
{
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < t->shape.num_trees && status == OIF_OK; tree++) {
        inspection here = {
            .trees = t, .nodes = oif_rolling_nodes(t, tree), .tree = tree, .error = error};
        inspection *in = &here;
        uint32_t grown_from = oif_rolling_rows(t)[tree], rows = 0;
        if (grown_from > 0)
            status = check_child(in, oif_rolling_roots(t)[tree], 0, &rows);
        if (status == OIF_OK && grown_from > 0)
            REQUIRE(rows == grown_from && rows >= 2 && rows <= t->shape.sample_size,
                    "its leaves do not have the rows that it was grown from");
        if (status == OIF_OK)
            status = check_rest(in);
    }
    return status;
}
