/* Online Isolation Forest as the paper has it, with a sliding window (Leveni, Cassales,
 * Pfahringer, Bifet, Boracchi, ICML 2024).
 *
 * Every tree is a histogram of the rows in a sliding window. A leaf counts rows; once it holds
 * enough of them it is cut in two at random, and when old rows leave the window and a cut has
 * too few rows left it is undone. Dense regions are cut often, so a row that ends in a shallow
 * leaf lies where data are sparse: it is anomalous.
 *
 * One row is learned like this (Algorithm 1): walk to its leaf in every tree (window_walk.c),
 * count it there and widen the leaf's box, cut the leaf if it is full; uncount the row that leaves
 * the window, undo cuts if a guard is broken; add up the depths of the leaves that the new row is
 * in now (window_learn.c). Cuts and merges are in window_tree.c, as is the layout. Here are the
 * forest as a whole and its window.
 *
 * A row costs O(num_trees (log2(window_size / max_leaf_samples) + dimension)), a cut
 * O(dimension + window_size).
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "detect/online_iforest/keyed_row.h"
#include "detect/online_iforest/row_chunk.h"
#include "detect/online_iforest/window_depth.h"
#include "detect/online_iforest/window_learn.h"
#include "detect/online_iforest/window_tree.h"
#include "detect/online_iforest/window_walk.h"
#include "detect/tree_figures.h"

enum {
    FIRST_GRID_ROWS = 64,  /* learned before rows get marks */
    MOST_GRID_ROWS = 2048, /* between two fittings of the grid */
    LINE_ROWS = 8,         /* whose numbers in a column fill a cache line; divides the slots */
    TABLE_TREES = 32,      /* of a table for scoring, in whole lanes */
    USUAL_LEAF_SAMPLES = 32
};

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
    forest.full_scale = oif_window_scale(&forest, forest.window_size);

    forest.tree_bytes = oif_size_align(sizeof(oif_window_tree));
    forest.inner_width = oif_inner_box_width(forest.dimension);
    forest.rows_to_grid = forest.rows_of_grid = forest.inner_width ? FIRST_GRID_ROWS : 0;
    forest.leaf_bytes = oif_window_box_at(forest.inner_width) + forest.box_width * sizeof(double);
    forest.leaves_at = oif_size_append(&forest.tree_bytes, forest.leaf_capacity, forest.leaf_bytes);
    forest.labels_at = oif_size_append(&forest.tree_bytes, forest.slots, 1);

    (void)oif_size_append(&forest.scratch_bytes, forest.box_width, sizeof(double));
    if (forest.inner_width) {
        forest.row_marks_at =
            oif_size_append(&forest.scratch_bytes, forest.inner_width, sizeof(int16_t));
        forest.pace_at = oif_size_append(&forest.scratch_bytes, 1, sizeof(oif_window_pace));
    }

    size_t bottom = oif_size_multiply(forest.num_trees, (size_t)1 << forest.depth_limit);
    forest.bytes = oif_size_align(sizeof forest);
    forest.last_lefts_at = oif_size_append(&forest.bytes, bottom, sizeof(uint64_t));
    forest.cut_columns_at = oif_size_append(&forest.bytes, bottom, sizeof(uint32_t));
    forest.leaf_at_at = oif_size_append(&forest.bytes, bottom, 2);
    forest.levels_at = oif_size_append(&forest.bytes, forest.num_trees, 1);
    forest.lane_levels_at = oif_size_append(&forest.bytes, forest.num_trees / OIF_LANES + 1, 1);
    forest.columns_at =
        oif_size_append(&forest.bytes, forest.slots, oif_size_multiply(dimension, sizeof(double)));
    forest.grid_at = oif_size_append(&forest.bytes, 3, forest.inner_width * sizeof(double));
    forest.scratch_at = oif_size_append(&forest.bytes, OIF_POOL_MAX_PARTS, forest.scratch_bytes);
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
        oif_window_extra_depths(forest)[height] = oif_window_extra_depth(forest, height);
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
    return oif_window_average_depth(&forest, forest.window_size);
}

/* ---- Scoring ---- */

OIF_INLINE uint64_t sum_depths(const oif_window_state *forest, const oif_keyed_row *row)
{
    const uint32_t num_trees = forest->num_trees;
    uint64_t depth_sum = 0;
    for (uint32_t first = 0; first < num_trees; first += OIF_WINDOW_GROUP) {
        size_t found[OIF_WINDOW_GROUP];
        uint32_t count = oif_min_u32(num_trees - first, OIF_WINDOW_GROUP);
        oif_window_find_leaves(forest, first, count, row, found);
        depth_sum += oif_window_sum_depths(forest, first, count, found);
    }
    return depth_sum;
}

