/* How deep a row is in a tree, and the score that its depths make. */
#ifndef OIF_DETECT_WINDOW_DEPTH_H
#define OIF_DETECT_WINDOW_DEPTH_H

#include "base/stable_math.h"
#include "detect/online_iforest/window_tree.h"

/* c(n, eta) of the paper: the average depth of a tree of n rows, 0 under eta; half of it in the
 * authors' code. */
double oif_window_average_depth(const oif_window_state *forest, double rows);

/* c(height) in depth units; 0 where the height is under 0. */
__attribute__((cold)) uint32_t oif_window_extra_depth(const oif_window_state *forest,
                                                      int32_t height);

/* What a sum of depths over all trees is multiplied with to become the exponent of the score; 0
 * while the window holds too few rows to tell one row from another. */
double oif_window_scale(const oif_window_state *forest, uint32_t rows_held);

/* The score of a row whose depths in all trees have this sum. */
static inline double oif_window_score(const oif_window_state *forest, uint64_t depth_sum,
                                      uint32_t rows_held)
{
    double scale =
        rows_held == forest->window_size ? forest->full_scale : oif_window_scale(forest, rows_held);
    if (scale == 0)
        return forest->variant == OIF_RUNNING ? 0.5 : 1.0;
    return oif_exp2(-(double)depth_sum * scale);
}

/* A row's depth: its leaf's, and what a leaf of this height would have below it if it could be
 * cut on. The table is for heights from 0 to just above the window; there are higher ones where a
 * sibling's is under 0. */
static inline uint32_t oif_window_depth_at_height(const oif_window_state *forest,
                                                  const oif_window_leaf *leaf, int32_t height)
{
    return leaf->depth + ((uint32_t)height < forest->window_size + 2
                              ? oif_window_extra_depths(forest)[height]
                              : oif_window_extra_depth(forest, height));
}

static inline uint32_t oif_window_row_depth(const oif_window_state *forest,
                                            const oif_window_leaf *leaf)
{
    return oif_window_depth_at_height(forest, leaf, leaf->height);
}

/* The sum of the depths of a row in `count` trees from `first` on, where it falls into the leaves
 * `found`. */
OIF_INLINE uint64_t oif_window_sum_depths(const oif_window_state *forest, uint32_t first,
                                          uint32_t count, const size_t *found)
{
    const unsigned char *leaves =
        oif_block_part(forest, forest->trees_at + first * forest->tree_bytes + forest->leaves_at);
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++, leaves += forest->tree_bytes)
        depth_sum +=
            oif_window_row_depth(forest, oif_block_part(leaves, found[i] * forest->leaf_bytes));
    return depth_sum;
}

#endif
