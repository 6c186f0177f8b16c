/* Growing the trees of an Isolation Forest, walking them, and what must hold in between.
 *
 * A node of at least two rows is cut while its depth allows it: a column is drawn uniformly
 * among those that are not constant in the node, then a value uniformly in the column's range;
 * smaller numbers go left. So both children get rows, whatever the numbers are. A missing
 * number goes with the heavier child and does not count for the range.
 */
#include "detect/iforest_asd/iforest.h"

#include "base/invariant.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "base/vector.h"
#include "detect/isolation.h"

#include <math.h>
#include <string.h>

enum { LANES = 8 }; /* trees walked side by side */

/* ---- Creation ---- */

uint32_t oif_iforest_depth_limit(uint32_t rows)
{
    uint32_t depth = 0;
    while ((UINT64_C(1) << depth) < rows)
        depth++;
    return depth;
}

oif_iforest oif_iforest_lay_out(uint32_t num_trees, uint32_t subsample_size, size_t dimension)
{
    oif_iforest forest = {.dimension = (uint32_t)dimension,
                          .num_trees = num_trees,
                          .subsample_size = subsample_size,
                          .depth_limit = oif_iforest_depth_limit(subsample_size)};
    size_t bottom = oif_size_multiply(num_trees, (size_t)1 << forest.depth_limit);
    forest.bytes = oif_size_align(sizeof forest);
    forest.cuts_at = oif_size_append(&forest.bytes, bottom, sizeof(double));
    forest.cut_columns_at = oif_size_append(&forest.bytes, bottom, sizeof(uint32_t));
    forest.counts_at = oif_size_append(&forest.bytes, bottom, 2 * sizeof(uint16_t));
    forest.path_lengths_at = oif_size_append(&forest.bytes, bottom, sizeof(uint32_t));
    forest.average_at =
        oif_size_append(&forest.bytes, (size_t)subsample_size + 1, sizeof(uint32_t));
    forest.order_at = oif_size_append(&forest.bytes, dimension, sizeof(uint32_t));
    forest.values_at = oif_size_append(&forest.bytes, subsample_size, sizeof(double));
    forest.spare_at = oif_size_append(&forest.bytes, subsample_size, sizeof(uint32_t));
    return forest;
}

static uint32_t to_path_units(double length)
{
    return (uint32_t)(length * (1 << OIF_PATH_BITS) + 0.5);
}

static void init_averages(oif_iforest *forest)
{
    uint32_t *average = oif_block_part(forest, forest->average_at);
    double harmonic = 0;
    for (uint32_t n = 2; n <= forest->subsample_size; n++) {
        harmonic += 1.0 / (n - 1);
        average[n] = to_path_units(oif_average_path_length(n, harmonic));
    }
}

void oif_iforest_init(oif_iforest *forest, const oif_iforest *head)
{
    *forest = *head;
    init_averages(forest);
    uint32_t *order = oif_block_part(forest, forest->order_at);
    for (uint32_t i = 0; i < forest->dimension; i++)
        order[i] = i;
    for (size_t i = 0; i < (size_t)forest->num_trees << forest->depth_limit; i++)
        oif_iforest_cuts(forest)[i] = INFINITY;
}

/* ---- Growing ---- */

/* A tree while it grows. */
typedef struct tree_growth {
    oif_iforest *forest;
    oif_random *random;
    const double *values;
    size_t stride;
    uint32_t *order; /* of the columns: first those that are known to be constant */
    double *numbers; /* one number of each row of a node */
    uint32_t *spare; /* rows that go right */
    uint32_t depth_limit;
} tree_growth;

/* A node, the rows in it, and how many columns are known to be constant in them. */
typedef struct node_rows {
    uint32_t index, depth;
    uint32_t *rows;
    uint32_t count, constant;
} node_rows;

typedef struct column_range {
    double low, high;
} column_range;

/* Collects one column of a node's rows. Missing numbers compare false and stay outside the
 * range. */
static column_range read_column(const tree_growth *growth, const node_rows *at, uint32_t column)
{
    /* copies: a store might change anything behind a pointer */
    const double *restrict values = growth->values + column;
    const uint32_t *restrict rows = at->rows;
    double *restrict numbers = growth->numbers;
    const size_t stride = growth->stride;
    column_range range = {INFINITY, -INFINITY};
    for (uint32_t i = 0, count = at->count; i < count; i++) {
        double number = values[rows[i] * stride];
        range.low = number < range.low ? number : range.low;
        range.high = number > range.high ? number : range.high;
        numbers[i] = number;
    }
    return range;
}

/* Draws a column among those that are not constant here and collects it; false when there is
 * none. Of the columns that a draw shows to be constant those below know: order[0 .. constant)
 * is the same for a node and for all below it. */
