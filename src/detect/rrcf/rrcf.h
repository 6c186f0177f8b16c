/* The state of the detector `rrcf`, shared with tests that look inside. */
#ifndef OIF_DETECT_RRCF_H
#define OIF_DETECT_RRCF_H

#include "detect/rrcf/random_cut_tree.h"

typedef enum oif_rrcf_sample { OIF_RRCF_RESERVOIR, OIF_RRCF_SLIDING } oif_rrcf_sample;

/* Arrays follow at the offsets `.._at`. */
typedef struct oif_rrcf_state {
    oif_cut_tree_shape shape; /* of every tree; its capacity is tree_size */
    uint32_t num_trees;
    oif_rrcf_sample sample;
    double window_size;    /* at least tree_size */
    uint64_t rows_learned; /* whether or not a tree took them */

    /* uint32_t [num_trees][tree_size]: the leaf of each row of a tree's sample */
    size_t leaves_at;
    /* uint32_t [num_trees]: the leaf of the row learned last, or OIF_CUT_TREE_NO_NODE */
    size_t last_leaves_at;
    size_t last_row_at; /* double   [dimension]: that row */
    size_t trees_at;    /* num_trees trees */
    size_t bytes;
} oif_rrcf_state;

static inline oif_cut_tree *oif_rrcf_tree(const oif_rrcf_state *forest, uint32_t number)
{
    return oif_block_part(forest, forest->trees_at + number * forest->shape.bytes);
}

static inline uint32_t *oif_rrcf_leaves(const oif_rrcf_state *forest, uint32_t number)
{
    return (uint32_t *)oif_block_part(forest, forest->leaves_at) +
           (size_t)number * forest->shape.capacity;
}

static inline uint32_t *oif_rrcf_last_leaves(const oif_rrcf_state *forest)
{
    return oif_block_part(forest, forest->last_leaves_at);
}

static inline double *oif_rrcf_last_row(const oif_rrcf_state *forest)
{
    return oif_block_part(forest, forest->last_row_at);
}

/* The rows that every tree holds. */
static inline uint32_t oif_rrcf_rows_held(const oif_rrcf_state *forest)
{
    return forest->rows_learned < forest->shape.capacity ? (uint32_t)forest->rows_learned
                                                         : forest->shape.capacity;
}

#endif
