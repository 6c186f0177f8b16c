/* Rolling Isolation Forest: small isolation trees, each grown once from a few recent rows and
 * replaced when it is the oldest. So the forest follows the stream without ever removing a row from
 * a tree.
 *
 * The last window_size / 2 rows are kept in a ring. Every few rows the oldest tree is replaced by
 * one grown from sample_size rows drawn from the ring. After window_size / 2 rows all trees are
 * new, and the oldest row known to any tree is window_size rows old:
 *
 *     rows     ... | ring: window_size / 2 rows                        | now
 *     trees                     3 grown ^    0 ^    1 ^    2 ^    3 grown ^   (of four, in order)
 *
 * Until the ring is full, trees are grown more often: all are renewed within half of the rows seen
 * so far.
 *
 * A tree becomes due with the row that completes its interval and is grown just before the next row
 * is learned. So no row is scored by a tree grown from it. Learning a row and then scoring it gives
 * the same bits as scoring it with the due tree already grown, and then learning it.
 *
 * A row costs O(num_trees max_depth); a tree costs O(sample_size tournament max_depth), once per
 * interval. rolling_tree.c has the trees.
 */
#include "base/block.h"
#include "base/error.h"
#include "base/invariant.h"
#include "base/memory.h"
#include "detect/isolation.h"
#include "detect/rolling_iforest/rolling_tree.h"

#include <string.h>

typedef enum insertion { PATH, NONE, ROW } insertion;

/* The head of the state; arrays follow at the offsets `.._at`. It has no implicit padding, whose
 * bytes would be undefined: equal detectors have equal bytes. */
typedef struct rolling_state {
    uint32_t dimension, window_size;
    uint32_t slots;       /* of the ring: half the window */
    uint32_t renew_trees; /* grown at each renewal */
    oif_random random;

    uint32_t rows_seen;  /* at most window_size */
    uint32_t next_slot;  /* of the ring */
    uint32_t rows_since; /* since trees were last grown */
    uint32_t next_tree;  /* the oldest, replaced next */

    size_t ring_at; /* double   [slots][dimension] */
    /* uint64_t [drawn_words(slots)]: one bit per row, set once drawn */
    size_t drawn_at;
    size_t sample_at; /* size_t [sample_size]: offsets of the rows that a tree is grown from */
    size_t trees_at;  /* oif_rolling_trees */
    size_t bytes;
} rolling_state;

/* ---- Where things are ---- */

static oif_rolling_trees *own_trees(const rolling_state *rolling)
{
    return oif_block_part(rolling, rolling->trees_at);
}

static double *slot_row(const rolling_state *rolling, uint32_t slot)
{
    return (double *)oif_block_part(rolling, rolling->ring_at) + (size_t)slot * rolling->dimension;
}

/* ---- Creation ---- */

static oif_status check_params(const oif_params *params, oif_error *error)
{
    double num_trees = oif_params_value(params, "num_trees");
    if (oif_params_value(params, "renew_trees") > num_trees)
        return oif_fail(error, OIF_EPARAM, "renew_trees must be at most num_trees, which is %.0f",
                        num_trees);
    return OIF_OK;
}

static size_t drawn_words(uint32_t slots)
{
    return ((size_t)slots + 63) / 64;
}

/* Returns the head of the state; `trees` gets the head of the trees. */
static rolling_state lay_out(const oif_params *params, size_t dimension, oif_rolling_trees *trees)
{
    rolling_state rolling = {.dimension = (uint32_t)dimension,
                             .window_size = (uint32_t)oif_params_value(params, "window_size"),
                             .renew_trees = (uint32_t)oif_params_value(params, "renew_trees"),
                             .random =
                                 oif_random_stream((uint64_t)oif_params_value(params, "seed"), 0)};
    rolling.slots = rolling.window_size / 2;
    oif_rolling_shape shape = {
        .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
        .sample_size =
            oif_min_u32((uint32_t)oif_params_value(params, "sample_size"), rolling.slots),
        .max_depth = (uint32_t)oif_params_value(params, "max_depth"),
        .max_leaf_samples = (uint32_t)oif_params_value(params, "max_leaf_samples"),
        .tournament = (uint32_t)oif_params_value(params, "tournament"),
        .insertion = (insertion)oif_params_value(params, "insertion") != NONE,
    };
    *trees = oif_rolling_lay_out(&shape, dimension);

    rolling.bytes = oif_size_align(sizeof rolling);
    rolling.ring_at = oif_size_append(&rolling.bytes, oif_size_multiply(rolling.slots, dimension),
                                      sizeof(double));
    rolling.drawn_at =
        oif_size_append(&rolling.bytes, drawn_words(rolling.slots), sizeof(uint64_t));
    rolling.sample_at = oif_size_append(&rolling.bytes, shape.sample_size, sizeof(size_t));
    rolling.trees_at = oif_size_append(&rolling.bytes, 1, trees->bytes);
    return rolling;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    oif_rolling_trees trees;
    return lay_out(params, dimension, &trees).bytes;
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    rolling_state *rolling = state;
    oif_rolling_trees trees;
    *rolling = lay_out(params, dimension, &trees);
    oif_rolling_init(own_trees(rolling), &trees);
}

