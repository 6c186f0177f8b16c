/* The trees of an Online Isolation Forest that forgets by turnover: where everything is, and
 * how a tree grows.
 *
 * Trees only grow: a leaf counts rows and is cut in two when it counts enough, and in the end
 * the whole tree is emptied. So nodes are handed out in order, in pairs of children, and never
 * given back. A pair is four words of eight bytes, half a cache line:
 *
 *     | left: where it is cut | right: where | left: column, children | right: column, children |
 *
 * A node is the number of its first word, counted over all trees; the right child follows the
 * left one and both find their second word two further on. Pair 0 of a tree is its root and a
 * right one that is not used. The children of cut i are pair i: left keeps the record of the
 * leaf that was cut, right takes record i.
 *
 * A leaf has itself for children and is "cut" above all keys, so a walk takes the same steps
 * whatever the shape of the tree: no branch, and eight trees side by side. How far above says
 * which record it has. Walks compare sort keys (sort_key.h). Only leaves have heights
 * and boxes; an inner height is the sum of those below and asked for only where a number is
 * missing.
 *
 * Trees take turns in a ring:
 *
 *     oldest                                    oldest + num_trees
 *     | active | active | ...          | active | shadow | ... | shadow |
 *     ages fall from left to right
 *
 * Every maturity / shadow_trees rows a turn precedes a row: the oldest tree is emptied and
 * becomes the youngest shadow, and the oldest shadow, now `maturity` rows old, becomes active.
 * `turn` counts shadow_trees a row, and a turn takes maturity from it: so a tree that was
 * emptied k turns ago is (k maturity + turn) / shadow_trees rows old, rounded down; no
 * counter grows forever.
 *
 * At first all active trees are empty and start with the first row, as does the oldest shadow;
 * each turn begins the next shadow until all have begun. So a tree's age equals its height,
 * the rows it counts.
 */
#ifndef OIF_DETECT_TURNOVER_TREE_H
#define OIF_DETECT_TURNOVER_TREE_H

#include "base/random.h"
#include "base/sort_key.h"
#include "detect/online_iforest/box.h"
#include "detect/online_iforest/online_iforest.h"

enum {
    OIF_TURNOVER_PAIR_WORDS = 4,     /* of two nodes */
    OIF_TURNOVER_MAX_LEAVES = 1024,  /* of a tree */
    OIF_TURNOVER_MAX_HEIGHTS = 2048, /* whose depth is in a table */
    OIF_TURNOVER_MAX_AGES = 8192,    /* whose scale is in a table */
    OIF_TURNOVER_MAX_AGE = 1 << 30
};

typedef struct oif_turnover_leaf {
    uint32_t height; /* rows counted */
    uint32_t depth;
} oif_turnover_leaf;

/* The second word of a node. */
typedef struct oif_turnover_link {
    uint32_t column;
    uint32_t left; /* child; the right one is next */
} oif_turnover_link;

typedef struct oif_turnover_tree {
    oif_random random;
    uint64_t cuts_made; /* ever */
    uint32_t leaf_count;
} oif_turnover_tree;

/* Which tree is which in the ring. */
typedef struct oif_turnover_ring {
    uint32_t turn;          /* at least maturity when a turn precedes the next row; see above */
    uint32_t oldest;        /* tree */
    uint32_t shadows_begun; /* 1 to shadow_trees */
    /* learned, up to maturity + 1: from then on a tree is active if it is older than maturity */
    uint32_t rows;
} oif_turnover_ring;

/* The state of the detector begins with this; arrays follow at the offsets `.._at`. Without
 * padding, whose bytes no one would set: equal detectors are equal bytes. */