/* The depth of a row in each leaf of some trees: 3.5 KB on the stack. */
typedef struct depth_table {
    uint32_t first, count; /* trees */
    bool is_low;           /* each depth is below 2^30, that is 16 levels, as most are */
    uint32_t depths[TABLE_TREES][OIF_WINDOW_TABLE_LEAVES];
} depth_table;

/* Whether there are enough rows to score by tables of depths, which are made of every leaf first:
 * 0.7 of the instructions. */
static bool is_table_worth(const oif_window_state *forest, const oif_rows *rows)
{
    return rows->count >= 2 * forest->leaf_capacity && forest->num_trees % OIF_LANES == 0 &&
           forest->dimension <= OIF_KEYED_ROW_MAX_KEYS;
}

/* Whether all leaves have numbers that tables have. Vacant ones have the highest numbers: with the
 * initial parameters about 13 of 33 are in use. */
static bool tables_have_leaves(const oif_window_state *forest)
{
    for (uint32_t tree = 0; tree < forest->num_trees; tree++)
        for (uint32_t i = OIF_WINDOW_TABLE_LEAVES; i < forest->leaf_capacity; i++)
            if (oif_window_leaf_of(forest, oif_window_tree_at(forest, tree), i)->depth !=
                OIF_WINDOW_VACANT)
                return false;
    return true;
}

static void fill_table(const oif_window_state *forest, depth_table *table)
{
    const uint32_t leaves = oif_min_u32(forest->leaf_capacity, OIF_WINDOW_TABLE_LEAVES);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const oif_window_tree *tree = oif_window_tree_at(forest, table->first + i);
        for (uint32_t number = 0; number < leaves; number++) {
            const oif_window_leaf *leaf = oif_window_leaf_of(forest, tree, number);
            if (leaf->depth != OIF_WINDOW_VACANT)
                bits |= table->depths[i][number] = oif_window_row_depth(forest, leaf);
        }
    }
    table->is_low = bits >> 30 == 0;
}

/* The sum of the depths of a row in the trees of the table. */
OIF_INLINE uint64_t look_up_row(const oif_window_state *forest, const oif_keyed_row *row,
                                const depth_table *table)
{
    const oif_window_table leaves = {table->first, table->count, table->depths[0]};
    if (row->complete)
        return table->is_low ? oif_window_look_up_low_depths(forest, row, leaves)
                             : oif_window_look_up_depths(forest, row, leaves);
    uint64_t depth_sum = 0;
    for (uint32_t tree = 0; tree < table->count; tree++)
        depth_sum +=
            table->depths[tree][oif_window_tree_walk(forest, table->first + tree, row->values)];
    return depth_sum;
}

/* Scores rows by one table after another. Until the last one, a score is the sum of depths so far,
 * a whole number below 2^53. A function of its own, so the table and the keys of a row are in
 * different frames of the stack. */
static __attribute__((noinline)) void score_by_table(const oif_window_state *forest,
                                                     const oif_rows *rows, const depth_table *table,
                                                     double *scores)
{
    const bool is_last = table->first + table->count == forest->num_trees;
    oif_keyed_row row;
    for (size_t i = 0; i < rows->count; i++) {
        oif_keyed_row_init(&row, forest->dimension, rows, i);
        const uint64_t before = table->first > 0 ? (uint64_t)scores[i] : 0,
                       depth_sum = before + look_up_row(forest, &row, table);
        scores[i] =
            is_last ? oif_window_score(forest, depth_sum, forest->rows_held) : (double)depth_sum;
    }
}

static __attribute__((noinline)) void score_by_tables(const oif_window_state *forest,
                                                      const oif_rows *rows, double *scores)
{
    depth_table table;
    for (table.first = 0; table.first < forest->num_trees; table.first += table.count) {
        table.count = oif_min_u32(forest->num_trees - table.first, TABLE_TREES);
        fill_table(forest, &table);
        score_by_table(forest, rows, &table, scores);
    }
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const oif_window_state *forest = state;
    if (is_table_worth(forest, rows) && tables_have_leaves(forest)) {
        score_by_tables(forest, rows, scores);
        return;
    }
    for (size_t i = 0; i < rows->count; i++) {
        oif_keyed_row row;
        oif_keyed_row_init(&row, forest->dimension, rows, i);
        scores[i] = oif_window_score(forest, sum_depths(forest, &row), forest->rows_held);
    }
}

/* ---- Rows ---- */

