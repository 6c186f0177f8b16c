/* The trees of an Online Isolation Forest: where everything is, and how a tree changes its
 * shape.
 *
 * All trees share one heap of nodes, roots side by side; node i has the children 2i and 2i + 1:
 *
 *     level 0    |root 0|root 1| ... |root T-1|          index T .. 2T-1
 *     level 1    |  |   |  |   | ... |   |    |          index 2T .. 4T-1
 *     ...                                                depth_limit levels in all
 *     bottom     | | | || | | || ... | | | |  |
 *
 * A node that is not cut sends every row left, so a walk takes the same steps whatever the
 * shape of the tree: no test for leaves, no branch, many trees side by side. It ends at the
 * leaf or in the leftmost places below it, and all of those know the number of the leaf
 * (leaf_at).
 *
 * Walks compare integers, the sort keys of the row's values with the key of the cut: that
 * leaves the result in the carry, and the next node's index is one addition with it.
 *
 * What else a tree has lies together, in a block of tree_bytes:
 *
 *     | random | leaves, each with its boxes | labels: one byte per row of the window |
 *
 *   - Heights of leaves only: an inner height is the sum of the leaves below. A cut has to be
 *     undone when its node's height falls below the threshold. So every leaf guards a share of
 *     the thresholds above it; while no leaf's height is below its guard no inner node is below
 *     its threshold, and nothing has to be looked at.
 *   - Boxes of leaves only: a merge takes its box from the leaves below. A box holds the lowest
 *     x and the lowest -x of every column, so that one loop of minima widens it.
 *   - For each row of the window the leaf that counts it, kept right through cuts and merges:
 *     forgetting a row is one subtraction, and what is forgotten is what was learned.
 */
#ifndef OIF_DETECT_WINDOW_TREE_H
#define OIF_DETECT_WINDOW_TREE_H

#include "base/random.h"
#include "base/sort_key.h"
#include "detect/online_iforest/box.h"
#include "detect/online_iforest/inner_box.h"
#include "detect/online_iforest/online_iforest.h"

enum {
    OIF_WINDOW_MAX_LEAVES = 255,  /* of a tree: a leaf's number fits a byte ... */
    OIF_WINDOW_NOT_COUNTED = 255, /* ... and this label means that the row is not counted */
    OIF_WINDOW_SLOT_BLOCK = 64,   /* rows of the window that are worked on at a time */
    OIF_WINDOW_GROUP = 32,        /* trees worked on at a time; a whole number of lanes */
    OIF_WINDOW_NO_GUARD = 1 << 30 /* more slack than rows: nothing above this leaf depends on it */
};

typedef struct oif_window_leaf {
    /* rows counted; below 0 when more rows left than the cut above had put here */
    int32_t height;
    /* while height >= guard, no cut above has to be undone on this leaf's account */
    int32_t guard;
    int32_t cut_at;      /* the height at which it is cut; at most window_size + 2 */
    uint32_t depth;      /* in depth units; OIF_WINDOW_VACANT when this record is free */
    uint32_t index;      /* of its node */
    uint32_t padding[3]; /* so that boxes do not straddle more cache lines than they must */
    /* inner_width lows of the inner box follow, as many spans, box_width numbers of the box */
} oif_window_leaf;

#define OIF_WINDOW_VACANT UINT32_MAX

/* When most rows are outside the inner boxes, looking there is a waste: rows are then learned
 * without, twice as many each time. */
typedef struct oif_window_pace {
    uint32_t outside;    /* trees in which the last row was outside */
    uint32_t plain_rows; /* to come that do not look at inner boxes ... */
    uint32_t plain_next; /* ... and how many the next time */
} oif_window_pace;

typedef struct oif_window_tree {
    oif_random random;
    uint64_t cuts_made, cuts_undone; /* ever */
} oif_window_tree;

/* The state of the detector begins with this; arrays follow at the offsets `.._at`. Without
 * padding, whose bytes no one would set: equal detectors are equal bytes. */