static double insertion_depth(const oif_params *params)
{
    oif_rolling_trees trees;
    lay_out(params, 1, &trees);
    bool of_rows = (insertion)oif_params_value(params, "insertion") == ROW;
    return of_rows ? oif_average_path_length_of(trees.shape.sample_size) : 0;
}

/* ---- Scoring ---- */

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const oif_rolling_trees *trees = own_trees(state);
    for (size_t i = 0; i < rows->count; i++) {
        const double *row = oif_rows_at(rows, i);
        bool complete = oif_rows_complete_at(rows, i, trees->dimension);
        scores[i] = oif_rolling_score(trees, row, complete);
    }
}

/* ---- Renewal ---- */

static uint32_t rows_held(const rolling_state *rolling)
{
    return oif_min_u32(rolling->rows_seen, rolling->slots);
}

/* Rows between two renewals: after num_trees / renew_trees renewals every tree is new. */
static uint32_t interval(const rolling_state *rolling)
{
    uint32_t rows_a_tree =
        oif_min_u32(rolling->rows_seen / 2, rolling->slots) / own_trees(rolling)->shape.num_trees;
    return (rows_a_tree > 0 ? rows_a_tree : 1) * rolling->renew_trees;
}

static bool renewal_is_due(const rolling_state *rolling)
{
    return rolling->rows_since >= interval(rolling);
}

/* Fills `sample` with offsets of rows in the ring, drawn without replacement (Floyd's algorithm:
 * each step draws from one row more, and takes that last row if the drawn one was taken before).
 * Returns how many. */
static uint32_t draw_sample(rolling_state *rolling, size_t *sample)
{
    const uint32_t held = rows_held(rolling),
                   wanted = oif_min_u32(own_trees(rolling)->shape.sample_size, held);
    const size_t dimension = rolling->dimension;
    uint64_t *drawn = oif_block_part(rolling, rolling->drawn_at);
    memset(drawn, 0, drawn_words(rolling->slots) * sizeof *drawn);
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t last = held - wanted + i, row = oif_random_below(&rolling->random, last + 1);
        if (drawn[row / 64] >> row % 64 & 1)
            row = last;
        drawn[row / 64] |= UINT64_C(1) << row % 64;
        sample[i] = row * dimension;
    }
    return wanted;
}

static void renew(rolling_state *rolling)
{
    oif_rolling_trees *trees = own_trees(rolling);
    size_t *sample = oif_block_part(rolling, rolling->sample_at);
    for (uint32_t i = 0; i < rolling->renew_trees; i++) {
        uint32_t count = draw_sample(rolling, sample);
        oif_rolling_grow(trees, rolling->next_tree, slot_row(rolling, 0), sample, count,
                         &rolling->random);
        rolling->next_tree =
            rolling->next_tree + 1 == trees->shape.num_trees ? 0 : rolling->next_tree + 1;
    }
    memset(sample, 0, trees->shape.sample_size * sizeof *sample); /* as in oif_rolling_grow */
    rolling->rows_since = 0;
}

/* ---- Learning ---- */

static void store_row(rolling_state *rolling, const double *row)
{
    memcpy(slot_row(rolling, rolling->next_slot), row, rolling->dimension * sizeof *row);
    rolling->next_slot = rolling->next_slot + 1 == rolling->slots ? 0 : rolling->next_slot + 1;
    rolling->rows_seen += rolling->rows_seen < rolling->window_size;
    rolling->rows_since += rolling->rows_seen > 1; /* a tree needs more than one row */
}

