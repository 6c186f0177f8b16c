/* The average depths of trees. */
#include "detect/online_iforest/window_depth.h"

double oif_window_average_depth(const oif_window_state *forest, double rows)
{
    if (rows < forest->max_leaf_samples)
        return 0.0;
    double depth = oif_log2(rows / forest->max_leaf_samples);
    return forest->variant == OIF_REFERENCE ? depth / 2 : depth;
}

uint32_t oif_window_extra_depth(const oif_window_state *forest, int32_t height)
{
    if (height < 0)
        return 0;
    return (uint32_t)(oif_window_average_depth(forest, height) * (1 << OIF_DEPTH_BITS) + 0.5);
}

double oif_window_scale(const oif_window_state *forest, uint32_t rows_held)
{
    double rows =
        forest->variant == OIF_PAPER ? forest->window_size : rows_held * forest->subsample;
    double normaliser = oif_window_average_depth(forest, rows);
    return normaliser > 0 ? 1.0 / (normaliser * forest->num_trees * (1 << OIF_DEPTH_BITS)) : 0.0;
}