typedef struct oif_window_state {
    oif_forgetting forgetting;
    uint32_t dimension, num_trees, window_size, max_leaf_samples;
    oif_variant variant;
    oif_growth growth;
    uint32_t cuts_varying; /* 1: only columns that vary are cut; the ranges see the others */
    double subsample;

    uint32_t depth_limit;   /* no node at this depth is cut */
    uint32_t leaf_capacity; /* records for leaves in a tree */
    /* rows in the ring: the window's and those of a chunk that is being learned */
    uint32_t slots;
    uint32_t box_width; /* numbers in a box: 2 x dimension, rounded up to whole steps */
    double full_scale;  /* see oif_window_scale */

    uint32_t rows_held; /* in the window */
    uint32_t next_slot; /* of the ring */

    /* Inner boxes, which are not in snapshots: a loaded forest has none at first. */
    uint32_t inner_width;  /* columns of an inner box; 0 where there are none */
    uint32_t grid_is_set;  /* 1: rows have marks */
    uint32_t rows_to_grid; /* rows to come before the grid is fitted again ... */
    uint32_t rows_of_grid; /* ... of this many in all */

    /* uint64_t [num_trees << depth_limit], the first num_trees unused; see oif_window_cut_value */
    size_t last_lefts_at;
    size_t cut_columns_at; /* uint32_t [num_trees << depth_limit], likewise */
    size_t leaf_at_at;     /* uint8_t  [num_trees << (depth_limit + 1)], likewise */
    size_t levels_at;      /* uint8_t  [num_trees]: levels of each tree that hold cuts */
    size_t lane_levels_at; /* uint8_t  [num_trees / OIF_LANES]: the most of OIF_LANES trees */
    size_t columns_at;     /* double   [dimension][slots]: the ring of rows, by column */
    size_t grid_at;        /* double   [3][inner_width]: see oif_window_grid */
    /* OIF_POOL_MAX_PARTS blocks of scratch_bytes, one per thread; offsets are from the start of a
     * block, which begins with double [box_width]: a row in the shape of a box */
    size_t scratch_at;
    size_t row_marks_at; /* int16_t  [inner_width]: those of a row */
    size_t pace_at;      /* oif_window_pace */
    size_t scratch_bytes;
    /* uint32_t [window_size + 3]: c(height) in depth units, from height -1 on */
    size_t extra_depth_at;
    /* num_trees blocks of tree_bytes; the offsets below are from the start of a block */
    size_t trees_at;
    size_t leaves_at; /* leaf_capacity records of leaf_bytes */
    size_t labels_at; /* uint8_t  [slots] */
    size_t leaf_bytes;
    size_t tree_bytes;
    size_t bytes;
} oif_window_state;

_Static_assert(offsetof(oif_window_state, subsample) ==
                   offsetof(oif_window_state, cuts_varying) + sizeof(uint32_t),
               "the state of online-iforest has padding");

/* ---- Where things are ---- */

static inline uint64_t *oif_window_last_lefts(const oif_window_state *forest)
{
    return oif_block_part(forest, forest->last_lefts_at);
}

static inline uint32_t *oif_window_cut_columns(const oif_window_state *forest)
{
    return oif_block_part(forest, forest->cut_columns_at);
}

static inline uint8_t *oif_window_leaf_at(const oif_window_state *forest)
{
    return oif_block_part(forest, forest->leaf_at_at);
}

static inline uint8_t *oif_window_levels(const oif_window_state *forest)
{
    return oif_block_part(forest, forest->levels_at);
}

static inline uint8_t *oif_window_lane_levels(const oif_window_state *forest)
{
    return oif_block_part(forest, forest->lane_levels_at);
}

static inline double *oif_window_ring_column(const oif_window_state *forest, uint32_t column)
{
    return (double *)oif_block_part(forest, forest->columns_at) + (size_t)column * forest->slots;
}

