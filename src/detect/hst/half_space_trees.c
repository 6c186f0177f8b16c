/* Half-Space Trees (Tan, Ting, Liu, IJCAI 2011).
 *
 * Every tree halves the space again and again, each time along a random column, and counts how many
 * rows of a window fall into each cell: its mass. Rows are scored by the masses of the previous
 * window, the reference, while the latest window is being counted. When the latest window is full,
 * it becomes the reference.
 *
 *     stream   | ... reference window ... | ... latest window ... |
 *                masses that score          masses being counted
 *
 * A row walks down to the first node that holds no more rows than the size limit or is at
 * max_depth. It scores by the density there, mass x 2^depth. Low density in all trees means an
 * anomaly.
 *
 * A tree keeps in memory only the nodes above the size limit in either window, and their children
 * (half_space_trees.h). A leaf of the latest window keeps its rows in a list. When there are more
 * than the limit, the leaf is cut and its rows move to its children, which then have the counts of
 * children that existed from the start. The column of a cut is a hash, and its value follows from
 * the path. At the end of a window, cuts that the new reference does not need are undone. So the
 * trees hardly change while the stream does not, and one walk finds both the cell that counts a row
 * and the mass that scores it.
 *
 * A row costs at most O(num_trees max_depth), the end of a window O(nodes). The row that ends the
 * first window costs the most: O(window_size num_trees max_depth).
 */
#include "detect/hst/half_space_trees.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/stable_math.h"
#include "base/vector.h"
#include "detect/tree_figures.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    LANES = 8, /* trees walked side by side, to hide the latency of loads */
    /* rows that the first trees are built from; then twice as many each time, up to a window */
    FIRST_BUILD = 16,
    /* rows that pass LANES trees before the next trees, to keep these trees in the cache */
    MAX_CHUNK = 256,
};

/* ---- Creation ---- */

uint32_t oif_hst_limit(const oif_hst_state *forest, uint32_t rows)
{
    return (uint32_t)(forest->size_limit * rows);
}

uint32_t oif_hst_build_after(const oif_hst_state *forest, uint32_t rows)
{
    uint32_t next = rows ? 2 * rows : FIRST_BUILD;
    return oif_min_u32(next, forest->window_size);
}

/* The most nodes of one depth that can be above the limit, in any window. */
static uint64_t most_above_limit(const oif_hst_state *forest)
{
    uint64_t most = 0;
    for (uint32_t rows = oif_hst_build_after(forest, 0);;
         rows = oif_hst_build_after(forest, rows)) {
        uint64_t above = rows / (oif_hst_limit(forest, rows) + 1);
        most = above > most ? above : most;
        if (rows == forest->window_size)
            return most;
    }
}

/* The most nodes that a tree can need: at each depth, nodes above the limit in the reference or in
 * the latest window are cut. */
static uint64_t node_bound(const oif_hst_state *forest)
{
    uint64_t cuts = 0, above = 2 * most_above_limit(forest);
    for (uint32_t depth = 0; depth < forest->max_depth; depth++) {
        uint64_t all = UINT64_C(1) << depth;
        cuts += oif_min_u64(all, above);
    }
    return 2 * cuts + 1;
}

static oif_hst_state read_params(const oif_params *params)
{
    return (oif_hst_state){
        .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
        .window_size = (uint32_t)oif_params_value(params, "window_size"),
        .max_depth = (uint32_t)oif_params_value(params, "max_depth"),
        .size_limit = oif_params_value(params, "size_limit"),
        .ranges = (oif_hst_ranges)oif_params_value(params, "ranges"),
        .range_low = oif_params_value(params, "range_low"),
        .range_high = oif_params_value(params, "range_high"),
    };
}

static oif_status check_params(const oif_params *params, oif_error *error)
{
    oif_hst_state forest = read_params(params);
    if (forest.range_low < forest.range_high)
        return OIF_OK;
    return oif_fail(error, OIF_EPARAM, "range_low must be below range_high");
}

