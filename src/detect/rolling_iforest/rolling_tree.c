/* Creates the trees of rolling-iforest and reports figures about them. rolling_grow.c grows them,
 * rolling_walk.c walks them. */
#include "detect/rolling_iforest/rolling_tree.h"

#include "base/memory.h"
#include "detect/isolation.h"

#include <string.h>

/* ---- Creation ---- */

/* The most inner nodes of a tree. The nodes of a level share the rows, so a level has few of them,
 * and every cut separates at least one row. */
static uint32_t most_nodes(const oif_rolling_shape *shape)
{
    uint32_t least_rows = shape->max_leaf_samples < 2 ? 2 : shape->max_leaf_samples;
    uint32_t on_a_level = shape->sample_size / least_rows, most = 0;
    if (on_a_level == 0)
        return 1; /* none needed, but an empty array would be a special case */
    for (uint32_t depth = 0; depth < shape->max_depth; depth++)
        most += depth < 31 ? oif_min_u32(UINT32_C(1) << depth, on_a_level) : on_a_level;
    return oif_min_u32(most, shape->sample_size - least_rows + 1);
}

oif_rolling_trees oif_rolling_lay_out(const oif_rolling_shape *shape, size_t dimension)
{
    oif_rolling_trees trees = {
        .shape = *shape, .dimension = (uint32_t)dimension, .node_capacity = most_nodes(shape)};
    const size_t averages = (size_t)shape->sample_size + 1;
    trees.bytes = oif_size_align(sizeof trees);
    trees.nodes_at =
        oif_size_append(&trees.bytes, oif_size_multiply(shape->num_trees, trees.node_capacity),
                        sizeof(oif_rolling_node));
    trees.roots_at = oif_size_append(&trees.bytes, shape->num_trees, sizeof(uint16_t));
    trees.rows_at = oif_size_append(&trees.bytes, shape->num_trees, sizeof(uint16_t));
    trees.averages_at = oif_size_append(&trees.bytes, averages, sizeof(double));
    trees.scales_at = oif_size_append(&trees.bytes, averages, sizeof(double));
    trees.numbers_at = oif_size_append(&trees.bytes, shape->sample_size, sizeof(double));
    trees.spare_at = oif_size_append(&trees.bytes, shape->sample_size, sizeof(size_t));
    return trees;
}

void oif_rolling_init(oif_rolling_trees *trees, const oif_rolling_trees *head)
{
    *trees = *head;
    double *averages = oif_block_part(trees, trees->averages_at),
           *scales = oif_block_part(trees, trees->scales_at);
    double harmonic = 0;
    for (uint32_t n = 2; n <= trees->shape.sample_size; n++) {
        harmonic += 1.0 / (n - 1);
        averages[n] = oif_average_path_length(n, harmonic);
        scales[n] = 0x1p32 / averages[n];
    }
}

void oif_rolling_widen(oif_rolling_trees *wide, const oif_rolling_trees *trees,
                       const oif_widening *widening)
{
    const uint32_t num_trees = trees->shape.num_trees;
    const size_t nodes = (size_t)num_trees * trees->node_capacity;
    oif_rolling_node *to = oif_rolling_nodes(wide, 0);
    memcpy(oif_rolling_roots(wide), oif_rolling_roots(trees), num_trees * sizeof(uint16_t));
    memcpy(oif_rolling_rows(wide), oif_rolling_rows(trees), num_trees * sizeof(uint16_t));
    memcpy(to, oif_rolling_nodes(trees, 0), nodes * sizeof *to);
    for (size_t i = 0; i < nodes; i++)
        to[i].column = (uint32_t)oif_widened(widening, to[i].column);
}

/* ---- Figures ---- */

static void add_leaves(const oif_rolling_node *nodes, uint32_t child, uint32_t depth,
                       oif_tree_figures *figures)
{
    if (child & OIF_ROLLING_LEAF) {
        oif_figures_add_leaf(figures, depth);
        return;
    }
    const oif_rolling_node *at = &nodes[child & OIF_ROLLING_NUMBER];
    add_leaves(nodes, at->children[0], depth + 1, figures);
    add_leaves(nodes, at->children[1], depth + 1, figures);
}

void oif_rolling_add_figures(const oif_rolling_trees *trees, oif_tree_figures *figures)
{
    for (uint32_t tree = 0; tree < trees->shape.num_trees; tree++) {
        bool is_grown = oif_rolling_rows(trees)[tree] > 0;
        add_leaves(oif_rolling_nodes(trees, tree),
                   is_grown ? oif_rolling_roots(trees)[tree] : OIF_ROLLING_LEAF, 0, figures);
        oif_figures_end_tree(figures);
    }
}

/* ---- Snapshots ---- */

static const oif_field node_fields[] = {
    {"low", OIF_FIELD_F64, offsetof(oif_rolling_node, low), 1},
    {"high", OIF_FIELD_F64, offsetof(oif_rolling_node, high), 1},
    {"cut", OIF_FIELD_F64, offsetof(oif_rolling_node, cut), 1},
    {"column", OIF_FIELD_U32, offsetof(oif_rolling_node, column), 1},
    {"children", OIF_FIELD_U16, offsetof(oif_rolling_node, children), 2},
};

/* The number of nodes of a tree. Those from there on are all zero. */
static uint32_t count_nodes(const oif_rolling_trees *trees, uint32_t tree)
{
    const oif_rolling_node *nodes = oif_rolling_nodes(trees, tree);
    uint32_t low = 0, high = trees->node_capacity;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (nodes[middle].children[0] | nodes[middle].children[1])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void report_nodes(const oif_rolling_trees *trees, uint32_t first, uint32_t end,
                         const oif_unchanged *unchanged)
{
    oif_unchanged_add(unchanged, oif_rolling_nodes(trees, first),
                      (size_t)(end - first) * trees->node_capacity * sizeof(oif_rolling_node));
}

void oif_rolling_unchanged(const oif_rolling_trees *trees, uint32_t next, uint64_t grown,
                           const oif_unchanged *unchanged)
{
    const uint32_t count = trees->shape.num_trees;
    /* What follows from the shape, and scratch space, which is blank again. */
    oif_unchanged_add(unchanged, oif_rolling_averages(trees), trees->bytes - trees->averages_at);
    if (unchanged->rows == OIF_ALL_ROWS) {
        for (uint32_t tree = 0; tree < count; tree++) {
            const uint32_t used = count_nodes(trees, tree);
            oif_unchanged_add(unchanged, oif_rolling_nodes(trees, tree) + used,
                              (trees->node_capacity - used) * sizeof(oif_rolling_node));
        }
    } else if (grown <= next) {
        report_nodes(trees, 0, next - (uint32_t)grown, unchanged);
        report_nodes(trees, next, count, unchanged);
    } else if (grown < count) {
        report_nodes(trees, next, count - (uint32_t)(grown - next), unchanged);
    }
}

void oif_rolling_visit_fields(oif_rolling_trees *trees, oif_state_visitor *visitor)
{
    oif_visit_u16(visitor, "roots", oif_rolling_roots(trees), trees->shape.num_trees);
    oif_visit_u16(visitor, "rows", oif_rolling_rows(trees), trees->shape.num_trees);
    oif_visit_records(visitor,
                      &(oif_records){node_fields, sizeof node_fields / sizeof node_fields[0],
                                     oif_rolling_nodes(trees, 0), sizeof(oif_rolling_node),
                                     (size_t)trees->shape.num_trees * trees->node_capacity});
}
