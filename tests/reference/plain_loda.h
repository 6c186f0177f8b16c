/* LODA (Pevny 2016), slow and plain: keeps all rows of the window, projects them again for every
 * score and counts every histogram from them. The weights are those of the detector. Where the
 * paper is silent, docs/algorithms/loda.md applies. */
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