static oif_hst_state lay_out(const oif_params *params, size_t dimension)
{
    oif_hst_state forest = read_params(params);
    uint64_t nodes = node_bound(&forest);
    forest.dimension = (uint32_t)dimension;
    forest.node_capacity = (uint32_t)nodes;
    forest.limit = oif_hst_limit(&forest, forest.window_size);
    forest.next_build = oif_hst_build_after(&forest, 0);
    forest.full_scale = 1.0 / oif_log2(1.0 + (double)(UINT32_C(1) << forest.max_depth));

    forest.bytes = oif_size_align(sizeof forest);
    forest.trees_at = oif_size_append(&forest.bytes, forest.num_trees, sizeof(oif_hst_tree));
    forest.nodes_at =
        oif_size_append(&forest.bytes, forest.num_trees,
                        oif_size_multiply(forest.node_capacity, sizeof(oif_hst_node)));
    forest.next_row_at = oif_size_append(&forest.bytes, forest.num_trees,
                                         oif_size_multiply(forest.window_size, sizeof(uint32_t)));
    forest.ranges_at = oif_size_append(&forest.bytes, dimension, sizeof(oif_hst_range));
    forest.rows_at = oif_size_append(&forest.bytes, forest.window_size,
                                     oif_size_multiply(dimension, sizeof(double)));
    if (nodes * forest.num_trees > UINT32_MAX)
        forest.bytes = SIZE_MAX; /* node numbers have 32 bits */
    return forest;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return lay_out(params, dimension).bytes;
}

static void make_leaf(oif_hst_node *leaf, uint32_t at, uint32_t place, uint32_t worth)
{
    *leaf = (oif_hst_node){
        .cut = INFINITY, .child = at, .place = place, .first_row = OIF_HST_NONE, .worth = worth};
}

/* Makes every tree a single empty leaf. */
static void clear_trees(oif_hst_state *forest)
{
    for (uint32_t i = 0; i < forest->num_trees; i++) {
        oif_hst_tree *tree = &oif_hst_trees(forest)[i];
        tree->used = 1;
        tree->free_pair = OIF_HST_NONE;
        tree->levels = 0;
        make_leaf(&oif_hst_nodes(forest)[oif_hst_root(forest, i)], oif_hst_root(forest, i), 1, 0);
    }
}

static oif_hst_range range_between(double low, double high)
{
    if (low > high)
        return (oif_hst_range){INFINITY, INFINITY,
                               0}; /* never seen: a cut at infinity separates nothing */
    if (low == high) {
        /* Constant so far: add some width, or departures to one side would be missed. */
        double around = low == 0 ? 0.5 : (low < 0 ? -low : low) * 0x1p-11;
        return (oif_hst_range){low / 8 - around / 8, low / 8 + around / 8, around / 4};
    }
    return (oif_hst_range){low / 8, high / 8, high / 8 - low / 8};
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    oif_hst_state *forest = state;
    *forest = lay_out(params, dimension);
    clear_trees(forest);
    for (uint32_t i = 0; i < forest->num_trees; i++)
        oif_hst_trees(forest)[i].seed =
            oif_random_stream((uint64_t)oif_params_value(params, "seed"), i).state;
    for (uint32_t i = 0; i < forest->dimension; i++)
        *oif_hst_range_of(forest, i) = forest->ranges == OIF_HST_FIXED
                                           ? range_between(forest->range_low, forest->range_high)
                                           : range_between(INFINITY, -INFINITY);
}

/* ---- The complete tree: determined by seed and place ---- */

uint32_t oif_hst_column_at(const oif_hst_state *forest, const oif_hst_tree *tree, uint32_t place)
{
    oif_random random = oif_random_stream(tree->seed, place);
    return oif_random_below(&random, forest->dimension);
}

/* Where a column is cut for the (halvings + 1)th time, in cell number `cell` of the 2^halvings
 * parts of its work range. The work range extends 2 max(s, 1 - s) of the column's range to either
 * side of s, a random position in that range. One quarter of the work range meets an end of the
 * range: the first quarter the low end if s > 1/2, else the last quarter the high end. Counting
 * from that end makes the cut there exact, so rounding does not decide on which side rows at the
 * end fall. */
static double middle_of_cell(const oif_hst_state *forest, const oif_hst_tree *tree, uint32_t column,
                             uint32_t cell, uint32_t halvings)
{
    oif_random random = oif_random_stream(tree->seed, (UINT64_C(1) << 32) + column);
    const oif_hst_range *range = oif_hst_range_of(forest, column);
    double s = oif_random_unit(&random);
    double quarters = 4 * (2.0 * cell + 1) / (double)(UINT32_C(2) << halvings);
    double cut = s > 0.5 ? range->low + s * (quarters - 1) * range->width
                         : range->high - (1 - s) * (3 - quarters) * range->width;
    return cut * 8; /* may be infinite, as intended */
}

