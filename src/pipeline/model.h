/* One stream's worth of a pipeline: the detector and all that is remembered about its scores.
 * Every key has a model.
 *
 *     row -> | last rows | -> detector -> score -> history of scores -> p, threshold -> anomaly? -> episode
 *               shingle          ^                                          |
 *                                +----------- learn, unless anomalous? -----+
 *
 * A model is a block of memory beside its detector's; nothing is allocated once it is made.
 */
#ifndef OIF_PIPELINE_MODEL_H
#define OIF_PIPELINE_MODEL_H

#include "oif.h"
#include "pipeline/score_history.h"

typedef enum oif_learn { OIF_LEARN_ALL, OIF_LEARN_NORMAL, OIF_LEARN_DECAY } oif_learn;

typedef struct oif_model_options {
    uint32_t shingle;  /* rows that are scored as one */
    double alert_rate; /* the share of rows that is to be anomalous ... */
    double threshold;  /* ... unless this is not 0: then rows with higher scores are */
    double memory;     /* scores of the past that count */
    oif_learn learn;
    uint32_t patience; /* anomalies after which they are learned, with OIF_LEARN_DECAY */
    uint32_t calm;     /* rows without anomaly that end an episode */
} oif_model_options;

/* What a column's numbers are like, the older the less; in halves, so that no difference
 * overflows. */
typedef struct oif_usual {
    double half_mean;   /* NaN before the first number */
    double half_spread; /* the mean of the distances from it */
} oif_usual;

/* Arrays follow at the offsets `.._at`. */
typedef struct oif_model {
    oif_model_options options;
    size_t columns;
    size_t bytes; /* of this block; the detector has its own */
    oif_detector *detector;

    uint64_t rows; /* processed */
    uint32_t
        recent_anomalies; /* anomalies less calm rows, not below 0: what patience is compared with */
    uint32_t calm_rows;   /* since the last anomaly of an episode */
    uint32_t in_episode;  /* 1 from its first anomaly to its end */
    oif_score_history history;

    size_t recent_at;  /* double [shingle][columns]: the last rows, oldest first */
    size_t usual_at;   /* oif_usual [columns] */
    size_t shares_at;  /* double [columns]: room for explaining */
    size_t scratch_at; /* double [shingle][columns]: likewise */
} oif_model;

static inline double *oif_model_recent(const oif_model *model)
{
    return (double *)((unsigned char *)model + model->recent_at);
}

static inline oif_usual *oif_model_usual(const oif_model *model)
{
    return (oif_usual *)((unsigned char *)model + model->usual_at);
}

/* The bytes that a model and its detector take; failures as oif_detector_estimate_bytes. */
oif_status oif_model_estimate_bytes(const oif_params *params, size_t columns,
                                    const oif_model_options *options, size_t *bytes,
                                    oif_error *error);

/* Makes a model around a detector for rows of shingle x columns numbers, which then belongs to
 * it. NULL when there is no memory. */
oif_model *oif_model_new(oif_detector *detector, size_t columns, const oif_model_options *options);
oif_status oif_model_clone(const oif_model *model, oif_model **copy, oif_error *error);
void oif_model_free(oif_model *model);

/* Gives a model the state of another one with the same parameters and options. */
void oif_model_assign(oif_model *model, const oif_model *other);

/* Takes a row without infinities. */
void oif_model_process(oif_model *model, const double *row, oif_result *result);

/* Why the last row has its score. */
void oif_model_explain(oif_model *model, oif_attribution *attributions);

/* Tells every field that rows have changed, but for the detector's. */
void oif_model_visit_fields(oif_model *model, oif_state_visitor *visitor);

/* Believes nothing; OIF_EINVARIANT names what is broken. */
oif_status oif_model_check(const oif_model *model, oif_error *error);

#endif
