/* One column of the rows of a node, while a tree of rolling-iforest grows: its range, its tails,
 * and the rows on both sides of a cut. Rows are offsets; `values` points to the column's value in
 * the row at offset 0. */
#ifndef OIF_DETECT_ROLLING_COLUMN_H
#define OIF_DETECT_ROLLING_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct oif_rolling_column {
    double low, high; /* of the values that are not missing; low < high if it can be cut */
    /* fourth central moment over the squared second one; 0 if not needed */
    double kurtosis;
    bool complete; /* no value is missing */
} oif_rolling_column;

/* `weigh`: the kurtosis is needed. `numbers` is scratch space for `count` values. */
void oif_rolling_read_column(const double *values, const size_t *rows, uint32_t count, bool weigh,
                             double *numbers, oif_rolling_column *column);

/* The same for three columns, with their kurtosis, where that is faster: rolling_three.c. Returns
 * false where it is not, and if a column is constant or has a missing value; `columns` then has any
 * content. `numbers[k]` is the number of a column: its values are at values + numbers[k]. */
enum { OIF_ROLLING_THREE = 3 };
bool oif_rolling_read_three(const double *values, const uint32_t numbers[OIF_ROLLING_THREE],
                            const size_t *rows, uint32_t count,
                            oif_rolling_column columns[OIF_ROLLING_THREE]);

/* Moves the rows that go left, with values below the cut, to the front and the others behind them,
 * and keeps their order. Returns how many go left. Missing values go to the heavier side. `spare`
 * is scratch space for `count` rows. */
uint32_t oif_rolling_part_rows(const double *values, size_t *rows, uint32_t count, double cut,
                               bool complete, size_t *spare);

#endif