double oif_hst_cut_at(const oif_hst_state *forest, uint32_t tree, uint32_t place, uint32_t column)
{
    const oif_hst_node *nodes = oif_hst_nodes(forest), *above = &nodes[oif_hst_root(forest, tree)];
    uint32_t cell = 0, halvings = 0;
    for (uint32_t depth = oif_hst_depth(place); depth-- > 0;) {
        uint32_t right = place >> depth & 1;
        if (above->column == column) {
            cell = 2 * cell + right;
            halvings++;
        }
        above = &nodes[above->child + right];
    }
    return middle_of_cell(forest, &oif_hst_trees(forest)[tree], column, cell, halvings);
}

/* ---- Walking ---- */

/* Walks LANES trees side by side. The inner loop unrolls, which keeps the nodes in registers. */
static __attribute__((noinline)) void walk_lanes(const oif_hst_node *restrict nodes,
                                                 const double *restrict row, uint32_t levels,
                                                 uint32_t leaves[LANES])
{
    uint32_t at[LANES];
    memcpy(at, leaves, sizeof at);
    for (; levels > 0; levels--)
        for (uint32_t i = 0; i < LANES; i++)
            at[i] = nodes[at[i]].child + (row[nodes[at[i]].column] >= nodes[at[i]].cut);
    memcpy(leaves, at, sizeof at);
}

uint32_t oif_hst_walk(const oif_hst_state *forest, uint32_t tree, const double *row)
{
    const oif_hst_node *nodes = oif_hst_nodes(forest);
    uint32_t at = oif_hst_root(forest, tree);
    while (oif_hst_is_cut(forest, at)) {
        double number = row[nodes[at].column];
        at = number != number ? nodes[at].heavier : nodes[at].child + (number >= nodes[at].cut);
    }
    return at;
}

/* Finds the leaves of a row in up to LANES trees, starting at `first`; returns how many. */
static uint32_t find_leaves(const oif_hst_state *forest, uint32_t first, const double *row,
                            bool complete, uint32_t leaves[LANES])
{
    uint32_t count = oif_min_u32(forest->num_trees - first, LANES);
    if (complete && count == LANES) {
        const oif_hst_tree *trees = &oif_hst_trees(forest)[first];
        uint32_t root = oif_hst_root(forest, first), levels = 0;
        for (uint32_t i = 0; i < LANES; i++, root += forest->node_capacity) {
            levels = trees[i].levels > levels ? trees[i].levels : levels;
            leaves[i] = root;
        }
        walk_lanes(oif_hst_nodes(forest), row, levels, leaves);
        return LANES;
    }
    for (uint32_t i = 0; i < count; i++)
        leaves[i] = oif_hst_walk(forest, first + i, row);
    return count;
}

/* ---- Scoring ---- */

static uint64_t mass_of(uint32_t worth)
{
    return (uint64_t)oif_hst_mass(worth) << (worth & ((1 << OIF_HST_DEPTH_BITS) - 1));
}

/* 1 if there is no mass, 0 if all rows are at max_depth. */
static double score_of(const oif_hst_state *forest, uint64_t mass_sum)
{
    if (forest->reference_rows == 0)
        return 0.5;
    double whole = (double)((uint64_t)forest->num_trees * forest->reference_rows + mass_sum);
    double score = 1.0 - (oif_log2(whole) - forest->no_mass) * forest->full_scale;
    return score < 0 ? 0 : score > 1 ? 1 : score;
}

/* ---- Counting ---- */

static uint32_t take_pair(oif_hst_state *forest, uint32_t number)
{
    oif_hst_tree *tree = &oif_hst_trees(forest)[number];
    uint32_t pair = tree->free_pair;
    if (pair == OIF_HST_NONE) {
        pair = oif_hst_root(forest, number) + tree->used;
        tree->used += 2;
    } else {
        tree->free_pair = oif_hst_nodes(forest)[pair].child;
    }
    return pair;
}

static void put_row(uint32_t *next_row, oif_hst_node *leaf, uint32_t slot)
{
    next_row[slot] = leaf->first_row;
    leaf->first_row = slot;
    leaf->count++;
}

/* Moves the rows of a leaf that was just cut to its children. Rows with a missing value go to the
 * child that got more of the others. */