static void store_row(oif_window_state *forest, const double *row, uint32_t slot)
{
    double *cell = oif_window_ring_column(forest, 0) + slot;
    OIF_UNROLL_2
    for (uint32_t column = 0; column < forest->dimension; column++, cell += forest->slots)
        *cell = row[column];
}

/* Puts rows into a cache line of every column. One by one, each of them would touch all lines. */
static __attribute__((noinline)) void store_line(oif_window_state *forest, const oif_rows *rows,
                                                 size_t from, uint32_t slot)
{
    const double *numbers = oif_rows_at(rows, from);
    double *cells = oif_window_ring_column(forest, 0) + slot;
    for (uint32_t column = 0; column < forest->dimension; column++, cells += forest->slots) {
        for (size_t i = 0; i < LINE_ROWS; i++)
            cells[i] = numbers[i * rows->stride + column];
        __builtin_prefetch(cells + LINE_ROWS, 1); /* where the next rows go */
    }
}

/* Puts a row into a slot of the ring or, if there are enough up to `end`, a line of rows. Returns
 * how many they are. */
OIF_INLINE uint32_t store_some(oif_window_state *forest, const oif_rows *rows, size_t from,
                               size_t end, uint32_t slot)
{
    if (slot % LINE_ROWS == 0 && end - from >= LINE_ROWS) {
        store_line(forest, rows, from, slot);
        return LINE_ROWS;
    }
    store_row(forest, oif_rows_at(rows, from), slot);
    return 1;
}

/* The row in the next slot has been learned: the window moves on. */
static void move_window(oif_window_state *forest)
{
    forest->rows_held += forest->rows_held < forest->window_size;
    forest->next_slot = oif_window_slot_after(forest, forest->next_slot, 1);
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
    return oif_window_score(forest, total.depth_sum,
                            scores_first ? held_before : forest->rows_held);
}

static void store_chunk(const oif_row_chunk *chunk)
{
    oif_window_state *forest = chunk->forest;
    const size_t end = chunk->from + chunk->count;
    for (uint32_t i = 0; i < chunk->count;)
        i += store_some(forest, chunk->rows, chunk->from + i, end,
                        oif_window_slot_after(forest, forest->next_slot, i));
}

static void learn_part(void *context, unsigned number)
{
    oif_row_chunk *chunk = context;
    oif_window_state *forest = chunk->forest;
    const oif_window_part part = {number,
                                  oif_row_chunk_first_tree(chunk, forest->num_trees, number),
                                  oif_row_chunk_first_tree(chunk, forest->num_trees, number + 1)};
    const oif_window_depths wanted =
        chunk->scores_first ? OIF_DEPTHS_BEFORE_COUNTING : OIF_DEPTHS_AFTER_COUNTING;
    oif_depth_total *totals = oif_row_chunk_totals(chunk, number);
    for (uint32_t i = 0; i < chunk->count; i++)
        totals[i] = (oif_depth_total){
            oif_window_learn_row(forest, chunk->rows, chunk->from + i, i, wanted, part), 0};
    oif_row_chunk_add(chunk, totals);
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
    const oif_window_depths wanted = !scores        ? OIF_NO_DEPTHS
                                     : scores_first ? OIF_DEPTHS_BEFORE_COUNTING
                                                    : OIF_DEPTHS_AFTER_COUNTING;
    const oif_window_part all = {0, 0, forest->num_trees};
    size_t stored = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (i == stored)
            stored += store_some(forest, rows, i, rows->count, forest->next_slot);
        uint64_t depth_sum = oif_window_learn_row(forest, rows, i, 0, wanted, all);
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

/* A quarter of the window shows the trees' coarse shape. A window that allows no cut holds no more
 * rows than a leaf. */
static bool ready(const void *state)
{
    const oif_window_state *forest = state;
    return forest->rows_held >= forest->window_size / 4 &&
           forest->rows_held * forest->subsample > forest->max_leaf_samples;
}

static oif_status check(const void *state, oif_error *error)
{
    const oif_window_state *forest = state;
    if (forest->rows_held > forest->window_size || forest->next_slot >= forest->slots)
        return oif_fail(error, OIF_EINVARIANT, "the window holds more rows than it has room for");
    if (!oif_none_of_many_infinite(oif_window_ring_column(forest, 0),
                                   (size_t)forest->dimension * forest->slots))
        return oif_fail(error, OIF_EINVARIANT, "a row is infinite");
    for (int32_t height = -1; height < (int32_t)forest->window_size + 2; height++)
        if (oif_window_extra_depths(forest)[height] != oif_window_extra_depth(forest, height))
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
