/* Where the columns of a row go when rows get more of them. What a detector gets for a row may be a
 * shingle of several rows and numbers after it (model.h); each of the rows becomes wider:
 *
 *     before    a b | a b | a b | jump flutter shape           rows 3, before 2, others 3
 *     after     a b c | a b c | a b c | jump flutter shape     after 3
 *
 * New columns were missing until now. */
#ifndef OIF_DETECT_WIDENING_H
#define OIF_DETECT_WIDENING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct oif_widening {
    size_t rows;          /* of a shingle */
    size_t before, after; /* columns of each */
    size_t others;        /* numbers after the shingle */
} oif_widening;

/* The new place of a number. */
static inline size_t oif_widened(const oif_widening *widening, size_t number)
{
    const size_t new_columns = widening->after - widening->before;
    if (number >= widening->rows * widening->before)
        return number + widening->rows * new_columns;
    return number + number / widening->before * new_columns;
}

/* Whether a number of the wide row is that of a new column. */
static inline bool oif_is_new_number(const oif_widening *widening, size_t number)
{
    return number < widening->rows * widening->after &&
           number % widening->after >= widening->before;
}

/* Copies a row; the new columns are missing. */
void oif_widen_row(const oif_widening *widening, const double *row, double *wide);

#endif
