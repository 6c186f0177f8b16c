/* What the two forests of online-iforest have in common. */
#ifndef OIF_DETECT_ONLINE_IFOREST_H
#define OIF_DETECT_ONLINE_IFOREST_H

#include "base/block.h"
#include "detect/detector.h"

enum {
    OIF_DEPTH_BITS = 26, /* depths are multiples of 2^-26: sums do not depend on their order */
    OIF_LANES = 8        /* trees walked side by side */
};

typedef enum oif_forgetting { OIF_FORGET_BY_WINDOW, OIF_FORGET_BY_TURNOVER } oif_forgetting;
typedef enum oif_variant { OIF_RUNNING, OIF_PAPER, OIF_REFERENCE } oif_variant;
typedef enum oif_insertion { OIF_INSERT_NONE, OIF_INSERT_ROW, OIF_INSERT_AUTO } oif_insertion;
typedef enum oif_growth { OIF_ADAPTIVE, OIF_FIXED } oif_growth;

/* Whether whole rows are inserted. */
bool oif_online_iforest_inserts(const oif_params *params);

/* The function tables of both, without `info`. Their states begin with an oif_forgetting. */
extern const oif_detector_kind oif_window_forest, oif_turnover_forest;

#endif
