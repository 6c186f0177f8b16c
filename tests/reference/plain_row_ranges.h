/* Row insertion as its definition reads (src/detect/row_ranges.h): keeps every row and looks for
 * the boxes among them each time. The oracle of the fast one. */
#ifndef TESTS_REFERENCE_PLAIN_ROW_RANGES_H
#define TESTS_REFERENCE_PLAIN_ROW_RANGES_H

#include <stddef.h>

typedef struct plain_row_ranges {
    size_t columns, count, capacity;
    double *rows;
    double *excesses; /* how far outside numbers of each column are usually */
} plain_row_ranges;

void plain_row_ranges_learn(plain_row_ranges *ranges, const double *row);
void plain_row_ranges_free(plain_row_ranges *ranges);

/* The depth of an inserted row. Columns c with c % step == left_out do not count; step 0: all
 * do. */
double plain_row_ranges_depth(const plain_row_ranges *ranges, const double *row, double depth,
                              size_t left_out, size_t step);

/* How far outside the worst number is, as oif_row_ranges_worst. */
double plain_row_ranges_worst(const plain_row_ranges *ranges, const double *row, size_t *column);

#endif
