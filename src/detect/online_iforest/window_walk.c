/* Where a row ends in the trees of a forest with a window. A walk has no branch: eight trees side
 * by side take as many steps as the deepest of them, and a node that is not cut sends every row
 * left (window_tree.h). A row with missing numbers walks each tree alone. */
#include "detect/online_iforest/window_walk.h"

/* What a step of a walk reads. */
typedef struct tree_walk {
    const uint64_t *last_lefts;
    const uint32_t *cut_columns;
    const uint8_t *leaf_at;
    const oif_keyed_row *row;
} tree_walk;

static tree_walk walk_of(const oif_window_state *forest, const oif_keyed_row *row)
{
    return (tree_walk){oif_window_last_lefts(forest), oif_window_cut_columns(forest),
                       oif_window_leaf_at(forest), row};
}

OIF_INLINE size_t next_node(const tree_walk *walk, size_t at, bool has_keys)
{
    uint32_t column = walk->cut_columns[at];
    uint64_t key = has_keys ? walk->row->keys[column] : oif_sort_key(walk->row->values[column]);
    return oif_child_index(at, walk->last_lefts[at], key);
}

/* Where the walks of a complete row through OIF_LANES trees end. */
typedef struct walk_ends {
    size_t a, b, c, d, e, f, g, h;
} walk_ends;

/* Walks trees whose roots begin at node `root`, `levels` of which hold cuts. Walking them side by
 * side hides the latency of the loads. Names instead of an array: with one, gcc keeps a copy of
 * every step in memory.
 *
 * turnover_walk.c has its counterpart. They differ where they begin (roots a stride apart), in
 * next_node and in what they return, so one function for both would share only the names. */
OIF_INLINE walk_ends walk_side_by_side(const tree_walk *walk, size_t root, uint32_t levels,
                                       bool has_keys)
{
    size_t a = root, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
    for (; levels > 0; levels--) {
        a = next_node(walk, a, has_keys);
        b = next_node(walk, b, has_keys);
        c = next_node(walk, c, has_keys);
        d = next_node(walk, d, has_keys);
        e = next_node(walk, e, has_keys);
        f = next_node(walk, f, has_keys);
        g = next_node(walk, g, has_keys);
        h = next_node(walk, h, has_keys);
    }
    return (walk_ends){a, b, c, d, e, f, g, h};
}

_Static_assert(OIF_LANES == 8, "walk_side_by_side walks eight trees");

/* The leaves of a complete row in lanes from `lane` to `end`. */
OIF_INLINE void find_in_lanes(const oif_window_state *forest, const oif_keyed_row *row,
                              uint32_t lane, uint32_t end, bool has_keys, size_t *leaves)
{
    const tree_walk walk = walk_of(forest, row);
    const uint8_t *const levels = oif_window_lane_levels(forest);
    for (; lane < end; lane++, leaves += OIF_LANES) {
        const walk_ends at =
            walk_side_by_side(&walk, forest->num_trees + lane * OIF_LANES, levels[lane], has_keys);
        leaves[0] = walk.leaf_at[at.a];
        leaves[1] = walk.leaf_at[at.b];
        leaves[2] = walk.leaf_at[at.c];
        leaves[3] = walk.leaf_at[at.d];
        leaves[4] = walk.leaf_at[at.e];
        leaves[5] = walk.leaf_at[at.f];
        leaves[6] = walk.leaf_at[at.g];
        leaves[7] = walk.leaf_at[at.h];
    }
}

void oif_window_walk_lanes(const oif_window_state *forest, const oif_keyed_row *row, uint32_t lane,
                           uint32_t end, size_t *leaves)
{
    find_in_lanes(forest, row, lane, end, true, leaves);
}

void oif_window_walk_lanes_without_keys(const oif_window_state *forest, const oif_keyed_row *row,
                                        uint32_t lane, uint32_t end, size_t *leaves)
{
    find_in_lanes(forest, row, lane, end, false, leaves);
}

OIF_INLINE uint64_t look_up(const oif_window_state *forest, const oif_keyed_row *row,
                            oif_window_table table, bool are_low)
{
    enum { TREE = OIF_WINDOW_TABLE_LEAVES };
    const tree_walk walk = walk_of(forest, row);
    const uint8_t *const levels = oif_window_lane_levels(forest), *const leaf_at = walk.leaf_at;
    const uint32_t *depths = table.depths, end = table.first + table.count;
    uint64_t depth_sum = 0;
    for (uint32_t tree = table.first; tree < end; tree += OIF_LANES, depths += OIF_LANES * TREE) {
        const walk_ends at =
            walk_side_by_side(&walk, forest->num_trees + tree, levels[tree / OIF_LANES], true);
        const uint32_t a = depths[leaf_at[at.a]], b = depths[TREE + leaf_at[at.b]],
                       c = depths[2 * TREE + leaf_at[at.c]], d = depths[3 * TREE + leaf_at[at.d]],
                       e = depths[4 * TREE + leaf_at[at.e]], f = depths[5 * TREE + leaf_at[at.f]],
                       g = depths[6 * TREE + leaf_at[at.g]], h = depths[7 * TREE + leaf_at[at.h]];
        depth_sum += are_low ? (uint64_t)(a + b + c + d) + (e + f + g + h)
                             : (uint64_t)a + b + c + d + e + f + g + h;
    }
    return depth_sum;
}

uint64_t oif_window_look_up_depths(const oif_window_state *forest, const oif_keyed_row *row,
                                   oif_window_table table)
{
    return look_up(forest, row, table, false);
}

uint64_t oif_window_look_up_low_depths(const oif_window_state *forest, const oif_keyed_row *row,
                                       oif_window_table table)
{
    return look_up(forest, row, table, true);
}
