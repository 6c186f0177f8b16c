/* One column of the rows of a node, while a tree of rolling-iforest grows: its range and its tails,
 * and the rows on both sides of a cut. Rows are given by where they start; `values` is the column's
 * number of the row that starts at 0. */
#ifndef OIF_DETECT_ROLLING_COLUMN_H
#define OIF_DETECT_ROLLING_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct oif_rolling_column {
    double low, high; /* of the numbers that are not missing; low < high unless they are constant */
    /* their fourth central moment over the square of the second; 0 where it is not needed */
    double kurtosis;
    bool complete; /* no number is missing */
} oif_rolling_column;

/* `weigh`: the kurtosis is needed. `numbers` is room for `count` of them. */
void oif_rolling_read_column(const double *values, const size_t *rows, uint32_t count, bool weigh,
                             double *numbers, oif_rolling_column *column);

/* Brings the rows that go left to the front, in their order, and then those that go right; returns
 * how many go left: those with a number below the cut. A missing number goes to the heavier side.
 * `spare` is room for `count` rows. */
uint32_t oif_rolling_part_rows(const double *values, size_t *rows, uint32_t count, double cut,
                               bool complete, size_t *spare);

#endif
