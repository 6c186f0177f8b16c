/* Inner boxes: a quick test whether a long row lies in a box, so the box need not be widened.
 *
 * Every number of a box has a grid of marks. Mark r stands for origin + r step, and fits 16 bits.
 * Rows are rounded down to marks, boxes are rounded up (box.h: a box holds the lowest numbers):
 *
 *     box                 |==================================== ...
 *     inner box              |================================= ...     the first mark in the box
 *     marks      .     .     .     .     .     .     .     .
 *     row                       x  its mark is that of the inner box, so x is in the box
 *
 * A row whose marks are all at least those of the inner box lies in the box. That reads a quarter
 * of the bytes of the box, and writes none; one row in twenty or so fails, and is then compared
 * with the box itself, where it failed. Widening a box leaves its inner box inside, so an inner box
 * may lag behind. Only a box that is drawn again must forget its inner box.
 *
 * The origin of a grid is the lowest number that the column had, or minus the highest, and its
 * step is a power of two: the ends of a range and whole numbers lie on marks, so rows that are
 * often equal to them are inside. Marks have no part in results: scores and snapshots are the
 * same without.
 *
 * There is code for AVX2 only. Elsewhere boxes are widened by every row. */
#ifndef OIF_DETECT_INNER_BOX_H
#define OIF_DETECT_INNER_BOX_H

#include "base/vector.h"
#include "detect/online_iforest/box.h"

#include <stdint.h>

enum {
    OIF_INNER_BOX_STEP = 16,       /* marks that are compared at a time */
    OIF_INNER_BOX_UNKNOWN = 32767, /* above the marks of all rows: nothing is known to be inside */
    OIF_INNER_BOX_LOWEST = -32767, /* rows below all marks have one less */
    OIF_INNER_BOX_HIGHEST = 32766  /* of a row */
};

/* How numbers become marks; arrays of box_width numbers. */
typedef struct oif_grid {
    double *origins;
    double *scales; /* marks per unit: powers of two */
    double *steps;  /* their inverses */
} oif_grid;

/* Marks of an inner box, whole steps; 0 for short boxes, which need none. */
uint32_t oif_inner_box_width(uint32_t dimension);

/* Forgets what is inside; the marks after the numbers of the box are in every row. */
void oif_inner_box_forget(int16_t *marks, uint32_t dimension);

/* Makes a grid on which every row is below all marks. */
void oif_grid_clear(const oif_grid *grid, uint32_t dimension);

/* Fits the grid to the ranges of a box that holds most rows. Returns whether it has changed: then
 * all inner boxes have to be forgotten. */
bool oif_grid_fit(const oif_grid *grid, const double *box, uint32_t dimension);

/* Whether every number above the marks is in the box, for tests and checks. */
bool oif_inner_box_is_inside(const oif_grid *grid, const int16_t *marks, const double *box,
                             uint32_t dimension);

#if OIF_HAS_AVX2_CODE
/* The marks of a mirror of box_width numbers. */
void oif_grid_mark_row(const oif_grid *grid, const double *mirror, uint32_t box_width,
                       int16_t *marks);

/* Widens a box by a mirror where the row is not in the inner box, and the inner box with it. */
void oif_inner_box_widen(const oif_grid *grid, int16_t *marks, double *box,
                         const int16_t *row_marks, const double *mirror, uint32_t box_width);

/* Whether a row is in an inner box of `steps` steps. */
OIF_AVX2 static inline bool oif_inner_box_has(const int16_t *marks, const int16_t *row_marks,
                                              size_t steps)
{
    __m256i below = _mm256_setzero_si256();
    for (size_t i = 0; i < steps; i++)
        below = _mm256_or_si256(
            below, _mm256_cmpgt_epi16(
                       _mm256_loadu_si256((const __m256i *)(marks + i * OIF_INNER_BOX_STEP)),
                       _mm256_loadu_si256((const __m256i *)(row_marks + i * OIF_INNER_BOX_STEP))));
    return _mm256_testz_si256(below, below);
}
#endif

#endif
