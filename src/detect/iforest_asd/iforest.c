/* Growing the trees of an Isolation Forest, walking them, and what must hold in between.
 *
 * A node of at least two rows is cut while its depth allows it: a feature is drawn uniformly
 * among those that are not constant in the node, then a value uniformly in the feature's range;
 * smaller numbers go left. So both children get rows, whatever the numbers are. A missing
 * number goes with the heavier child and does not count for the range.
 */
#include "detect/iforest_asd/iforest.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "base/vector.h"
#include "detect/draw_cut.h"

#include <math.h>
#include <string.h>

typedef oif_iforest forest;

enum { LANES = 8 }; /* trees walked side by side */

/* ---- Creation ---- */

uint32_t oif_iforest_depth_limit(uint32_t rows)
{
    uint32_t depth = 0;
    while ((UINT64_C(1) << depth) < rows)
        depth++;
    return depth;
}

forest oif_iforest_lay_out(uint32_t num_trees, uint32_t subsample_size, size_t dimension)
{
    forest f = {.dimension = (uint32_t)dimension,
                .num_trees = num_trees,
                .subsample_size = subsample_size,
                .depth_limit = oif_iforest_depth_limit(subsample_size)};
    size_t bottom = oif_size_multiply(num_trees, (size_t)1 << f.depth_limit);
    f.bytes = oif_size_align(sizeof f);
    f.cuts_at = oif_size_append(&f.bytes, bottom, sizeof(double));
    f.features_at = oif_size_append(&f.bytes, bottom, sizeof(uint32_t));
    f.counts_at = oif_size_append(&f.bytes, bottom, 2 * sizeof(uint16_t));
    f.path_lengths_at = oif_size_append(&f.bytes, bottom, sizeof(uint32_t));
    f.average_at = oif_size_append(&f.bytes, (size_t)subsample_size + 1, sizeof(uint32_t));
    f.order_at = oif_size_append(&f.bytes, dimension, sizeof(uint32_t));
    f.values_at = oif_size_append(&f.bytes, subsample_size, sizeof(double));
    f.spare_at = oif_size_append(&f.bytes, subsample_size, sizeof(uint32_t));
    return f;
}

static uint32_t to_path_units(double length)
{
    return (uint32_t)(length * (1 << OIF_PATH_BITS) + 0.5);
}

static void init_averages(forest *f)
{
    uint32_t *average = oif_iforest_part(f, f->average_at);
    double harmonic = 0;
    for (uint32_t n = 2; n <= f->subsample_size; n++) {
        harmonic += 1.0 / (n - 1);
        average[n] = to_path_units(2 * harmonic - 2.0 * (n - 1) / n);
    }
}

void oif_iforest_init(forest *f, const forest *head)
{
    *f = *head;
    init_averages(f);
    uint32_t *order = oif_iforest_part(f, f->order_at);
    for (uint32_t i = 0; i < f->dimension; i++)
        order[i] = i;
    for (size_t i = 0; i < (size_t)f->num_trees << f->depth_limit; i++)
        oif_iforest_cuts(f)[i] = INFINITY;
}

/* ---- Growing ---- */

/* A tree while it grows. */
typedef struct growth {
    forest *forest;
    oif_random *random;
    const double *values;
    size_t stride;
    uint32_t *order; /* of the features: first those that are known to be constant */
    double *column;  /* one number of each row of a node */
    uint32_t *spare; /* rows that go right */
    uint32_t depth_limit;
} growth;

/* A node, the rows in it, and how many features are known to be constant in them. */
typedef struct plot {
    uint32_t index, depth;
    uint32_t *rows;
    uint32_t count, constant;
} plot;

typedef struct range {
    double low, high;
} range;

/* Collects one feature of a node's rows. Missing numbers compare false and stay outside the
 * range. */
static range read_column(const growth *g, const plot *at, uint32_t feature)
{
    /* copies: a store might change anything behind a pointer */
    const double *restrict values = g->values + feature;
    const uint32_t *restrict rows = at->rows;
    double *restrict column = g->column;
    const size_t stride = g->stride;
    range r = {INFINITY, -INFINITY};
    for (uint32_t i = 0, count = at->count; i < count; i++) {
        double number = values[rows[i] * stride];
        r.low = number < r.low ? number : r.low;
        r.high = number > r.high ? number : r.high;
        column[i] = number;
    }
    return r;
}

/* Draws a feature among those that are not constant here and collects it; false when there is
 * none. Of the features that a draw shows to be constant those below know: order[0 .. constant)
 * is the same for a node and for all below it. */
