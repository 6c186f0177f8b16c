/* rolling-iforest as docs/algorithms/rolling-iforest.md tells it: a row is scored first and
 * learned then, trees of pointers hold copies of nothing, all rows are kept for ever. It draws
 * the random numbers that the detector draws and adds up in the same order, so the scores are
 * the same to the last bit. Running out of memory ends the program: this is a test aid. */
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

/* Scores a row, then learns it. NaN is a missing number. */
double plain_rolling_score_learn(plain_rolling *forest, const double *row);

#endif
