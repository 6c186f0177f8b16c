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
 * Walks compare whole numbers, the keys of the row's numbers with the key of the cut: that
 * leaves the result in the carry, and the next node's index is one addition with it.
 *
 * What else a tree has lies together, in a block of tree_bytes:
 *
 *     | random | leaves, each followed by its box | labels: a byte a row of the window |
 *
 *   - Heights of leaves only: an inner height is the sum of the leaves below. A cut has to be
 *     undone when its node's height falls under the threshold. So every leaf guards a share of
 *     the thresholds above it; while no leaf's height is under its guard no inner node is under
 *     its threshold, and nobody has to look.
 *   - Boxes of leaves only: a merge takes its box from the leaves below. A box holds the lowest
 *     x and the lowest -x of every feature, so that one loop of minima widens it.
 *   - For each row of the window the leaf that counts it, kept right through cuts and merges:
 *     forgetting a row is one subtraction, and what is forgotten is what was learned.
 */
#ifndef OIF_DETECT_ONLINE_ITREE_H
#define OIF_DETECT_ONLINE_ITREE_H

#include "base/random.h"
#include "detect/online_iforest/box_cut.h"
#include "detect/online_iforest/online_iforest.h"

enum {
    OIF_MAX_LEAVES = 255,  /* of a tree: a leaf's number fits a byte ... */
    OIF_NOT_COUNTED = 255, /* ... and this label says that the tree has not counted the row */
    OIF_LANES = 8,         /* trees walked side by side */
    OIF_SLOT_BLOCK = 64,   /* rows of the window that are worked on at a time */
    OIF_NO_GUARD = 1 << 30 /* more slack than rows: nothing above this leaf depends on it */
};

typedef struct oif_leaf {
    /* rows counted; under 0 when more rows left than the cut above had put here */
    int32_t height;
    /* while height >= guard, no cut above has to be undone on this leaf's account */
    int32_t guard;
    int32_t cut_at;     /* the height at which it is cut; at most window_size + 2 */
    uint32_t depth;     /* in depth units; OIF_VACANT when this record is free */
    uint32_t index;     /* of the node where it stands */
    uint32_t nought[3]; /* so that boxes do not straddle more cache lines than they must */
    double box[];       /* box_width numbers */
} oif_leaf;

#define OIF_VACANT UINT32_MAX

typedef struct oif_itree {
    oif_random random;
    uint64_t cuts_made, cuts_undone; /* ever */
} oif_itree;

/* The state of the detector begins with this; arrays follow at the offsets `.._at`. Without
 * padding, whose bytes no one would set: equal detectors are equal bytes. */
typedef struct oif_iforest_state {
    oif_forgetting forgetting;
    uint32_t dimension, num_trees, window_size, max_leaf_samples;
    oif_variant variant;
    oif_growth growth;
    uint32_t unused; /* instead of padding */
    double subsample;

    uint32_t depth_limit;   /* no node at this depth is cut */
    uint32_t leaf_capacity; /* records for leaves in a tree */
    /* rows in the ring: the window's and those of a chunk that is being learned */
    uint32_t slots;
    uint32_t box_width; /* numbers in a box: 2 x dimension, rounded up to whole steps */
    double full_scale;  /* see scale_of_window */

    uint32_t rows_held; /* in the window */
    uint32_t next_slot; /* of the ring */

    /* uint64_t [num_trees << depth_limit], the first num_trees unused; see oif_cut_value */
    size_t last_lefts_at;
    size_t features_at;    /* uint32_t [num_trees << depth_limit], likewise */
    size_t leaf_at_at;     /* uint8_t  [num_trees << (depth_limit + 1)], likewise */
    size_t levels_at;      /* uint8_t  [num_trees]: levels of each tree that hold cuts */
    size_t lane_levels_at; /* uint8_t  [num_trees / OIF_LANES]: the most of OIF_LANES trees */
    size_t columns_at;     /* double   [dimension][slots]: the ring of rows, by feature */
    /* double   [OIF_POOL_MAX_PARTS][box_width]: a row in the shape of a box, one a thread */
    size_t mirrors_at;
    /* uint32_t [window_size + 3]: c(height) in depth units, from height -1 on */
    size_t extra_depth_at;
    /* num_trees blocks of tree_bytes; the offsets below are from the start of a block */
    size_t trees_at;
    size_t leaves_at; /* leaf_capacity records of leaf_bytes */
    size_t labels_at; /* uint8_t  [slots] */
    size_t leaf_bytes;
    size_t tree_bytes;
    size_t bytes;
} oif_iforest_state;

_Static_assert(offsetof(oif_iforest_state, subsample) ==
                   offsetof(oif_iforest_state, unused) + sizeof(uint32_t),
               "the state of online-iforest has padding");

/* ---- Where things are ---- */

static inline uint64_t *oif_last_lefts(const oif_iforest_state *f)
{
    return oif_part(f, f->last_lefts_at);
}

static inline uint32_t *oif_features(const oif_iforest_state *f)
{
    return oif_part(f, f->features_at);
}

static inline uint8_t *oif_leaf_at(const oif_iforest_state *f)
{
    return oif_part(f, f->leaf_at_at);
}

static inline uint8_t *oif_levels(const oif_iforest_state *f)
{
    return oif_part(f, f->levels_at);
}

static inline uint8_t *oif_lane_levels(const oif_iforest_state *f)
{
    return oif_part(f, f->lane_levels_at);
}