static void hand_down(oif_hst_state *forest, uint32_t tree, oif_hst_node *parent, uint32_t row)
{
    oif_hst_node *children = &oif_hst_nodes(forest)[parent->child];
    uint32_t *next_row = oif_hst_next_row(forest, tree), missing = OIF_HST_NONE;
    while (row != OIF_HST_NONE) {
        uint32_t next = next_row[row];
        double number = oif_hst_row(forest, row)[parent->column];
        if (number != number) {
            next_row[row] = missing;
            missing = row;
        } else {
            put_row(next_row, &children[number >= parent->cut], row);
        }
        row = next;
    }
    uint32_t heavier = children[1].count > children[0].count;
    parent->heavier = parent->child + heavier;
    while (missing != OIF_HST_NONE) {
        uint32_t next = next_row[missing];
        put_row(next_row, &children[heavier], missing);
        missing = next;
    }
}

bool oif_hst_must_be_cut(const oif_hst_state *forest, const oif_hst_node *leaf)
{
    return leaf->count > forest->limit && oif_hst_depth(leaf->place) < forest->max_depth;
}

/* Not inlined: it is rare, and would cost the loop around it registers. */
static __attribute__((noinline)) void cut_leaf(oif_hst_state *forest, uint32_t number, uint32_t at)
{
    oif_hst_node *nodes = oif_hst_nodes(forest), *parent = &nodes[at];
    oif_hst_tree *tree = &oif_hst_trees(forest)[number];
    while (oif_hst_must_be_cut(forest, parent)) {
        uint32_t row = parent->first_row, depth = oif_hst_depth(parent->place);
        parent->column = oif_hst_column_at(forest, tree, parent->place);
        parent->cut = oif_hst_cut_at(forest, number, parent->place, parent->column);
        parent->child = take_pair(forest, number);
        parent->count = 0;
        make_leaf(&nodes[parent->child], parent->child, 2 * parent->place, parent->worth);
        make_leaf(&nodes[parent->child + 1], parent->child + 1, 2 * parent->place + 1,
                  parent->worth);
        hand_down(forest, number, parent, row);
        tree->levels = tree->levels > depth ? tree->levels : depth + 1;
        /* at most one child is too full */
        parent = &nodes[parent->child + (nodes[parent->child + 1].count > forest->limit)];
    }
}

/* ---- Rows through trees ---- */

static uint32_t groups_of(const oif_hst_state *forest)
{
    return (forest->num_trees + LANES - 1) / LANES;
}

/* Rows that pass all trees, LANES trees at a time, before the next rows do. */
typedef struct row_chunk {
    const oif_hst_state *forest;
    oif_hst_state *counter; /* the same forest if it counts the rows, otherwise NULL */
    const oif_rows *rows;
    uint32_t first_slot;      /* of the rows in the window, if they are counted */
    const bool *complete;     /* per row */
    _Atomic uint64_t *masses; /* the sum of reference masses per row */
    unsigned parts;
} row_chunk;

/* Counts a row of the window at these leaves, one per tree. */
static void count_row(oif_hst_state *forest, uint32_t first_tree, const uint32_t *leaves,
                      uint32_t count, uint32_t slot)
{
    oif_hst_node *nodes = oif_hst_nodes(forest);
    const uint32_t window_size = forest->window_size;
    uint32_t *next_row = oif_hst_next_row(forest, first_tree);
    for (uint32_t i = 0; i < count; i++, next_row += window_size) {
        put_row(next_row, &nodes[leaves[i]], slot);
        if (oif_hst_must_be_cut(forest, &nodes[leaves[i]]))
            cut_leaf(forest, first_tree + i, leaves[i]);
    }
}

/* Passes the rows through LANES trees and adds up the masses there. */
static void pass_group(const row_chunk *chunk, uint32_t first_tree, uint64_t *masses)
{
    const oif_hst_node *nodes = oif_hst_nodes(chunk->forest);
    for (uint32_t i = 0; i < chunk->rows->count; i++) {
        uint32_t leaves[LANES];
        uint32_t count = find_leaves(chunk->forest, first_tree, oif_rows_at(chunk->rows, i),
                                     chunk->complete[i], leaves);
        uint64_t sum = 0;
        for (uint32_t j = 0; j < count; j++)
            sum += mass_of(nodes[leaves[j]].worth);
        masses[i] += sum;
        if (chunk->counter)
            count_row(chunk->counter, first_tree, leaves, count, chunk->first_slot + i);
    }
}