typedef struct oif_turnover_state {
    oif_forgetting forgetting;
    uint32_t dimension, num_trees, shadow_trees, maturity, max_leaf_samples;
    oif_growth growth;

    uint32_t tree_count;    /* active ones and shadows */
    uint32_t max_age;       /* no tree gets older */
    uint32_t depth_limit;   /* no node at this depth is cut */
    uint32_t leaf_capacity; /* records for leaves in a tree, and pairs of nodes */
    uint32_t box_width;     /* numbers in a box: 2 x dimension, rounded up to whole steps */
    uint32_t height_count;  /* in the table of extra depths */
    uint32_t age_count;     /* in the table of scales */
    /* depths are divided by multiplying with whole multiples of 2^-scale_bits */
    uint32_t scale_bits;

    oif_turnover_ring ring;
    uint32_t cuts_varying; /* 1: only columns that vary are cut; the ranges see the others */

    size_t words_at;        /* uint64_t [tree_count][leaf_capacity][4]: the nodes */
    size_t extra_depths_at; /* uint32_t [height_count]: c(height) in depth units */
    /* uint32_t [age_count]: oif_turnover_scale_at each age; 0 up to maturity, as of shadows */
    size_t scales_at;
    size_t cut_heights_at; /* uint32_t [depth_limit + 1]: see oif_turnover_look_at_height */
    /* uint32_t [tree_count]: rows since it was empty, the sum of its heights */
    size_t ages_at;
    /* uint8_t [tree_count / OIF_LANES]: the deepest leaf of these trees */
    size_t lane_levels_at;
    size_t trees_at;  /* oif_turnover_tree [tree_count] */
    size_t leaves_at; /* oif_turnover_leaf [tree_count][leaf_capacity] */
    /* double [tree_count][leaf_capacity][box_width], apart so that no step of a box lies across
     * cache lines */
    size_t boxes_at;
    size_t mirror_at; /* double [box_width]: scratch space, blank between calls; long rows: empty */
    size_t bytes;
} oif_turnover_state;

_Static_assert(offsetof(oif_turnover_state, words_at) ==
                   offsetof(oif_turnover_state, cuts_varying) + sizeof(uint32_t),
               "the state of turnover has padding");

/* ---- Where things are ---- */

/* The first word of each node: the last key that goes left, or which leaf it is. */
static inline uint64_t *oif_turnover_words(const oif_turnover_state *forest)
{
    return oif_block_part(forest, forest->words_at);
}

static inline oif_turnover_link *oif_turnover_link_of(const oif_turnover_state *forest, size_t node)
{
    return (oif_turnover_link *)(oif_turnover_words(forest) + node + 2);
}

static inline uint32_t *oif_turnover_extra_depths(const oif_turnover_state *forest)
{
    return oif_block_part(forest, forest->extra_depths_at);
}

static inline double *oif_turnover_mirror(const oif_turnover_state *forest)
{
    return oif_block_part(forest, forest->mirror_at);
}

static inline uint32_t *oif_turnover_scales(const oif_turnover_state *forest)
{
    return oif_block_part(forest, forest->scales_at);
}

static inline uint32_t *oif_turnover_cut_heights(const oif_turnover_state *forest)
{
    return oif_block_part(forest, forest->cut_heights_at);
}

static inline uint32_t *oif_turnover_ages(const oif_turnover_state *forest)
{
    return oif_block_part(forest, forest->ages_at);
}

static inline uint8_t *oif_turnover_lane_levels(const oif_turnover_state *forest)
{
    return oif_block_part(forest, forest->lane_levels_at);
}

static inline uint32_t oif_turnover_lane_count(const oif_turnover_state *forest)
{
    return (forest->tree_count + OIF_LANES - 1) / OIF_LANES;
}

static inline oif_turnover_tree *oif_turnover_tree_at(const oif_turnover_state *forest,
                                                      uint32_t tree)
{
    return (oif_turnover_tree *)oif_block_part(forest, forest->trees_at) + tree;
}

static inline oif_turnover_leaf *oif_turnover_leaf_of(const oif_turnover_state *forest,
                                                      uint32_t tree, uint32_t leaf)
{
    return (oif_turnover_leaf *)oif_block_part(forest, forest->leaves_at) +
           (size_t)tree * forest->leaf_capacity + leaf;
}

static inline double *oif_turnover_box_of(const oif_turnover_state *forest, uint32_t tree,
                                          uint32_t leaf)
{
    return (double *)oif_block_part(forest, forest->boxes_at) +
           ((size_t)tree * forest->leaf_capacity + leaf) * forest->box_width;
}

