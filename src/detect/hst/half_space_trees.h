/* Half-Space Trees: the data structures. half_space_trees.c has the algorithm.
 *
 * The paper's tree is complete: 2^max_depth leaves, cuts at the middle, columns drawn at random. It
 * does not depend on the rows, so it need not be stored: the column of a node is a function of
 * seed, tree and place.
 *
 *     place           1                the root; below i are 2i and 2i + 1
 *                   /   \
 *                  2     3             a node that holds more rows than the size limit, in the
 *                 / \                  reference window or in the latest one, has its children
 *                4   5                 in memory; nodes further down are never needed
 *                   / \
 *                 10   11
 *
 * All trees share one array of nodes. A tree has node_capacity of them, the root first, siblings
 * next to each other. A leaf is its own child and has the cut +infinity, so every walk takes the
 * same number of steps whatever the shape of the tree: no test for leaves, many trees side by side.
 */
#ifndef OIF_DETECT_HALF_SPACE_TREES_H
#define OIF_DETECT_HALF_SPACE_TREES_H

#include "base/block.h"
#include "detect/detector.h"

#define OIF_HST_NONE UINT32_MAX

enum { OIF_HST_DEPTH_BITS = 5 };

typedef enum oif_hst_ranges { OIF_HST_FIRST, OIF_HST_EVERY, OIF_HST_FIXED } oif_hst_ranges;

typedef struct oif_hst_node {
    double cut;      /* rows at or above it go right; +infinity in a leaf */
    uint32_t column; /* 0 in a leaf */
    uint32_t child;  /* the left child, the right one is next; in a leaf the node itself */
    uint32_t place;  /* in the complete tree */
    uint32_t count;  /* rows of the latest window in this leaf; 0 in an inner node */
    union {
        /* in a leaf: head of the list of its rows in the latest window; OIF_HST_NONE if empty */
        uint32_t first_row;
        uint32_t heavier; /* in an inner node: the child for rows with a missing value */
    };
    /* mass and depth of the node where rows that come here end in the reference tree */
    uint32_t worth;
} oif_hst_node;

typedef struct oif_hst_tree {
    uint64_t seed; /* of the random numbers of this tree */
    uint32_t used; /* nodes ever in use, including the root */
    /* the first of two free nodes, whose child is the next free pair; OIF_HST_NONE ends the list */
    uint32_t free_pair;
    uint32_t levels; /* depth of the deepest leaf */
} oif_hst_tree;

/* An eighth of a column's range, so no sum overflows. Both ends are +infinity if the column was
 * never seen. */
typedef struct oif_hst_range {
    double low, high, width;
} oif_hst_range;

/* The head of the state; arrays follow at the offsets `.._at`. It has no implicit padding, whose
 * bytes would be undefined: equal detectors have equal bytes. */
typedef struct oif_hst_state {
    uint32_t dimension, num_trees, window_size, max_depth;
    oif_hst_ranges ranges;
    uint32_t padding; /* named, so it is initialised */
    double size_limit, range_low, range_high;

    uint32_t node_capacity; /* per tree */
    uint32_t limit;         /* the most rows of a leaf */
    /* 1: rows are counted as they come; before that, trees are built from whole windows */
    uint32_t counting;
    uint32_t next_build;     /* rows in the window at which the trees are built */
    uint32_t rows_held;      /* of the latest window */
    uint32_t reference_rows; /* in the reference window; 0 before the first */
    double no_mass;          /* log2 of the sum that sums of masses are divided by */
    double full_scale;       /* one over the log2 of the greatest quotient */

    size_t trees_at;    /* oif_hst_tree  [num_trees] */
    size_t nodes_at;    /* oif_hst_node  [num_trees][node_capacity] */
    size_t next_row_at; /* uint32_t      [num_trees][window_size] */
    size_t ranges_at;   /* oif_hst_range [dimension] */
    size_t rows_at;     /* double        [window_size][dimension]: the latest window */
    size_t bytes;
} oif_hst_state;

_Static_assert(offsetof(oif_hst_state, size_limit) ==
                   offsetof(oif_hst_state, padding) + sizeof(uint32_t),
               "the state of hst has padding");

static inline oif_hst_tree *oif_hst_trees(const oif_hst_state *forest)
{
    return oif_block_part(forest, forest->trees_at);
}

static inline oif_hst_node *oif_hst_nodes(const oif_hst_state *forest)
{
    return oif_block_part(forest, forest->nodes_at);
}

static inline uint32_t oif_hst_root(const oif_hst_state *forest, uint32_t tree)
{
    return tree * forest->node_capacity;
}

static inline uint32_t *oif_hst_next_row(const oif_hst_state *forest, uint32_t tree)
{
    return (uint32_t *)oif_block_part(forest, forest->next_row_at) +
           (size_t)tree * forest->window_size;
}

static inline oif_hst_range *oif_hst_range_of(const oif_hst_state *forest, uint32_t column)
{
    return (oif_hst_range *)oif_block_part(forest, forest->ranges_at) + column;
}

static inline double *oif_hst_row(const oif_hst_state *forest, uint32_t slot)
{
    return (double *)oif_block_part(forest, forest->rows_at) + (size_t)slot * forest->dimension;
}

static inline bool oif_hst_is_cut(const oif_hst_state *forest, uint32_t at)
{
    return oif_hst_nodes(forest)[at].child != at;
}

static inline uint32_t oif_hst_depth(uint32_t place)
{
    return 31 - (uint32_t)__builtin_clz(place);
}

static inline uint32_t oif_hst_mass(uint32_t worth)
{
    return worth >> OIF_HST_DEPTH_BITS;
}

static inline uint32_t oif_hst_worth(uint32_t mass, uint32_t depth)
{
    return mass << OIF_HST_DEPTH_BITS | depth;
}

/* ---- Needed by the check ---- */

/* The most rows of a leaf if a window has `rows`. */
uint32_t oif_hst_limit(const oif_hst_state *forest, uint32_t rows);

/* After a build from `rows` rows: the rows at which the next build is due. */
uint32_t oif_hst_build_after(const oif_hst_state *forest, uint32_t rows);

/* The column, and the value, of the cut at a place of the complete tree. */
uint32_t oif_hst_column_at(const oif_hst_state *forest, const oif_hst_tree *tree, uint32_t place);
double oif_hst_cut_at(const oif_hst_state *forest, uint32_t tree, uint32_t place, uint32_t column);

/* The leaf of a row. If a value is missing, the walk takes the heavier child. */
uint32_t oif_hst_walk(const oif_hst_state *forest, uint32_t tree, const double *row);

/* Whether a leaf holds more rows than allowed. */
bool oif_hst_must_be_cut(const oif_hst_state *forest, const oif_hst_node *leaf);

/* Verifies every invariant; OIF_EINVARIANT names the broken one. */
oif_status oif_hst_check(const void *state, oif_error *error);

#endif
