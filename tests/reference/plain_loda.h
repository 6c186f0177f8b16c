/* LODA (Pevny 2016), slow and plain: all rows of the window are kept, projected anew for every
 * score, and every histogram is counted from them. The weights are those of the detector. What
 * the paper leaves open is as docs/algorithms/loda.md says. */
#ifndef TESTS_REFERENCE_PLAIN_LODA_H
#define TESTS_REFERENCE_PLAIN_LODA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plain_loda_params {
    int num_projections, num_bins, window_size;
    bool scale;
    uint64_t seed;
} plain_loda_params;

typedef struct plain_loda plain_loda;

plain_loda *plain_loda_new(const plain_loda_params *params, int dimension);
void plain_loda_free(plain_loda *loda);
void plain_loda_learn(plain_loda *loda, const double *row);
double plain_loda_score(const plain_loda *loda, const double *row);

#endif
