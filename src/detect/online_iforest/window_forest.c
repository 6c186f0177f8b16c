/* Online Isolation Forest as the paper has it, with a sliding window (Leveni, Cassales,
 * Pfahringer, Bifet, Boracchi, ICML 2024).
 *
 * Every tree is a histogram of the rows in a sliding window. A leaf counts rows; once it holds
 * enough of them it is cut in two at random, and when old rows leave the window and a cut has
 * too few rows left it is undone. Dense regions are cut often, so a row that ends in a shallow
 * leaf lies where data are sparse: it is anomalous.
 *
 * One row is learned like this (Algorithm 1): walk to its leaf in every tree, count it
 * there and widen the leaf's box, cut the leaf if it is full; uncount the row that leaves the
 * window, undo cuts if a guard is broken; add up the depths of the leaves that the new row is
 * in now. Cuts and merges are in window_tree.c, as is the layout.
 *
 * A row costs O(num_trees (log2(window_size / max_leaf_samples) + dimension)), a cut
 * O(dimension + window_size).
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "base/vector.h"
#include "detect/online_iforest/keyed_row.h"
#include "detect/online_iforest/row_chunk.h"
#include "detect/online_iforest/window_tree.h"
#include "detect/tree_figures.h"

enum {
    FIRST_GRID_ROWS = 64,  /* learned before rows get marks */
    MOST_GRID_ROWS = 2048, /* between two fittings of the grid */
    MOST_PLAIN_ROWS = 64,  /* that do not look at inner boxes, until one does again */
    REGISTER_STEPS = 4,    /* of inner boxes, in which the marks of a row stay in registers */
    SHORT_BOX = 24,        /* numbers; boxes up to this have code of their own for each width */
    LINE_ROWS = 8,         /* whose numbers in a column fill a cache line; divides the slots */
    GROUP = 32,            /* trees whose places are kept at a time; a whole number of lanes */
    TABLE_DEPTHS = 8192,   /* of a table for scoring, on the stack */
    USUAL_LEAF_SAMPLES = 32
};

/* ---- Depths and scores ---- */

/* c(n, eta) of the paper: the average depth of a tree of n rows, 0 under eta; half of it in the
 * authors' code. */
static double average_depth(const oif_window_state *forest, double rows)
{
    if (rows < forest->max_leaf_samples)
        return 0.0;
    double depth = oif_log2(rows / forest->max_leaf_samples);
    return forest->variant == OIF_REFERENCE ? depth / 2 : depth;
}

static uint32_t to_depth_units(double depth)
{
    return (uint32_t)(depth * (1 << OIF_DEPTH_BITS) + 0.5);
}

/* c(height) where the table does not reach: under 0, or above the window when a sibling is
 * under 0. */
static __attribute__((noinline, cold)) uint32_t unusual_extra_depth(const oif_window_state *forest,
                                                                    int32_t height)
{
    return height < 0 ? 0 : to_depth_units(average_depth(forest, height));
}

/* A row's depth: its leaf's, and what a leaf of this height would have below it if it could be
 * cut on. */
static uint32_t depth_at_height(const oif_window_state *forest, const oif_window_leaf *leaf,
                                int32_t height)
{
    return leaf->depth + ((uint32_t)height < forest->window_size + 2
                              ? oif_window_extra_depths(forest)[height]
                              : unusual_extra_depth(forest, height));
}

static uint32_t row_depth(const oif_window_state *forest, const oif_window_leaf *leaf)
{
    return depth_at_height(forest, leaf, leaf->height);
}

/* What a sum of depths over all trees is multiplied with to become the exponent of the score; 0
 * while the window holds too few rows to tell one row from another. */
static double scale_of_window(const oif_window_state *forest, uint32_t rows_held)
{
    double rows =
        forest->variant == OIF_PAPER ? forest->window_size : rows_held * forest->subsample;
    double normaliser = average_depth(forest, rows);
    return normaliser > 0 ? 1.0 / (normaliser * forest->num_trees * (1 << OIF_DEPTH_BITS)) : 0.0;
}

static double score_of(const oif_window_state *forest, uint64_t depth_sum, uint32_t rows_held)
{
    double scale =
        rows_held == forest->window_size ? forest->full_scale : scale_of_window(forest, rows_held);
    if (scale == 0)
        return forest->variant == OIF_RUNNING ? 0.5 : 1.0;
    return oif_exp2(-(double)depth_sum * scale);
}

/* ---- Creation ---- */

/* The leaves that a tree has when every inner node counts its threshold and the nodes of one
 * depth count no more than the window holds. */
static uint64_t leaf_bound(const oif_window_state *forest)
{
    uint64_t cuts = 0;
    for (uint32_t depth = 0; depth < forest->depth_limit; depth++) {
        uint64_t nodes = UINT64_C(1) << depth;
        uint64_t fed =
            ((uint64_t)forest->window_size + 1) / (uint64_t)oif_window_threshold(forest, depth);
        cuts += oif_min_u64(nodes, fed);
    }
    return cuts + 1;
}

static oif_window_state read_params(const oif_params *params)
{
    oif_window_state forest = {
        .forgetting = OIF_FORGET_BY_WINDOW,
        .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
        .window_size = (uint32_t)oif_params_value(params, "window_size"),
        .max_leaf_samples = (uint32_t)oif_params_value(params, "max_leaf_samples"),
        .growth = (oif_growth)oif_params_value(params, "growth"),
        .variant = (oif_variant)oif_params_value(params, "variant"),
        .cuts_varying = oif_online_iforest_inserts(params),
        .subsample = oif_params_value(params, "subsample"),
    };
    if (forest.max_leaf_samples == 0)
        forest.max_leaf_samples = USUAL_LEAF_SAMPLES;
    while (
        oif_window_depth_allows_cut(&forest, forest.depth_limit, (int64_t)forest.window_size + 1))
        forest.depth_limit++;
    return forest;
}

static oif_status check_params(const oif_params *params, oif_error *error)
{
    oif_window_state forest = read_params(params);
    if (leaf_bound(&forest) <= OIF_WINDOW_MAX_LEAVES)
        return OIF_OK;
    return oif_fail(error, OIF_EPARAM,
                    "window_size %u is too large for max_leaf_samples %u: a tree could have more "
                    "than %d leaves; lower window_size or raise max_leaf_samples",
                    forest.window_size, forest.max_leaf_samples, OIF_WINDOW_MAX_LEAVES);
}

