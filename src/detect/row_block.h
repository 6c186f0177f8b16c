/* A block of rows, as detectors get them. */
#ifndef OIF_DETECT_ROW_BLOCK_H
#define OIF_DETECT_ROW_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Rows without infinities. Row i starts at values[i * stride]. */
typedef struct oif_rows {
    const double *values;
    size_t count;
    size_t stride;
    bool complete; /* no value is missing */
} oif_rows;

static inline const double *oif_rows_at(const oif_rows *rows, size_t i)
{
    return rows->values + i * rows->stride;
}

/* At most `most` rows, starting at row `from`. */
static inline oif_rows oif_rows_from(const oif_rows *rows, size_t from, size_t most)
{
    size_t left = rows->count - from;
    return (oif_rows){oif_rows_at(rows, from), left < most ? left : most, rows->stride,
                      rows->complete};
}

#endif
