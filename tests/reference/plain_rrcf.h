/* A robust random cut tree, transcribed from the paper (Guha, Mishra, Roy, Schrijvers, ICML 2016):
 * pointers, recursion, boxes found by visiting every row below. The detector rrcf is compared with
 * it. Rows are complete, and no value is so large that ranges overflow. Running out of memory ends
 * the program: this is a test aid. */
#ifndef TESTS_REFERENCE_PLAIN_RRCF_H
#define TESTS_REFERENCE_PLAIN_RRCF_H

#include <stddef.h>
#include <stdint.h>

typedef struct plain_cut_tree plain_cut_tree;

/* Definition 1: a tree built from `count` rows. Rows are copied; equal ones share a leaf. */
plain_cut_tree *plain_cut_tree_build(const double *rows, size_t count, size_t dimension,
                                     uint64_t seed);
void plain_cut_tree_free(plain_cut_tree *tree);

/* Algorithm 2 (InsertPoint) and Algorithm 1 (ForgetPoint); the row to forget must be in the
 * tree. */
void plain_cut_tree_insert(plain_cut_tree *tree, const double *row);
void plain_cut_tree_forget(plain_cut_tree *tree, const double *row);

/* For a row in the tree: the depth of its leaf, and its collusive displacement by Definition 4. For
 * every set C of rows below an ancestor: remove C, add up by how much the depths of the other rows
 * fall, divide by |C|. The maximum of these. */
double plain_cut_tree_depth(const plain_cut_tree *tree, const double *row);
double plain_cut_tree_displacement(const plain_cut_tree *tree, const double *row);

/* The first cut; -1 if there is none. */
int plain_cut_tree_root_column(const plain_cut_tree *tree);
double plain_cut_tree_root_value(const plain_cut_tree *tree);

#endif
