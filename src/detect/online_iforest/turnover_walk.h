/* Walking a row through the trees of a forest that forgets by turnover. */
#ifndef OIF_DETECT_TURNOVER_WALK_H
#define OIF_DETECT_TURNOVER_WALK_H

#include "detect/online_iforest/keyed_row.h"
#include "detect/online_iforest/turnover_tree.h"

/* The nodes where a row ends in `count` trees from `first` on, which begins a lane. */
void oif_turnover_find_nodes(const oif_turnover_state *forest, uint32_t first, uint32_t count,
                             const oif_keyed_row *row, size_t *nodes);

#endif
