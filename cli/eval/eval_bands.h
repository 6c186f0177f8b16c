/* What was expected of the columns of each key, for the page of --report: a list of bands, each of
 * which lasts until the next one of its key.
 *
 *     row | place of the one before it, of the same key | low, high of each learned column
 *
 * A band is kept only where it differs from the one before it, and no more than some memory. */
#ifndef OIF_CLI_EVAL_BANDS_H
#define OIF_CLI_EVAL_BANDS_H

#include "oif.h"

typedef struct key_bands key_bands;

/* All zero is an empty one. */
typedef struct eval_bands {
    char *list;
    size_t count, capacity, band_bytes, columns;
    key_bands *keys;
    size_t key_capacity;
    oif_expected *expected; /* room for one per learned column */
} eval_bands;

/* After a row was processed. Returns false when memory is short. */
bool eval_bands_row(eval_bands *bands, const oif_pipeline *pipeline, size_t row, uint32_t key,
                    const oif_result *result);

/* For rows of a key, in their order: low and high of each learned column, NaN if unknown; NULL: all
 * are unknown. */
void eval_bands_of(const eval_bands *bands, uint32_t key, const size_t rows[], size_t count,
                   const float *ends[]);
void eval_bands_free(eval_bands *bands);

#endif
