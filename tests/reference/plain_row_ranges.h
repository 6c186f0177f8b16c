/* Row insertion by its definition (src/detect/row_ranges.h): keeps every row and finds the boxes
 * among them. A box that was found is kept until other rows make it up. The oracle for the fast
 * version. */
#ifndef TESTS_REFERENCE_PLAIN_ROW_RANGES_H
#define TESTS_REFERENCE_PLAIN_ROW_RANGES_H

#include <stddef.h>

typedef struct plain_row_ranges {
    size_t columns, count, capacity;
    double *rows;
    double *excesses;        /* how far outside values of each column usually are */
    struct known_box *known; /* the last box of each group of each column */
} plain_row_ranges;

void plain_row_ranges_learn(plain_row_ranges *ranges, const double *row);
void plain_row_ranges_free(plain_row_ranges *ranges);

/* The depth of an inserted row. Skips columns c with c % step == left_out; step 0: none. */
double plain_row_ranges_depth(const plain_row_ranges *ranges, const double *row, double depth,
                              size_t left_out, size_t step);

#endif
