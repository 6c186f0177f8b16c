/* Whether a half-space forest is consistent. Its fields may come from a damaged snapshot, so only
 * what follows from the parameters is trusted, and no node is followed before it is validated:
 * nodes first, then the lists of rows. Takes O(nodes + rows x num_trees x max_depth). */
#include "detect/hst/half_space_trees.h"

#include "base/invariant.h"
#include "base/stable_math.h"

#include <float.h>
#include <math.h>

typedef struct tree_check {
    oif_check base;
    const oif_hst_state *forest;
    uint32_t visited; /* nodes */
    uint32_t counted; /* rows of the latest window */
    uint32_t levels;
} tree_check;

/* Whether the reference tree continues below this node. */
static bool is_cut_in_reference(const oif_hst_state *forest, const oif_hst_node *node)
{
    uint32_t mass = oif_hst_mass(node->worth);
    return node->worth == oif_hst_worth(mass, oif_hst_depth(node->place)) &&
           mass > oif_hst_limit(forest, forest->reference_rows);
}

/* Checks an inner node against its children. */
static oif_status check_cut(tree_check *check, const oif_hst_node *inner)
{
    const oif_hst_state *forest = check->forest;
    const uint32_t root = oif_hst_root(forest, check->base.number),
                   used = oif_hst_trees(forest)[check->base.number].used;
    OIF_REQUIRE(&check->base,
                inner->child > root && inner->child < root + used - 1 &&
                    (inner->child - root) % 2 == 1,
                "a child is outside of the tree");
    const oif_hst_node *left = &oif_hst_nodes(forest)[inner->child], *right = left + 1;
    OIF_REQUIRE(&check->base, inner->count == 0, "an inner node counts rows");
    OIF_REQUIRE(&check->base, inner->heavier - inner->child <= 1, "the heavier child is no child");
    OIF_REQUIRE(&check->base, left->place == 2 * inner->place && right->place == left->place + 1,
                "a child is not in its place");
    OIF_REQUIRE(&check->base, oif_hst_depth(inner->place) < forest->max_depth,
                "a node at max_depth is cut");
    OIF_REQUIRE(&check->base,
                inner->column == oif_hst_column_at(forest,
                                                   &oif_hst_trees(forest)[check->base.number],
                                                   inner->place),
                "a cut has not the column of its place");
    OIF_REQUIRE(&check->base,
                inner->cut ==
                    oif_hst_cut_at(forest, check->base.number, inner->place, inner->column),
                "a cut is not in the middle of its cell");
    const uint32_t depth = oif_hst_depth(left->place), mass = oif_hst_mass(left->worth);
    if (is_cut_in_reference(forest, inner))
        OIF_REQUIRE(&check->base,
                    mass + oif_hst_mass(right->worth) == oif_hst_mass(inner->worth) &&
                        left->worth == oif_hst_worth(mass, depth) &&
                        right->worth == oif_hst_worth(oif_hst_mass(right->worth), depth),
                    "a reference mass is not the sum of its children's");
    else
        OIF_REQUIRE(&check->base, left->worth == inner->worth && right->worth == inner->worth,
                    "a node below the reference tree has another worth than the node above");
    return OIF_OK;
}

/* Checks every node from here down to the leaves. Places double at each level, so no node is
 * reached twice and none is deeper than max_depth. */
static oif_status check_node(tree_check *check, uint32_t at)
{
    const oif_hst_state *forest = check->forest;
    const oif_hst_node *node = &oif_hst_nodes(forest)[at];
    uint32_t depth = oif_hst_depth(node->place);
    OIF_REQUIRE(&check->base, ++check->visited <= oif_hst_trees(forest)[check->base.number].used,
                "a node is reached twice");
    if (!oif_hst_is_cut(forest, at)) {
        OIF_REQUIRE(&check->base, node->cut == INFINITY && node->column == 0, "a leaf has a cut");
        OIF_REQUIRE(&check->base, !oif_hst_must_be_cut(forest, node),
                    "a leaf holds more rows than the size limit");
        check->levels = check->levels > depth ? check->levels : depth;
        return OIF_OK;
    }
    oif_status status = check_cut(check, node);
    if (status == OIF_OK)
        status = check_node(check, node->child);
    return status == OIF_OK ? check_node(check, node->child + 1) : status;
}

/* Checks the rows in the list of a leaf, once all nodes are validated. A list that ends has no row
 * twice. */
static oif_status check_list(tree_check *check, uint32_t at)
{
    const oif_hst_state *forest = check->forest;
    const oif_hst_node *leaf = &oif_hst_nodes(forest)[at];
    uint32_t row = leaf->first_row, left = leaf->count;
    for (; left > 0 && row < forest->rows_held; left--) {
        OIF_REQUIRE(&check->base,
                    oif_hst_walk(forest, check->base.number, oif_hst_row(forest, row)) == at,
                    "a row is in the list of a leaf that it does not fall into");
        row = oif_hst_next_row(forest, check->base.number)[row];
    }
    OIF_REQUIRE(&check->base, left == 0 && row == OIF_HST_NONE,
                "the list of a leaf is not as long as its count");
    check->counted += leaf->count;
    return OIF_OK;
}

/* Checks the lists below a node. A node is cut because of its rows in either window, so all cuts
 * together fit node_capacity. */