/* All rows up to the next renewal are scored by the same trees. */
static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    rolling_state *rolling = state;
    for (size_t from = 0, end; from < rows->count; from = end) {
        if (renewal_is_due(rolling))
            renew(rolling);
        end = from;
        do
            store_row(rolling, oif_rows_at(rows, end++));
        while (end < rows->count && !renewal_is_due(rolling));
        oif_rows same_trees = oif_rows_from(rows, from, end - from);
        if (scores)
            oif_rows_score(&same_trees, score_rows, rolling, scores + from, pool);
    }
}

/* The row that triggers a renewal is scored by the trees before it. */
static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    rolling_state *rolling = state;
    for (size_t from = 0, end; from < rows->count; from = end) {
        end = from;
        while (end < rows->count && !renewal_is_due(rolling))
            store_row(rolling, oif_rows_at(rows, end++));
        const bool renews = end < rows->count;
        oif_rows same_trees = oif_rows_from(rows, from, end - from + renews);
        oif_rows_score(&same_trees, score_rows, rolling, scores + from, pool);
        if (renews) {
            renew(rolling);
            store_row(rolling, oif_rows_at(rows, end++));
        }
    }
}

/* ---- More columns ---- */

static void widen(void *wide_state, const void *state, const oif_widening *widening)
{
    rolling_state *wide = wide_state;
    const rolling_state *rolling = state;
    wide->random = rolling->random;
    wide->rows_seen = rolling->rows_seen;
    wide->next_slot = rolling->next_slot;
    wide->rows_since = rolling->rows_since;
    wide->next_tree = rolling->next_tree;
    for (uint32_t slot = 0; slot < rows_held(rolling); slot++)
        oif_widen_row(widening, slot_row(rolling, slot), slot_row(wide, slot));
    oif_rolling_widen(own_trees(wide), own_trees(rolling), widening);
}

/* ---- Questions ---- */

/* The oldest tree, and so every tree, was grown from a whole sample. */
static bool ready(const void *state)
{
    const rolling_state *rolling = state;
    const oif_rolling_trees *trees = own_trees(rolling);
    return oif_rolling_rows(trees)[rolling->next_tree] == trees->shape.sample_size;
}

static oif_status check(const void *state, oif_error *error)
{
    const oif_check whole = {error, NULL, 0};
    const rolling_state *rolling = state;
    const uint16_t *rows = oif_rolling_rows(own_trees(rolling));
    const uint32_t num_trees = own_trees(rolling)->shape.num_trees;
    uint32_t grown = 0;
    OIF_REQUIRE(&whole, rolling->rows_seen <= rolling->window_size,
                "more rows were seen than are counted");
    OIF_REQUIRE(&whole, rolling->next_slot < rolling->slots,
                "the next row has no place in the ring");
    OIF_REQUIRE(&whole,
                rolling->rows_seen >= rolling->slots || rolling->next_slot == rolling->rows_seen,
                "the ring has a gap");
    OIF_REQUIRE(&whole,
                rolling->rows_since <= interval(rolling) &&
                    (rolling->rows_seen > 1 || rolling->rows_since == 0),
                "trees should have been grown before");
    OIF_REQUIRE(&whole, rolling->next_tree < num_trees, "the oldest tree does not exist");
    while (grown < num_trees && rows[grown] > 0)
        grown++;
    OIF_REQUIRE(&whole, grown == num_trees || grown == rolling->next_tree,
                "the first tree without rows is not the next to be grown");
    for (uint32_t tree = grown; tree < num_trees; tree++)
        OIF_REQUIRE(&whole, rows[tree] == 0, "trees were not grown in turn");
    OIF_REQUIRE(&whole,
                oif_none_of_many_infinite(slot_row(rolling, 0),
                                          (size_t)rolling->slots * rolling->dimension),
                "a row is infinite");
    return oif_rolling_check(own_trees(rolling), error);
}

/* ---- Snapshots ---- */

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    rolling_state *rolling = state;
    oif_visit_u64(visitor, "random", &rolling->random.state, 1);
    oif_visit_u32(visitor, "rows_seen", &rolling->rows_seen, 1);
    oif_visit_u32(visitor, "next_slot", &rolling->next_slot, 1);
    oif_visit_u32(visitor, "rows_since", &rolling->rows_since, 1);
    oif_visit_u32(visitor, "next_tree", &rolling->next_tree, 1);
    oif_visit_f64(visitor, "ring", slot_row(rolling, 0),
                  (size_t)rolling->slots * rolling->dimension);
    oif_rolling_visit_fields(own_trees(rolling), visitor);
}