static inline size_t oif_turnover_root(const oif_turnover_state *forest, uint32_t tree)
{
    return (size_t)tree * forest->leaf_capacity * OIF_TURNOVER_PAIR_WORDS;
}

/* Above the keys of all numbers. */
#define OIF_TURNOVER_LEAF_WORDS (UINT64_MAX - OIF_TURNOVER_MAX_LEAVES)

static inline bool oif_turnover_is_cut(const oif_turnover_state *forest, size_t node)
{
    return oif_turnover_words(forest)[node] < OIF_TURNOVER_LEAF_WORDS;
}

/* The record of the leaf whose first word this is. */
static inline uint32_t oif_turnover_leaf_number(uint64_t word)
{
    return ~(uint32_t)word;
}

/* ---- The ring ---- */

/* The tree `places` places behind the oldest. */
static inline uint32_t oif_turnover_tree_behind(const oif_turnover_state *forest,
                                                const oif_turnover_ring *ring, uint32_t places)
{
    uint32_t tree = ring->oldest + places;
    return tree >= forest->tree_count ? tree - forest->tree_count : tree;
}

static inline bool oif_turnover_is_active(const oif_turnover_state *forest,
                                          const oif_turnover_ring *ring, uint32_t tree)
{
    uint32_t places =
        tree >= ring->oldest ? tree - ring->oldest : tree + forest->tree_count - ring->oldest;
    return places < forest->num_trees;
}

/* Trees that learn: all, but for the shadows of a new forest that have not begun, the last
 * ones. */
static inline uint32_t oif_turnover_learners(const oif_turnover_state *forest,
                                             const oif_turnover_ring *ring)
{
    return forest->num_trees + ring->shadows_begun;
}

/* A row is going to be learned. Returns the tree that is to be emptied before, tree_count when
 * there is none. */
uint32_t oif_turnover_ring_advance(const oif_turnover_state *forest, oif_turnover_ring *ring);

/* ---- What a tree does ---- */

/* The rows that a leaf at this depth must hold to be cut. */
uint32_t oif_turnover_threshold(const oif_turnover_state *forest, uint32_t depth);

/* At this height a leaf has to be looked at: it can be cut, or the table of extra depths does
 * not reach further. */
uint32_t oif_turnover_look_at_height(const oif_turnover_state *forest, uint32_t depth);

/* Makes a tree one empty leaf; its random numbers continue. */
void oif_turnover_empty(oif_turnover_state *forest, uint32_t tree);

/* The depth of the deepest leaf of the trees in a lane. */
uint32_t oif_turnover_levels_of_lane(const oif_turnover_state *forest, uint32_t lane);

/* Cuts the leaf at a node if it is high enough, unless its depth, its box or the number of
 * leaves forbids it. */
void oif_turnover_cut(oif_turnover_state *forest, uint32_t tree, size_t node);

/* Where a row, which may have missing numbers, goes from a node that is cut: without a number
 * with the heavier child. */
size_t oif_turnover_step(const oif_turnover_state *forest, uint32_t tree, size_t node,
                         const double *row);

/* Visits every field of one tree that rows change. */
void oif_turnover_visit_fields(oif_turnover_state *forest, uint32_t tree,
                               oif_state_visitor *visitor);

/* c(n) = log2(n / max_leaf_samples) in depth units: the average depth of a tree of n rows; 0 up
 * to max_leaf_samples. */
uint32_t oif_turnover_average_depth(const oif_turnover_state *forest, uint32_t rows);

/* What a depth, in depth units, is multiplied with to be in relation to c(age), in units of
 * 2^-scale_bits; 0 while c is 0. A c below 2^-5 counts as that, so that a tree cannot outweigh
 * all others in the few rows that it takes to grow. */
uint32_t oif_turnover_scale_at(const oif_turnover_state *forest, uint32_t age);

/* Verifies every invariant; OIF_EINVARIANT names the broken one. */
oif_status oif_turnover_check(const void *state, oif_error *error);

#endif
