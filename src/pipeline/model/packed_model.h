/* A compact form of a model: only what differs from the blank model, which has seen no row.
 *
 *     model     | head | judges | senses |     | detector: ring, trees, ... |   blocks of memory,
 *     lines       1 0 0 1 0 0 0 0 0 1 0 0        1 1 0 0 0 0 1 1 0 0 0 0 0      in cache lines
 *     packed    | bytes | a bit for each line | line 0 | line 3 | line 9 | line 12 | ...
 *
 * A model reserves space for all it can ever learn, and after a few hundred rows most of it is
 * still blank: rolling-iforest with 3 columns takes 155 KB, packed after 3 rows 4 KB. Packing costs
 * one comparison with the blank model and is lossless.
 */
#ifndef OIF_PIPELINE_PACKED_MODEL_H
#define OIF_PIPELINE_PACKED_MODEL_H

#include "pipeline/model/model.h"

typedef struct oif_packed_model {
    size_t capacity; /* bytes of this block */
    size_t bytes;    /* in use */
    uint64_t content[];
} oif_packed_model;

/* A model, and which of its lines may differ from the blank model. */
typedef struct oif_unpacked_model {
    oif_model *model;
    uint64_t *lines; /* one bit per line */
} oif_unpacked_model;

/* Copies the blank model, to unpack others into.
 *
 * OIF_EMEMORY */
oif_status oif_unpacked_model_new(const oif_model *blank, oif_unpacked_model *unpacked,
                                  oif_error *error);
void oif_unpacked_model_free(oif_unpacked_model *unpacked);
size_t oif_unpacked_model_bytes(const oif_unpacked_model *unpacked);

/* Compares the model with the blank one. Returns its packed size in bytes. */
size_t oif_unpacked_model_compare(oif_unpacked_model *unpacked, const oif_model *blank);

/* Allocates a packed model that holds the blank one; NULL if out of memory. `bytes`: the
 * capacity wanted; never less than the blank model needs. */
oif_packed_model *oif_packed_model_new(const oif_model *blank, size_t bytes);

/* Packs a model after oif_unpacked_model_compare. The block must be large enough. */
void oif_packed_model_store(oif_packed_model *packed, const oif_unpacked_model *unpacked);

/* Unpacks a model. `blank` is the model that it was compared with. */
void oif_packed_model_load(const oif_packed_model *packed, const oif_model *blank,
                           oif_unpacked_model *unpacked);

#endif