static bool draw_feature(growth *g, plot *at, uint32_t *feature, range *r)
{
    while (at->constant < g->forest->dimension) {
        uint32_t drawn =
            at->constant + oif_random_below(g->random, g->forest->dimension - at->constant);
        *feature = g->order[drawn];
        *r = read_column(g, at, *feature);
        if (r->low < r->high)
            return true;
        g->order[drawn] = g->order[at->constant];
        g->order[at->constant++] = *feature;
    }
    return false;
}

/* Where the rows go whose number is missing: to the heavier side. */
static bool missing_goes_right(const growth *g, const plot *at, double cut)
{
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        left += g->column[i] < cut;
        right += g->column[i] >= cut;
    }
    return right > left;
}

/* Brings the rows that go left to the front, in their order, and then those that go right;
 * returns how many go left. Without branches: at random cuts half of them would be predicted
 * wrong. */
static uint32_t part_rows(const growth *g, const plot *at, double cut)
{
    const double *restrict column = g->column;
    uint32_t *restrict rows = at->rows, *restrict spare = g->spare;
    const bool missing_right = missing_goes_right(g, at, cut);
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0, count = at->count; i < count; i++) {
        uint32_t row = rows[i];
        bool goes_right = missing_right ? !(column[i] < cut) : column[i] >= cut;
        rows[left] = row;
        spare[right] = row;
        left += !goes_right;
        right += goes_right;
    }
    memcpy(rows + left, spare, right * sizeof *spare);
    return left;
}

static void make_leaf(forest *f, const plot *at)
{
    uint32_t place = (at->index << (f->depth_limit - at->depth)) - (f->num_trees << f->depth_limit);
    oif_iforest_path_lengths(f)[place] =
        (at->depth << OIF_PATH_BITS) + oif_iforest_average(f, at->count);
}

static void grow_node(growth *g, plot at)
{
    forest *f = g->forest;
    uint32_t feature;
    range r;
    oif_iforest_counts(f)[at.index] = (uint16_t)at.count;
    if (at.count < 2 || at.depth == g->depth_limit || !draw_feature(g, &at, &feature, &r)) {
        make_leaf(f, &at);
        return;
    }
    double cut = oif_draw_cut(g->random, r.low, r.high);
    uint32_t left = part_rows(g, &at, cut);
    oif_iforest_cuts(f)[at.index] = cut;
    oif_iforest_features(f)[at.index] = feature;
    grow_node(g, (plot){2 * at.index, at.depth + 1, at.rows, left, at.constant});
    grow_node(g,
              (plot){2 * at.index + 1, at.depth + 1, at.rows + left, at.count - left, at.constant});
}

static void clear_tree(forest *f, uint32_t tree)
{
    for (uint32_t depth = 0; depth <= f->depth_limit; depth++) {
        size_t first = (size_t)oif_iforest_root(f, tree) << depth, nodes = (size_t)1 << depth;
        memset(oif_iforest_counts(f) + first, 0, nodes * sizeof(uint16_t));
        if (depth == f->depth_limit)
            break;
        memset(oif_iforest_features(f) + first, 0, nodes * sizeof(uint32_t));
        for (size_t i = first; i < first + nodes; i++)
            oif_iforest_cuts(f)[i] = INFINITY;
    }
    memset(oif_iforest_path_lengths(f) + ((size_t)tree << f->depth_limit), 0,
           sizeof(uint32_t) << f->depth_limit);
}

/* Brings `wanted` of the rows, drawn without replacement, to the front. */
static void draw_sample(oif_random *random, uint32_t *rows, uint32_t count, uint32_t wanted)
{
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t drawn = i + oif_random_below(random, count - i), row = rows[drawn];
        rows[drawn] = rows[i];
        rows[i] = row;
    }
}

void oif_iforest_grow(forest *f, uint32_t tree, const double *values, size_t stride, uint32_t *rows,
                      uint32_t count, oif_random *random)
{
    uint32_t wanted = count < f->subsample_size ? count : f->subsample_size;
    growth g = {.forest = f,
                .random = random,
                .values = values,
                .stride = stride,
                .order = oif_iforest_part(f, f->order_at),
                .column = oif_iforest_part(f, f->values_at),
                .spare = oif_iforest_part(f, f->spare_at),
                .depth_limit = oif_iforest_depth_limit(wanted)};
    f->normal_length -= oif_iforest_average(f, oif_iforest_rows_of(f, tree));
    f->normal_length += oif_iforest_average(f, wanted);
    clear_tree(f, tree);
    if (wanted < count)
        draw_sample(random, rows, count, wanted);
    grow_node(&g, (plot){oif_iforest_root(f, tree), 0, rows, wanted, 0});
}