/* The slot of the oldest row in the window; the others follow around the ring. */
static inline uint32_t oif_window_oldest_slot(const oif_window_state *forest)
{
    return forest->next_slot >= forest->rows_held
               ? forest->next_slot - forest->rows_held
               : forest->next_slot + forest->slots - forest->rows_held;
}

/* The distance is at most a whole round of the ring. */
static inline uint32_t oif_window_slot_after(const oif_window_state *forest, uint32_t slot,
                                             uint32_t distance)
{
    uint32_t after = slot + distance;
    return after >= forest->slots ? after - forest->slots : after;
}

/* What a thread writes for every row: whole cache lines, that no other thread waits for. */
static inline void *oif_window_scratch(const oif_window_state *forest, unsigned part)
{
    return oif_block_part(forest, forest->scratch_at + part * forest->scratch_bytes);
}

/* By height, from -1 on. */
static inline uint32_t *oif_window_extra_depths(const oif_window_state *forest)
{
    return (uint32_t *)oif_block_part(forest, forest->extra_depth_at) + 1;
}

static inline oif_window_tree *oif_window_tree_at(const oif_window_state *forest, uint32_t number)
{
    return oif_block_part(forest, forest->trees_at + number * forest->tree_bytes);
}

static inline uint8_t *oif_window_labels(const oif_window_state *forest,
                                         const oif_window_tree *tree)
{
    return oif_block_part(tree, forest->labels_at);
}

static inline oif_window_leaf *oif_window_leaf_of(const oif_window_state *forest,
                                                  const oif_window_tree *tree, uint32_t number)
{
    return oif_block_part(tree, forest->leaves_at + number * forest->leaf_bytes);
}

static inline oif_inner_box oif_window_inner_box(const oif_window_leaf *leaf, size_t inner_width)
{
    int16_t *lows = oif_block_part(leaf, sizeof *leaf);
    return (oif_inner_box){lows, (uint16_t *)(lows + inner_width)};
}

/* From a leaf to its box, box_width numbers. */
static inline size_t oif_window_box_at(size_t inner_width)
{
    return sizeof(oif_window_leaf) + inner_width * (sizeof(int16_t) + sizeof(uint16_t));
}

static inline double *oif_window_box(const oif_window_state *forest, const oif_window_leaf *leaf)
{
    return oif_block_part(leaf, oif_window_box_at(forest->inner_width));
}

static inline oif_grid oif_window_grid(const oif_window_state *forest)
{
    double *numbers = oif_block_part(forest, forest->grid_at);
    return (oif_grid){numbers, numbers + forest->inner_width, numbers + 2 * forest->inner_width};
}

/* A node of the heap, and its depth. */
typedef struct oif_window_node {
    uint32_t index, depth;
} oif_window_node;

static inline oif_window_node oif_window_root(const oif_window_state *forest, uint32_t tree)
{
    return (oif_window_node){forest->num_trees + tree, 0};
}

static inline oif_window_node oif_window_node_of(const oif_window_leaf *leaf)
{
    return (oif_window_node){leaf->index, leaf->depth >> OIF_DEPTH_BITS};
}

static inline oif_window_node oif_window_parent(oif_window_node at)
{
    return (oif_window_node){at.index / 2, at.depth - 1};
}

static inline oif_window_node oif_window_sibling(oif_window_node at)
{
    return (oif_window_node){at.index ^ 1, at.depth};
}

static inline oif_window_node oif_window_left(oif_window_node at)
{
    return (oif_window_node){2 * at.index, at.depth + 1};
}

static inline oif_window_node oif_window_right(oif_window_node at)
{
    return (oif_window_node){2 * at.index + 1, at.depth + 1};
}

/* ---- Cuts ---- */

#define OIF_WINDOW_UNCUT OIF_SORT_KEY_MAX /* every key goes left */

static inline bool oif_window_is_cut(const oif_window_state *forest, oif_window_node at)
{
    return at.depth < forest->depth_limit &&
           oif_window_last_lefts(forest)[at.index] != OIF_WINDOW_UNCUT;
}

/* The least number that goes right. Stored is the key before its own, the last one that goes
 * left. */