static void pass_part(void *context, unsigned part)
{
    const row_chunk *chunk = context;
    const uint32_t groups = groups_of(chunk->forest), end = groups * (part + 1) / chunk->parts;
    const size_t count = chunk->rows->count;
    uint64_t masses[MAX_CHUNK];
    memset(masses, 0, count * sizeof *masses);
    for (uint32_t group = groups * part / chunk->parts; group < end; group++)
        pass_group(chunk, group * LANES, masses);
    for (size_t i = 0; i < count; i++)
        atomic_fetch_add_explicit(&chunk->masses[i], masses[i], memory_order_relaxed);
}

/* Passes at most MAX_CHUNK rows through all trees; writes their scores unless `scores` is NULL. */
static void pass_chunk(const oif_hst_state *forest, oif_hst_state *counter, const oif_rows *rows,
                       uint32_t first_slot, double *scores, oif_pool *pool)
{
    _Atomic uint64_t masses[MAX_CHUNK];
    bool complete[MAX_CHUNK];
    row_chunk chunk = {forest, counter, rows, first_slot, complete, masses, oif_pool_parts(pool)};
    for (size_t i = 0; i < rows->count; i++) {
        atomic_init(&masses[i], 0);
        complete[i] = oif_rows_complete_at(rows, i, forest->dimension);
    }
    oif_pool_run(pool, pass_part, &chunk);
    for (size_t i = 0; scores && i < rows->count; i++)
        scores[i] = score_of(forest, atomic_load_explicit(&masses[i], memory_order_relaxed));
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    for (size_t from = 0; from < rows->count; from += MAX_CHUNK) {
        oif_rows some = oif_rows_from(rows, from, MAX_CHUNK);
        pass_chunk(state, NULL, &some, 0, scores + from, NULL);
    }
}

/* ---- The latest window becomes the reference ---- */

/* Turns the counts below a node into its reference mass, returns it, and undoes cuts that this mass
 * does not need. */
static uint32_t settle_node(oif_hst_state *forest, uint32_t number, uint32_t at)
{
    oif_hst_node *node = &oif_hst_nodes(forest)[at];
    oif_hst_tree *tree = &oif_hst_trees(forest)[number];
    uint32_t depth = oif_hst_depth(node->place), mass = node->count;
    if (oif_hst_is_cut(forest, at)) {
        uint32_t left = settle_node(forest, number, node->child),
                 right = settle_node(forest, number, node->child + 1);
        mass = left + right;
        node->heavier = node->child + (right > left);
    }
    node->worth = oif_hst_worth(mass, depth);
    if (oif_hst_is_cut(forest, at) && mass > forest->limit) {
        tree->levels = tree->levels > depth ? tree->levels : depth + 1;
        return mass;
    }
    if (oif_hst_is_cut(forest, at)) {
        oif_hst_nodes(forest)[node->child].child = tree->free_pair;
        tree->free_pair = node->child;
    }
    make_leaf(node, at, node->place, node->worth);
    return mass;
}

typedef struct settle_job {
    oif_hst_state *forest;
    unsigned parts;
} settle_job;

static void settle_part(void *context, unsigned part)
{
    const settle_job *job = context;
    oif_hst_state *forest = job->forest;
    const uint32_t groups = groups_of(forest), from = groups * part / job->parts,
                   to = groups * (part + 1) / job->parts;
    for (uint32_t tree = from * LANES; tree < to * LANES && tree < forest->num_trees; tree++) {
        oif_hst_trees(forest)[tree].levels = 0;
        settle_node(forest, tree, oif_hst_root(forest, tree));
    }
}

static void settle(oif_hst_state *forest, oif_pool *pool)
{
    settle_job job = {forest, oif_pool_parts(pool)};
    oif_pool_run(pool, settle_part, &job);
    forest->reference_rows = forest->rows_held;
    forest->no_mass = oif_log2((double)((uint64_t)forest->num_trees * forest->reference_rows));
}

static void learn_ranges(oif_hst_state *forest)
{
    for (uint32_t column = 0; column < forest->dimension; column++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t slot = 0; slot < forest->rows_held; slot++) {
            double number = oif_hst_row(forest, slot)[column];
            low = number < low ? number : low;
            high = number > high ? number : high;
        }
        *oif_hst_range_of(forest, column) = range_between(low, high);
    }
}

