/* Online Isolation Forest (Leveni et al., ICML 2024) as a plain translation of its Algorithms 1 to
 * 4.
 *
 * The slow, obvious twin of src/detect/online_iforest/window_forest.c: nodes on the heap, a box in
 * every node, splits that actually sample their points, libm logarithms. The tests compare
 * distributions with it and the benchmarks use it as the baseline; it is not shipped. The two agree
 * in distribution, not bit for bit: they draw different random numbers. */
#ifndef PLAIN_ONLINE_IFOREST_H
#define PLAIN_ONLINE_IFOREST_H

#include <stdint.h>

/* The height that a leaf must reach before it splits. */
typedef enum plain_growth {
    PLAIN_GROWTH_ADAPTIVE, /* max_leaf_samples * 2^depth, the paper's */
    PLAIN_GROWTH_FIXED     /* max_leaf_samples at every depth */
} plain_growth;

/* Where the paper's text and the authors' released code differ. With n rows in the window:
 *
 *                           running                  paper              reference (authors' code)
 *     c(n)                  log2(n / eta)            log2(n / eta)      log4(n / eta)
 *     depth limit           c(min(n, omega))         c(omega)           c(n), including the new row
 *     score divides by      c(n)                     c(omega)           c(n)
 *     score if that is 0    0.5                      1                  1
 *     split value           in the leaf's box        in the leaf's box  between the sampled points
 *     new children          wait for their next row  wait               split again at once if
 *                                                                       they may */
typedef enum plain_variant {
    PLAIN_VARIANT_RUNNING,
    PLAIN_VARIANT_PAPER,
    PLAIN_VARIANT_REFERENCE
} plain_variant;

typedef struct plain_forest_params {
    int num_trees;        /* tau, at least 1 */
    int window_size;      /* omega, at least 1 */
    int max_leaf_samples; /* eta, at least 1 */
    plain_growth growth;
    plain_variant variant;
    uint64_t seed;
} plain_forest_params;

typedef struct plain_forest plain_forest;

/* A row has `dimension` finite values. Running out of memory ends the program: this is a test
 * aid. */
plain_forest *plain_forest_new(const plain_forest_params *params, int dimension);
void plain_forest_free(plain_forest *forest);

/* Every tree learns the row and, once there are more than window_size rows, forgets the oldest. */
void plain_forest_learn(plain_forest *forest, const double *row);

/* The score in [0, 1], higher is more anomalous. Changes only the visit counter. */
double plain_forest_score(plain_forest *forest, const double *row);

/* Algorithm 1 for one row: learns it, then scores it. */
double plain_forest_learn_score(plain_forest *forest, const double *row);

/* Inspection. `tree` counts from 0. */

/* Algorithm 4: depth of the row's leaf plus c(its height). */
double plain_forest_depth(const plain_forest *forest, int tree, const double *row);
int plain_forest_leaf_depth(const plain_forest *forest, int tree, const double *row);
int plain_forest_node_count(const plain_forest *forest, int tree);

/* Nodes on all paths walked so far to learn, forget and score. */
long long plain_forest_visits(const plain_forest *forest);

/* NULL, or a sentence that names the first broken invariant. */
const char *plain_forest_check(const plain_forest *forest);

#endif
