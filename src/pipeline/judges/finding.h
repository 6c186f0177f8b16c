/* What a judge finds unusual about a row. Each judge turns a row into a severity by a fixed scale
 * (docs/algorithms/judges.md), so the findings of all judges can be compared: one unit more is
 * about a tenth as frequent, over the series that the scales were chosen on. */
#ifndef OIF_PIPELINE_JUDGES_FINDING_H
#define OIF_PIPELINE_JUDGES_FINDING_H

#include "oif.h"

/* The judges. A row has at most one finding of each. */
typedef enum oif_judge {
    OIF_JUDGE_VALUES,  /* the detectors */
    OIF_JUDGE_CHANGE,  /* a step or another level; watch.h */
    OIF_JUDGE_ENERGY,  /* the last rows are far from their levels */
    OIF_JUDGE_RUN,     /* one value for many rows */
    OIF_JUDGE_GAP,     /* no value for many rows */
    OIF_JUDGE_PARTNER, /* partner.h */
    OIF_JUDGE_SEASON,  /* season.h */
    OIF_JUDGE_CATEGORY,
    OIF_JUDGE_FIRST_VALUE,
    OIF_JUDGES
} oif_judge;

typedef struct oif_finding {
    double severity; /* 0: nothing */
    double size;     /* a magnitude, such as that of a step, and ... */
    double usual;    /* ... the usual one; NaN where the reason has no magnitude */
    oif_reason reason;
    int32_t direction; /* 1: high, -1: low, 0: neither */
    uint32_t column, partner;
} oif_finding;

#endif