static oif_window_state lay_out(const oif_params *params, size_t dimension)
{
    oif_window_state forest = read_params(params);
    /* Leaves with heights under zero allow more leaves than the bound. Half as many again have
     * always been enough; if they were not, a cut would wait until a merge frees a record. */
    uint64_t roomy = leaf_bound(&forest) * 3 / 2, all = UINT64_C(1) << forest.depth_limit;
    forest.leaf_capacity = (uint32_t)oif_min_u64(all, oif_min_u64(roomy, OIF_WINDOW_MAX_LEAVES));
    forest.dimension = (uint32_t)dimension;
    forest.box_width = oif_box_width(forest.dimension);
    uint32_t chunk_room =
        forest.window_size / 8 < OIF_ROW_CHUNK_MAX ? forest.window_size / 8 + 1 : OIF_ROW_CHUNK_MAX;
    forest.slots = (forest.window_size + chunk_room + OIF_WINDOW_SLOT_BLOCK - 1) /
                   OIF_WINDOW_SLOT_BLOCK * OIF_WINDOW_SLOT_BLOCK;
    forest.full_scale = scale_of_window(&forest, forest.window_size);

    forest.tree_bytes = oif_size_align(sizeof(oif_window_tree));
    forest.inner_width = oif_inner_box_width(forest.dimension);
    forest.rows_to_grid = forest.rows_of_grid = forest.inner_width ? FIRST_GRID_ROWS : 0;
    forest.leaf_bytes = oif_window_box_at(forest.inner_width) + forest.box_width * sizeof(double);
    forest.leaves_at = oif_size_append(&forest.tree_bytes, forest.leaf_capacity, forest.leaf_bytes);
    forest.labels_at = oif_size_append(&forest.tree_bytes, forest.slots, 1);

    size_t bottom = oif_size_multiply(forest.num_trees, (size_t)1 << forest.depth_limit);
    forest.bytes = oif_size_align(sizeof forest);
    forest.last_lefts_at = oif_size_append(&forest.bytes, bottom, sizeof(uint64_t));
    forest.cut_columns_at = oif_size_append(&forest.bytes, bottom, sizeof(uint32_t));
    forest.leaf_at_at = oif_size_append(&forest.bytes, bottom, 2);
    forest.levels_at = oif_size_append(&forest.bytes, forest.num_trees, 1);
    forest.lane_levels_at = oif_size_append(&forest.bytes, forest.num_trees / OIF_LANES + 1, 1);
    forest.columns_at =
        oif_size_append(&forest.bytes, forest.slots, oif_size_multiply(dimension, sizeof(double)));
    forest.mirrors_at =
        oif_size_append(&forest.bytes, OIF_POOL_MAX_PARTS, forest.box_width * sizeof(double));
    if (forest.inner_width) {
        forest.grid_at = oif_size_append(&forest.bytes, 3, forest.inner_width * sizeof(double));
        forest.row_marks_at = oif_size_append(&forest.bytes, OIF_POOL_MAX_PARTS,
                                              forest.inner_width * sizeof(int16_t));
        forest.paces_at =
            oif_size_append(&forest.bytes, OIF_POOL_MAX_PARTS, sizeof(oif_window_pace));
    }
    forest.extra_depth_at =
        oif_size_append(&forest.bytes, (size_t)forest.window_size + 3, sizeof(uint32_t));
    forest.trees_at = oif_size_append(&forest.bytes, forest.num_trees, forest.tree_bytes);
    return forest;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return lay_out(params, dimension).bytes;
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    oif_window_state *forest = state;
    *forest = lay_out(params, dimension);
    for (size_t i = 0; i < (size_t)forest->num_trees << forest->depth_limit; i++)
        oif_window_last_lefts(forest)[i] = OIF_WINDOW_UNCUT;
    for (int32_t height = -1; height < (int32_t)forest->window_size + 2; height++)
        oif_window_extra_depths(forest)[height] = to_depth_units(average_depth(forest, height));
    if (forest->inner_width) {
        const oif_grid grid = oif_window_grid(forest);
        oif_grid_clear(&grid, forest->dimension);
    }
    for (uint32_t tree = 0; tree < forest->num_trees; tree++)
        oif_window_tree_init(forest, tree, (uint64_t)oif_params_value(params, "seed"));
}

/* The average depth of a full window, with which scores are normalised. */
static double insertion_depth(const oif_params *params)
{
    oif_window_state forest = read_params(params);
    return average_depth(&forest, forest.window_size);
}

/* ---- Walking ---- */

/* What a step of a walk reads. */
typedef struct tree_walk {
    const uint64_t *last_lefts;
    const uint32_t *cut_columns;
    const uint8_t *leaf_at;
    const oif_keyed_row *row;
} tree_walk;

static tree_walk walk_of(const oif_window_state *forest, const oif_keyed_row *row)
{
    return (tree_walk){oif_window_last_lefts(forest), oif_window_cut_columns(forest),
                       oif_window_leaf_at(forest), row};
}

OIF_INLINE size_t next_node(const tree_walk *walk, size_t at, bool has_keys)
{
    uint32_t column = walk->cut_columns[at];
    uint64_t key = has_keys ? walk->row->keys[column] : oif_sort_key(walk->row->values[column]);
    return oif_child_index(at, walk->last_lefts[at], key);
}

/* The leaves of a complete row in OIF_LANES trees whose roots begin at node `root`, `levels` of
 * which hold cuts; or, with a table of the depths of nodes, the sum of its depths. Walking them
 * side by side hides the latency of the loads. Names instead of an array: with one, gcc keeps a
 * copy of every step in memory.
 *
 * turnover_walk.c has its counterpart. They differ where they begin (roots a stride apart), in
 * next_node and in what they return, so one function for both would share only the names. */
OIF_INLINE uint64_t walk_side_by_side(const tree_walk *walk, size_t root, uint32_t levels,
                                      bool has_keys, const uint32_t *depths,
                                      size_t *restrict leaves)
{
    size_t a = root, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
    for (; levels > 0; levels--) {
        a = next_node(walk, a, has_keys);
        b = next_node(walk, b, has_keys);
        c = next_node(walk, c, has_keys);
        d = next_node(walk, d, has_keys);
        e = next_node(walk, e, has_keys);
        f = next_node(walk, f, has_keys);
        g = next_node(walk, g, has_keys);
        h = next_node(walk, h, has_keys);
    }
    if (depths)
        return (uint64_t)depths[a] + depths[b] + depths[c] + depths[d] + depths[e] + depths[f] +
               depths[g] + depths[h];
    leaves[0] = walk->leaf_at[a];
    leaves[1] = walk->leaf_at[b];
    leaves[2] = walk->leaf_at[c];
    leaves[3] = walk->leaf_at[d];
    leaves[4] = walk->leaf_at[e];
    leaves[5] = walk->leaf_at[f];
    leaves[6] = walk->leaf_at[g];
    leaves[7] = walk->leaf_at[h];
    return 0;
}

