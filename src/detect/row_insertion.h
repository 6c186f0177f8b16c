/* Insertion of whole rows: the ranges of the recent rows (row_ranges.h) raise the score that the
 * trees give to a row with values outside. */
#ifndef OIF_DETECT_ROW_INSERTION_H
#define OIF_DETECT_ROW_INSERTION_H

#include "base/pool.h"
#include "detect/row_block.h"
#include "detect/row_ranges.h"

typedef struct oif_row_insertion {
    oif_row_ranges *ranges;
    double depth; /* that gives a score of 1/2 */
} oif_row_insertion;

/* The score of a row as if it had been inserted. `left_out` may be NULL. Slow: call it only for a
 * row that may be outside. */
double oif_row_insertion_score(const oif_row_insertion *insertion, const double *row, double score,
                               const oif_columns_left_out *left_out);

/* Changes the scores of rows that are not learned. */
void oif_row_insertion_score_rows(const oif_row_insertion *insertion, const oif_rows *rows,
                                  double *scores);

/* Learns the rows in order and changes their scores, unless `scores` is NULL. With scores_first, a
 * row is scored before it is learned. The threads of the pool (may be NULL) may share the work; the
 * results are the same bits. Each part of the pool has memory for a copy of the ranges. */
void oif_row_insertion_learn(const oif_row_insertion *insertion, const oif_rows *rows,
                             double *scores, bool scores_first, oif_pool *pool);

#endif
