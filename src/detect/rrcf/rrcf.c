/* Robust Random Cut Forest (Guha, Mishra, Roy, Schrijvers, ICML 2016).
 *
 * Every tree keeps a sample of the stream's rows, cut at random until each row is alone. A row far
 * from the others is isolated near the root: removing it would lift many rows. That displacement,
 * averaged over the trees, is its score. The trees are in random_cut_tree.c.
 *
 * Which rows a tree holds:
 *
 *   - reservoir: each tree draws its own sample. It takes the first tree_size rows, and then the
 *     n-th row with the probability tree_size / min(n, window_size), in place of a random row of
 *     the sample. Up to window_size rows that is a uniform sample of all rows (Vitter 1985); after
 *     that, older rows fade by 1/e every window_size rows (Aggarwal 2006).
 *   - sliding: all trees hold the last tree_size rows.
 *
 * In the trees that took it, the row learned last has the displacement of its leaf. Every other
 * row, and in the other trees that row too, has its expected displacement if it were inserted now.
 * So the score depends only on the forest and the row: learning a row and then scoring it gives the
 * same bits as doing both at once.
 *
 * A row costs O(num_trees x depth x dimension). The block of memory:
 *
 *     | state | per tree the leaves of its sample | leaves of the last row | last row | trees |
 */
#include "detect/rrcf/rrcf.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <stdatomic.h>
#include <string.h>

enum {
    /* rows that pass a tree before the next tree, to keep the tree in the cache */
    MAX_CHUNK = 256,
    /* leaves counted together by a check: at most sixteen passes, usually one */
    LEAVES_AT_ONCE = 768
};

/* ---- Creation ---- */

static oif_rrcf_state lay_out(const oif_params *params, size_t dimension)
{
    uint32_t tree_size = (uint32_t)oif_params_value(params, "tree_size");
    double window_size = oif_params_value(params, "window_size");
    oif_rrcf_state forest = {
        .shape = oif_cut_tree_layout(dimension, tree_size),
        .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
        .sample = (oif_rrcf_sample)oif_params_value(params, "sample"),
        .window_size = window_size < tree_size ? tree_size : window_size,
    };
    forest.leaves_at = oif_size_align(sizeof forest);
    forest.last_leaves_at =
        oif_size_align(forest.leaves_at + (size_t)forest.num_trees * tree_size * sizeof(uint32_t));
    forest.last_row_at =
        oif_size_align(forest.last_leaves_at + forest.num_trees * sizeof(uint32_t));
    forest.trees_at = oif_size_align(
        oif_size_add(forest.last_row_at, oif_size_multiply(dimension, sizeof(double))));
    forest.bytes =
        oif_size_add(forest.trees_at, oif_size_multiply(forest.num_trees, forest.shape.bytes));
    return forest;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return lay_out(params, dimension).bytes;
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    oif_rrcf_state *forest = state;
    *forest = lay_out(params, dimension);
    uint64_t seed = (uint64_t)oif_params_value(params, "seed");
    for (uint32_t number = 0; number < forest->num_trees; number++)
        oif_cut_tree_init(&forest->shape, oif_rrcf_tree(forest, number),
                          oif_random_stream(seed, number));
}

/* ---- Learning ---- */

/* The position of the n-th row (from 0) in a tree's sample; `capacity` if the tree does not take
 * it. */
OIF_INLINE uint32_t draw_place(const oif_rrcf_state *forest, uint32_t number, uint64_t n)
{
    const uint32_t tree_size = forest->shape.capacity;
    oif_random *random = &oif_rrcf_tree(forest, number)->random;
    if (n < tree_size || forest->sample == OIF_RRCF_SLIDING)
        return (uint32_t)(n % tree_size);
    double stands_for =
        (double)(n + 1) < forest->window_size ? (double)(n + 1) : forest->window_size;
    if (oif_random_unit(random) * stands_for >= tree_size)
        return tree_size;
    return oif_random_below(random, tree_size);
}

/* Offers the n-th row to a tree. Returns its leaf, or OIF_CUT_TREE_NO_NODE if the tree does not
 * take it. */