_Static_assert(OIF_LANES == 8, "walk_side_by_side walks eight trees");

/* The leaves of a complete row in lanes from `lane` to `end`. */
OIF_INLINE void find_in_lanes(const oif_window_state *forest, const oif_keyed_row *row,
                              uint32_t lane, uint32_t end, bool has_keys, size_t *leaves)
{
    const tree_walk walk = walk_of(forest, row);
    const uint8_t *const levels = oif_window_lane_levels(forest);
    for (; lane < end; lane++, leaves += OIF_LANES)
        walk_side_by_side(&walk, forest->num_trees + lane * OIF_LANES, levels[lane], has_keys, NULL,
                          leaves);
}

/* Functions of their own, so that nothing else wants the registers. */
static __attribute__((noinline)) void walk_lanes(const oif_window_state *forest,
                                                 const oif_keyed_row *row, uint32_t lane,
                                                 uint32_t end, size_t *leaves)
{
    find_in_lanes(forest, row, lane, end, true, leaves);
}

static __attribute__((noinline)) void walk_lanes_without_keys(const oif_window_state *forest,
                                                              const oif_keyed_row *row,
                                                              uint32_t lane, uint32_t end,
                                                              size_t *leaves)
{
    find_in_lanes(forest, row, lane, end, false, leaves);
}

/* The leaves of a row in `count` trees from `first` on, which begins a lane. */
static void find_leaves(const oif_window_state *forest, uint32_t first, uint32_t count,
                        const oif_keyed_row *row, size_t *leaves)
{
    uint32_t lane = first / OIF_LANES, whole = row->complete ? count / OIF_LANES : 0;
    if (row->has_keys)
        walk_lanes(forest, row, lane, lane + whole, leaves);
    else
        walk_lanes_without_keys(forest, row, lane, lane + whole, leaves);
    for (uint32_t i = whole * OIF_LANES; i < count; i++)
        leaves[i] = oif_window_tree_walk(forest, first + i, row->values);
}

/* ---- Scoring ---- */

/* The sum of the depths of a row in `count` trees from `first` on, where it falls into the leaves
 * `found`. */
OIF_INLINE uint64_t depths_of_leaves(const oif_window_state *forest, uint32_t first, uint32_t count,
                                     const size_t *found)
{
    const unsigned char *leaves =
        oif_block_part(forest, forest->trees_at + first * forest->tree_bytes + forest->leaves_at);
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++, leaves += forest->tree_bytes)
        depth_sum += row_depth(forest, oif_block_part(leaves, found[i] * forest->leaf_bytes));
    return depth_sum;
}

OIF_INLINE uint64_t sum_depths(const oif_window_state *forest, const oif_keyed_row *row)
{
    const uint32_t num_trees = forest->num_trees;
    uint64_t depth_sum = 0;
    for (uint32_t first = 0; first < num_trees; first += GROUP) {
        size_t found[GROUP];
        uint32_t count = oif_min_u32(num_trees - first, GROUP);
        find_leaves(forest, first, count, row, found);
        depth_sum += depths_of_leaves(forest, first, count, found);
    }
    return depth_sum;
}

/* Whether there are enough rows to score by a table of depths, which is made of every leaf first:
 * 0.7 of the instructions. */
static bool is_table_worth(const oif_window_state *forest, const oif_rows *rows)
{
    return rows->count >= 2 * forest->leaf_capacity && forest->num_trees % OIF_LANES == 0 &&
           forest->num_trees <= (uint32_t)TABLE_DEPTHS >> (forest->depth_limit + 1) &&
           forest->dimension <= OIF_KEYED_ROW_MAX_KEYS;
}

/* The depth of a row in every node where a walk can end; the others are not set. */
static void fill_table(const oif_window_state *forest, uint32_t *depths)
{
    for (uint32_t number = 0; number < forest->num_trees; number++) {
        const oif_window_tree *tree = oif_window_tree_at(forest, number);
        const uint32_t levels = oif_window_lane_levels(forest)[number / OIF_LANES];
        for (uint32_t i = 0; i < forest->leaf_capacity; i++) {
            const oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, i);
            if (leaf->depth != OIF_WINDOW_VACANT)
                depths[leaf->index << (levels - (leaf->depth >> OIF_DEPTH_BITS))] =
                    row_depth(forest, leaf);
        }
    }
}

/* The sum of the depths of a complete row that has keys, by the table. */
static __attribute__((noinline)) uint64_t
look_up_depths(const oif_window_state *forest, const oif_keyed_row *row, const uint32_t *depths)
{
    const tree_walk walk = walk_of(forest, row);
    const uint8_t *const levels = oif_window_lane_levels(forest);
    size_t leaves[OIF_LANES]; /* which a walk with a table does not write */
    uint64_t depth_sum = 0;
    for (uint32_t lane = 0; lane < forest->num_trees / OIF_LANES; lane++)
        depth_sum += walk_side_by_side(&walk, forest->num_trees + lane * OIF_LANES, levels[lane],
                                       true, depths, leaves);
    return depth_sum;
}

/* A function of its own: the table takes room on the stack. */
static __attribute__((noinline)) void score_by_table(const oif_window_state *forest,
                                                     const oif_rows *rows, double *scores)
{
    uint32_t depths[TABLE_DEPTHS];
    fill_table(forest, depths);
    for (size_t i = 0; i < rows->count; i++) {
        oif_keyed_row row;
        oif_keyed_row_init(&row, forest->dimension, rows, i);
        uint64_t depth_sum =
            row.complete ? look_up_depths(forest, &row, depths) : sum_depths(forest, &row);
        scores[i] = score_of(forest, depth_sum, forest->rows_held);
    }
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const oif_window_state *forest = state;
    if (is_table_worth(forest, rows)) {
        score_by_table(forest, rows, scores);
        return;
    }
    for (size_t i = 0; i < rows->count; i++) {
        oif_keyed_row row;
        oif_keyed_row_init(&row, forest->dimension, rows, i);
        scores[i] = score_of(forest, sum_depths(forest, &row), forest->rows_held);
    }
}

/* ---- Learning ---- */

