/* Whether a half-space forest holds together. Its fields may come from a damaged snapshot, so
 * nothing is believed but what follows from the parameters, and no node is followed before it
 * is known to be sound: nodes first, then the lists of rows. Takes O(nodes + rows x num_trees x
 * max_depth). */
#include "detect/hst/half_space_trees.h"

#include "base/error.h"
#include "base/stable_math.h"

#include <float.h>
#include <math.h>

typedef oif_hst_state forest;
typedef oif_hst_node node;

typedef struct findings {
    const forest *forest;
    uint32_t tree;
    oif_error *error;
    uint32_t visited; /* nodes */
    uint32_t counted; /* rows of the latest window */
    uint32_t levels;
} findings;

#define REQUIRE(condition, words)                                                                  \
    do                                                                                             \
        if (!(condition))                                                                          \
            return oif_fail(found->error, OIF_EINVARIANT, "tree %u: %s", found->tree, words);      \
    while (0)

/* Whether the reference tree goes on below this node. */
static bool is_cut_in_reference(const forest *f, const node *n)
{
    uint32_t mass = oif_hst_mass(n->worth);
    return n->worth == oif_hst_worth(mass, oif_hst_depth(n->place)) &&
           mass > oif_hst_limit(f, f->reference_rows);
}

/* What an inner node has to do with its children. */
static oif_status check_cut(findings *found, const node *inner)
{
    const forest *f = found->forest;
    const uint32_t root = oif_hst_root(f, found->tree), used = oif_hst_trees(f)[found->tree].used;
    REQUIRE(inner->child > root && inner->child < root + used - 1 && (inner->child - root) % 2 == 1,
            "a child is outside of the tree");
    const node *left = &oif_hst_nodes(f)[inner->child], *right = left + 1;
    REQUIRE(inner->count == 0, "an inner node counts rows");
    REQUIRE(inner->heavier - inner->child <= 1, "the heavier child is no child");
    REQUIRE(left->place == 2 * inner->place && right->place == left->place + 1,
            "a child is not in its place");
    REQUIRE(oif_hst_depth(inner->place) < f->max_depth, "a node at max_depth is cut");
    REQUIRE(inner->feature == oif_hst_feature_at(f, &oif_hst_trees(f)[found->tree], inner->place),
            "a cut has not the feature of its place");
    REQUIRE(inner->cut == oif_hst_cut_at(f, found->tree, inner->place, inner->feature),
            "a cut is not in the middle of its cell");
    const uint32_t depth = oif_hst_depth(left->place), mass = oif_hst_mass(left->worth);
    if (is_cut_in_reference(f, inner))
        REQUIRE(mass + oif_hst_mass(right->worth) == oif_hst_mass(inner->worth) &&
                    left->worth == oif_hst_worth(mass, depth) &&
                    right->worth == oif_hst_worth(oif_hst_mass(right->worth), depth),
                "a reference mass is not the sum of its children's");
    else
        REQUIRE(left->worth == inner->worth && right->worth == inner->worth,
                "a node below the reference tree has another worth than the node above");
    return OIF_OK;
}

/* Every node from here down to the leaves. Places double at each level, so that no node is
 * reached twice and none is deeper than max_depth. */
static oif_status check_node(findings *found, uint32_t at)
{
    const forest *f = found->forest;
    const node *n = &oif_hst_nodes(f)[at];
    uint32_t depth = oif_hst_depth(n->place);
    REQUIRE(++found->visited <= oif_hst_trees(f)[found->tree].used, "a node is reached twice");
    if (!oif_hst_is_cut(f, at)) {
        REQUIRE(n->cut == INFINITY && n->feature == 0, "a leaf has a cut");
        REQUIRE(!oif_hst_must_be_cut(f, n), "a leaf holds more rows than the size limit");
        found->levels = found->levels > depth ? found->levels : depth;
        return OIF_OK;
    }
    oif_status status = check_cut(found, n);
    if (status == OIF_OK)
        status = check_node(found, n->child);
    return status == OIF_OK ? check_node(found, n->child + 1) : status;
}

/* The rows in the list of a leaf, once all nodes are known to be sound. A list that ends has no
 * row twice. */
static oif_status check_list(findings *found, uint32_t at)
{
    const forest *f = found->forest;
    const node *leaf = &oif_hst_nodes(f)[at];
    uint32_t row = leaf->first_row, left = leaf->count;
    for (; left > 0 && row < f->rows_held; left--) {
        REQUIRE(oif_hst_walk(f, found->tree, oif_hst_row(f, row)) == at,
                "a row is in the list of a leaf that it does not fall into");
        row = oif_hst_next_row(f, found->tree)[row];
    }
    REQUIRE(left == 0 && row == OIF_HST_NONE, "the list of a leaf is not as long as its count");
    found->counted += leaf->count;
    return OIF_OK;
}

/* The lists below a node. A node is cut because of its rows in either window: so all cuts
 * together fit node_capacity. */