OIF_INLINE uint32_t learn_row(oif_rrcf_state *forest, uint32_t number, const double *row,
                              uint64_t n)
{
    uint32_t place = draw_place(forest, number, n), leaf = OIF_CUT_TREE_NO_NODE;
    if (place < forest->shape.capacity) {
        oif_cut_tree *tree = oif_rrcf_tree(forest, number);
        uint32_t *leaves = oif_rrcf_leaves(forest, number);
        if (n >= forest->shape.capacity)
            oif_cut_tree_remove(&forest->shape, tree, leaves[place]);
        leaf = leaves[place] = oif_cut_tree_insert(&forest->shape, tree, row);
    }
    return oif_rrcf_last_leaves(forest)[number] = leaf;
}

/* ---- Rows through trees ---- */

static uint64_t to_units(double displacement)
{
    return (uint64_t)(displacement * 0x1p32 + 0.5);
}

static bool are_same(const double *row, const double *other, uint32_t dimension)
{
    bool same = true;
    for (uint32_t i = 0; same && i < dimension; i++)
        same = row[i] == other[i] || (row[i] != row[i] && other[i] != other[i]);
    return same;
}

static double score_of(const oif_rrcf_state *forest, uint64_t unit_sum)
{
    return (double)unit_sum * 0x1p-32 / forest->num_trees;
}

/* Rows that pass all trees, one tree at a time, before the next rows do. */
typedef struct row_chunk {
    const oif_rrcf_state *forest;
    oif_rrcf_state *learner; /* the same forest if it learns the rows, otherwise NULL */
    const oif_rows *rows;
    size_t from;    /* the first row of the chunk ... */
    uint32_t count; /* ... and the number of rows */
    unsigned parts;
    _Atomic uint64_t *unit_sums; /* per row, over the trees; NULL if no scores are wanted */
    /* per row: whether it equals the row learned last; unused if rows are learned before scoring */
    const bool *learned_last;
} row_chunk;

/* Adds the displacement of row i in a tree that has it in this leaf, if any. */
OIF_INLINE void add_displacement(const row_chunk *chunk, const oif_cut_tree *tree,
                                 const double *row, uint32_t i, uint32_t leaf)
{
    const oif_cut_tree_shape *shape = &chunk->forest->shape;
    double displacement = leaf == OIF_CUT_TREE_NO_NODE
                              ? oif_cut_tree_expected_displacement(shape, tree, row)
                              : oif_cut_tree_displacement(shape, tree, leaf);
    atomic_fetch_add_explicit(&chunk->unit_sums[i], to_units(displacement), memory_order_relaxed);
}

static void pass_tree(const row_chunk *chunk, uint32_t number)
{
    const oif_rrcf_state *forest = chunk->forest;
    const oif_cut_tree *tree = oif_rrcf_tree(forest, number);
    for (uint32_t i = 0; i < chunk->count; i++) {
        const double *row = oif_rows_at(chunk->rows, chunk->from + i);
        uint32_t leaf = OIF_CUT_TREE_NO_NODE;
        if (chunk->learner)
            leaf = learn_row(chunk->learner, number, row, forest->rows_learned + i);
        else if (chunk->learned_last[i])
            leaf = oif_rrcf_last_leaves(forest)[number];
        if (chunk->unit_sums)
            add_displacement(chunk, tree, row, i, leaf);
    }
}

/* Scores each row before learning it. */
static void score_learn_in_tree(const row_chunk *chunk, uint32_t number)
{
    const oif_rrcf_state *forest = chunk->forest;
    const oif_cut_tree *tree = oif_rrcf_tree(forest, number);
    for (uint32_t i = 0; i < chunk->count; i++) {
        const double *row = oif_rows_at(chunk->rows, chunk->from + i);
        add_displacement(chunk, tree, row, i,
                         chunk->learned_last[i] ? oif_rrcf_last_leaves(forest)[number]
                                                : OIF_CUT_TREE_NO_NODE);
        (void)learn_row(chunk->learner, number, row, forest->rows_learned + i);
    }
}

static uint32_t first_tree(const row_chunk *chunk, unsigned part)
{
    return chunk->forest->num_trees * part / chunk->parts;
}

static void pass_part(void *context, unsigned part)
{
    const row_chunk *chunk = context;
    const uint32_t end = first_tree(chunk, part + 1);
    for (uint32_t number = first_tree(chunk, part); number < end; number++)
        pass_tree(chunk, number);
}

