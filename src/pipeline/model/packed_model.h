/* A compact form of a model: only what differs from the blank model, which has seen no row.
 *
 *     model     | head | judges | senses |     | detector: ring, trees, ... |   blocks of memory,
 *     lines       0 . . 3 . . . . . 9 . .        12 13 . . . . 18 19 . . .      in cache lines
 *     packed    | count | 0 3 9 12 13 18 .. | line 0 | line 3 | line 9 | line 12 | ...
 *
 * A model reserves space for all it can ever learn, and after a few hundred rows most of it is
 * still blank: rolling-iforest with 3 columns takes 258 KB, packed after 100 rows 30 KB. Packing is
 * lossless.
 *
 * A model is unpacked for each row of its key and packed again. So lines are in the order in which
 * they were first changed, and a row writes only what it may have changed (base/unchanged.h): some
 * of the lines that are there, and new ones at the end. To compare all of the model with the blank
 * one took six times as long as the row itself.
 */
#ifndef OIF_PIPELINE_PACKED_MODEL_H
#define OIF_PIPELINE_PACKED_MODEL_H

#include "pipeline/model/model.h"

typedef struct oif_packed_model {
    size_t bytes;             /* of this block */
    uint32_t count, capacity; /* lines */
    /* _Alignas(64) unsigned char lines[capacity][64]; then uint32_t numbers[capacity] */
} oif_packed_model;

/* A model, and which of its lines may differ from the blank model. */
typedef struct oif_unpacked_model {
    oif_model *model;
    uint64_t *lines;     /* one bit per line */
    uint64_t *changed;   /* likewise: may have changed since it was unpacked */
    uint32_t *numbers;   /* of the lines that were found last, */
    uint32_t line_count; /* and how many they are */
} oif_unpacked_model;

/* Copies the blank model, to unpack others into.
 *
 * OIF_EMEMORY */
oif_status oif_unpacked_model_new(const oif_model *blank, oif_unpacked_model *unpacked,
                                  oif_error *error);
void oif_unpacked_model_free(oif_unpacked_model *unpacked);
size_t oif_unpacked_model_bytes(const oif_unpacked_model *unpacked);

/* Finds which lines may have changed with the last rows, and of these the ones that are not among
 * `lines` yet and differ from the blank model. OIF_ALL_ROWS: all that rows can change.
 * OIF_UNKNOWN_ROWS: any, as in a model that was read from a snapshot. */
void oif_unpacked_model_find(oif_unpacked_model *unpacked, const oif_model *blank, uint64_t rows);

/* The model was changed and will not be packed: any line may differ from the blank model. */
void oif_unpacked_model_abandon(oif_unpacked_model *unpacked);

/* Bytes of a packed model with that many lines. */
size_t oif_packed_model_bytes(size_t lines);

/* Allocates a packed model without lines: the blank one. NULL if out of memory. */
oif_packed_model *oif_packed_model_new(size_t capacity);

/* The same lines in another block of the same size. NULL if out of memory. */
oif_packed_model *oif_packed_model_clone(const oif_packed_model *packed);

/* Writes the lines that may have changed, and those that were found, which must fit. */
void oif_packed_model_store(oif_packed_model *packed, oif_unpacked_model *unpacked);

/* Writes all lines that are known or were found to a block without lines, in their order. */
void oif_packed_model_fill(oif_packed_model *packed, oif_unpacked_model *unpacked);

/* Writes all lines that are there, if no other has changed. */
void oif_packed_model_update(oif_packed_model *packed, oif_unpacked_model *unpacked);

/* Packs another model. Uses the space of `scratch`, but not its model. NULL if out of memory. */
oif_packed_model *oif_packed_model_of(const oif_model *model, const oif_model *blank,
                                      oif_unpacked_model *scratch);

/* Unpacks a model. `blank` is the model that it was compared with. */
void oif_packed_model_load(const oif_packed_model *packed, const oif_model *blank,
                           oif_unpacked_model *unpacked);

#endif
