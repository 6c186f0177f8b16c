/* Isolation Forest (Liu, Ting, Zhou: Isolation Forest, ICDM 2008): trees that isolate the rows
 * of a sample by random cuts. A row that few cuts set apart from the sample is anomalous. Which
 * rows a tree is grown from, and when, is for others to say (iforest_asd.c).
 *
 * All trees share one heap of nodes, roots side by side; node i has the children 2i and 2i + 1:
 *
 *     level 0    |root 0|root 1| ... |root T-1|          index T .. 2T-1
 *     level 1    |  |   |  |   | ... |   |    |          index 2T .. 4T-1
 *     ...                                                depth_limit levels of cuts
 *     bottom     | | | || | | || ... | | | |  |          path_lengths, of a leaf
 *                                                        at its leftmost place
 *
 * A node that is not cut has the cut +infinity and sends every row left: a walk takes
 * depth_limit steps whatever the shape of the tree, without a test for leaves, and many trees
 * are walked side by side.
 *
 * A forest is one block of memory without pointers, which may lie inside another. Scoring a row
 * costs O(num_trees depth_limit), growing a tree O(subsample_size depth_limit) and one pass
 * over each constant column.
 */
#ifndef OIF_DETECT_IFOREST_H
#define OIF_DETECT_IFOREST_H

#include "base/block.h"
#include "base/random.h"
#include "detect/detector.h"
#include "detect/tree_figures.h"

enum {
    /* path lengths are whole multiples of 2^-26: sums do not depend on their order */
    OIF_PATH_BITS = 26,
    OIF_MAX_SUBSAMPLE_SIZE = 1 << 15 /* so that a count fits 16 bits and a path length 32 */
};

/* The block begins with this; arrays follow at the offsets `.._at`. */
typedef struct oif_iforest {
    uint32_t dimension, num_trees;
    uint32_t subsample_size; /* the most rows that a tree is grown from */
    uint32_t depth_limit;    /* of a tree grown from that many */
    uint64_t normal_length;  /* the sum over the trees of c(rows that it was grown from) */

    size_t cuts_at;        /* double   [num_trees << depth_limit], the first num_trees unused */
    size_t cut_columns_at; /* uint32_t [num_trees << depth_limit], likewise */
    /* uint16_t [num_trees << depth_limit << 1], likewise: rows of the sample in each node */
    size_t counts_at;
    size_t path_lengths_at; /* uint32_t [num_trees << depth_limit]: the bottom */
    size_t average_at;      /* uint32_t [subsample_size + 1]: c(n) */
    /* uint32_t [dimension]: all columns, in the order in which the last tree left them */
    size_t order_at;
    size_t values_at; /* double   [subsample_size]: room for growing a tree */
    size_t spare_at;  /* uint32_t [subsample_size]: likewise */
    size_t bytes;
} oif_iforest;

/* ---- Where things are ---- */

static inline double *oif_iforest_cuts(const oif_iforest *forest)
{
    return oif_block_part(forest, forest->cuts_at);
}

static inline uint32_t *oif_iforest_cut_columns(const oif_iforest *forest)
{
    return oif_block_part(forest, forest->cut_columns_at);
}

static inline uint16_t *oif_iforest_counts(const oif_iforest *forest)
{
    return oif_block_part(forest, forest->counts_at);
}

static inline uint32_t *oif_iforest_path_lengths(const oif_iforest *forest)
{
    return oif_block_part(forest, forest->path_lengths_at);
}

static inline uint32_t oif_iforest_root(const oif_iforest *forest, uint32_t tree)
{
    return forest->num_trees + tree;
}

/* c(n) of isolation.h in path units. */
static inline uint32_t oif_iforest_average(const oif_iforest *forest, uint32_t rows)
{
    return ((const uint32_t *)oif_block_part(forest, forest->average_at))[rows];
}

/* The rows that a tree was grown from; 0 before it was. */
static inline uint32_t oif_iforest_rows_of(const oif_iforest *forest, uint32_t tree)
{
    return oif_iforest_counts(forest)[oif_iforest_root(forest, tree)];
}

/* The deepest that a tree of this many rows is cut: ceil(log2(rows)). */
uint32_t oif_iforest_depth_limit(uint32_t rows);

/* ---- What a forest does ---- */

/* The head of a forest; its `bytes` are SIZE_MAX when no machine could hold it. */
oif_iforest oif_iforest_lay_out(uint32_t num_trees, uint32_t subsample_size, size_t dimension);

/* Makes a forest without rows in a cleared block of head->bytes. */
void oif_iforest_init(oif_iforest *forest, const oif_iforest *head);

/* Grows a new tree from subsample_size of the `count` rows that are numbered in `rows`, or
 * from all if they are fewer; row i starts at values[i * stride]. The sample is drawn without
 * replacement; `rows` is left in another order. */
void oif_iforest_grow(oif_iforest *forest, uint32_t tree, const double *values, size_t stride,
                      uint32_t *rows, uint32_t count, oif_random *random);

/* The score 2^-(E(h) / c) of a row; 0.5 while no tree can tell two rows apart. `complete`: no
 * number is missing. */
double oif_iforest_score(const oif_iforest *forest, const double *row, bool complete);

/* Adds the leaves of all trees to the figures about them. */
void oif_iforest_add_figures(const oif_iforest *forest, oif_tree_figures *figures);

/* Visits every field that growing changes. */
void oif_iforest_visit_fields(oif_iforest *forest, oif_state_visitor *visitor);

/* Verifies every invariant; OIF_EINVARIANT names the broken one. */
oif_status oif_iforest_check(const oif_iforest *forest, oif_error *error);

#endif
