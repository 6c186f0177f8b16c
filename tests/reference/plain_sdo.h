/* SDOstream (Hartl, Iglesias, Zseby 2020), slow and plain: observers are rows in a list, every
 * question is answered by sorting, and weights grow forever. Where the paper is silent,
 * docs/algorithms/sdo.md applies. Good for a few hundred windows of one row, then weights
 * overflow. */
#ifndef TESTS_REFERENCE_PLAIN_SDO_H
#define TESTS_REFERENCE_PLAIN_SDO_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plain_sdo_params {
    int num_observers, num_neighbours, window_size;
    double idle_share;
    bool scale;
    uint64_t seed;
} plain_sdo_params;

typedef struct plain_sdo plain_sdo;

plain_sdo *plain_sdo_new(const plain_sdo_params *params, int dimension);
void plain_sdo_free(plain_sdo *sdo);
void plain_sdo_learn(plain_sdo *sdo, const double *row);
double plain_sdo_score(const plain_sdo *sdo, const double *row);

#endif