static void score_learn_part(void *context, unsigned part)
{
    const row_chunk *chunk = context;
    const uint32_t end = first_tree(chunk, part + 1);
    for (uint32_t number = first_tree(chunk, part); number < end; number++)
        score_learn_in_tree(chunk, number);
}

/* Whether a row, at the time it is scored, equals the row learned last. */
static bool is_learned_last(const oif_rrcf_state *forest, const oif_rrcf_state *learner,
                            const oif_rows *rows, size_t i)
{
    const double *row = oif_rows_at(rows, i);
    const uint32_t dimension = forest->shape.dimension;
    if (learner && i > 0)
        return are_same(row, oif_rows_at(rows, i - 1), dimension);
    return forest->rows_learned > 0 && are_same(row, oif_rrcf_last_row(forest), dimension);
}

static void pass_rows(const oif_rrcf_state *forest, oif_rrcf_state *learner, bool scores_first,
                      const oif_rows *rows, double *scores, oif_pool *pool)
{
    oif_pool *sharing = oif_pool_worth(pool, rows->count);
    _Atomic uint64_t unit_sums[MAX_CHUNK];
    bool learned_last[MAX_CHUNK];
    for (size_t from = 0; from < rows->count; from += MAX_CHUNK) {
        uint32_t count = (uint32_t)oif_min_size(rows->count - from, MAX_CHUNK);
        row_chunk chunk = {forest,
                           learner,
                           rows,
                           from,
                           count,
                           oif_pool_parts(sharing),
                           scores ? unit_sums : NULL,
                           learned_last};
        for (uint32_t i = 0; i < count; i++) {
            atomic_init(&unit_sums[i], 0);
            learned_last[i] =
                (!learner || scores_first) && is_learned_last(forest, learner, rows, from + i);
        }
        oif_pool_run(sharing, scores_first ? score_learn_part : pass_part, &chunk);
        for (uint32_t i = 0; scores && i < count; i++)
            scores[from + i] =
                score_of(forest, atomic_load_explicit(&unit_sums[i], memory_order_relaxed));
        if (learner)
            learner->rows_learned += count;
    }
}

static void learn_in_order(oif_rrcf_state *forest, const oif_rows *rows, bool scores_first,
                           double *scores, oif_pool *pool)
{
    pass_rows(forest, forest, scores_first, rows, scores, pool);
    if (rows->count > 0)
        memcpy(oif_rrcf_last_row(forest), oif_rows_at(rows, rows->count - 1),
               forest->shape.dimension * sizeof(double));
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    learn_in_order(state, rows, false, scores, pool);
}

static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    learn_in_order(state, rows, true, scores, pool);
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    pass_rows(state, NULL, false, rows, scores, NULL);
}

/* ---- Questions ---- */

/* Displacements grow with the sample. Before the sample is half full, scores are not comparable
 * with later ones. */
static bool ready(const void *state)
{
    const oif_rrcf_state *forest = state;
    return forest->rows_learned >= forest->shape.capacity / 2;
}

/* Counts the rows of a tree's sample in some of its leaves. */
static void count_rows(const oif_rrcf_state *forest, uint32_t number, uint32_t first_leaf,
                       uint32_t counts[LEAVES_AT_ONCE])
{
    const uint32_t *leaves = oif_rrcf_leaves(forest, number), held = oif_rrcf_rows_held(forest);
    memset(counts, 0, LEAVES_AT_ONCE * sizeof *counts);
    for (uint32_t place = 0; place < held; place++)
        /* unsigned, so a leaf before the first one is excluded too */
        if (leaves[place] - first_leaf < LEAVES_AT_ONCE)
            counts[leaves[place] - first_leaf]++;
}

/* Every row of the sample is counted by one leaf, and leaves count no other rows. */
static const char *check_sample(const oif_rrcf_state *forest, uint32_t number)
{
    const oif_cut_tree_link *links =
        oif_cut_tree_links(&forest->shape, oif_rrcf_tree(forest, number));
    const uint32_t *leaves = oif_rrcf_leaves(forest, number), held = oif_rrcf_rows_held(forest);
    const uint32_t capacity = forest->shape.capacity, last = oif_rrcf_last_leaves(forest)[number];
    uint32_t counts[LEAVES_AT_ONCE];
    for (uint32_t place = 0; place < held; place++)
        if (leaves[place] >= capacity)
            return "a row's leaf is not one";
    for (uint32_t first = 0; first < capacity; first += LEAVES_AT_ONCE) {
        count_rows(forest, number, first, counts);
        for (uint32_t leaf = first; leaf < capacity && leaf - first < LEAVES_AT_ONCE; leaf++)
            if (links[leaf].mass != counts[leaf - first])
                return "a leaf's mass is not the number of its rows";
    }
    if (forest->rows_learned > 0 && last != OIF_CUT_TREE_NO_NODE &&
        (last >= capacity || links[last].mass == 0))
        return "the last row's leaf is not one";
    return NULL;
}