static inline double oif_window_cut_value(const oif_window_state *forest, oif_window_node at)
{
    return oif_sort_key_number(oif_window_last_lefts(forest)[at.index] + 1);
}

static inline void oif_window_set_cut(oif_window_state *forest, oif_window_node at, uint32_t column,
                                      double value)
{
    oif_window_last_lefts(forest)[at.index] = oif_sort_key(value) - 1;
    oif_window_cut_columns(forest)[at.index] = column;
}

/* The leftmost place of the bottom below a node. */
static inline uint32_t oif_window_place_below(const oif_window_state *forest, oif_window_node at)
{
    return at.index << (forest->depth_limit - at.depth);
}

/* The number of the leaf here or, if the node is cut, of the leftmost leaf below. */
static inline uint32_t oif_window_leaf_number(const oif_window_state *forest, oif_window_node at)
{
    return oif_window_leaf_at(forest)[oif_window_place_below(forest, at)];
}

static inline uint32_t oif_window_tree_number(const oif_window_state *forest, oif_window_node at)
{
    return (at.index >> at.depth) - forest->num_trees;
}

static inline oif_window_tree *oif_window_tree_of(const oif_window_state *forest,
                                                  oif_window_node at)
{
    return oif_window_tree_at(forest, oif_window_tree_number(forest, at));
}

/* The leaf here or, if the node is cut, the leftmost one below. */
static inline oif_window_leaf *oif_window_leaf_here(const oif_window_state *forest,
                                                    oif_window_node at)
{
    return oif_window_leaf_of(forest, oif_window_tree_of(forest, at),
                              oif_window_leaf_number(forest, at));
}

/* ---- What a tree does ---- */

/* The rows that a leaf at this depth must hold to be cut, and an inner node to stay so. */
int32_t oif_window_threshold(const oif_window_state *forest, uint32_t depth);

/* Whether a tree that counts this many rows may cut nodes at this depth. */
bool oif_window_depth_allows_cut(const oif_window_state *forest, uint32_t depth,
                                 int64_t rows_in_tree);

/* The height at which a leaf is cut; there is none at the depth limit, but beyond the window
 * the heights are unusual and must be looked at as well. */
int32_t oif_window_cut_height(const oif_window_state *forest, uint32_t depth);

/* Rows below a node: a leaf's height, or the sum of all leaves'. */
int32_t oif_window_height(const oif_window_state *forest, oif_window_node at);

/* Makes a tree of one empty leaf. */
void oif_window_tree_init(oif_window_state *forest, uint32_t tree, uint64_t seed);

/* Cuts a leaf that is high enough, unless its depth, its box or the number of leaves forbids
 * it. `loses_row`: right after this the tree will forget a row that this leaf counts. */
void oif_window_tree_cut(oif_window_state *forest, uint32_t tree, uint32_t leaf, bool loses_row);

/* This leaf has fallen below its guard: shares out the guards again, or undoes the cuts that
 * have too few rows. */
void oif_window_tree_settle(oif_window_state *forest, uint32_t tree, uint32_t leaf);

/* The leaf of a row that may have missing numbers: where one is asked for, it goes with the
 * heavier child. */
uint32_t oif_window_tree_walk(const oif_window_state *forest, uint32_t tree, const double *row);

/* Fits the grid of inner boxes to the rows that the first tree has seen. */
void oif_window_fit_grid(oif_window_state *forest);

/* Visits every field of one tree that rows change. */
void oif_window_tree_visit_fields(oif_window_state *forest, uint32_t tree,
                                  oif_state_visitor *visitor);

/* Verifies every invariant of one tree, except that rows fall into the leaves that count them;
 * OIF_EINVARIANT names the broken one. */
oif_status oif_window_tree_check(const oif_window_state *forest, uint32_t tree, oif_error *error);

/* Verifies that in every tree, which passed oif_window_tree_check. */
oif_status oif_window_labels_check(const oif_window_state *forest, oif_error *error);

#endif
