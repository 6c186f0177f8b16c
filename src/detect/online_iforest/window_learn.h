/* Learning one row in the trees of a forest with a window. */
#ifndef OIF_DETECT_WINDOW_LEARN_H
#define OIF_DETECT_WINDOW_LEARN_H

#include "detect/online_iforest/window_tree.h"

/* Which depths of a row are added up. */
typedef enum oif_window_depths {
    OIF_NO_DEPTHS,
    OIF_DEPTHS_BEFORE_COUNTING,
    OIF_DEPTHS_AFTER_COUNTING
} oif_window_depths;

/* The trees that one thread takes rows through. */
typedef struct oif_window_part {
    unsigned number;
    uint32_t begin, end; /* `begin` begins a lane */
} oif_window_part;

/* Learns row i of the rows, which is in the ring already, in the trees of a part; returns the sum
 * of its depths there. `ahead`: rows in the ring that are learned before it. */
uint64_t oif_window_learn_row(oif_window_state *forest, const oif_rows *rows, size_t i,
                              uint32_t ahead, oif_window_depths wanted, oif_window_part part);

#endif