/* Builds all trees from the rows of the window so far. */
static void build_trees(oif_hst_state *forest, oif_pool *pool)
{
    if (forest->ranges != OIF_HST_FIXED)
        learn_ranges(forest);
    clear_trees(forest);
    forest->limit = oif_hst_limit(forest, forest->rows_held);
    oif_rows window = {oif_hst_row(forest, 0), forest->rows_held, forest->dimension, false};
    for (uint32_t slot = 0; slot < forest->rows_held; slot += MAX_CHUNK) {
        oif_rows some = oif_rows_from(&window, slot, MAX_CHUNK);
        pass_chunk(forest, forest, &some, slot, NULL, pool);
    }
    settle(forest, pool);
    forest->next_build = oif_hst_build_after(forest, forest->rows_held);
    forest->counting = forest->rows_held == forest->window_size && forest->ranges != OIF_HST_EVERY;
}

/* ---- Learning ---- */

/* The number of rows in the window at which it ends or, early on, the trees are built. */
static uint32_t next_event(const oif_hst_state *forest)
{
    return forest->counting ? forest->window_size : forest->next_build;
}

/* Learns rows up to the next event and returns whether the last row triggered it. The event changes
 * the score of that row. The scores written here are from before the event, so they are also the
 * scores from before the rows are learned. */
static bool learn_chunk(oif_hst_state *forest, const oif_rows *rows, double *scores, oif_pool *pool)
{
    for (uint32_t i = 0; i < rows->count; i++)
        memcpy(oif_hst_row(forest, forest->rows_held + i), oif_rows_at(rows, i),
               forest->dimension * sizeof(double));
    if (forest->counting || scores)
        pass_chunk(forest, forest->counting ? forest : NULL, rows, forest->rows_held, scores, pool);
    forest->rows_held += (uint32_t)rows->count;
    if (forest->rows_held < next_event(forest))
        return false;
    if (forest->counting)
        settle(forest, pool);
    else
        build_trees(forest, pool);
    if (forest->rows_held == forest->window_size)
        forest->rows_held = 0;
    return true;
}

static oif_rows rows_to_event(const oif_hst_state *forest, const oif_rows *rows, size_t from)
{
    uint32_t to_event = next_event(forest) - forest->rows_held;
    return oif_rows_from(rows, from, oif_min_u32(to_event, MAX_CHUNK));
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    oif_hst_state *forest = state;
    for (size_t from = 0; from < rows->count;) {
        oif_rows some = rows_to_event(forest, rows, from);
        bool event = learn_chunk(forest, &some, scores ? scores + from : NULL,
                                 oif_pool_worth(pool, some.count));
        from += some.count;
        if (event && scores) {
            oif_rows last = oif_rows_from(rows, from - 1, 1);
            pass_chunk(forest, NULL, &last, 0, scores + from - 1, NULL);
        }
    }
}

static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    oif_hst_state *forest = state;
    for (size_t from = 0; from < rows->count;) {
        oif_rows some = rows_to_event(forest, rows, from);
        (void)learn_chunk(forest, &some, scores + from, oif_pool_worth(pool, some.count));
        from += some.count;
    }
}

/* ---- Questions ---- */

/* One whole window. If no window can exceed the limit, all rows score the same. */
static bool ready(const void *state)
{
    const oif_hst_state *forest = state;
    return forest->reference_rows == forest->window_size && forest->limit < forest->window_size;
}

/* ---- Snapshots ---- */