/* Which depths of a row are added up. */
typedef enum depths_wanted {
    NO_DEPTHS,
    DEPTHS_BEFORE_COUNTING,
    DEPTHS_AFTER_COUNTING
} depths_wanted;

/* What all trees need to learn one row. */
typedef struct row_visit {
    const oif_keyed_row *row;
    const double *mirror; /* the row in the shape of a box */
    /* of the mirror, where inner boxes are looked at; or NULL */
    const int16_t *marks;
    oif_window_pace *pace;
    const uint32_t *extra_depths;
    depths_wanted wanted;
    bool forgets;    /* the window is full: a row has to go */
    uint32_t slot;   /* of the ring, for this row */
    uint32_t oldest; /* of the ring, the row that goes */
    /* in depth units: no leaf that deep can be cut, a tree counts too few rows for that */
    uint32_t uncut_depth;
} row_visit;

/* Whether this tree learns the row. */
static bool draw_counted(oif_window_state *forest, uint32_t tree)
{
    return forest->subsample >= 1 ||
           oif_random_unit(&oif_window_tree_at(forest, tree)->random) < forest->subsample;
}

/* The rest of what a tree does for a row that it has counted: cuts the leaf if it is high
 * enough, forgets the oldest row, undoes cuts if it must. Returns the depth that the row has
 * then. */
static __attribute__((noinline)) uint32_t reshape_tree(oif_window_state *forest, uint32_t number,
                                                       const row_visit *visit)
{
    oif_window_tree *tree = oif_window_tree_at(forest, number);
    const uint8_t *labels = oif_window_labels(forest, tree);
    uint32_t label = labels[visit->slot];
    if (label != OIF_WINDOW_NOT_COUNTED) {
        const oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, label);
        if (leaf->height >= leaf->cut_at && leaf->depth < visit->uncut_depth)
            oif_window_tree_cut(forest, number, label,
                                visit->forgets && labels[visit->oldest] == label);
    }
    if (visit->forgets && labels[visit->oldest] != OIF_WINDOW_NOT_COUNTED) {
        uint32_t old = labels[visit->oldest];
        oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, old);
        if (--leaf->height < leaf->guard)
            oif_window_tree_settle(forest, number, old);
    }
    /* The label has followed every cut and merge. Without one, and where heights decide the
     * way, walk again. */
    label = labels[visit->slot];
    if (label == OIF_WINDOW_NOT_COUNTED || !visit->row->complete)
        label = oif_window_tree_walk(forest, number, visit->row->values);
    return row_depth(forest, oif_window_leaf_of(forest, tree, label));
}

/* The same; returns the depth that the row had before it was counted. */
static __attribute__((noinline)) uint32_t
reshape_tree_after_score(oif_window_state *forest, uint32_t number, const row_visit *visit)
{
    const oif_window_tree *tree = oif_window_tree_at(forest, number);
    const oif_window_leaf *leaf =
        oif_window_leaf_of(forest, tree, oif_window_labels(forest, tree)[visit->slot]);
    const uint32_t depth = depth_at_height(forest, leaf, leaf->height - 1);
    (void)reshape_tree(forest, number, visit);
    return depth;
}

/* Learns the row and forgets the oldest in `count` trees from `first` on, where it falls into
 * the leaves `found`; returns the sum of the depths it has then, or had before. For every row. */
static __attribute__((noinline)) uint64_t learn_in_trees_slowly(oif_window_state *forest,
                                                                uint32_t first, uint32_t count,
                                                                const row_visit *visit,
                                                                const size_t *found)
{
    const uint64_t sum_before =
        visit->wanted == DEPTHS_BEFORE_COUNTING ? depths_of_leaves(forest, first, count, found) : 0;
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        oif_window_tree *tree = oif_window_tree_at(forest, first + i);
        bool counted = draw_counted(forest, first + i);
        oif_window_labels(forest, tree)[visit->slot] =
            counted ? (uint8_t)found[i] : OIF_WINDOW_NOT_COUNTED;
        if (counted) {
            oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, (uint32_t)found[i]);
            oif_box_widen(oif_window_box(forest, leaf), visit->mirror, forest->box_width, false);
            leaf->height++;
        }
        depth_sum += reshape_tree(forest, first + i, visit);
    }
    return visit->wanted == DEPTHS_BEFORE_COUNTING ? sum_before : depth_sum;
}

/* Widens the boxes of the trees whose inner boxes the row is not in. */
static __attribute__((noinline)) void widen_outside(oif_window_state *forest, uint32_t first,
                                                    const row_visit *visit, const size_t *found,
                                                    const uint8_t *outside, uint32_t count)
{
    const oif_grid grid = oif_window_grid(forest);
    for (uint32_t i = 0; i < count; i++) {
        oif_window_leaf *leaf = oif_window_leaf_of(
            forest, oif_window_tree_at(forest, first + outside[i]), (uint32_t)found[outside[i]]);
        oif_inner_box_widen(&grid, oif_window_inner_box(leaf, forest->inner_width),
                            oif_window_box(forest, leaf), visit->marks, visit->mirror,
                            forest->dimension);
    }
    visit->pace->outside += count;
}

OIF_INLINE uint64_t reshape_waiting(oif_window_state *forest, uint32_t first,
                                    const row_visit *visit, const uint8_t *waiting, uint32_t count)
{
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++)
        depth_sum += visit->wanted == DEPTHS_BEFORE_COUNTING
                         ? reshape_tree_after_score(forest, first + waiting[i], visit)
                         : reshape_tree(forest, first + waiting[i], visit);
    return depth_sum;
}

/* How wide boxes are, known to the compiler where boxes are short. */
typedef struct box_shape {
    size_t box_width, inner_width;
    bool looks_inside; /* at inner boxes; otherwise boxes are widened by every row */
} box_shape;

/* The same for a complete row that every tree learns when a row is forgotten. A tree that has
 * to change its shape, or whose leaf has an unusual height, waits until the others are done:
 * with nothing to call, the loop has all registers. So does one whose box has to be widened. Where
 * this is inlined, the shape is constant for short rows, which makes straight code of the loop over
 * a box, and so is `wanted`. */
