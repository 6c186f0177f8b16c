/* The inside of a pipeline, for itself and its snapshot. */
#ifndef OIF_PIPELINE_PIPELINE_H
#define OIF_PIPELINE_PIPELINE_H

#include "alert/score_history.h"
#include "oif.h"

/* What a column's numbers are like, the older the less; in halves, so that no difference overflows. */
typedef struct oif_usual {
    double half_mean;   /* NaN before the first number */
    double half_spread; /* the mean of the distances from it */
} oif_usual;

/* Arrays follow at the offsets `.._at`. */
struct oif_pipeline {
    oif_pipeline_options options; /* with all defaults filled in */
    size_t columns;
    size_t bytes; /* of this block; the detector has its own */
    oif_detector *detector;

    uint64_t rows;       /* processed */
    uint32_t strangers;  /* anomalies less calm rows, not below 0: what patience is compared with */
    uint32_t calm_rows;  /* since the last anomaly of an episode */
    uint32_t in_episode; /* 1 from its first anomaly to its end */
    oif_score_history history;

    size_t recent_at;  /* double [shingle][columns]: the last rows, oldest first */
    size_t usual_at;   /* oif_usual [columns] */
    size_t shares_at;  /* double [columns]: room for explaining */
    size_t scratch_at; /* double [shingle][columns]: likewise */
};

static inline double *oif_pipeline_recent(const oif_pipeline *pipeline)
{
    return (double *)((unsigned char *)pipeline + pipeline->recent_at);
}

static inline oif_usual *oif_pipeline_usual(const oif_pipeline *pipeline)
{
    return (oif_usual *)((unsigned char *)pipeline + pipeline->usual_at);
}

/* Tells every field that rows have changed, but for the detector's. */
void oif_pipeline_tell_fields(oif_pipeline *pipeline, oif_fields *fields);

#endif