static bool draw_column(tree_growth *growth, node_rows *at, uint32_t *column, column_range *range)
{
    while (at->constant < growth->forest->dimension) {
        uint32_t drawn = at->constant +
                         oif_random_below(growth->random, growth->forest->dimension - at->constant);
        *column = growth->order[drawn];
        *range = read_column(growth, at, *column);
        if (range->low < range->high)
            return true;
        growth->order[drawn] = growth->order[at->constant];
        growth->order[at->constant++] = *column;
    }
    return false;
}

/* Where the rows go whose number is missing: to the heavier side. */
static bool missing_goes_right(const tree_growth *growth, const node_rows *at, double cut)
{
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        left += growth->numbers[i] < cut;
        right += growth->numbers[i] >= cut;
    }
    return right > left;
}

/* Brings the rows that go left to the front, in their order, and then those that go right;
 * returns how many go left. Without branches: at random cuts half of them would be predicted
 * wrong. */
static uint32_t part_rows(const tree_growth *growth, const node_rows *at, double cut)
{
    const double *restrict numbers = growth->numbers;
    uint32_t *restrict rows = at->rows, *restrict spare = growth->spare;
    const bool missing_right = missing_goes_right(growth, at, cut);
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0, count = at->count; i < count; i++) {
        uint32_t row = rows[i];
        bool goes_right = missing_right ? !(numbers[i] < cut) : numbers[i] >= cut;
        rows[left] = row;
        spare[right] = row;
        left += !goes_right;
        right += goes_right;
    }
    memcpy(rows + left, spare, right * sizeof *spare);
    return left;
}

static void make_leaf(oif_iforest *forest, const node_rows *at)
{
    uint32_t place = (at->index << (forest->depth_limit - at->depth)) -
                     (forest->num_trees << forest->depth_limit);
    oif_iforest_path_lengths(forest)[place] =
        (at->depth << OIF_PATH_BITS) + oif_iforest_average(forest, at->count);
}

static void grow_node(tree_growth *growth, node_rows at)
{
    oif_iforest *forest = growth->forest;
    uint32_t column;
    column_range range;
    oif_iforest_counts(forest)[at.index] = (uint16_t)at.count;
    if (at.count < 2 || at.depth == growth->depth_limit ||
        !draw_column(growth, &at, &column, &range)) {
        make_leaf(forest, &at);
        return;
    }
    double cut = oif_draw_cut(growth->random, range.low, range.high);
    uint32_t left = part_rows(growth, &at, cut);
    oif_iforest_cuts(forest)[at.index] = cut;
    oif_iforest_cut_columns(forest)[at.index] = column;
    grow_node(growth, (node_rows){2 * at.index, at.depth + 1, at.rows, left, at.constant});
    grow_node(growth, (node_rows){2 * at.index + 1, at.depth + 1, at.rows + left, at.count - left,
                                  at.constant});
}