OIF_INLINE uint64_t learn_in_trees(oif_window_state *forest, uint32_t first, uint32_t count,
                                   const row_visit *visit, const size_t *found,
                                   const double *mirror, const int16_t *marks, box_shape shape,
                                   depths_wanted wanted, bool avx2)
{
    const uint32_t *const extra_depths = visit->extra_depths;
    const size_t tree_bytes = forest->tree_bytes, box_at = oif_window_box_at(shape.inner_width);
    const size_t leaf_bytes = box_at + shape.box_width * sizeof(double);
    const size_t label_at = forest->labels_at - forest->leaves_at + visit->slot,
                 oldest_at = label_at - visit->slot + visit->oldest;
    unsigned char *leaves =
        oif_block_part(forest, forest->trees_at + first * tree_bytes + forest->leaves_at);
    uint64_t depth_sum = 0;
    uint32_t waiting_count = 0, outside_count = 0;
    uint8_t waiting[GROUP], outside[GROUP] = {0};

    OIF_UNROLL_2
    for (uint32_t i = 0; i < count; i++, leaves += tree_bytes) {
        oif_window_leaf *leaf = oif_block_part(leaves, found[i] * leaf_bytes);
        leaves[label_at] = (uint8_t)found[i];
        if (shape.looks_inside) {
            outside[outside_count] = (uint8_t)i;
            outside_count += !oif_inner_box_has(oif_window_inner_box(leaf, shape.inner_width),
                                                marks, shape.inner_width, avx2);
        } else {
            oif_box_widen(oif_block_part(leaf, box_at), mirror, shape.box_width, avx2);
        }
        oif_window_leaf *old = oif_block_part(leaves, leaves[oldest_at] * leaf_bytes);
        const int32_t height_before = leaf->height;
        /* A height under 0 is a large one without its sign. */
        if ((uint32_t)++leaf->height >= (uint32_t)leaf->cut_at || old->height <= old->guard) {
            waiting[waiting_count++] = (uint8_t)i;
            continue;
        }
        old->height--;
        if (wanted == NO_DEPTHS)
            continue;
        depth_sum += leaf->depth +
                     extra_depths[wanted == DEPTHS_BEFORE_COUNTING ? height_before : leaf->height];
    }
    if (shape.looks_inside)
        widen_outside(forest, first, visit, found, outside, outside_count);
    return depth_sum + reshape_waiting(forest, first, visit, waiting, waiting_count);
}

/* The same while the window fills: no row is forgotten. With variant `reference` most leaves are
 * high enough to be cut long before their tree counts the rows that their depth asks for; those
 * need not wait. */
OIF_INLINE uint64_t learn_in_filling_trees(oif_window_state *forest, uint32_t first, uint32_t count,
                                           const row_visit *visit, const size_t *found,
                                           const int16_t *marks, box_shape shape,
                                           depths_wanted wanted, bool avx2)
{
    /* before the row was counted, heights were lower by one */
    const uint32_t *const extra_depths = visit->extra_depths - (wanted == DEPTHS_BEFORE_COUNTING);
    const uint32_t uncut_depth = visit->uncut_depth, too_high = forest->window_size + 1;
    const size_t tree_bytes = forest->tree_bytes, box_at = oif_window_box_at(shape.inner_width);
    const size_t leaf_bytes = box_at + shape.box_width * sizeof(double);
    const size_t label_at = forest->labels_at - forest->leaves_at + visit->slot;
    unsigned char *leaves =
        oif_block_part(forest, forest->trees_at + first * tree_bytes + forest->leaves_at);
    uint64_t depth_sum = 0;
    uint32_t waiting_count = 0, outside_count = 0;
    uint8_t waiting[GROUP], outside[GROUP] = {0};

    for (uint32_t i = 0; i < count; i++, leaves += tree_bytes) {
        oif_window_leaf *leaf = oif_block_part(leaves, found[i] * leaf_bytes);
        leaves[label_at] = (uint8_t)found[i];
        if (shape.looks_inside) {
            outside[outside_count] = (uint8_t)i;
            outside_count += !oif_inner_box_has(oif_window_inner_box(leaf, shape.inner_width),
                                                marks, shape.inner_width, avx2);
        } else {
            oif_box_widen(oif_block_part(leaf, box_at), visit->mirror, shape.box_width, avx2);
        }
        /* No branch to find the height at which it waits: leaves differ at random. Heights that the
         * table does not have are above, without their sign. */
        const uint32_t height = (uint32_t)++leaf->height,
                       waits_at = leaf->depth < uncut_depth ? (uint32_t)leaf->cut_at : too_high;
        if (height >= waits_at) {
            waiting[waiting_count++] = (uint8_t)i;
            continue;
        }
        if (wanted != NO_DEPTHS)
            depth_sum += leaf->depth + extra_depths[height];
    }
    if (shape.looks_inside)
        widen_outside(forest, first, visit, found, outside, outside_count);
    return depth_sum + reshape_waiting(forest, first, visit, waiting, waiting_count);
}

/* With inner boxes of that many steps; the marks of the row are kept in registers. */
OIF_INLINE uint64_t fill_at_inner_steps(oif_window_state *forest, uint32_t first, uint32_t count,
                                        const row_visit *visit, const size_t *found, size_t steps)
{
    const box_shape shape = {forest->box_width, steps * OIF_INNER_BOX_STEP, true};
    int16_t marks[REGISTER_STEPS * OIF_INNER_BOX_STEP];
    for (size_t i = 0; i < steps * OIF_INNER_BOX_STEP; i++)
        marks[i] = visit->marks[i];
    return visit->wanted == NO_DEPTHS ? learn_in_filling_trees(forest, first, count, visit, found,
                                                               marks, shape, NO_DEPTHS, true)
                                      : learn_in_filling_trees(forest, first, count, visit, found,
                                                               marks, shape, visit->wanted, true);
}

OIF_AVX2 static uint64_t learn_in_filling_trees_avx2(oif_window_state *forest, uint32_t first,
                                                     uint32_t count, const row_visit *visit,
                                                     const size_t *found)
{
    const box_shape plain = {forest->box_width, forest->inner_width, false},
                    inner = {forest->box_width, forest->inner_width, true};
    if (!visit->marks)
        return learn_in_filling_trees(forest, first, count, visit, found, NULL, plain,
                                      visit->wanted, true);
    switch (forest->inner_width / OIF_INNER_BOX_STEP) {
    case 1: return fill_at_inner_steps(forest, first, count, visit, found, 1);
    case 2: return fill_at_inner_steps(forest, first, count, visit, found, 2);
    case 3: return fill_at_inner_steps(forest, first, count, visit, found, 3);
    default:
        return learn_in_filling_trees(forest, first, count, visit, found, visit->marks, inner,
                                      visit->wanted, true);
    }
}

