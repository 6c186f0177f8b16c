/* Walking a row through the trees of a forest with a window. */
#ifndef OIF_DETECT_WINDOW_WALK_H
#define OIF_DETECT_WINDOW_WALK_H

#include "detect/online_iforest/keyed_row.h"
#include "detect/online_iforest/window_tree.h"

/* The leaves of a complete row in the trees of the lanes from `lane` to `end`; whether the row has
 * keys is known to the compiler. */
void oif_window_walk_lanes(const oif_window_state *forest, const oif_keyed_row *row, uint32_t lane,
                           uint32_t end, size_t *leaves);
void oif_window_walk_lanes_without_keys(const oif_window_state *forest, const oif_keyed_row *row,
                                        uint32_t lane, uint32_t end, size_t *leaves);

/* The leaves of a row in `count` trees from `first` on, which begins a lane. */
static inline void oif_window_find_leaves(const oif_window_state *forest, uint32_t first,
                                          uint32_t count, const oif_keyed_row *row, size_t *leaves)
{
    uint32_t lane = first / OIF_LANES, whole = row->complete ? count / OIF_LANES : 0;
    if (row->has_keys)
        oif_window_walk_lanes(forest, row, lane, lane + whole, leaves);
    else
        oif_window_walk_lanes_without_keys(forest, row, lane, lane + whole, leaves);
    for (uint32_t i = whole * OIF_LANES; i < count; i++)
        leaves[i] = oif_window_tree_walk(forest, first + i, row->values);
}

enum { OIF_WINDOW_TABLE_LEAVES = 28 }; /* of each tree in a table of depths */

/* Depths in the leaves of trees, whole lanes of them. */
typedef struct oif_window_table {
    uint32_t first, count;
    const uint32_t *depths; /* OIF_WINDOW_TABLE_LEAVES of each tree */
} oif_window_table;

/* The sum of the depths that a complete row with keys has in the trees of a table. */
uint64_t oif_window_look_up_depths(const oif_window_state *forest, const oif_keyed_row *row,
                                   oif_window_table table);

/* The same with fewer instructions, if all depths are below 2^30: four of them fit 32 bits. */
uint64_t oif_window_look_up_low_depths(const oif_window_state *forest, const oif_keyed_row *row,
                                       oif_window_table table);

#endif
