/* Half-Space Trees (Tan, Ting, Liu, IJCAI 2011).
 *
 * Every tree halves the space again and again, each time along a feature drawn at random, and
 * counts how many rows of a window fall into each cell: its mass. Rows are scored by the masses
 * of the window before, the reference, while those of the latest window are being counted; when
 * it is full it becomes the reference.
 *
 *     stream   | ... reference window ... | ... latest window ... |
 *                masses that score          masses being counted
 *
 * A row is worth mass x 2^depth of the first node on its way that holds no more rows than the
 * size limit, or is at max_depth: the density there. Low density in all trees makes an anomaly.
 *
 * Of a tree only the nodes above the size limit in either window, and their children, are in
 * memory (half_space_trees.h). A leaf of the latest window keeps its rows in a list; when they
 * are more than the limit it is cut and hands them to its children, which are then what they
 * would be had they counted from the start. A cut finds its feature by hashing and its value
 * from the path. At the end of a window the cuts that the new reference does not need are
 * undone. So the trees hardly change while the stream does not, and one walk finds both the
 * cell to count a row in and the mass that scores it.
 *
 * A row costs O(num_trees max_depth) at most, the end of a window O(nodes); no row costs more
 * than the one that ends the first window: O(window_size num_trees max_depth).
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

typedef oif_hst_state forest;
typedef oif_hst_node node;

enum {
    LANES = 8, /* trees walked side by side, which hides the latency of their loads */
    /* rows that the first trees are built from; then from twice as many, up to a window */
    FIRST_BUILD = 16,
    /* rows that LANES trees take before the next do, which keeps these in the cache */
    MAX_CHUNK = 256,
};

/* ---- Creation ---- */

uint32_t oif_hst_limit(const forest *f, uint32_t rows)
{
    return (uint32_t)(f->size_limit * rows);
}

uint32_t oif_hst_build_after(const forest *f, uint32_t rows)
{
    uint32_t next = rows ? 2 * rows : FIRST_BUILD;
    return next < f->window_size ? next : f->window_size;
}

/* Nodes of one depth that can be above the limit, in any window. */
static uint64_t most_above_limit(const forest *f)
{
    uint64_t most = 0;
    for (uint32_t rows = oif_hst_build_after(f, 0);; rows = oif_hst_build_after(f, rows)) {
        uint64_t above = rows / (oif_hst_limit(f, rows) + 1);
        most = above > most ? above : most;
        if (rows == f->window_size)
            return most;
    }
}

/* Nodes that a tree can need: at each depth those above the limit in the reference and in the
 * latest window are cut. */
static uint64_t node_bound(const forest *f)
{
    uint64_t cuts = 0, above = 2 * most_above_limit(f);
    for (uint32_t depth = 0; depth < f->max_depth; depth++) {
        uint64_t all = UINT64_C(1) << depth;
        cuts += all < above ? all : above;
    }
    return 2 * cuts + 1;
}