static uint64_t learn_in_filling_trees_portable(oif_window_state *forest, uint32_t first,
                                                uint32_t count, const row_visit *visit,
                                                const size_t *found)
{
    const box_shape shape = {forest->box_width, forest->inner_width, visit->marks != NULL};
    return learn_in_filling_trees(forest, first, count, visit, found, visit->marks, shape,
                                  visit->wanted, false);
}

/* For short boxes: an empty box widened by the mirror is its copy, but here the compiler sees
 * that nothing changes it and keeps it in registers. */
OIF_INLINE uint64_t learn_at_width(oif_window_state *forest, uint32_t first, uint32_t count,
                                   const row_visit *visit, const size_t *found, size_t box_width,
                                   depths_wanted wanted, bool avx2)
{
    const box_shape shape = {.box_width = box_width};
    double mirror[SHORT_BOX];
    for (size_t i = 0; i < box_width; i++)
        mirror[i] = INFINITY;
    oif_box_widen(mirror, visit->mirror, box_width, avx2);
    return learn_in_trees(forest, first, count, visit, found, mirror, NULL, shape, wanted, avx2);
}

OIF_INLINE uint64_t learn_in_trees_short(oif_window_state *forest, uint32_t first, uint32_t count,
                                         const row_visit *visit, const size_t *found,
                                         depths_wanted wanted, bool avx2)
{
    switch (forest->box_width) {
    case 4: return learn_at_width(forest, first, count, visit, found, 4, wanted, avx2);
    case 8: return learn_at_width(forest, first, count, visit, found, 8, wanted, avx2);
    case 12: return learn_at_width(forest, first, count, visit, found, 12, wanted, avx2);
    case 16: return learn_at_width(forest, first, count, visit, found, 16, wanted, avx2);
    case 20: return learn_at_width(forest, first, count, visit, found, 20, wanted, avx2);
    default: return learn_at_width(forest, first, count, visit, found, SHORT_BOX, wanted, avx2);
    }
}

OIF_INLINE uint64_t learn_in_trees_long(oif_window_state *forest, uint32_t first, uint32_t count,
                                        const row_visit *visit, const size_t *found, bool avx2)
{
    const box_shape shape = {forest->box_width, forest->inner_width, false};
    return learn_in_trees(forest, first, count, visit, found, visit->mirror, NULL, shape,
                          visit->wanted, avx2);
}

/* With inner boxes. */
OIF_INLINE uint64_t learn_in_trees_inner(oif_window_state *forest, uint32_t first, uint32_t count,
                                         const row_visit *visit, const size_t *found, bool avx2)
{
    const box_shape shape = {forest->box_width, forest->inner_width, true};
    return learn_in_trees(forest, first, count, visit, found, visit->mirror, visit->marks, shape,
                          visit->wanted, avx2);
}

/* With inner boxes of that many steps; the marks of the row are kept in registers too. */
OIF_INLINE uint64_t learn_at_inner_steps(oif_window_state *forest, uint32_t first, uint32_t count,
                                         const row_visit *visit, const size_t *found, size_t steps)
{
    const box_shape shape = {forest->box_width, steps * OIF_INNER_BOX_STEP, true};
    int16_t marks[REGISTER_STEPS * OIF_INNER_BOX_STEP];
    for (size_t i = 0; i < steps * OIF_INNER_BOX_STEP; i++)
        marks[i] = visit->marks[i];
    return visit->wanted == NO_DEPTHS
               ? learn_in_trees(forest, first, count, visit, found, visit->mirror, marks, shape,
                                NO_DEPTHS, true)
               : learn_in_trees(forest, first, count, visit, found, visit->mirror, marks, shape,
                                visit->wanted, true);
}

/* Boxes four numbers at a time: 12% faster at d = 10. */
OIF_AVX2 static uint64_t learn_in_trees_short_avx2(oif_window_state *forest, uint32_t first,
                                                   uint32_t count, const row_visit *visit,
                                                   const size_t *found)
{
    switch (visit->wanted) {
    case NO_DEPTHS:
        return learn_in_trees_short(forest, first, count, visit, found, NO_DEPTHS, true);
    case DEPTHS_BEFORE_COUNTING:
        return learn_in_trees_short(forest, first, count, visit, found, DEPTHS_BEFORE_COUNTING,
                                    true);
    default:
        return learn_in_trees_short(forest, first, count, visit, found, DEPTHS_AFTER_COUNTING,
                                    true);
    }
}

OIF_AVX2 static uint64_t learn_in_trees_long_avx2(oif_window_state *forest, uint32_t first,
                                                  uint32_t count, const row_visit *visit,
                                                  const size_t *found)
{
    return learn_in_trees_long(forest, first, count, visit, found, true);
}

/* Complete rows of 36 numbers take 0.7 of the time that they take without inner boxes. */
OIF_AVX2 static uint64_t learn_in_trees_inner_avx2(oif_window_state *forest, uint32_t first,
                                                   uint32_t count, const row_visit *visit,
                                                   const size_t *found)
{
    switch (forest->inner_width / OIF_INNER_BOX_STEP) {
    case 1: return learn_at_inner_steps(forest, first, count, visit, found, 1);
    case 2: return learn_at_inner_steps(forest, first, count, visit, found, 2);
    case 3: return learn_at_inner_steps(forest, first, count, visit, found, 3);
    case REGISTER_STEPS:
        return learn_at_inner_steps(forest, first, count, visit, found, REGISTER_STEPS);
    default: return learn_in_trees_inner(forest, first, count, visit, found, true);
    }
}

static uint64_t learn_in_trees_portable(oif_window_state *forest, uint32_t first, uint32_t count,
                                        const row_visit *visit, const size_t *found)
{
    /* no constant: the code would be twice as long */
    const depths_wanted wanted = visit->wanted;
    if (forest->box_width <= SHORT_BOX)
        return learn_in_trees_short(forest, first, count, visit, found, wanted, false);
    return visit->marks ? learn_in_trees_inner(forest, first, count, visit, found, false)
                        : learn_in_trees_long(forest, first, count, visit, found, false);
}

static uint64_t learn_in_group(oif_window_state *forest, uint32_t first, uint32_t count,
                               const row_visit *visit)
{
    size_t found[GROUP];
    find_leaves(forest, first, count, visit->row, found);
    if (!visit->row->complete || forest->subsample < 1)
        return learn_in_trees_slowly(forest, first, count, visit, found);
    if (!oif_machine_has_avx2())
        return visit->forgets ? learn_in_trees_portable(forest, first, count, visit, found)
                              : learn_in_filling_trees_portable(forest, first, count, visit, found);
    if (!visit->forgets)
        return learn_in_filling_trees_avx2(forest, first, count, visit, found);
    if (forest->box_width <= SHORT_BOX)
        return learn_in_trees_short_avx2(forest, first, count, visit, found);
    return visit->marks ? learn_in_trees_inner_avx2(forest, first, count, visit, found)
                        : learn_in_trees_long_avx2(forest, first, count, visit, found);
}

