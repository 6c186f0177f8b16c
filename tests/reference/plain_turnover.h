/* Online Isolation Forest that forgets by turnover, as a plain translation of its rules: the slow,
 * obvious twin of src/detect/online_iforest/turnover_forest.c. Nodes on the heap, a box in every
 * node, splits that actually sample their points, libm logarithms, ages counted row by row. The two
 * agree in distribution, not bit for bit: they draw different random numbers. */
#ifndef PLAIN_TURNOVER_H
#define PLAIN_TURNOVER_H

#include <stdint.h>

typedef struct plain_turnover_params {
    int num_trees;        /* active ones, at least 1 */
    int shadow_trees;     /* at least 1 */
    int maturity;         /* rows after which a shadow becomes active; at least shadow_trees */
    int max_leaf_samples; /* eta, at least 1 */
    int fixed_growth;     /* 0: a leaf of depth k splits at eta 2^k rows; 1: at eta */
    uint64_t seed;
} plain_turnover_params;

typedef struct plain_turnover plain_turnover;

/* A row has `dimension` values, NaN if missing. Running out of memory ends the program: this is a
 * test aid. */
plain_turnover *plain_turnover_new(const plain_turnover_params *params, int dimension);
void plain_turnover_free(plain_turnover *forest);

/* If a shadow is mature, trees are turned over; then every tree that has started learns the row. */
void plain_turnover_learn(plain_turnover *forest, const double *row);

/* The score in [0, 1], higher is more anomalous. */
double plain_turnover_score(const plain_turnover *forest, const double *row);

/* Learns the row, then scores it. */
double plain_turnover_learn_score(plain_turnover *forest, const double *row);

/* Inspection. `tree` counts from the oldest active one; from num_trees on they are shadows. */
int plain_turnover_age(const plain_turnover *forest, int tree);
double plain_turnover_depth(const plain_turnover *forest, int tree, const double *row);
int plain_turnover_leaf_depth(const plain_turnover *forest, int tree, const double *row);
int plain_turnover_node_count(const plain_turnover *forest, int tree);

/* NULL, or a sentence that names the first broken invariant. */
const char *plain_turnover_check(const plain_turnover *forest);

#endif
