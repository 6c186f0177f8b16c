/* Inner boxes: a quick test whether a long row lies in a box, so the box need not be widened.
 *
 * Every column has a grid of lines, line k at origin + k step. A number on line k has the mark
 * 2 k, and one between the lines k and k + 1 has the mark 2 k + 1; marks fit 16 bits. The inner
 * box reaches from the first line in the box to the last one, so its ends have even marks:
 *
 *     box             |=============================|
 *     inner box          |=======================|
 *     lines        .     .     .     .     .     .     .
 *     marks       -4 -3 -2 -1  0  1  2  3  4  5  6  7  8
 *     row                    x   its mark is -1, from -2 to 6, so x is in the box
 *
 * A row whose marks are all within the inner box lies in the box. That reads a quarter of the
 * bytes of the box, and writes none; one row in twenty or so fails, and is then compared with
 * the box itself, where it failed. Widening a box leaves its inner box inside, so an inner box
 * may lag behind. Only a box that is drawn again must be fitted with a new one.
 *
 * The lowest and the highest number of a column lie on lines, and whole numbers do if both of
 * those are whole: rows that are often equal to the ends of a box are inside. Marks have no part
 * in results: scores and snapshots are the same without. */
#ifndef OIF_DETECT_INNER_BOX_H
#define OIF_DETECT_INNER_BOX_H

#include "base/vector.h"
#include "detect/online_iforest/box.h"

#include <stdint.h>

enum {
    OIF_INNER_BOX_STEP = 16,      /* columns that are compared at a time */
    OIF_INNER_BOX_NOTHING = 32767 /* the low mark where nothing is inside: no row has it */
};

/* The marks of a box; arrays of oif_inner_box_width. A row is inside column i if its mark is from
 * lows[i] to lows[i] + spans[i]. All marks are inside the columns that the box does not have. */
typedef struct oif_inner_box {
    int16_t *lows;
    uint16_t *spans;
} oif_inner_box;

/* Where the lines of each column are; arrays of oif_inner_box_width. */
typedef struct oif_grid {
    double *origins; /* infinite where no number is inside */
    double *steps;
    double *scales; /* lines per unit, 1 / step */
} oif_grid;

/* Columns of an inner box, whole steps; 0 for short rows, which need none. */
uint32_t oif_inner_box_width(uint32_t dimension);

/* Makes a grid on which nothing is inside. */
void oif_grid_clear(const oif_grid *grid, uint32_t dimension);

/* Fits the grid to the ranges of a box that holds most rows. Returns whether it has changed: then
 * all inner boxes have to be fitted again. */
bool oif_grid_fit(const oif_grid *grid, const double *box, uint32_t dimension);

/* The marks of a row of oif_inner_box_width numbers; those after the columns may be any. */
void oif_grid_mark_row(const oif_grid *grid, const double *row, uint32_t dimension, int16_t *marks);

/* Makes the largest inner box of a box. */
void oif_inner_box_fit(const oif_grid *grid, oif_inner_box inner, const double *box,
                       uint32_t dimension);

/* Widens a box by a row's mirror where the row is not in the inner box, and the inner box with
 * it. */
void oif_inner_box_widen(const oif_grid *grid, oif_inner_box inner, double *box,
                         const int16_t *row_marks, const double *mirror, uint32_t dimension);

/* Whether every number inside is in the box, for tests and checks. */
bool oif_inner_box_is_inside(const oif_grid *grid, oif_inner_box inner, const double *box,
                             uint32_t dimension);

/* How far a mark is above the inner box; 0 inside. A mark below it is above it, too, as the
 * difference has no sign. */
static inline uint16_t oif_inner_box_excess(oif_inner_box inner, const int16_t *row_marks, size_t i)
{
    const uint16_t above_low = (uint16_t)(row_marks[i] - inner.lows[i]);
    return (uint16_t)(above_low > inner.spans[i] ? above_low - inner.spans[i] : 0);
}

#if OIF_HAS_AVX2_CODE
/* The same for the columns of a step. */
OIF_AVX2 static inline __m256i oif_inner_box_excess_avx2(oif_inner_box inner,
                                                         const int16_t *row_marks, size_t i)
{
    const __m256i marks = _mm256_loadu_si256((const __m256i *)(row_marks + i)),
                  lows = _mm256_loadu_si256((const __m256i *)(inner.lows + i)),
                  spans = _mm256_loadu_si256((const __m256i *)(inner.spans + i));
    return _mm256_subs_epu16(_mm256_sub_epi16(marks, lows), spans);
}

OIF_AVX2 static inline bool oif_inner_box_has_avx2(oif_inner_box inner, const int16_t *row_marks,
                                                   size_t width)
{
    __m256i outside = _mm256_setzero_si256();
    for (size_t i = 0; i < width; i += OIF_INNER_BOX_STEP)
        outside = _mm256_or_si256(outside, oif_inner_box_excess_avx2(inner, row_marks, i));
    return _mm256_testz_si256(outside, outside);
}
#endif

/* Whether a row is in an inner box of `width` columns. */
OIF_INLINE bool oif_inner_box_has(oif_inner_box inner, const int16_t *row_marks, size_t width,
                                  bool avx2)
{
    uint16_t outside = 0;
    (void)avx2;
#if OIF_HAS_AVX2_CODE
    if (avx2)
        return oif_inner_box_has_avx2(inner, row_marks, width);
#endif
    for (size_t i = 0; i < width; i++)
        outside |= oif_inner_box_excess(inner, row_marks, i);
    return outside == 0;
}

#endif