static const oif_field node_fields[] = {
    {"cut", OIF_FIELD_F64, offsetof(oif_hst_node, cut), 1},
    {"column", OIF_FIELD_U32, offsetof(oif_hst_node, column), 1},
    {"child", OIF_FIELD_U32, offsetof(oif_hst_node, child), 1},
    {"place", OIF_FIELD_U32, offsetof(oif_hst_node, place), 1},
    {"count", OIF_FIELD_U32, offsetof(oif_hst_node, count), 1},
    /* shares its place with `heavier` */
    {"first_row", OIF_FIELD_U32, offsetof(oif_hst_node, first_row), 1},
    {"worth", OIF_FIELD_U32, offsetof(oif_hst_node, worth), 1},
};

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    oif_hst_state *forest = state;
    oif_visit_u32(visitor, "counting", &forest->counting, 1);
    oif_visit_u32(visitor, "next_build", &forest->next_build, 1);
    oif_visit_u32(visitor, "rows_held", &forest->rows_held, 1);
    oif_visit_u32(visitor, "reference_rows", &forest->reference_rows, 1);
    oif_visit_f64(visitor, "no_mass", &forest->no_mass, 1);
    for (uint32_t i = 0; i < forest->num_trees; i++) {
        oif_hst_tree *tree = &oif_hst_trees(forest)[i];
        oif_visit_u32(visitor, "used", &tree->used, 1);
        oif_visit_u32(visitor, "free_pair", &tree->free_pair, 1);
        oif_visit_u32(visitor, "levels", &tree->levels, 1);
        oif_visit_records(visitor,
                          &(oif_records){node_fields, sizeof node_fields / sizeof node_fields[0],
                                         &oif_hst_nodes(forest)[oif_hst_root(forest, i)],
                                         sizeof(oif_hst_node), forest->node_capacity});
    }
    oif_visit_u32(visitor, "next_row", oif_hst_next_row(forest, 0),
                  (size_t)forest->num_trees * forest->window_size);
    for (uint32_t column = 0; column < forest->dimension; column++) {
        oif_visit_f64(visitor, "low", &oif_hst_range_of(forest, column)->low, 1);
        oif_visit_f64(visitor, "high", &oif_hst_range_of(forest, column)->high, 1);
        oif_visit_f64(visitor, "width", &oif_hst_range_of(forest, column)->width, 1);
    }
    oif_visit_f64(visitor, "rows", oif_hst_row(forest, 0),
                  (size_t)forest->window_size * forest->dimension);
}

static void add_leaves(const oif_hst_state *forest, uint32_t at, oif_tree_figures *figures)
{
    const oif_hst_node *node = &oif_hst_nodes(forest)[at];
    if (!oif_hst_is_cut(forest, at)) {
        oif_figures_add_leaf(figures, oif_hst_depth(node->place));
        return;
    }
    add_leaves(forest, node->child, figures);
    add_leaves(forest, node->child + 1, figures);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const oif_hst_state *forest = state;
    oif_tree_figures figures = {0};
    for (uint32_t tree = 0; tree < forest->num_trees; tree++) {
        add_leaves(forest, oif_hst_root(forest, tree), &figures);
        oif_figures_end_tree(&figures);
    }
    tell(context, "rows_held", forest->rows_held);
    oif_figures_tell(&figures, tell, context);
    tell(context, "reference_rows", forest->reference_rows);
}

/* ---- The table ---- */

static const char *const ranges_words[] = {"first", "every", "fixed", NULL};

static const oif_param params_table[] = {
    {"num_trees", "trees in the forest; more give steadier scores", OIF_PARAM_INTEGER, 1, 4096, 32,
     NULL},
    {"window_size", "rows in a window; each window is scored by the counts of the previous one",
     OIF_PARAM_INTEGER, 1, 1 << 24, 250, NULL},
    {"max_depth", "largest depth of a tree: how often the space is halved", OIF_PARAM_INTEGER, 1,
     24, 15, NULL},
    {"size_limit", "a node with at most this share of the window's rows is not searched further",
     OIF_PARAM_REAL, 0, 1, 0.1, NULL},
    {"ranges",
     "the columns' ranges: learned from the first window (first), from every window (every), or "
     "range_low to range_high (fixed)",
     OIF_PARAM_CHOICE, 0, 2, OIF_HST_FIRST, ranges_words},
    {"range_low", "lowest number of every column when ranges is fixed", OIF_PARAM_REAL, -1e300,
     1e300, 0, NULL},
    {"range_high", "highest number of every column when ranges is fixed", OIF_PARAM_REAL, -1e300,
     1e300, 1, NULL},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_half_space_trees = {
    .info = {.table.name = "hst",
             .table.summary = "row counts of the previous window in randomly halved cells",
             .paper = "Tan, Ting, Liu: Fast Anomaly Detection for Streaming Data, IJCAI 2011",
             .cost = "num_trees x max_depth at most, for any d",
             .choose =
                 "to compare each window of rows with the previous one; long rows cost no more "
                 "than short ones",
             .table.params = params_table,
             .table.param_count = sizeof params_table / sizeof params_table[0]},
    .rarity = {.usual = -0.4, .per_decade = 1.7},
    .check_params = check_params,
    .minds_constants = true,
    .state_bytes = state_bytes,
    .init = init,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .score_learn_rows = score_learn_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = oif_hst_check,
};