static oif_status check(const void *state, oif_error *error)
{
    const oif_rrcf_state *forest = state;
    if (forest->rows_learned > OIF_MAX_ROWS_LEARNED)
        return oif_fail(error, OIF_EINVARIANT, "more rows were learned than any stream has");
    if (!oif_none_infinite(oif_rrcf_last_row(forest), forest->shape.dimension))
        return oif_fail(error, OIF_EINVARIANT, "the last row is infinite");
    for (uint32_t number = 0; number < forest->num_trees; number++) {
        const char *broken = oif_cut_tree_check(&forest->shape, oif_rrcf_tree(forest, number),
                                                oif_rrcf_rows_held(forest));
        if (!broken)
            broken = check_sample(forest, number);
        if (broken)
            return oif_fail(error, OIF_EINVARIANT, "tree %u: %s", number, broken);
    }
    return OIF_OK;
}

/* ---- Snapshots ---- */

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    oif_rrcf_state *forest = state;
    oif_visit_u64(visitor, "rows_learned", &forest->rows_learned, 1);
    oif_visit_u32(visitor, "leaves", oif_rrcf_leaves(forest, 0),
                  (size_t)forest->num_trees * forest->shape.capacity);
    oif_visit_u32(visitor, "last_leaves", oif_rrcf_last_leaves(forest), forest->num_trees);
    oif_visit_f64(visitor, "last_row", oif_rrcf_last_row(forest), forest->shape.dimension);
    for (uint32_t number = 0; number < forest->num_trees; number++)
        oif_cut_tree_visit_fields(&forest->shape, oif_rrcf_tree(forest, number), visitor);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const oif_rrcf_state *forest = state;
    oif_tree_figures figures = {0};
    for (uint32_t number = 0; number < forest->num_trees; number++)
        oif_cut_tree_add_figures(&forest->shape, oif_rrcf_tree(forest, number), &figures);
    tell(context, "rows_held", oif_rrcf_rows_held(forest));
    oif_figures_tell(&figures, tell, context);
}

/* ---- The table ---- */

static const char *const sample_words[] = {"reservoir", "sliding", NULL};

static const oif_param params_table[] = {
    {"num_trees", "trees in the forest; more give steadier scores", OIF_PARAM_INTEGER, 1, 4096, 32,
     NULL},
    {"tree_size", "rows that each tree holds", OIF_PARAM_INTEGER, 2, 1 << 16, 256, NULL},
    {"sample",
     "which rows: each tree's own draw from the stream (reservoir), or the last ones (sliding)",
     OIF_PARAM_CHOICE, 0, 1, OIF_RRCF_RESERVOIR, sample_words},
    {"window_size",
     "rows that a reservoir represents; older ones fade, to 1/e after as many more; at least "
     "tree_size",
     OIF_PARAM_INTEGER, 1, 0x1p53, 2048, NULL},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_rrcf = {
    .info = {.table.name = "rrcf",
             .table.summary =
                 "random cut trees; a row is anomalous if removing it would reshape the tree",
             .paper =
                 "Guha, Mishra, Roy, Schrijvers: Robust Random Cut Forest Based Anomaly Detection "
                 "On Streams, ICML 2016",
             .cost = "num_trees x log2(tree_size) x d",
             .choose = "if all columns have one unit, such as the last values of a series; the "
                       "slowest",
             .table.params = params_table,
             .table.param_count = sizeof params_table / sizeof params_table[0]},
    .scale = OIF_SCORES_OF_MASS,
    .rarity = {.usual = 4, .per_decade = 0.95},
    .check_params = NULL, /* every combination is valid */
    .state_bytes = state_bytes,
    .init = init,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .score_learn_rows = score_learn_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = check,
};