/* ---- Inner boxes ---- */

/* Makes the marks of a row if inner boxes are looked at for it. */
static void mark_row(const oif_window_state *forest, row_visit *visit, unsigned part)
{
    visit->pace = (oif_window_pace *)oif_block_part(forest, forest->paces_at) + part;
    visit->pace->outside = 0;
    if (!visit->row->complete || forest->subsample < 1)
        return;
    if (visit->pace->plain_rows > 0) {
        visit->pace->plain_rows--;
        return;
    }
    const oif_grid grid = oif_window_grid(forest);
    int16_t *marks = (int16_t *)oif_block_part(forest, forest->row_marks_at) +
                     (size_t)part * forest->inner_width;
    oif_grid_mark_row(&grid, visit->mirror, forest->dimension, marks);
    visit->marks = marks;
}

/* A row with marks has been learned in `trees` trees. */
static void set_pace(oif_window_pace *pace, uint32_t trees)
{
    if (2 * pace->outside <= trees) {
        pace->plain_next = 0;
        return;
    }
    pace->plain_rows = pace->plain_next;
    pace->plain_next = oif_min_u32(2 * pace->plain_next + 1, MOST_PLAIN_ROWS);
}

/* ---- Rows ---- */

/* The distance is at most a whole round of the ring. */
static uint32_t slot_after(const oif_window_state *forest, uint32_t slot, uint32_t distance)
{
    uint32_t after = slot + distance;
    return after >= forest->slots ? after - forest->slots : after;
}

static void store_row(oif_window_state *forest, const double *row, uint32_t slot)
{
    double *cell = oif_window_ring_column(forest, 0) + slot;
    OIF_UNROLL_2
    for (uint32_t column = 0; column < forest->dimension; column++, cell += forest->slots)
        *cell = row[column];
}

/* Puts rows into a cache line of every column. One by one, each of them would touch all lines. */
static __attribute__((noinline)) void store_line(oif_window_state *forest, const oif_rows *rows,
                                                 size_t from)
{
    const double *numbers = oif_rows_at(rows, from);
    double *cells = oif_window_ring_column(forest, 0) + forest->next_slot;
    for (uint32_t column = 0; column < forest->dimension; column++, cells += forest->slots) {
        for (size_t i = 0; i < LINE_ROWS; i++)
            cells[i] = numbers[i * rows->stride + column];
        __builtin_prefetch(cells + LINE_ROWS, 1); /* where the next rows go */
    }
}

/* Puts the next row into the ring, or a line of rows. Returns how many they are. */
OIF_INLINE size_t store_next(oif_window_state *forest, const oif_rows *rows, size_t from)
{
    if (forest->next_slot % LINE_ROWS == 0 && rows->count - from >= LINE_ROWS) {
        store_line(forest, rows, from);
        return LINE_ROWS;
    }
    store_row(forest, oif_rows_at(rows, from), forest->next_slot);
    return 1;
}

/* The depth, in depth units, from which on a tree that counts at most this many rows cuts no
 * leaf. */
static uint32_t uncut_depth(const oif_window_state *forest, int64_t rows_in_tree)
{
    uint32_t depth = 0;
    while (depth < forest->depth_limit && oif_window_depth_allows_cut(forest, depth, rows_in_tree))
        depth++;
    return depth << OIF_DEPTH_BITS;
}

/* Learns a row that is in the ring already in the trees from `begin` to `end`; returns the
 * sum of its depths there. `ahead`: rows in the ring that are learned before it. */
OIF_INLINE uint64_t learn_row(oif_window_state *forest, const oif_rows *rows, size_t i,
                              uint32_t ahead, depths_wanted wanted, unsigned part, uint32_t begin,
                              uint32_t end)
{
    double *mirror =
        (double *)oif_block_part(forest, forest->mirrors_at) + (size_t)part * forest->box_width;
    uint32_t slot = slot_after(forest, forest->next_slot, ahead);
    const bool forgets = forest->rows_held + ahead >= forest->window_size;
    oif_keyed_row row;
    row_visit visit = {.row = &row,
                       .mirror = mirror,
                       .extra_depths = oif_window_extra_depths(forest),
                       .wanted = wanted,
                       .forgets = forgets,
                       .slot = slot,
                       .oldest = slot_after(forest, slot, forest->slots - forest->window_size),
                       .uncut_depth =
                           forgets ? UINT32_MAX
                                   : uncut_depth(forest, (int64_t)forest->rows_held + ahead + 1)};
    uint64_t depth_sum = 0;
    oif_keyed_row_init_mirrored(&row, forest->dimension, rows, i, mirror);
    if (forest->grid_is_set)
        mark_row(forest, &visit, part);
    for (uint32_t first = begin; first < end; first += GROUP)
        depth_sum += learn_in_group(forest, first, oif_min_u32(end - first, GROUP), &visit);
    if (visit.marks)
        set_pace(visit.pace, end - begin);
    return depth_sum;
}

/* The row in the next slot has been learned: the window moves on. */
static void move_window(oif_window_state *forest)
{
    forest->rows_held += forest->rows_held < forest->window_size;
    forest->next_slot = slot_after(forest, forest->next_slot, 1);
    if (forest->rows_to_grid && --forest->rows_to_grid == 0) {
        oif_window_fit_grid(forest);
        forest->rows_of_grid = oif_min_u32(2 * forest->rows_of_grid, MOST_GRID_ROWS);
        forest->rows_to_grid = forest->rows_of_grid;
    }
}

/* Moves the window on and returns the row's score, from its depths now or, with scores_first,
 * before it was learned. */
static double finish_row(void *state, bool scores_first, oif_depth_total total)
{
    oif_window_state *forest = state;
    const uint32_t held_before = forest->rows_held;
    move_window(forest);
    return score_of(forest, total.depth_sum, scores_first ? held_before : forest->rows_held);
}

static void store_chunk(const oif_row_chunk *chunk)
{
    oif_window_state *forest = chunk->forest;
    for (uint32_t i = 0; i < chunk->count; i++)
        store_row(forest, oif_rows_at(chunk->rows, chunk->from + i),
                  slot_after(forest, forest->next_slot, i));
}

