/* The inside of a pipeline, for itself and its snapshot. */
#ifndef OIF_PIPELINE_PIPELINE_H
#define OIF_PIPELINE_PIPELINE_H

#include "base/column_names.h"
#include "pipeline/keys.h"
#include "pipeline/model.h"
#include "snapshot/sections.h"
#include "snapshot/shelf.h"

struct oif_pipeline {
    oif_params params, options;
    size_t columns;
    uint32_t most_keys; /* by max_keys and memory_limit */
    uint32_t last;      /* the entry of the row processed last, or OIF_NO_KEY */
    uint64_t rows, evictions;
    oif_column_names *names; /* of the columns; NULL while they have none */
    oif_model *blank;        /* which new models are copied from */
    oif_keys keys;           /* their values are models */

    bool keeps_evicted;
    oif_shelf *shelf; /* where it does; NULL: nowhere, and what is evicted is lost */
    oif_keys evicted; /* keys that were put there; one whose model was taken back has no place */
    uint32_t shelved; /* those that have one */
    uint64_t lost;    /* models that could not be put there, or not taken back */
    char why_lost[OIF_ERROR_MESSAGE_BYTES]; /* the last of them */
};

static inline oif_model *oif_pipeline_model(const oif_pipeline *pipeline, uint32_t entry)
{
    return entry == OIF_NO_KEY ? NULL : pipeline->keys.entries[entry].value;
}

/* Makes a model for a key that has none in memory: a new one, or that of the oldest key; with
 * what the shelf has of it. OIF_EMEMORY. */
oif_status oif_pipeline_add_model(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                  uint32_t *entry, oif_error *error);

/* A model without its key, as sections of a snapshot: how many bytes they take, and writing and
 * reading them. A model that was not read to its end may be in any state. */
uint64_t oif_model_sections_bytes(oif_model *model);
void oif_model_write(oif_snapshot_writer *writer, oif_model *model);
void oif_model_read(oif_snapshot_reader *reader, oif_model *model);

#endif
