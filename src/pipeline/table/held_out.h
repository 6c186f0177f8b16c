/* The scores that detectors give to the rows of a finished table. A row that a detector has learned
 * looks more usual to it, and in a small table much more so. So each row is scored only by
 * detectors that have not learned it:
 *
 *     rows     a b c d e f g h i j k l      shuffled into four folds
 *     fold 1   . . .                        scored by a detector that has learned the other nine,
 *     fold 2         . . .                  in random order and again and again until it has
 *     ...                                   learned enough
 *
 * This is repeated with other folds, and a score is the mean of all repetitions. Everything is
 * drawn from the seed of the detector: the same bits on every machine. */
#ifndef OIF_PIPELINE_HELD_OUT_H
#define OIF_PIPELINE_HELD_OUT_H

#include "oif.h"

/* A row of a table is what a detector gets: `numbers` values without infinities. */
typedef struct oif_table_rows {
    const double *rows;
    size_t count; /* below 2^32 */
    size_t numbers;
} oif_table_rows;

/* `params` are those of a single detector.
 *
 * OIF_EMEMORY */
oif_status oif_held_out_scores(const oif_params *params, const oif_table_rows *table,
                               double *scores, oif_error *error);

/* Lets a detector learn all rows of a table, as those above learn.
 *
 * OIF_EMEMORY   nothing was learned */
oif_status oif_held_out_learn_all(oif_detector *detector, const oif_table_rows *table,
                                  oif_error *error);

#endif
