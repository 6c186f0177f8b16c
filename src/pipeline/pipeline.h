/* The internals of a pipeline, for the files beside it. */
#ifndef OIF_PIPELINE_PIPELINE_H
#define OIF_PIPELINE_PIPELINE_H

#include "base/column_names.h"
#include "base/pool.h"
#include "pipeline/alerts/alert_budget.h"
#include "pipeline/attachment.h"
#include "pipeline/keys/evicted_models.h"
#include "pipeline/keys/eviction.h"
#include "pipeline/keys/keys.h"
#include "pipeline/keys/models.h"
#include "pipeline/keys/silence_queue.h"
#include "snapshot/stored_object.h"

/* Bytes of a pipeline with one key, besides models. */
enum { OIF_PIPELINE_OWN_BYTES = 4096 };

struct oif_pipeline {
    oif_params params, options; /* params: the detectors' */
    size_t columns;             /* of an input row */
    oif_derived_plan plan;      /* what is learned of it */
    uint32_t most_keys;         /* the limit max_keys */
    size_t memory_limit;        /* in bytes; SIZE_MAX: none */
    bool is_copying;            /* models from elsewhere: memory_limit waits for the next row */
    uint32_t last;              /* entry of the row processed last, or OIF_NO_KEY */
    uint64_t rows, evictions;
    uint64_t unmodelled_rows; /* rows whose key got no model, because of the limits */
    uint64_t restarts;        /* of evicted keys */
    uint64_t *evicted_marks;  /* one bit per hash of an evicted key; NULL before the first */
    oif_column_names *names;  /* NULL while the columns are unnamed */
    oif_column_names *roles;  /* as in oif_roles_section_write; NULL: unknown */
    oif_attachment attached;  /* by the program */
    oif_keys keys;            /* keys with a model */
    oif_models models;
    oif_evicted_models evicted;
    oif_alert_budget budget;
    oif_rules *rules;          /* NULL: none */
    oif_past_episodes *past;   /* NULL: they are not kept */
    bool asks;                 /* there are rules, or episodes are kept */
    oif_silence_queue silence; /* of the entries of `keys` */
    oif_pool *pool;            /* NULL with one thread; clones start with NULL */
    /* Of a block of rows; NULL before the first. Not counted: with a limit on memory, what is
     * evicted must not depend on the blocks. */
    struct oif_row_notes *notes;
    oif_stored_place stored; /* the log that all but the changes of `keys` is saved in */
};

/* Columns of the detectors. */
static inline size_t oif_pipeline_dimension(const oif_pipeline *pipeline)
{
    return oif_model_numbers(&pipeline->models.options, pipeline->plan.derived_columns);
}

/* The model of an entry, read-only; NULL for OIF_NO_KEY. Valid until the next call. */
static inline oif_model *oif_pipeline_model(const oif_pipeline *pipeline, uint32_t entry)
{
    return entry == OIF_NO_KEY ? NULL : oif_models_view(&pipeline->models, entry);
}

/* Replaces the plan of a pipeline without rows, and takes ownership of it.
 *
 * OIF_EPARAM, OIF_EMEMORY   as oif_pipeline_new; nothing has changed */
oif_status oif_pipeline_set_plan(oif_pipeline *pipeline, const oif_derived_plan *plan,
                                 oif_error *error);

/* Adds a model for a key without one in memory: its evicted model if there is one, else a blank
 * one. Evicts others to stay within the limits.
 *
 * OIF_EMEMORY */
oif_status oif_pipeline_add_model(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                  uint32_t *entry, oif_error *error);

/* Adds models for all keys of `from` to `to`, which has none, and lets `copy` fill each of them.
 * The limits of `to` on memory wait for the next row.
 *
 * OIF_EMEMORY   `to` is to be freed */
typedef void (*oif_model_copy_function)(oif_model *model, const oif_model *other);
oif_status oif_pipeline_copy_models(const oif_pipeline *from, oif_pipeline *to,
                                    oif_model_copy_function copy, oif_error *error);

/* Makes `*model` the model of a key, replacing any other. The pipeline takes ownership; `*model`
 * becomes NULL.
 *
 * OIF_EVALUE    the key is too long OIF_EMEMORY */
oif_status oif_pipeline_put_model(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                  oif_model **model, oif_error *error);

/* oif_pipeline_process_at for a row of a table, by its verdict; NULL: any other row. */
oif_status oif_pipeline_process_with(oif_pipeline *pipeline, oif_text key, double seconds,
                                     const double *row, const oif_table_verdict *verdict,
                                     oif_result *result, oif_error *error);

/* What the model of an entry is asked with; `asked` is where it is put. NULL if there are no rules
 * and no episodes are kept. */
typedef struct oif_row_question {
    oif_row_rules rules;
    oif_alert_causes causes;
} oif_row_question;
const oif_row_rules *oif_pipeline_row_rules(const oif_pipeline *pipeline, uint32_t entry,
                                            oif_row_question *asked);

/* To be called after rules were set, or episodes are kept or no longer. */
static inline void oif_pipeline_update_asks(oif_pipeline *pipeline)
{
    pipeline->asks = pipeline->rules || pipeline->past;
}

/* Keeps the episode that a row of a model has begun, if any and if they are kept. `row` is the
 * number of the row, from 1. Threads may do so at the same time. */
void oif_pipeline_keep_episode(const oif_pipeline *pipeline, const oif_model *model, uint64_t row,
                               const oif_row_question *asked, const oif_result *result);

/* Counts the row of which this is the result, if a rule held it back. */
static inline void oif_pipeline_count_held(oif_pipeline *pipeline, const oif_result *result,
                                           double seconds)
{
    if (result->rule > 0)
        oif_rules_count(pipeline->rules, result->rule, seconds);
}

/* Removes a key and its model. */
void oif_pipeline_drop_key(oif_pipeline *p, uint32_t entry);

/* Watches the entry for silence, starting at its last row. */
void oif_pipeline_await(oif_pipeline *pipeline, uint32_t entry);

/* The same for all keys: other rules may report what was held back. */
void oif_pipeline_await_all(oif_pipeline *pipeline);

#endif
