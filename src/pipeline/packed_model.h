/* A model in little memory: only what differs from the model that has seen no row, the blank one.
 *
 *     model     | head | judges | senses |     | detector: ring, trees, ... |   blocks of memory,
 *     lines       1 0 0 1 0 0 0 0 0 1 0 0        1 1 0 0 0 0 1 1 0 0 0 0 0      in cache lines
 *     packed    | bytes | a bit for each line | line 0 | line 3 | line 9 | line 12 | ...
 *
 * A model has room for all that it can ever learn, and most of that is still blank after some
 * hundred rows: rolling-iforest with 3 columns takes 155 KB, packed after 3 rows 4 KB. To pack it
 * costs a comparison with the blank model; the bits of a model that was packed are the same.
 */
#ifndef OIF_PIPELINE_PACKED_MODEL_H
#define OIF_PIPELINE_PACKED_MODEL_H

#include "pipeline/model.h"

typedef struct oif_packed_model {
    size_t capacity; /* bytes of this block */
    size_t bytes;    /* of it in use */
    uint64_t content[];
} oif_packed_model;

/* A model, and which of its lines may differ from the blank one. */
typedef struct oif_unpacked_model {
    oif_model *model;
    uint64_t *lines; /* a bit for each */
} oif_unpacked_model;

/* Makes a copy of the blank model to unpack others into.
 *
 * OIF_EMEMORY */
oif_status oif_unpacked_model_new(const oif_model *blank, oif_unpacked_model *unpacked,
                                  oif_error *error);
void oif_unpacked_model_free(oif_unpacked_model *unpacked);
size_t oif_unpacked_model_bytes(const oif_unpacked_model *unpacked);

/* Compares the model with the blank one. Returns the bytes that it has when packed. */
size_t oif_unpacked_model_compare(oif_unpacked_model *unpacked, const oif_model *blank);

/* A block for a model that is packed, with the model that has seen no row; NULL when there is no
 * memory. `bytes`: what a model is to have room for; no less than the blank one needs. */
oif_packed_model *oif_packed_model_new(const oif_model *blank, size_t bytes);

/* Packs a model that was compared before. The block has room for it. */
void oif_packed_model_store(oif_packed_model *packed, const oif_unpacked_model *unpacked);

/* Unpacks a model. `blank` is the one that it was compared with when it was packed. */
void oif_packed_model_load(const oif_packed_model *packed, const oif_model *blank,
                           oif_unpacked_model *unpacked);

#endif