static void clear_tree(oif_iforest *forest, uint32_t tree)
{
    for (uint32_t depth = 0; depth <= forest->depth_limit; depth++) {
        size_t first = (size_t)oif_iforest_root(forest, tree) << depth, nodes = (size_t)1 << depth;
        memset(oif_iforest_counts(forest) + first, 0, nodes * sizeof(uint16_t));
        if (depth == forest->depth_limit)
            break;
        memset(oif_iforest_cut_columns(forest) + first, 0, nodes * sizeof(uint32_t));
        for (size_t i = first; i < first + nodes; i++)
            oif_iforest_cuts(forest)[i] = INFINITY;
    }
    memset(oif_iforest_path_lengths(forest) + ((size_t)tree << forest->depth_limit), 0,
           sizeof(uint32_t) << forest->depth_limit);
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

void oif_iforest_grow(oif_iforest *forest, uint32_t tree, const double *values, size_t stride,
                      uint32_t *rows, uint32_t count, oif_random *random)
{
    uint32_t wanted = oif_min_u32(count, forest->subsample_size);
    tree_growth growth = {.forest = forest,
                          .random = random,
                          .values = values,
                          .stride = stride,
                          .order = oif_block_part(forest, forest->order_at),
                          .numbers = oif_block_part(forest, forest->values_at),
                          .spare = oif_block_part(forest, forest->spare_at),
                          .depth_limit = oif_iforest_depth_limit(wanted)};
    forest->normal_length -= oif_iforest_average(forest, oif_iforest_rows_of(forest, tree));
    forest->normal_length += oif_iforest_average(forest, wanted);
    clear_tree(forest, tree);
    if (wanted < count)
        draw_sample(random, rows, count, wanted);
    grow_node(&growth, (node_rows){oif_iforest_root(forest, tree), 0, rows, wanted, 0});
}

/* ---- Scoring ---- */

/* LANES walks side by side, which hides the latency of their loads. The inner loop unrolls, so
 * that the nodes stay in registers; a function of its own, so that nothing else wants those:
 * 12% fewer instructions. */
static __attribute__((noinline)) void walk_lanes(const double *restrict cuts,
                                                 const uint32_t *restrict cut_columns,
                                                 const double *restrict row, uint32_t levels,
                                                 size_t nodes[LANES])
{
    size_t at[LANES];
    memcpy(at, nodes, sizeof at);
    for (; levels > 0; levels--)
        for (uint32_t i = 0; i < LANES; i++)
            at[i] = 2 * at[i] + (row[cut_columns[at[i]]] >= cuts[at[i]]);
    memcpy(nodes, at, sizeof at);
}

/* The sum of a complete row's path lengths in LANES trees from `first` on. */
static uint64_t sum_lanes(const oif_iforest *forest, uint32_t first, const double *row)
{
    size_t at[LANES], bottom = (size_t)forest->num_trees << forest->depth_limit;
    uint64_t length = 0;
    for (uint32_t i = 0; i < LANES; i++)
        at[i] = oif_iforest_root(forest, first + i);
    walk_lanes(oif_iforest_cuts(forest), oif_iforest_cut_columns(forest), row, forest->depth_limit,
               at);
    for (uint32_t i = 0; i < LANES; i++)
        length += oif_iforest_path_lengths(forest)[at[i] - bottom];
    return length;
}

/* The path length in one tree of a row that may have missing numbers: where one is asked for it
 * goes with the heavier child. */
static uint32_t walk_tree(const oif_iforest *forest, uint32_t tree, const double *row)
{
    const uint16_t *counts = oif_iforest_counts(forest);
    size_t at = oif_iforest_root(forest, tree);
    for (uint32_t level = forest->depth_limit; level > 0; level--) {
        double number = row[oif_iforest_cut_columns(forest)[at]];
        bool cut = oif_iforest_cuts(forest)[at] < INFINITY;
        bool heavier = cut && counts[2 * at + 1] > counts[2 * at];
        at = 2 * at + (isnan(number) ? heavier : number >= oif_iforest_cuts(forest)[at]);
    }
    return oif_iforest_path_lengths(
        forest)[at - ((size_t)forest->num_trees << forest->depth_limit)];
}

double oif_iforest_score(const oif_iforest *forest, const double *row, bool complete)
{
    uint64_t length = 0;
    uint32_t tree = 0;
    for (; complete && tree + LANES <= forest->num_trees; tree += LANES)
        length += sum_lanes(forest, tree, row);
    for (; tree < forest->num_trees; tree++)
        length += walk_tree(forest, tree, row);
    return forest->normal_length ? oif_exp2(-((double)length / (double)forest->normal_length))
                                 : 0.5;
}

/* ---- Figures ---- */

static void add_leaves(const oif_iforest *forest, size_t index, uint32_t depth,
                       oif_tree_figures *figures)
{
    if (depth == forest->depth_limit || !(oif_iforest_cuts(forest)[index] < INFINITY)) {
        oif_figures_add_leaf(figures, depth);
        return;
    }
    add_leaves(forest, 2 * index, depth + 1, figures);
    add_leaves(forest, 2 * index + 1, depth + 1, figures);
}

void oif_iforest_add_figures(const oif_iforest *forest, oif_tree_figures *figures)
{
    for (uint32_t tree = 0; tree < forest->num_trees; tree++) {
        add_leaves(forest, oif_iforest_root(forest, tree), 0, figures);
        oif_figures_end_tree(figures);
    }
}

/* ---- Checking ---- */

/* What a walk over the nodes of a tree knows. */
typedef struct tree_check {
    oif_check base;
    const oif_iforest *forest;
    uint32_t depth_limit;
} tree_check;

static oif_status check_leaf(const tree_check *check, uint32_t index, uint32_t depth)
{
    const oif_iforest *forest = check->forest;
    uint32_t length =
        (depth << OIF_PATH_BITS) + oif_iforest_average(forest, oif_iforest_counts(forest)[index]);
    for (; depth < forest->depth_limit; depth++, index *= 2) {
        OIF_REQUIRE(&check->base, oif_iforest_cuts(forest)[index] == INFINITY,
                    "a cut lies below a leaf");
        OIF_REQUIRE(&check->base, oif_iforest_cut_columns(forest)[index] == 0,
                    "a node without a cut has a column");
    }
    OIF_REQUIRE(&check->base,
                oif_iforest_path_lengths(
                    forest)[index - (forest->num_trees << forest->depth_limit)] == length,
                "a leaf's path length is not its depth and the average of its rows");
    return OIF_OK;
}

/* A cut lies on the right side of every cut of the same column above it. */
static oif_status check_side(const tree_check *check, uint32_t index, uint32_t depth)
{
    const oif_iforest *forest = check->forest;
    const double *cuts = oif_iforest_cuts(forest);
    for (uint32_t below = index, above = index / 2; depth > 0; depth--, below = above, above /= 2)
        OIF_REQUIRE(&check->base,
                    oif_iforest_cut_columns(forest)[above] !=
                            oif_iforest_cut_columns(forest)[index] ||
                        (below % 2 ? cuts[index] > cuts[above] : cuts[index] < cuts[above]),
                    "a cut lies beyond a cut above it");
    return OIF_OK;
}

static oif_status check_node(const tree_check *check, uint32_t index, uint32_t depth)
{
    const oif_iforest *forest = check->forest;
    const uint16_t *counts = oif_iforest_counts(forest);
    if (depth == forest->depth_limit || !(oif_iforest_cuts(forest)[index] < INFINITY))
        return check_leaf(check, index, depth);
    OIF_REQUIRE(&check->base, depth < check->depth_limit,
                "a cut is deeper than the rows of the tree allow");
    OIF_REQUIRE(&check->base, isfinite(oif_iforest_cuts(forest)[index]),
                "a cut's value is not a number");
    OIF_REQUIRE(&check->base, oif_iforest_cut_columns(forest)[index] < forest->dimension,
                "a cut's column does not exist");
    OIF_REQUIRE(&check->base, counts[2 * index] > 0 && counts[2 * index + 1] > 0,
                "a side of a cut has no rows");
    OIF_REQUIRE(&check->base, counts[index] == counts[2 * index] + counts[2 * index + 1],
                "a count is not the sum of those below it");
    oif_status status = check_side(check, index, depth);
    if (status == OIF_OK)
        status = check_node(check, 2 * index, depth + 1);
    return status == OIF_OK ? check_node(check, 2 * index + 1, depth + 1) : status;
}

/* The columns in `order` are all there, each once: swapping is all that is ever done. Checked
 * by their sum and the sum of their squares, as there is no room to mark them; one that is
 * there twice would only be drawn too often. */
static oif_status check_order(const oif_iforest *forest, oif_error *error)
{
    const uint32_t *order = oif_block_part(forest, forest->order_at);
    uint64_t sum = 0, squares = 0;
    for (uint64_t i = 0; i < forest->dimension; i++) {
        if (order[i] >= forest->dimension)
            return oif_fail(error, OIF_EINVARIANT, "a column to be drawn does not exist");
        sum += order[i] - i;
        squares += (uint64_t)order[i] * order[i] - i * i;
    }
    return sum == 0 && squares == 0
               ? OIF_OK
               : oif_fail(error, OIF_EINVARIANT, "a column cannot be drawn, or twice");
}

oif_status oif_iforest_check(const oif_iforest *forest, oif_error *error)
{
    uint64_t normal_length = 0;
    oif_status status = check_order(forest, error);
    for (uint32_t tree = 0; tree < forest->num_trees && status == OIF_OK; tree++) {
        /* those below are fewer: all are in the table of averages */
        uint32_t rows = oif_iforest_rows_of(forest, tree);
        tree_check here = {{error, "tree", tree}, forest, oif_iforest_depth_limit(rows)},
                   *check = &here;
        OIF_REQUIRE(&check->base, rows <= forest->subsample_size,
                    "it was grown from too many rows");
        status = check_node(check, oif_iforest_root(forest, tree), 0);
        normal_length += oif_iforest_average(forest, rows);
    }
    if (status == OIF_OK && normal_length != forest->normal_length)
        return oif_fail(error, OIF_EINVARIANT,
                        "the normal length is not the sum of the trees' averages");
    return status;
}

/* ---- Snapshots ---- */

void oif_iforest_visit_fields(oif_iforest *forest, oif_state_visitor *visitor)
{
    size_t bottom = (size_t)forest->num_trees << forest->depth_limit;
    oif_visit_u64(visitor, "normal_length", &forest->normal_length, 1);
    oif_visit_f64(visitor, "cuts", oif_iforest_cuts(forest), bottom);
    oif_visit_u32(visitor, "cut_columns", oif_iforest_cut_columns(forest), bottom);
    oif_visit_u16(visitor, "counts", oif_iforest_counts(forest), 2 * bottom);
    oif_visit_u32(visitor, "path_lengths", oif_iforest_path_lengths(forest), bottom);
    oif_visit_u32(visitor, "order", oif_block_part(forest, forest->order_at), forest->dimension);
}
