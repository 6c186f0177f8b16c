/* Half-Space Trees as in the paper (Tan, Ting, Liu 2011), slow and plain: complete trees of
 * 2^(depth + 1) - 1 nodes, every node on a row's path counts it, every node has its own masses.
 * Only for rows without missing values. The random draws are those of the detector, so both must
 * give the same sums.
 *
 * The paper expects columns from 0 to 1. Here they are mapped by the range of the first rows, as in
 * the detector (docs/algorithms/hst.md): the trees are built from the first 16 rows, from 32, ...
 * and from a window; with `relearn` from every window. */
#ifndef TESTS_REFERENCE_PLAIN_HALF_SPACE_TREES_H
#define TESTS_REFERENCE_PLAIN_HALF_SPACE_TREES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plain_hst_params {
    int num_trees, window_size, max_depth;
    double size_limit;
    bool relearn;
    bool fixed; /* the range of every column is [low, high] */
    double low, high;
    uint64_t seed;
} plain_hst_params;

typedef struct plain_hst plain_hst;

plain_hst *plain_hst_new(const plain_hst_params *params, int dimension);
void plain_hst_free(plain_hst *forest);
void plain_hst_learn(plain_hst *forest, const double *row);

/* The sum over the trees of mass x 2^depth, and the detector's score for it. */
uint64_t plain_hst_mass(const plain_hst *forest, const double *row);
double plain_hst_score(const plain_hst *forest, const double *row);

#endif