static forest read_params(const oif_params *params)
{
    return (forest){
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
    forest f = read_params(params);
    if (f.range_low < f.range_high)
        return OIF_OK;
    return oif_fail(error, OIF_EPARAM, "range_low must be below range_high");
}

static forest lay_out(const oif_params *params, size_t dimension)
{
    forest f = read_params(params);
    uint64_t nodes = node_bound(&f);
    f.dimension = (uint32_t)dimension;
    f.node_capacity = (uint32_t)nodes;
    f.limit = oif_hst_limit(&f, f.window_size);
    f.next_build = oif_hst_build_after(&f, 0);
    f.full_scale = 1.0 / oif_log2(1.0 + (double)(UINT32_C(1) << f.max_depth));

    f.bytes = oif_size_align(sizeof f);
    f.trees_at = oif_size_append(&f.bytes, f.num_trees, sizeof(oif_hst_tree));
    f.nodes_at =
        oif_size_append(&f.bytes, f.num_trees, oif_size_multiply(f.node_capacity, sizeof(node)));
    f.next_row_at =
        oif_size_append(&f.bytes, f.num_trees, oif_size_multiply(f.window_size, sizeof(uint32_t)));
    f.ranges_at = oif_size_append(&f.bytes, dimension, sizeof(oif_hst_range));
    f.rows_at =
        oif_size_append(&f.bytes, f.window_size, oif_size_multiply(dimension, sizeof(double)));
    if (nodes * f.num_trees > UINT32_MAX)
        f.bytes = SIZE_MAX; /* nodes are numbered in 32 bits */
    return f;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return lay_out(params, dimension).bytes;
}

static void make_leaf(node *leaf, uint32_t at, uint32_t place, uint32_t worth)
{
    *leaf = (node){
        .cut = INFINITY, .child = at, .place = place, .first_row = OIF_HST_NONE, .worth = worth};
}

/* Makes every tree a single empty leaf. */
static void clear_trees(forest *f)
{
    for (uint32_t i = 0; i < f->num_trees; i++) {
        oif_hst_tree *tree = &oif_hst_trees(f)[i];
        tree->used = 1;
        tree->free_pair = OIF_HST_NONE;
        tree->levels = 0;
        make_leaf(&oif_hst_nodes(f)[oif_hst_root(f, i)], oif_hst_root(f, i), 1, 0);
    }
}

static oif_hst_range range_between(double low, double high)
{
    if (low > high)
        return (oif_hst_range){INFINITY, INFINITY,
                               0}; /* never seen: cut at infinity, which separates nothing */
    if (low == high) {
        /* Constant so far: give it some width, or departures to one side would go unnoticed. */
        double around = low == 0 ? 0.5 : (low < 0 ? -low : low) * 0x1p-11;
        return (oif_hst_range){low / 8 - around / 8, low / 8 + around / 8, around / 4};
    }
    return (oif_hst_range){low / 8, high / 8, high / 8 - low / 8};
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    forest *f = state;
    *f = lay_out(params, dimension);
    clear_trees(f);
    for (uint32_t i = 0; i < f->num_trees; i++)
        oif_hst_trees(f)[i].key =
            oif_random_stream((uint64_t)oif_params_value(params, "seed"), i).state;
    for (uint32_t i = 0; i < f->dimension; i++)
        *oif_hst_range_of(f, i) = f->ranges == OIF_HST_FIXED
                                      ? range_between(f->range_low, f->range_high)
                                      : range_between(INFINITY, -INFINITY);
}

/* ---- The complete tree: what seed and place say ---- */

uint32_t oif_hst_feature_at(const forest *f, const oif_hst_tree *tree, uint32_t place)
{
    oif_random random = oif_random_stream(tree->key, place);
    return oif_random_below(&random, f->dimension);
}

/* Where a feature is cut for the (halvings + 1)th time, in the cell'th of the 2^halvings parts
 * that were made so far of its work range, which goes from s - 2 max(s, 1 - s) to s + 2 max(s,
 * 1 - s) of its range, s random. One quarter of that is at the range's end: if s > 1/2 the
 * first is at its low end, else the last at its high end. Counted from there the end is met
 * exactly, so that no rounding decides about the rows that are there. */
static double middle_of_cell(const forest *f, const oif_hst_tree *tree, uint32_t feature,
                             uint32_t cell, uint32_t halvings)
{
    oif_random random = oif_random_stream(tree->key, (UINT64_C(1) << 32) + feature);
    const oif_hst_range *range = oif_hst_range_of(f, feature);
    double s = oif_random_unit(&random);
    double quarters = 4 * (2.0 * cell + 1) / (double)(UINT32_C(2) << halvings);
    double cut = s > 0.5 ? range->low + s * (quarters - 1) * range->width
                         : range->high - (1 - s) * (3 - quarters) * range->width;
    return cut * 8; /* may be infinite, as it should */
}

double oif_hst_cut_at(const forest *f, uint32_t tree, uint32_t place, uint32_t feature)
{
    const node *nodes = oif_hst_nodes(f), *above = &nodes[oif_hst_root(f, tree)];
    uint32_t cell = 0, halvings = 0;
    for (uint32_t depth = oif_hst_depth(place); depth-- > 0;) {
        uint32_t right = place >> depth & 1;
        if (above->feature == feature) {
            cell = 2 * cell + right;
            halvings++;
        }
        above = &nodes[above->child + right];
    }
    return middle_of_cell(f, &oif_hst_trees(f)[tree], feature, cell, halvings);
}

/* ---- Walking ---- */

/* LANES walks side by side; the inner loop unrolls, so that the nodes stay in registers. */
static __attribute__((noinline)) void walk_lanes(const node *restrict nodes,
                                                 const double *restrict row, uint32_t levels,
                                                 uint32_t leaves[LANES])
{
    uint32_t at[LANES];
    memcpy(at, leaves, sizeof at);
    for (; levels > 0; levels--)
        for (uint32_t i = 0; i < LANES; i++)
            at[i] = nodes[at[i]].child + (row[nodes[at[i]].feature] >= nodes[at[i]].cut);
    memcpy(leaves, at, sizeof at);
}

uint32_t oif_hst_walk(const forest *f, uint32_t tree, const double *row)
{
    const node *nodes = oif_hst_nodes(f);
    uint32_t at = oif_hst_root(f, tree);
    while (oif_hst_is_cut(f, at)) {
        double number = row[nodes[at].feature];
        at = number != number ? nodes[at].heavier : nodes[at].child + (number >= nodes[at].cut);
    }
    return at;
}

/* The leaves of a row in up to LANES trees from `first` on; returns how many. */
static uint32_t find_leaves(const forest *f, uint32_t first, const double *row, bool complete,
                            uint32_t leaves[LANES])
{
    uint32_t count = f->num_trees - first < LANES ? f->num_trees - first : LANES;
    if (complete && count == LANES) {
        const oif_hst_tree *trees = &oif_hst_trees(f)[first];
        uint32_t root = oif_hst_root(f, first), levels = 0;
        for (uint32_t i = 0; i < LANES; i++, root += f->node_capacity) {
            levels = trees[i].levels > levels ? trees[i].levels : levels;
            leaves[i] = root;
        }
        walk_lanes(oif_hst_nodes(f), row, levels, leaves);
        return LANES;
    }
    for (uint32_t i = 0; i < count; i++)
        leaves[i] = oif_hst_walk(f, first + i, row);
    return count;
}

/* ---- Scoring ---- */

static uint64_t mass_of(uint32_t worth)
{
    return (uint64_t)oif_hst_mass(worth) << (worth & ((1 << OIF_HST_DEPTH_BITS) - 1));
}

/* 1 where there is no mass, 0 where all rows are at max_depth. */
static double score_of(const forest *f, uint64_t mass_sum)
{
    if (f->reference_rows == 0)
        return 0.5;
    double whole = (double)((uint64_t)f->num_trees * f->reference_rows + mass_sum);
    double score = 1.0 - (oif_log2(whole) - f->no_mass) * f->full_scale;
    return score < 0 ? 0 : score > 1 ? 1 : score;
}

/* ---- Counting ---- */

static uint32_t take_pair(forest *f, uint32_t tree)
{
    oif_hst_tree *t = &oif_hst_trees(f)[tree];
    uint32_t pair = t->free_pair;
    if (pair == OIF_HST_NONE) {
        pair = oif_hst_root(f, tree) + t->used;
        t->used += 2;
    } else {
        t->free_pair = oif_hst_nodes(f)[pair].child;
    }
    return pair;
}

static void put_row(uint32_t *next_row, node *leaf, uint32_t slot)
{
    next_row[slot] = leaf->first_row;
    leaf->first_row = slot;
    leaf->count++;
}

/* Hands the rows of a leaf that has just been cut to its children; those without the number go
 * where most others went. */
static void hand_down(forest *f, uint32_t tree, node *parent, uint32_t row)
{
    node *children = &oif_hst_nodes(f)[parent->child];
    uint32_t *next_row = oif_hst_next_row(f, tree), missing = OIF_HST_NONE;
    while (row != OIF_HST_NONE) {
        uint32_t next = next_row[row];
        double number = oif_hst_row(f, row)[parent->feature];
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

bool oif_hst_must_be_cut(const forest *f, const node *leaf)
{
    return leaf->count > f->limit && oif_hst_depth(leaf->place) < f->max_depth;
}

/* Not inlined: it is rare, and would take the registers of the loop around it. */
static __attribute__((noinline)) void cut_leaf(forest *f, uint32_t tree, uint32_t at)
{
    node *nodes = oif_hst_nodes(f), *parent = &nodes[at];
    oif_hst_tree *t = &oif_hst_trees(f)[tree];
    while (oif_hst_must_be_cut(f, parent)) {
        uint32_t row = parent->first_row, depth = oif_hst_depth(parent->place);
        parent->feature = oif_hst_feature_at(f, t, parent->place);
        parent->cut = oif_hst_cut_at(f, tree, parent->place, parent->feature);
        parent->child = take_pair(f, tree);
        parent->count = 0;
        make_leaf(&nodes[parent->child], parent->child, 2 * parent->place, parent->worth);
        make_leaf(&nodes[parent->child + 1], parent->child + 1, 2 * parent->place + 1,
                  parent->worth);
        hand_down(f, tree, parent, row);
        t->levels = t->levels > depth ? t->levels : depth + 1;
        /* at most one is too full */
        parent = &nodes[parent->child + (nodes[parent->child + 1].count > f->limit)];
    }
}

/* ---- Rows through trees ---- */

static uint32_t groups_of(const forest *f)
{
    return (f->num_trees + LANES - 1) / LANES;
}

/* Rows that pass all trees, LANES trees after another, before the next rows do. */
typedef struct chunk {
    const forest *forest;
    forest *counter; /* the same forest when it is to count the rows, otherwise NULL */
    const oif_rows *rows;
    uint32_t first_slot;      /* of the window, where the rows are when they are to be counted */
    const bool *complete;     /* of each row */
    _Atomic uint64_t *masses; /* the sum of reference masses of each row */
    unsigned parts;
} chunk;

/* Counts a row of the window in some trees, of which it has reached these leaves. */
static void count_row(forest *f, uint32_t first_tree, const uint32_t *leaves, uint32_t count,
                      uint32_t slot)
{
    node *nodes = oif_hst_nodes(f);
    const uint32_t window_size = f->window_size;
    uint32_t *next_row = oif_hst_next_row(f, first_tree);
    for (uint32_t i = 0; i < count; i++, next_row += window_size) {
        put_row(next_row, &nodes[leaves[i]], slot);
        if (oif_hst_must_be_cut(f, &nodes[leaves[i]]))
            cut_leaf(f, first_tree + i, leaves[i]);
    }
}

/* Passes the rows through LANES trees and adds up what they are worth there. */
static void pass_group(const chunk *c, uint32_t first_tree, uint64_t *masses)
{
    const node *nodes = oif_hst_nodes(c->forest);
    for (uint32_t i = 0; i < c->rows->count; i++) {
        uint32_t leaves[LANES];
        uint32_t count =
            find_leaves(c->forest, first_tree, oif_rows_at(c->rows, i), c->complete[i], leaves);
        uint64_t sum = 0;
        for (uint32_t j = 0; j < count; j++)
            sum += mass_of(nodes[leaves[j]].worth);
        masses[i] += sum;
        if (c->counter)
            count_row(c->counter, first_tree, leaves, count, c->first_slot + i);
    }
}

static void pass_part(void *context, unsigned part)
{
    const chunk *c = context;
    const uint32_t groups = groups_of(c->forest), end = groups * (part + 1) / c->parts;
    const size_t count = c->rows->count;
    uint64_t masses[MAX_CHUNK];
    memset(masses, 0, count * sizeof *masses);
    for (uint32_t group = groups * part / c->parts; group < end; group++)
        pass_group(c, group * LANES, masses);
    for (size_t i = 0; i < count; i++)
        atomic_fetch_add_explicit(&c->masses[i], masses[i], memory_order_relaxed);
}

/* Passes at most MAX_CHUNK rows through all trees, and writes their scores unless `scores` is
 * NULL. */
static void pass_chunk(const forest *f, forest *counter, const oif_rows *rows, uint32_t first_slot,
                       double *scores, oif_pool *pool)
{
    _Atomic uint64_t masses[MAX_CHUNK];
    bool complete[MAX_CHUNK];
    chunk c = {f, counter, rows, first_slot, complete, masses, oif_pool_parts(pool)};
    for (size_t i = 0; i < rows->count; i++) {
        atomic_init(&masses[i], 0);
        complete[i] = rows->complete || oif_row_is_complete(oif_rows_at(rows, i), f->dimension);
    }
    oif_pool_run(pool, pass_part, &c);
    for (size_t i = 0; scores && i < rows->count; i++)
        scores[i] = score_of(f, atomic_load_explicit(&masses[i], memory_order_relaxed));
}

static oif_rows rows_from(const oif_rows *rows, size_t from, size_t most)
{
    size_t left = rows->count - from;
    return (oif_rows){oif_rows_at(rows, from), left < most ? left : most, rows->stride,
                      rows->complete};
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    for (size_t from = 0; from < rows->count; from += MAX_CHUNK) {
        oif_rows some = rows_from(rows, from, MAX_CHUNK);
        pass_chunk(state, NULL, &some, 0, scores + from, NULL);
    }
}

/* ---- The latest window becomes the reference ---- */

/* Turns the counts below a node into its reference mass, which is returned, and undoes cuts
 * that this mass does not need. */
static uint32_t settle_node(forest *f, uint32_t tree, uint32_t at)
{
    node *n = &oif_hst_nodes(f)[at];
    oif_hst_tree *t = &oif_hst_trees(f)[tree];
    uint32_t depth = oif_hst_depth(n->place), mass = n->count;
    if (oif_hst_is_cut(f, at)) {
        uint32_t left = settle_node(f, tree, n->child), right = settle_node(f, tree, n->child + 1);
        mass = left + right;
        n->heavier = n->child + (right > left);
    }
    n->worth = oif_hst_worth(mass, depth);
    if (oif_hst_is_cut(f, at) && mass > f->limit) {
        t->levels = t->levels > depth ? t->levels : depth + 1;
        return mass;
    }
    if (oif_hst_is_cut(f, at)) {
        oif_hst_nodes(f)[n->child].child = t->free_pair;
        t->free_pair = n->child;
    }
    make_leaf(n, at, n->place, n->worth);
    return mass;
}

typedef struct settling {
    forest *forest;
    unsigned parts;
} settling;

static void settle_part(void *context, unsigned part)
{
    const settling *s = context;
    forest *f = s->forest;
    const uint32_t groups = groups_of(f), from = groups * part / s->parts,
                   to = groups * (part + 1) / s->parts;
    for (uint32_t tree = from * LANES; tree < to * LANES && tree < f->num_trees; tree++) {
        oif_hst_trees(f)[tree].levels = 0;
        settle_node(f, tree, oif_hst_root(f, tree));
    }
}

static void settle(forest *f, oif_pool *pool)
{
    settling s = {f, oif_pool_parts(pool)};
    oif_pool_run(pool, settle_part, &s);
    f->reference_rows = f->rows_held;
    f->no_mass = oif_log2((double)((uint64_t)f->num_trees * f->reference_rows));
}

static void learn_ranges(forest *f)
{
    for (uint32_t feature = 0; feature < f->dimension; feature++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t slot = 0; slot < f->rows_held; slot++) {
            double number = oif_hst_row(f, slot)[feature];
            low = number < low ? number : low;
            high = number > high ? number : high;
        }
        *oif_hst_range_of(f, feature) = range_between(low, high);
    }
}

/* Builds all trees from the rows of the window so far. */
static void build_trees(forest *f, oif_pool *pool)
{
    if (f->ranges != OIF_HST_FIXED)
        learn_ranges(f);
    clear_trees(f);
    f->limit = oif_hst_limit(f, f->rows_held);
    oif_rows window = {oif_hst_row(f, 0), f->rows_held, f->dimension, false};
    for (uint32_t slot = 0; slot < f->rows_held; slot += MAX_CHUNK) {
        oif_rows some = rows_from(&window, slot, MAX_CHUNK);
        pass_chunk(f, f, &some, slot, NULL, pool);
    }
    settle(f, pool);
    f->next_build = oif_hst_build_after(f, f->rows_held);
    f->counting = f->rows_held == f->window_size && f->ranges != OIF_HST_EVERY;
}

/* ---- Learning ---- */

/* The rows that the window has when it ends or, early, when the trees are to be built. */
static uint32_t next_event(const forest *f)
{
    return f->counting ? f->window_size : f->next_build;
}

/* Learns rows up to the next event, which changes the score of the row that brings it. */
static void learn_chunk(forest *f, const oif_rows *rows, double *scores, oif_pool *pool)
{
    for (uint32_t i = 0; i < rows->count; i++)
        memcpy(oif_hst_row(f, f->rows_held + i), oif_rows_at(rows, i),
               f->dimension * sizeof(double));
    if (f->counting || scores)
        pass_chunk(f, f->counting ? f : NULL, rows, f->rows_held, scores, pool);
    f->rows_held += (uint32_t)rows->count;
    if (f->rows_held < next_event(f))
        return;
    if (f->counting)
        settle(f, pool);
    else
        build_trees(f, pool);
    if (f->rows_held == f->window_size)
        f->rows_held = 0;
    if (scores) {
        oif_rows last = rows_from(rows, rows->count - 1, 1);
        pass_chunk(f, NULL, &last, 0, scores + rows->count - 1, NULL);
    }
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    forest *f = state;
    for (size_t from = 0; from < rows->count;) {
        uint32_t to_event = next_event(f) - f->rows_held;
        oif_rows some = rows_from(rows, from, to_event < MAX_CHUNK ? to_event : MAX_CHUNK);
        learn_chunk(f, &some, scores ? scores + from : NULL, oif_pool_worth(pool, some.count));
        from += some.count;
    }
}

/* ---- Questions ---- */

/* One whole window. A limit that no window passes never tells one row from another. */
static bool ready(const void *state)
{
    const forest *f = state;
    return f->reference_rows == f->window_size && f->limit < f->window_size;
}

/* ---- Snapshots ---- */

static void tell_node(node *n, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "cut", &n->cut, 1);
    oif_visit_u32(visitor, "feature", &n->feature, 1);
    oif_visit_u32(visitor, "child", &n->child, 1);
    oif_visit_u32(visitor, "place", &n->place, 1);
    oif_visit_u32(visitor, "count", &n->count, 1);
    oif_visit_u32(visitor, "first_row", &n->first_row, 1); /* or heavier, which shares its place */
    oif_visit_u32(visitor, "worth", &n->worth, 1);
}

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    forest *f = state;
    oif_visit_u32(visitor, "counting", &f->counting, 1);
    oif_visit_u32(visitor, "next_build", &f->next_build, 1);
    oif_visit_u32(visitor, "rows_held", &f->rows_held, 1);
    oif_visit_u32(visitor, "reference_rows", &f->reference_rows, 1);
    oif_visit_f64(visitor, "no_mass", &f->no_mass, 1);
    for (uint32_t i = 0; i < f->num_trees; i++) {
        oif_hst_tree *tree = &oif_hst_trees(f)[i];
        oif_visit_u32(visitor, "used", &tree->used, 1);
        oif_visit_u32(visitor, "free_pair", &tree->free_pair, 1);
        oif_visit_u32(visitor, "levels", &tree->levels, 1);
        for (uint32_t at = 0; at < f->node_capacity; at++)
            tell_node(&oif_hst_nodes(f)[oif_hst_root(f, i) + at], visitor);
    }
    oif_visit_u32(visitor, "next_row", oif_hst_next_row(f, 0),
                  (size_t)f->num_trees * f->window_size);
    for (uint32_t feature = 0; feature < f->dimension; feature++) {
        oif_visit_f64(visitor, "low", &oif_hst_range_of(f, feature)->low, 1);
        oif_visit_f64(visitor, "high", &oif_hst_range_of(f, feature)->high, 1);
        oif_visit_f64(visitor, "width", &oif_hst_range_of(f, feature)->width, 1);
    }
    oif_visit_f64(visitor, "rows", oif_hst_row(f, 0), (size_t)f->window_size * f->dimension);
}

