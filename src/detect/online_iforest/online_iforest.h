/* What the two forests of online-iforest have in common. */
#ifndef OIF_DETECT_ONLINE_IFOREST_H
#define OIF_DETECT_ONLINE_IFOREST_H

#include "detect/detector.h"

enum {
    OIF_DEPTH_BITS = 26
}; /* depths are whole multiples of 2^-26, so that sums do not depend on their order */

typedef enum oif_forgetting { OIF_FORGET_BY_WINDOW, OIF_FORGET_BY_TURNOVER } oif_forgetting;
typedef enum oif_variant { OIF_RUNNING, OIF_PAPER, OIF_REFERENCE } oif_variant;
typedef enum oif_growth { OIF_ADAPTIVE, OIF_FIXED } oif_growth;

/* The verbs of either, without `info`. Their states begin with an oif_forgetting. */
extern const oif_detector_kind oif_window_forest, oif_turnover_forest;

static inline void *oif_part(const void *block, size_t offset)
{
    return (unsigned char *)block + offset;
}

#endif
