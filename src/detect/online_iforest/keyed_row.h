/* A row with the sort keys of its values, made once for all trees: the walks of online-iforest
 * compare integers. */
#ifndef OIF_DETECT_KEYED_ROW_H
#define OIF_DETECT_KEYED_ROW_H

#include "base/block.h"
#include "base/sort_key.h"
#include "base/vector.h"
#include "detect/detector.h"

/* Rows of up to this many columns have their keys made once; walks of longer rows make each key
 * where they need it. */
enum { OIF_KEYED_ROW_MAX_KEYS = 256 };

typedef struct oif_keyed_row {
    const double *values;
    bool complete; /* no value is missing */
    bool has_keys;
    uint64_t keys[OIF_KEYED_ROW_MAX_KEYS];
} oif_keyed_row;

OIF_INLINE void oif_keyed_row_make_keys(const double *restrict values, uint32_t dimension,
                                        uint64_t *restrict keys)
{
    for (uint32_t i = 0; i < dimension; i++)
        keys[i] = oif_sort_key(values[i]);
}

OIF_AVX2 static inline void oif_keyed_row_make_keys_avx2(const double *values, uint32_t dimension,
                                                         uint64_t *keys)
{
    oif_keyed_row_make_keys(values, dimension, keys);
}

/* Row i of the rows, all but the keys. */
static inline void oif_keyed_row_init_without_keys(oif_keyed_row *row, uint32_t dimension,
                                                   const oif_rows *rows, size_t i)
{
    row->values = oif_rows_at(rows, i);
    row->complete = oif_rows_complete_at(rows, i, dimension);
    row->has_keys = dimension <= OIF_KEYED_ROW_MAX_KEYS;
}

/* Row i of the rows, for scoring. */
static inline void oif_keyed_row_init(oif_keyed_row *row, uint32_t dimension, const oif_rows *rows,
                                      size_t i)
{
    oif_keyed_row_init_without_keys(row, dimension, rows, i);
    if (!row->has_keys)
        return;
    if (oif_machine_has_avx2())
        oif_keyed_row_make_keys_avx2(row->values, dimension, row->keys);
    else
        oif_keyed_row_make_keys(row->values, dimension, row->keys);
}

/* Keys and mirror of a part of a row: its values and their negatives. */
void oif_keyed_row_mirror(const double *values, uint32_t count, uint64_t *keys, double *numbers,
                          double *negatives);

/* Row i of the rows, for learning: also writes its mirror, the row in the shape of a box
 * (box.h). The keys of long rows are made with it and not used. */
static inline void oif_keyed_row_init_mirrored(oif_keyed_row *row, uint32_t dimension,
                                               const oif_rows *rows, size_t i, double *mirror)
{
    const uint32_t most = OIF_KEYED_ROW_MAX_KEYS;
    oif_keyed_row_init_without_keys(row, dimension, rows, i);
    if (row->has_keys) {
        oif_keyed_row_mirror(row->values, dimension, row->keys, mirror, mirror + dimension);
        return;
    }
    for (uint32_t from = 0; from < dimension; from += most)
        oif_keyed_row_mirror(row->values + from, oif_min_u32(dimension - from, most), row->keys,
                             mirror + from, mirror + dimension + from);
}

#endif