/* The rows of the ring from `first` on. */
static void report_slots(const rolling_state *rolling, uint32_t first, uint32_t end,
                         const oif_unchanged *unchanged)
{
    oif_unchanged_add(unchanged, slot_row(rolling, first),
                      (size_t)(end - first) * rolling->dimension * sizeof(double));
}

/* A row is stored in the next slot, and trees are renewed at most once for each. */
static void report_unchanged(const void *state, const oif_unchanged *unchanged)
{
    const rolling_state *rolling = state;
    const uint32_t next = rolling->next_slot, held = rows_held(rolling);
    const uint64_t rows = oif_min_u64(unchanged->rows, held);
    if (rows <= next) {
        report_slots(rolling, 0, next - (uint32_t)rows, unchanged);
        report_slots(rolling, held == rolling->slots ? next : held, rolling->slots, unchanged);
    } else {
        report_slots(rolling, next, rolling->slots - (uint32_t)(rows - next), unchanged);
    }
    oif_unchanged_add(unchanged, oif_block_part(rolling, rolling->sample_at),
                      rolling->trees_at - rolling->sample_at);
    oif_rolling_unchanged(own_trees(rolling), rolling->next_tree, rows * rolling->renew_trees,
                          unchanged);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const rolling_state *rolling = state;
    oif_tree_figures figures = {0};
    oif_rolling_add_figures(own_trees(rolling), &figures);
    tell(context, "rows_held", rows_held(rolling));
    oif_figures_tell(&figures, tell, context);
    tell(context, "rows_until_trees_are_due", interval(rolling) - rolling->rows_since);
}

/* ---- The table ---- */

static const char *const insertion_words[] = {"path", "none", "row", NULL};

static const oif_param params_table[] = {
    {"num_trees", "trees in the forest; more give steadier scores", OIF_PARAM_INTEGER, 1, 4096, 32,
     NULL},
    {"window_size",
     "age of the oldest row that a tree can hold; new trees are grown from the newer half",
     OIF_PARAM_INTEGER, 4, 1 << 24, 2048, NULL},
    {"sample_size", "rows that each tree is grown from, at most window_size / 2", OIF_PARAM_INTEGER,
     2, OIF_ROLLING_MAX_SAMPLE_SIZE, 128, NULL},
    {"max_depth", "largest depth of a tree", OIF_PARAM_INTEGER, 1, OIF_ROLLING_MAX_DEPTH, 8, NULL},
    {"max_leaf_samples", "a node with fewer rows is not split", OIF_PARAM_INTEGER, 1,
     OIF_ROLLING_MAX_SAMPLE_SIZE, 8, NULL},
    {"tournament", "candidate columns per split; the heaviest-tailed one is used",
     OIF_PARAM_INTEGER, 1, OIF_ROLLING_MAX_TOURNAMENT, 3, NULL},
    {"insertion",
     "rows outside the ranges of recent rows are scored as if inserted: the whole row (row), only "
     "the values on a tree path (path), or not (none)",
     OIF_PARAM_CHOICE, 0, 2, ROW, insertion_words},
    {"renew_trees",
     "trees replaced at each renewal; renewals become rarer by the same factor; at most num_trees",
     OIF_PARAM_INTEGER, 1, 4096, 1, NULL},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_rolling_iforest = {
    .info =
        {.table.name = "rolling-iforest",
         .table.summary =
             "small isolation trees on samples of recent rows; the oldest tree is replaced every "
             "few rows",
         .paper = "no paper: isolation trees (Liu, Ting, Zhou, ICDM 2008), rows inserted as in "
                  "robust random cut trees (Guha, Mishra, Roy, Schrijvers, ICML 2016)",
         .cost = "num_trees x max_depth, and a tree to grow every window_size / 2 / num_trees rows",
         .choose =
             "first: it finds a single metric gone bad, the most common incident, and leads on "
             "our data sets; one to two times the time of online-iforest",
         .table.params = params_table,
         .table.param_count = sizeof params_table / sizeof params_table[0]},
    .rarity = {.usual = 0.7, .per_decade = 1},
    .check_params = check_params,
    .state_bytes = state_bytes,
    .init = init,
    .insertion_depth = insertion_depth,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .score_learn_rows = score_learn_rows,
    .widen = widen,
    .ready = ready,
    .visit_fields = visit_fields,
    .unchanged = report_unchanged,
    .describe = describe,
    .check = check,
};