/* ---- Scoring ---- */

/* LANES walks side by side, which hides the latency of their loads. The inner loop unrolls, so
 * that the nodes stay in registers; a function of its own, so that nothing else wants those:
 * 12% fewer instructions. */
static __attribute__((noinline)) void walk_lanes(const double *restrict cuts,
                                                 const uint32_t *restrict features,
                                                 const double *restrict row, uint32_t levels,
                                                 size_t nodes[LANES])
{
    size_t at[LANES];
    memcpy(at, nodes, sizeof at);
    for (; levels > 0; levels--)
        for (uint32_t i = 0; i < LANES; i++)
            at[i] = 2 * at[i] + (row[features[at[i]]] >= cuts[at[i]]);
    memcpy(nodes, at, sizeof at);
}

/* The sum of a complete row's path lengths in LANES trees from `first` on. */
static uint64_t sum_lanes(const forest *f, uint32_t first, const double *row)
{
    size_t at[LANES], bottom = (size_t)f->num_trees << f->depth_limit;
    uint64_t length = 0;
    for (uint32_t i = 0; i < LANES; i++)
        at[i] = oif_iforest_root(f, first + i);
    walk_lanes(oif_iforest_cuts(f), oif_iforest_features(f), row, f->depth_limit, at);
    for (uint32_t i = 0; i < LANES; i++)
        length += oif_iforest_path_lengths(f)[at[i] - bottom];
    return length;
}

/* The path length in one tree of a row that may have missing numbers: where one is asked for it
 * goes with the heavier child. */
static uint32_t walk_tree(const forest *f, uint32_t tree, const double *row)
{
    const uint16_t *counts = oif_iforest_counts(f);
    size_t at = oif_iforest_root(f, tree);
    for (uint32_t level = f->depth_limit; level > 0; level--) {
        double number = row[oif_iforest_features(f)[at]];
        bool cut = oif_iforest_cuts(f)[at] < INFINITY;
        bool heavier = cut && counts[2 * at + 1] > counts[2 * at];
        at = 2 * at + (isnan(number) ? heavier : number >= oif_iforest_cuts(f)[at]);
    }
    return oif_iforest_path_lengths(f)[at - ((size_t)f->num_trees << f->depth_limit)];
}

double oif_iforest_score(const forest *f, const double *row, bool complete)
{
    uint64_t length = 0;
    uint32_t tree = 0;
    for (; complete && tree + LANES <= f->num_trees; tree += LANES)
        length += sum_lanes(f, tree, row);
    for (; tree < f->num_trees; tree++)
        length += walk_tree(f, tree, row);
    return f->normal_length ? oif_exp2(-((double)length / (double)f->normal_length)) : 0.5;
}

/* ---- Figures ---- */

static void add_leaves(const forest *f, size_t index, uint32_t depth, oif_tree_figures *figures)
{
    if (depth == f->depth_limit || !(oif_iforest_cuts(f)[index] < INFINITY)) {
        oif_figures_add_leaf(figures, depth);
        return;
    }
    add_leaves(f, 2 * index, depth + 1, figures);
    add_leaves(f, 2 * index + 1, depth + 1, figures);
}

void oif_iforest_add_figures(const forest *f, oif_tree_figures *figures)
{
    for (uint32_t tree = 0; tree < f->num_trees; tree++) {
        add_leaves(f, oif_iforest_root(f, tree), 0, figures);
        oif_figures_end_tree(figures);
    }
}

/* ---- Checking ---- */

/* What a walk over the nodes of a tree knows. */
typedef struct inspection {
    const forest *forest;
    uint32_t tree, depth_limit;
    oif_error *error;
} inspection;

#define REQUIRE(condition, words)                                                                  \
    do                                                                                             \
        if (!(condition))                                                                          \
            return oif_fail(in->error, OIF_EINVARIANT, "tree %u: %s", in->tree, words);            \
    while (0)

static oif_status check_leaf(const inspection *in, uint32_t index, uint32_t depth)
{
    const forest *f = in->forest;
    uint32_t length =
        (depth << OIF_PATH_BITS) + oif_iforest_average(f, oif_iforest_counts(f)[index]);
    for (; depth < f->depth_limit; depth++, index *= 2) {
        REQUIRE(oif_iforest_cuts(f)[index] == INFINITY, "a cut lies below a leaf");
        REQUIRE(oif_iforest_features(f)[index] == 0, "a node without a cut has a feature");
    }
    REQUIRE(oif_iforest_path_lengths(f)[index - (f->num_trees << f->depth_limit)] == length,
            "a leaf's path length is not its depth and the average of its rows");
    return OIF_OK;
}