static void add_leaves(const forest *f, uint32_t at, oif_tree_figures *figures)
{
    const node *n = &oif_hst_nodes(f)[at];
    if (!oif_hst_is_cut(f, at)) {
        oif_figures_add_leaf(figures, oif_hst_depth(n->place));
        return;
    }
    add_leaves(f, n->child, figures);
    add_leaves(f, n->child + 1, figures);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const forest *f = state;
    oif_tree_figures figures = {0};
    for (uint32_t tree = 0; tree < f->num_trees; tree++) {
        add_leaves(f, oif_hst_root(f, tree), &figures);
        oif_figures_end_tree(&figures);
    }
    tell(context, "rows_held", f->rows_held);
    oif_figures_tell(&figures, tell, context);
    tell(context, "reference_rows", f->reference_rows);
}

/* ---- The table ---- */

static const char *const ranges_words[] = {"first", "every", "fixed", NULL};

static const oif_param params_table[] = {
    {"num_trees", "trees in the forest; more give steadier scores", OIF_PARAM_INTEGER, 1, 4096, 32,
     NULL},
    {"window_size", "rows in a window; each window is scored by the masses of the one before",
     OIF_PARAM_INTEGER, 1, 1 << 24, 250, NULL},
    {"max_depth", "how often the space is halved at most", OIF_PARAM_INTEGER, 1, 24, 15, NULL},
    {"size_limit", "share of the window's rows up to which a node is not looked into",
     OIF_PARAM_REAL, 0, 1, 0.1, NULL},
    {"ranges",
     "the features' ranges: learned from the first window (first), from every window (every), or "
     "range_low "
     "to "
     "range_high (fixed)",
     OIF_PARAM_CHOICE, 0, 2, OIF_HST_FIRST, ranges_words},
    {"range_low", "lowest number of every feature when ranges is fixed", OIF_PARAM_REAL, -1e300,
     1e300, 0, NULL},
    {"range_high", "highest number of every feature when ranges is fixed", OIF_PARAM_REAL, -1e300,
     1e300, 1, NULL},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_half_space_trees = {
    .info = {.name = "hst",
             .summary = "the mass of the window before in cells that halve the space at random",
             .paper = "Tan, Ting, Liu: Fast Anomaly Detection for Streaming Data, IJCAI 2011",
             .cost = "num_trees x max_depth at most, whatever d is",
             .choose = "to compare each window of rows with the one before; long rows cost no more "
                       "than short ones",
             .params = params_table,
             .param_count = sizeof params_table / sizeof params_table[0]},
    .check_params = check_params,
    .state_bytes = state_bytes,
    .init = init,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = oif_hst_check,
};
