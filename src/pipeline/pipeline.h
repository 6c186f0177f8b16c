/* The inside of a pipeline, for pipeline.c and pipeline_snapshot.c. */
#ifndef OIF_PIPELINE_PIPELINE_H
#define OIF_PIPELINE_PIPELINE_H

#include "base/column_names.h"
#include "base/pool.h"
#include "pipeline/alert_budget.h"
#include "pipeline/evicted_models.h"
#include "pipeline/eviction.h"
#include "pipeline/keys.h"
#include "pipeline/models.h"
#include "pipeline/silence_queue.h"

/* What a pipeline with one key takes besides models. */
enum { OIF_PIPELINE_OWN_BYTES = 4096 };

struct oif_pipeline {
    oif_params params, options; /* params: those of the detectors */
    size_t columns;             /* of a row that comes */
    oif_derived_plan plan;      /* what is learned of it */
    uint32_t most_keys;         /* that max_keys allows */
    size_t memory_limit;        /* in bytes; SIZE_MAX: none */
    bool is_copying;            /* models of others: memory_limit waits for the next row */
    uint32_t last;              /* the entry of the row processed last, or OIF_NO_KEY */
    uint64_t rows, evictions;
    uint64_t unmodelled_rows; /* whose key has no model, for want of room */
    uint64_t restarts;        /* of keys that were evicted */
    uint64_t *evicted_marks;  /* a bit for each hash of a key that was evicted; NULL before that */
    oif_column_names *names;  /* NULL while the columns have none */
    oif_column_names *roles;  /* as oif_roles_section_write has them; NULL: not known */
    oif_keys keys;            /* that have a model */
    oif_models models;
    oif_evicted_models evicted;
    oif_alert_budget budget;
    oif_silence_queue silence; /* the entries of `keys` */
    oif_pool *pool;            /* NULL while one thread does the work; clones start without */
};

/* The columns of its detectors. */
static inline size_t oif_pipeline_dimension(const oif_pipeline *pipeline)
{
    return pipeline->models.options.shingle * pipeline->plan.derived_columns;
}

/* The model of an entry, not to be changed; NULL for OIF_NO_KEY. It stays where it is until the
 * next call. */
static inline oif_model *oif_pipeline_model(const oif_pipeline *pipeline, uint32_t entry)
{
    return entry == OIF_NO_KEY ? NULL : oif_models_view(&pipeline->models, entry);
}

/* Gives a pipeline without rows another plan, which then belongs to it.
 *
 * OIF_EPARAM, OIF_EMEMORY   as oif_pipeline_new; nothing has changed */
oif_status oif_pipeline_set_plan(oif_pipeline *pipeline, const oif_derived_plan *plan,
                                 oif_error *error);

/* Makes a model for a key that has none in memory: its evicted one if there is one, else a
 * blank one. If there is no room, others are evicted.
 *
 * OIF_EMEMORY */
oif_status oif_pipeline_add_model(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                  uint32_t *entry, oif_error *error);

/* Makes `*model`, a model of this pipeline that was filled, the model of a key, in place of the one
 * that it may have. The pipeline then owns it and `*model` is NULL.
 *
 * OIF_EVALUE    the key is too long
 * OIF_EMEMORY */
oif_status oif_pipeline_put_model(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                  oif_model **model, oif_error *error);

/* The entry is watched for silence from its last row on. */
void oif_pipeline_await(oif_pipeline *pipeline, uint32_t entry);

#endif