static inline double *oif_column(const oif_iforest_state *f, uint32_t feature)
{
    return (double *)oif_part(f, f->columns_at) + (size_t)feature * f->slots;
}

/* By height, from -1 on. */
static inline uint32_t *oif_extra_depths(const oif_iforest_state *f)
{
    return (uint32_t *)oif_part(f, f->extra_depth_at) + 1;
}

static inline oif_itree *oif_tree(const oif_iforest_state *f, uint32_t number)
{
    return oif_part(f, f->trees_at + number * f->tree_bytes);
}

static inline uint8_t *oif_labels(const oif_iforest_state *f, const oif_itree *tree)
{
    return oif_part(tree, f->labels_at);
}

static inline oif_leaf *oif_leaf_of(const oif_iforest_state *f, const oif_itree *tree,
                                    uint32_t number)
{
    return oif_part(tree, f->leaves_at + number * f->leaf_bytes);
}

/* A node of the heap, and its depth. */
typedef struct oif_spot {
    uint32_t index, depth;
} oif_spot;

static inline oif_spot oif_root(const oif_iforest_state *f, uint32_t tree)
{
    return (oif_spot){f->num_trees + tree, 0};
}

static inline oif_spot oif_spot_of(const oif_leaf *leaf)
{
    return (oif_spot){leaf->index, leaf->depth >> OIF_DEPTH_BITS};
}

static inline oif_spot oif_parent(oif_spot at)
{
    return (oif_spot){at.index / 2, at.depth - 1};
}

static inline oif_spot oif_sibling(oif_spot at)
{
    return (oif_spot){at.index ^ 1, at.depth};
}

static inline oif_spot oif_left(oif_spot at)
{
    return (oif_spot){2 * at.index, at.depth + 1};
}

static inline oif_spot oif_right(oif_spot at)
{
    return (oif_spot){2 * at.index + 1, at.depth + 1};
}

/* ---- Cuts ---- */

static inline bool oif_is_cut(const oif_iforest_state *f, oif_spot at)
{
    return at.depth < f->depth_limit && oif_last_lefts(f)[at.index] != OIF_UNCUT;
}

/* The least number that goes right. Stored is the key before its own, the last one that goes
 * left. */
static inline double oif_cut_value(const oif_iforest_state *f, oif_spot at)
{
    return oif_number_of_key(oif_last_lefts(f)[at.index] + 1);
}

static inline void oif_set_cut(oif_iforest_state *f, oif_spot at, uint32_t feature, double value)
{
    oif_last_lefts(f)[at.index] = oif_key(value) - 1;
    oif_features(f)[at.index] = feature;
}

/* The leftmost place of the bottom below a node. */
static inline uint32_t oif_place_below(const oif_iforest_state *f, oif_spot at)
{
    return at.index << (f->depth_limit - at.depth);
}

/* The number of the leaf here or, if the node is cut, of the leftmost leaf below. */
static inline uint32_t oif_leaf_number(const oif_iforest_state *f, oif_spot at)
{
    return oif_leaf_at(f)[oif_place_below(f, at)];
}

static inline uint32_t oif_tree_number(const oif_iforest_state *f, oif_spot at)
{
    return (at.index >> at.depth) - f->num_trees;
}

static inline oif_itree *oif_tree_of(const oif_iforest_state *f, oif_spot at)
{
    return oif_tree(f, oif_tree_number(f, at));
}

/* The leaf here or, if the node is cut, the leftmost one below. */
static inline oif_leaf *oif_leaf_here(const oif_iforest_state *f, oif_spot at)
{
    return oif_leaf_of(f, oif_tree_of(f, at), oif_leaf_number(f, at));
}

/* ---- What a tree does ---- */

/* The rows that a leaf at this depth must hold to be cut, and an inner node to stay so. */
int32_t oif_threshold(const oif_iforest_state *f, uint32_t depth);

/* Whether a tree that counts so many rows may cut nodes at this depth. */
bool oif_depth_allows_cut(const oif_iforest_state *f, uint32_t depth, int64_t rows_in_tree);

/* The height at which a leaf is cut; there is none at the depth limit, but beyond the window
 * the heights are unusual and must be looked at as well. */
int32_t oif_cut_height(const oif_iforest_state *f, uint32_t depth);

/* Rows below a node: a leaf's height, or the sum of all leaves'. */
int32_t oif_height(const oif_iforest_state *f, oif_spot at);

/* Makes a tree of one empty leaf. */
void oif_itree_init(oif_iforest_state *f, uint32_t tree, uint64_t seed);

/* Cuts a leaf that is high enough, unless its depth, its box or the number of leaves forbids
 * it. `loses_row`: right after this the tree will forget a row that this leaf counts. */
void oif_itree_cut(oif_iforest_state *f, uint32_t tree, uint32_t leaf, bool loses_row);

/* This leaf has fallen under its guard: shares out the guards anew, or undoes the cuts that
 * have too few rows. */
void oif_itree_settle(oif_iforest_state *f, uint32_t tree, uint32_t leaf);

/* The leaf of a row that may have missing numbers: where one is asked for, it goes with the
 * heavier child. */
uint32_t oif_itree_walk(const oif_iforest_state *f, uint32_t tree, const double *row);

/* Tells every field of one tree that rows change. */
void oif_itree_visit_fields(oif_iforest_state *f, uint32_t tree, oif_state_visitor *visitor);

/* Verifies every invariant of one tree; OIF_EINVARIANT names the broken one. */
oif_status oif_itree_check(const oif_iforest_state *f, uint32_t tree, oif_error *error);

#endif