static oif_status check_rows(findings *found, uint32_t at)
{
    const forest *f = found->forest;
    const node *n = &oif_hst_nodes(f)[at];
    uint32_t before = found->counted;
    if (!oif_hst_is_cut(f, at))
        return check_list(found, at);
    oif_status status = check_rows(found, n->child);
    if (status == OIF_OK)
        status = check_rows(found, n->child + 1);
    if (status == OIF_OK)
        REQUIRE(is_cut_in_reference(f, n) || found->counted - before > f->limit,
                "a node is cut that holds no more rows than the size limit");
    return status;
}

/* Whether a node stands in the tree, which is then where its place says. */
static bool stands_in_tree(const forest *f, uint32_t tree, uint32_t wanted)
{
    uint32_t place = oif_hst_nodes(f)[wanted].place, at = oif_hst_root(f, tree);
    if (place == 0)
        return false;
    for (uint32_t depth = oif_hst_depth(place); depth > 0 && oif_hst_is_cut(f, at); depth--)
        at = oif_hst_nodes(f)[at].child + (place >> (depth - 1) & 1);
    return at == wanted;
}

static oif_status check_free_pairs(findings *found)
{
    const forest *f = found->forest;
    const oif_hst_tree *t = &oif_hst_trees(f)[found->tree];
    const uint32_t root = oif_hst_root(f, found->tree);
    for (uint32_t pair = t->free_pair; pair != OIF_HST_NONE; pair = oif_hst_nodes(f)[pair].child) {
        found->visited += 2;
        REQUIRE(pair > root && pair < root + t->used - 1 && (pair - root) % 2 == 1 &&
                    found->visited <= t->used && !stands_in_tree(f, found->tree, pair),
                "the list of free nodes is broken");
    }
    REQUIRE(found->visited == t->used, "a node is neither in the tree nor free");
    return OIF_OK;
}

static oif_status check_tree(const forest *f, uint32_t tree, oif_error *error)
{
    findings all = {.forest = f, .tree = tree, .error = error}, *found = &all;
    const oif_hst_tree *t = &oif_hst_trees(f)[tree];
    const uint32_t root = oif_hst_root(f, tree);
    REQUIRE(t->used >= 1 && t->used <= f->node_capacity && t->used % 2 == 1,
            "there is no room for its nodes");
    REQUIRE(oif_hst_nodes(f)[root].place == 1, "the root is not in its place");
    oif_status status = check_node(found, root);
    if (status == OIF_OK)
        status = check_free_pairs(found);
    if (status == OIF_OK)
        status = check_rows(found, root);
    if (status != OIF_OK)
        return status;
    REQUIRE(t->levels == found->levels, "the number of levels is not that of the deepest leaf");
    REQUIRE(found->counted == (f->counting ? f->rows_held : 0),
            "the counts do not add up to the rows of the window");
    REQUIRE(oif_hst_nodes(f)[root].worth == oif_hst_worth(f->reference_rows, 0),
            "the root's mass is not that of the reference window");
    return OIF_OK;
}

/* Trees are built when a window has so many rows, the reference then being those. */
static bool was_built_in_time(const forest *f)
{
    uint32_t built = 0, next = oif_hst_build_after(f, 0);
    if (f->counting)
        return f->counting == 1 && f->ranges != OIF_HST_EVERY &&
               f->reference_rows == f->window_size;
    if (f->reference_rows == f->window_size)
        return f->ranges == OIF_HST_EVERY && f->next_build == f->window_size;
    while (next <= f->rows_held && next < f->window_size) {
        built = next;
        next = oif_hst_build_after(f, next);
    }
    return f->reference_rows == built && f->next_build == next;
}

/* A range that was never seen, or one of finite numbers; and small enough for sums of them. */
static bool is_range(const oif_hst_range *range)
{
    const double greatest = DBL_MAX / 4;
    if (range->low == INFINITY)
        return range->high == INFINITY && range->width == 0;
    return range->low >= -greatest && range->low <= range->high && range->high <= greatest &&
           range->width >= 0 && range->width <= greatest;
}

oif_status oif_hst_check(const void *state, oif_error *error)
{
    const forest *f = state;
    const double rows = (double)((uint64_t)f->num_trees * f->reference_rows);
    if (f->rows_held >= f->window_size || f->reference_rows > f->window_size)
        return oif_fail(error, OIF_EINVARIANT, "a window holds more rows than it has room for");
    if (!was_built_in_time(f))
        return oif_fail(error, OIF_EINVARIANT,
                        "the trees were not built when they should have been");
    if (f->next_build > f->window_size)
        return oif_fail(error, OIF_EINVARIANT, "the trees are to be built from more than a window");
    if (f->no_mass != (rows > 0 ? oif_log2(rows) : 0))
        return oif_fail(error, OIF_EINVARIANT,
                        "masses are put in relation to another number of rows");
    if (!oif_none_infinite(oif_hst_row(f, 0), (size_t)f->window_size * f->dimension))
        return oif_fail(error, OIF_EINVARIANT, "a row is infinite");
    for (uint32_t feature = 0; feature < f->dimension; feature++)
        if (!is_range(oif_hst_range_of(f, feature)))
            return oif_fail(error, OIF_EINVARIANT, "feature %u: the range is none", feature);
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < f->num_trees && status == OIF_OK; tree++)
        status = check_tree(f, tree, error);
    return status;
}