static oif_status check_rows(tree_check *check, uint32_t at)
{
    const oif_hst_state *forest = check->forest;
    const oif_hst_node *node = &oif_hst_nodes(forest)[at];
    uint32_t before = check->counted;
    if (!oif_hst_is_cut(forest, at))
        return check_list(check, at);
    oif_status status = check_rows(check, node->child);
    if (status == OIF_OK)
        status = check_rows(check, node->child + 1);
    if (status == OIF_OK)
        OIF_REQUIRE(&check->base,
                    is_cut_in_reference(forest, node) || check->counted - before > forest->limit,
                    "a node is cut that holds no more rows than the size limit");
    return status;
}

/* Whether a node is in the tree, at the position given by its place. */
static bool is_in_tree(const oif_hst_state *forest, uint32_t tree, uint32_t wanted)
{
    uint32_t place = oif_hst_nodes(forest)[wanted].place, at = oif_hst_root(forest, tree);
    if (place == 0)
        return false;
    for (uint32_t depth = oif_hst_depth(place); depth > 0 && oif_hst_is_cut(forest, at); depth--)
        at = oif_hst_nodes(forest)[at].child + (place >> (depth - 1) & 1);
    return at == wanted;
}

static oif_status check_free_pairs(tree_check *check)
{
    const oif_hst_state *forest = check->forest;
    const oif_hst_tree *tree = &oif_hst_trees(forest)[check->base.number];
    const uint32_t root = oif_hst_root(forest, check->base.number);
    for (uint32_t pair = tree->free_pair; pair != OIF_HST_NONE;
         pair = oif_hst_nodes(forest)[pair].child) {
        check->visited += 2;
        OIF_REQUIRE(&check->base,
                    pair > root && pair < root + tree->used - 1 && (pair - root) % 2 == 1 &&
                        check->visited <= tree->used &&
                        !is_in_tree(forest, check->base.number, pair),
                    "the list of free nodes is broken");
    }
    OIF_REQUIRE(&check->base, check->visited == tree->used,
                "a node is neither in the tree nor free");
    return OIF_OK;
}

static oif_status check_tree(const oif_hst_state *forest, uint32_t number, oif_error *error)
{
    tree_check all = {.base = {error, "tree", number}, .forest = forest}, *check = &all;
    const oif_hst_tree *tree = &oif_hst_trees(forest)[number];
    const uint32_t root = oif_hst_root(forest, number);
    OIF_REQUIRE(&check->base,
                tree->used >= 1 && tree->used <= forest->node_capacity && tree->used % 2 == 1,
                "there is no room for its nodes");
    OIF_REQUIRE(&check->base, oif_hst_nodes(forest)[root].place == 1,
                "the root is not in its place");
    oif_status status = check_node(check, root);
    if (status == OIF_OK)
        status = check_free_pairs(check);
    if (status == OIF_OK)
        status = check_rows(check, root);
    if (status != OIF_OK)
        return status;
    OIF_REQUIRE(&check->base, tree->levels == check->levels,
                "the number of levels is not that of the deepest leaf");
    OIF_REQUIRE(&check->base, check->counted == (forest->counting ? forest->rows_held : 0),
                "the counts do not add up to the rows of the window");
    OIF_REQUIRE(&check->base,
                oif_hst_nodes(forest)[root].worth == oif_hst_worth(forest->reference_rows, 0),
                "the root's mass is not that of the reference window");
    return OIF_OK;
}

/* Trees are built at fixed numbers of rows in the window; those rows then become the reference. */
static bool was_built_in_time(const oif_hst_state *forest)
{
    uint32_t built = 0, next = oif_hst_build_after(forest, 0);
    if (forest->counting)
        return forest->counting == 1 && forest->ranges != OIF_HST_EVERY &&
               forest->reference_rows == forest->window_size;
    if (forest->reference_rows == forest->window_size)
        return forest->ranges == OIF_HST_EVERY && forest->next_build == forest->window_size;
    while (next <= forest->rows_held && next < forest->window_size) {
        built = next;
        next = oif_hst_build_after(forest, next);
    }
    return forest->reference_rows == built && forest->next_build == next;
}

/* A range that was never seen, or one of finite numbers small enough to add up. */
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
    const oif_hst_state *forest = state;
    const double rows = (double)((uint64_t)forest->num_trees * forest->reference_rows);
    if (forest->rows_held >= forest->window_size || forest->reference_rows > forest->window_size)
        return oif_fail(error, OIF_EINVARIANT, "a window holds more rows than it has room for");
    if (!was_built_in_time(forest))
        return oif_fail(error, OIF_EINVARIANT,
                        "the trees were not built when they should have been");
    if (forest->next_build > forest->window_size)
        return oif_fail(error, OIF_EINVARIANT, "the trees are to be built from more than a window");
    if (forest->no_mass != (rows > 0 ? oif_log2(rows) : 0))
        return oif_fail(error, OIF_EINVARIANT,
                        "masses are put in relation to another number of rows");
    if (!oif_none_of_many_infinite(oif_hst_row(forest, 0),
                                   (size_t)forest->window_size * forest->dimension))
        return oif_fail(error, OIF_EINVARIANT, "a row is infinite");
    for (uint32_t column = 0; column < forest->dimension; column++)
        if (!is_range(oif_hst_range_of(forest, column)))
            return oif_fail(error, OIF_EINVARIANT, "column %u: the range is none", column);
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < forest->num_trees && status == OIF_OK; tree++)
        status = check_tree(forest, tree, error);
    return status;
}