static void learn_part(void *context, unsigned part)
{
    oif_row_chunk *chunk = context;
    oif_window_state *forest = chunk->forest;
    const uint32_t begin = oif_row_chunk_first_tree(chunk, forest->num_trees, part),
                   end = oif_row_chunk_first_tree(chunk, forest->num_trees, part + 1);
    const depths_wanted wanted =
        chunk->scores_first ? DEPTHS_BEFORE_COUNTING : DEPTHS_AFTER_COUNTING;
    for (uint32_t i = 0; i < chunk->count; i++) {
        uint64_t depth_sum =
            learn_row(forest, chunk->rows, chunk->from + i, i, wanted, part, begin, end);
        oif_row_chunk_add(chunk, i, (oif_depth_total){depth_sum, 0});
    }
}

static void learn_together(oif_window_state *forest, const oif_rows *rows, double *scores,
                           bool scores_first, oif_pool *pool)
{
    static const oif_row_chunk_steps steps = {store_chunk, learn_part, finish_row};
    oif_row_chunk_learn(forest, &steps, forest->slots - forest->window_size, rows, scores,
                        scores_first, pool);
}

OIF_INLINE void learn_alone(oif_window_state *forest, const oif_rows *rows, double *scores,
                            bool scores_first)
{
    const depths_wanted wanted = !scores        ? NO_DEPTHS
                                 : scores_first ? DEPTHS_BEFORE_COUNTING
                                                : DEPTHS_AFTER_COUNTING;
    size_t stored = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (i == stored)
            stored += store_next(forest, rows, i);
        uint64_t depth_sum = learn_row(forest, rows, i, 0, wanted, 0, 0, forest->num_trees);
        if (scores)
            scores[i] = finish_row(forest, scores_first, (oif_depth_total){depth_sum, 0});
        else
            move_window(forest);
    }
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    if (oif_row_chunk_is_worth(rows, pool))
        learn_together(state, rows, scores, false, pool);
    else
        learn_alone(state, rows, scores, false);
}

static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    if (oif_row_chunk_is_worth(rows, pool))
        learn_together(state, rows, scores, true, pool);
    else
        learn_alone(state, rows, scores, true);
}

/* ---- Questions ---- */

/* A quarter of the window shows the trees' coarse shape. A window that allows no cut never gets
 * anywhere. */
static bool ready(const void *state)
{
    const oif_window_state *forest = state;
    return forest->depth_limit > 0 && forest->rows_held >= forest->window_size / 4 &&
           forest->rows_held * forest->subsample > forest->max_leaf_samples;
}

static oif_status check(const void *state, oif_error *error)
{
    const oif_window_state *forest = state;
    if (forest->rows_held > forest->window_size || forest->next_slot >= forest->slots)
        return oif_fail(error, OIF_EINVARIANT, "the window holds more rows than it has room for");
    if (!oif_none_infinite(oif_window_ring_column(forest, 0),
                           (size_t)forest->dimension * forest->slots))
        return oif_fail(error, OIF_EINVARIANT, "a row is infinite");
    for (int32_t height = -1; height < (int32_t)forest->window_size + 2; height++)
        if (oif_window_extra_depths(forest)[height] !=
            to_depth_units(average_depth(forest, height)))
            return oif_fail(error, OIF_EINVARIANT, "the depth added by a height of %d is wrong",
                            height);
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < forest->num_trees && status == OIF_OK; tree++)
        status = oif_window_tree_check(forest, tree, error);
    return status == OIF_OK ? oif_window_labels_check(forest, error) : status;
}

/* ---- Snapshots ---- */

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    oif_window_state *forest = state;
    size_t nodes = (size_t)forest->num_trees << forest->depth_limit;
    oif_visit_u32(visitor, "rows_held", &forest->rows_held, 1);
    oif_visit_u32(visitor, "next_slot", &forest->next_slot, 1);
    oif_visit_f64(visitor, "columns", oif_window_ring_column(forest, 0),
                  (size_t)forest->dimension * forest->slots);
    oif_visit_u64(visitor, "last_lefts", oif_window_last_lefts(forest), nodes);
    oif_visit_u32(visitor, "cut_columns", oif_window_cut_columns(forest), nodes);
    oif_visit_u8(visitor, "leaf_at", oif_window_leaf_at(forest), 2 * nodes);
    oif_visit_u8(visitor, "levels", oif_window_levels(forest), forest->num_trees);
    oif_visit_u8(visitor, "lane_levels", oif_window_lane_levels(forest),
                 forest->num_trees / OIF_LANES + 1);
    for (uint32_t tree = 0; tree < forest->num_trees; tree++)
        oif_window_tree_visit_fields(forest, tree, visitor);
}

/* Heights under 0 tell of points that were drawn for a cut and never leave, see
 * docs/algorithms/online-iforest.md. */
typedef struct low_leaves {
    uint64_t under_zero;
    int32_t least;
} low_leaves;

static void add_leaves(const oif_window_state *forest, oif_window_node at,
                       oif_tree_figures *figures, low_leaves *low)
{
    if (oif_window_is_cut(forest, at)) {
        add_leaves(forest, oif_window_left(at), figures, low);
        add_leaves(forest, oif_window_right(at), figures, low);
        return;
    }
    int32_t height = oif_window_leaf_here(forest, at)->height;
    oif_figures_add_leaf(figures, at.depth);
    low->under_zero += height < 0;
    low->least = height < low->least ? height : low->least;
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const oif_window_state *forest = state;
    oif_tree_figures figures = {0};
    low_leaves low = {0, 0};
    uint64_t made = 0, undone = 0;
    for (uint32_t number = 0; number < forest->num_trees; number++) {
        const oif_window_tree *tree = oif_window_tree_at(forest, number);
        add_leaves(forest, oif_window_root(forest, number), &figures, &low);
        oif_figures_end_tree(&figures);
        made += tree->cuts_made, undone += tree->cuts_undone;
    }
    tell(context, "rows_held", forest->rows_held);
    oif_figures_tell(&figures, tell, context);
    tell(context, "cuts_made", (double)made);
    tell(context, "cuts_undone", (double)undone);
    tell(context, "leaves_under_0", (double)low.under_zero / (double)figures.leaves);
    tell(context, "under_0_max", -(double)low.least);
}

/* ---- The table ---- */

const oif_detector_kind oif_window_forest = {
    .check_params = check_params,
    .state_bytes = state_bytes,
    .init = init,
    .insertion_depth = insertion_depth,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .score_learn_rows = score_learn_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = check,
};
