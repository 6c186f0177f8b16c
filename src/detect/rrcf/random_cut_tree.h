/* A robust random cut tree: a sample of rows, cut at random until every leaf holds one row and its
 * duplicates.
 *
 * A cut goes through the box of the rows below it. The column is drawn in proportion to its range,
 * the value uniformly from that range. Rows can be inserted and removed: the tree has the same
 * distribution as one rebuilt from the rows it holds (Guha, Mishra, Roy, Schrijvers, ICML 2016).
 *
 * A tree is one block of memory. Nodes are numbers: those below `capacity` are leaves, the others
 * inner nodes.
 *
 *     | tree | links: parent and mass of every node | cuts of the inner nodes |
 *     | points: the leaves' rows | boxes of the inner nodes |
 *
 *   - The box of an inner node is two rows: the lowest and the highest value of every column. The
 *     box of a leaf is its point. A column that is missing in all rows below has the range NaN.
 *   - The caller keeps the leaf of each row, so removing it needs no search.
 *
 * Inserting, removing and asking for a displacement cost O(depth x dimension). The depth is O(log
 * capacity) for evenly spread rows, and at worst the number of leaves.
 */
#ifndef OIF_DETECT_RANDOM_CUT_TREE_H
#define OIF_DETECT_RANDOM_CUT_TREE_H

#include "base/block.h"
#include "base/random.h"
#include "detect/detector.h"
#include "detect/tree_figures.h"

#define OIF_CUT_TREE_NO_NODE UINT32_MAX

typedef struct oif_cut_tree {
    oif_random random;
    uint32_t root;       /* OIF_CUT_TREE_NO_NODE while the tree is empty */
    uint32_t free_leaf;  /* head of a list linked through `parent`, and so is ... */
    uint32_t free_inner; /* ... this; OIF_CUT_TREE_NO_NODE if none is free */
    uint32_t has_gaps;   /* 1 once a row with a missing value was inserted: boxes may hold NaN */
} oif_cut_tree;

typedef struct oif_cut_tree_link {
    uint32_t parent; /* OIF_CUT_TREE_NO_NODE for the root */
    uint32_t mass;   /* rows below, including duplicates; 0 if the node is free */
} oif_cut_tree_link;

/* The rest of an inner node. Rows with row[column] <= value are on the left. */
typedef struct oif_cut_tree_cut {
    double value;
    double range; /* the sum of the sides of the node's box */
    uint32_t column;
    uint32_t left, right;
    uint32_t padding; /* named, so it is initialised: equal trees have equal bytes */
} oif_cut_tree_cut;

/* Sizes shared by all trees of a forest. */
typedef struct oif_cut_tree_shape {
    uint32_t dimension;
    uint32_t capacity; /* leaves; there is one inner node fewer */
    size_t links_at;   /* oif_cut_tree_link [2 x capacity - 1] */
    size_t cuts_at;    /* oif_cut_tree_cut  [capacity - 1] */
    size_t points_at;  /* double   [capacity][dimension] */
    size_t boxes_at;   /* double   [capacity - 1][2][dimension] */
    size_t bytes;      /* of a tree; SIZE_MAX if no machine could hold it */
} oif_cut_tree_shape;

/* ---- Where things are ---- */

static inline oif_cut_tree_link *oif_cut_tree_links(const oif_cut_tree_shape *shape,
                                                    const oif_cut_tree *tree)
{
    return oif_block_part(tree, shape->links_at);
}

static inline bool oif_cut_tree_is_leaf(const oif_cut_tree_shape *shape, uint32_t node)
{
    return node < shape->capacity;
}

static inline oif_cut_tree_cut *oif_cut_tree_cut_at(const oif_cut_tree_shape *shape,
                                                    const oif_cut_tree *tree, uint32_t inner)
{
    return (oif_cut_tree_cut *)oif_block_part(tree, shape->cuts_at) + (inner - shape->capacity);
}

static inline double *oif_cut_tree_point(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                                         uint32_t leaf)
{
    return (double *)oif_block_part(tree, shape->points_at) + (size_t)leaf * shape->dimension;
}

static inline double *oif_cut_tree_box_low(const oif_cut_tree_shape *shape,
                                           const oif_cut_tree *tree, uint32_t inner)
{
    return (double *)oif_block_part(tree, shape->boxes_at) +
           (size_t)(inner - shape->capacity) * 2 * shape->dimension;
}

/* ---- Functions ---- */

/* The layout of a tree with up to `capacity` >= 2 rows of `dimension` columns. */
oif_cut_tree_shape oif_cut_tree_layout(size_t dimension, uint32_t capacity);

/* Creates an empty tree in `shape->bytes` bytes. */
void oif_cut_tree_init(const oif_cut_tree_shape *shape, oif_cut_tree *tree, oif_random random);

/* Inserts a row and returns its leaf. The tree must hold fewer than `capacity` rows. */
uint32_t oif_cut_tree_insert(const oif_cut_tree_shape *shape, oif_cut_tree *tree,
                             const double *row);

/* Removes one row of this leaf. */
void oif_cut_tree_remove(const oif_cut_tree_shape *shape, oif_cut_tree *tree, uint32_t leaf);

/* The collusive displacement of a leaf. For every subtree that contains the leaf: how many levels
 * the other rows would rise in total, per removed row, if the subtree were removed. The maximum of
 * that, from 0 to the number of rows less one. */
double oif_cut_tree_displacement(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                                 uint32_t leaf);

/* The expected displacement of a row if it were inserted, again if it is already there. From 0 to
 * the number of rows. */
double oif_cut_tree_expected_displacement(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                                          const double *row);

/* Adds the leaves of a tree to the figures. Takes O(nodes), however deep. */
void oif_cut_tree_add_figures(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                              oif_tree_figures *figures);

/* Visits every field that rows change. */
void oif_cut_tree_visit_fields(const oif_cut_tree_shape *shape, oif_cut_tree *tree,
                               oif_state_visitor *visitor);

/* Verifies every invariant of a tree of `rows` rows. Returns the broken one, or NULL. Takes O(nodes
 * x dimension). */
const char *oif_cut_tree_check(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                               uint32_t rows);

#endif