/* A cut lies on the right side of every cut of the same feature above it. */
static oif_status check_side(const inspection *in, uint32_t index, uint32_t depth)
{
    const forest *f = in->forest;
    const double *cuts = oif_iforest_cuts(f);
    for (uint32_t below = index, above = index / 2; depth > 0; depth--, below = above, above /= 2)
        REQUIRE(oif_iforest_features(f)[above] != oif_iforest_features(f)[index] ||
                    (below % 2 ? cuts[index] > cuts[above] : cuts[index] < cuts[above]),
                "a cut lies beyond a cut above it");
    return OIF_OK;
}

static oif_status check_node(const inspection *in, uint32_t index, uint32_t depth)
{
    const forest *f = in->forest;
    const uint16_t *counts = oif_iforest_counts(f);
    if (depth == f->depth_limit || !(oif_iforest_cuts(f)[index] < INFINITY))
        return check_leaf(in, index, depth);
    REQUIRE(depth < in->depth_limit, "a cut is deeper than the rows of the tree allow");
    REQUIRE(isfinite(oif_iforest_cuts(f)[index]), "a cut's value is not a number");
    REQUIRE(oif_iforest_features(f)[index] < f->dimension, "a cut's feature does not exist");
    REQUIRE(counts[2 * index] > 0 && counts[2 * index + 1] > 0, "a side of a cut has no rows");
    REQUIRE(counts[index] == counts[2 * index] + counts[2 * index + 1],
            "a count is not the sum of those below it");
    oif_status status = check_side(in, index, depth);
    if (status == OIF_OK)
        status = check_node(in, 2 * index, depth + 1);
    return status == OIF_OK ? check_node(in, 2 * index + 1, depth + 1) : status;
}

/* The features in `order` are all there, each once: swapping is all that is ever done. Checked
 * by their sum and the sum of their squares, as there is no room to mark them; one that is
 * there twice would only be drawn too often. */
static oif_status check_order(const forest *f, oif_error *error)
{
    const uint32_t *order = oif_iforest_part(f, f->order_at);
    uint64_t sum = 0, squares = 0;
    for (uint64_t i = 0; i < f->dimension; i++) {
        if (order[i] >= f->dimension)
            return oif_fail(error, OIF_EINVARIANT, "a feature that is to be drawn does not exist");
        sum += order[i] - i;
        squares += (uint64_t)order[i] * order[i] - i * i;
    }
    return sum == 0 && squares == 0
               ? OIF_OK
               : oif_fail(error, OIF_EINVARIANT, "a feature cannot be drawn, or twice");
}

oif_status oif_iforest_check(const forest *f, oif_error *error)
{
    uint64_t normal_length = 0;
    oif_status status = check_order(f, error);
    for (uint32_t tree = 0; tree < f->num_trees && status == OIF_OK; tree++) {
        uint32_t rows =
            /* those below are fewer: all are in the table of averages */
            oif_iforest_rows_of(f, tree);
        inspection here = {f, tree, oif_iforest_depth_limit(rows), error}, *in = &here;
        REQUIRE(rows <= f->subsample_size, "it was grown from too many rows");
        status = check_node(in, oif_iforest_root(f, tree), 0);
        normal_length += oif_iforest_average(f, rows);
    }
    if (status == OIF_OK && normal_length != f->normal_length)
        return oif_fail(error, OIF_EINVARIANT,
                        "the normal length is not the sum of the trees' averages");
    return status;
}

/* ---- Snapshots ---- */

void oif_iforest_visit_fields(forest *f, oif_state_visitor *visitor)
{
    size_t bottom = (size_t)f->num_trees << f->depth_limit;
    oif_visit_u64(visitor, "normal_length", &f->normal_length, 1);
    oif_visit_f64(visitor, "cuts", oif_iforest_cuts(f), bottom);
    oif_visit_u32(visitor, "features", oif_iforest_features(f), bottom);
    oif_visit_u16(visitor, "counts", oif_iforest_counts(f), 2 * bottom);
    oif_visit_u32(visitor, "path_lengths", oif_iforest_path_lengths(f), bottom);
    oif_visit_u32(visitor, "order", oif_iforest_part(f, f->order_at), f->dimension);
}
