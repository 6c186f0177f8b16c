/* The inside of a pipeline, for itself and its snapshot. */
#ifndef OIF_PIPELINE_PIPELINE_H
#define OIF_PIPELINE_PIPELINE_H

#include "base/names.h"
#include "pipeline/keys.h"
#include "pipeline/model.h"

struct oif_pipeline {
    oif_params params, options;
    size_t columns;
    uint32_t most_keys; /* by max_keys and memory_limit */
    uint32_t last;      /* the entry of the row processed last, or OIF_NO_KEY */
    uint64_t rows, evictions;
    oif_names *names; /* of the columns; NULL while they have none */
    oif_model *blank; /* which new models are copied from */
    oif_keys keys;    /* their values are models */
};

static inline oif_model *oif_pipeline_model(const oif_pipeline *pipeline, uint32_t entry)
{
    return entry == OIF_NO_KEY ? NULL : pipeline->keys.entries[entry].value;
}

/* Makes a model for a key that has none: a new one, or that of the oldest key. OIF_EMEMORY. */
oif_status oif_pipeline_add_model(oif_pipeline *pipeline, const char *key, size_t key_bytes, uint32_t *entry,
                                  oif_error *error);

#endif
