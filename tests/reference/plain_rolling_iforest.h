/* rolling-iforest as described in docs/algorithms/rolling-iforest.md: a row is scored first, then
 * learned; trees are made of pointers, and all rows are kept forever. It draws the same random
 * numbers as the detector and adds in the same order, so the scores have the same bits. Running out
 * of memory ends the program: this is a test aid. */
#ifndef TESTS_REFERENCE_PLAIN_ROLLING_IFOREST_H
#define TESTS_REFERENCE_PLAIN_ROLLING_IFOREST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plain_rolling_params {
    int num_trees, window_size, sample_size, max_depth, max_leaf_samples, tournament, renew_trees;
    bool insertion;
    uint64_t seed;
} plain_rolling_params;

typedef struct plain_rolling plain_rolling;

plain_rolling *plain_rolling_new(const plain_rolling_params *params, int dimension);
void plain_rolling_free(plain_rolling *forest);

/* Scores a row, then learns it. NaN is a missing value. */
double plain_rolling_score_learn(plain_rolling *forest, const double *row);

#endif
