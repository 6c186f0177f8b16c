/* The trees of rolling-iforest: small isolation trees that keep the range of the rows at each cut.
 * A row is scored as if it were inserted. rolling_iforest.c decides when trees are grown, and from
 * which rows.
 *
 * A tree has space for the most inner nodes it can have, in the order in which they are grown: a
 * node, its left subtree, its right subtree. Leaves take no space: the child itself holds the
 * number of rows. Trees follow one another; one tree:
 *
 *     | node 0: low, cut, high, column, children | node 1 | ... | unused, all zero |
 *
 *     child     1 m xx xxxx xxxx xxxx   a leaf of x rows
 *               0 m xx xxxx xxxx xxxx   node x of the same tree;   m: missing values go here
 *
 * The trees are one block of memory without pointers and may be part of another block. Scoring a
 * row costs O(num_trees max_depth), growing a tree O(sample_size tournament max_depth).
 */
#ifndef OIF_DETECT_ROLLING_TREE_H
#define OIF_DETECT_ROLLING_TREE_H

#include "base/block.h"
#include "base/random.h"
#include "detect/detector.h"
#include "detect/tree_figures.h"
#include "detect/widening.h"

enum {
    /* node numbers and rows of a leaf fit 14 bits */
    OIF_ROLLING_MAX_SAMPLE_SIZE = 1 << 13,
    OIF_ROLLING_MAX_DEPTH = 32,
    OIF_ROLLING_MAX_TOURNAMENT = 64,
    OIF_ROLLING_LEAF = 1 << 15,    /* flag of a child */
    OIF_ROLLING_MISSING = 1 << 14, /* flag of the child with more rows, the left one if equal */
    OIF_ROLLING_NUMBER = OIF_ROLLING_MISSING - 1
};

/* 32 bytes, half of a cache line. */
typedef struct oif_rolling_node {
    double low, high; /* of the column, in the rows of the node */
    double cut;       /* smaller numbers are on the left; low < cut <= high */
    uint32_t column;
    uint16_t children[2];
} oif_rolling_node;

/* Shape of the trees. */
typedef struct oif_rolling_shape {
    uint32_t num_trees;
    uint32_t sample_size;      /* the most rows of a tree */
    uint32_t max_depth;        /* the longest path, in cuts */
    uint32_t max_leaf_samples; /* fewer rows are not cut */
    uint32_t tournament;       /* columns that compete for a cut */
    uint32_t insertion;        /* whether a row outside the ranges is scored as if inserted */
} oif_rolling_shape;

/* The head of the block; arrays follow at the offsets `.._at`. */
typedef struct oif_rolling_trees {
    oif_rolling_shape shape;
    uint32_t dimension;
    uint32_t node_capacity; /* inner nodes per tree */

    size_t nodes_at;    /* oif_rolling_node [num_trees][node_capacity] */
    size_t roots_at;    /* uint16_t [num_trees]: encoded like a child */
    size_t rows_at;     /* uint16_t [num_trees]: that each tree was grown from; 0 before that */
    size_t averages_at; /* double [sample_size + 1]: c(n) */
    size_t scales_at;   /* double [sample_size + 1]: 2^32 / c(n) */
    size_t numbers_at;  /* double [sample_size]: scratch space for growing a tree */
    size_t spare_at;    /* size_t [sample_size]: likewise */
    size_t bytes;
} oif_rolling_trees;

/* ---- Where things are ---- */

static inline oif_rolling_node *oif_rolling_nodes(const oif_rolling_trees *trees, uint32_t tree)
{
    return (oif_rolling_node *)oif_block_part(trees, trees->nodes_at) +
           (size_t)tree * trees->node_capacity;
}

static inline uint16_t *oif_rolling_roots(const oif_rolling_trees *trees)
{
    return oif_block_part(trees, trees->roots_at);
}

static inline uint16_t *oif_rolling_rows(const oif_rolling_trees *trees)
{
    return oif_block_part(trees, trees->rows_at);
}

/* c(n) of isolation.h. */
static inline const double *oif_rolling_averages(const oif_rolling_trees *trees)
{
    return oif_block_part(trees, trees->averages_at);
}

/* ---- Functions ---- */

/* The head of the block; its `bytes` are SIZE_MAX if no machine could hold it. */
oif_rolling_trees oif_rolling_lay_out(const oif_rolling_shape *shape, size_t dimension);

/* Creates trees without rows in a zeroed block of head->bytes. */
void oif_rolling_init(oif_rolling_trees *trees, const oif_rolling_trees *head);

/* Makes trees without rows, for rows of more columns, those of `trees`. No cut is in a new column
 * until a tree is grown again. */
void oif_rolling_widen(oif_rolling_trees *wide, const oif_rolling_trees *trees,
                       const oif_widening *widening);

/* Grows a new tree from `count` rows, 2 to sample_size, that start at values[rows[i]]. Reorders
 * `rows`. */
void oif_rolling_grow(oif_rolling_trees *trees, uint32_t tree, const double *values, size_t *rows,
                      uint32_t count, oif_random *random);

/* The score of a row: 2^-(mean over the trees of depth / c(rows of the tree)); 0.5 if there is no
 * tree yet. `complete`: no value is missing. */
double oif_rolling_score(const oif_rolling_trees *trees, const double *row, bool complete);

/* Adds the leaves of all trees to the figures. */
void oif_rolling_add_figures(const oif_rolling_trees *trees, oif_tree_figures *figures);

/* Reports trees other than the `grown` ones before `next`, which are those that the last rows have
 * grown; or nodes that no tree has, if these are all rows. */
void oif_rolling_unchanged(const oif_rolling_trees *trees, uint32_t next, uint64_t grown,
                           const oif_unchanged *unchanged);

/* Visits every field that growing changes. */
void oif_rolling_visit_fields(oif_rolling_trees *trees, oif_state_visitor *visitor);

/* Verifies every invariant; OIF_EINVARIANT names the broken one. */
oif_status oif_rolling_check(const oif_rolling_trees *trees, oif_error *error);

#endif
