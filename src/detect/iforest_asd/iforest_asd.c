/* iForestASD (Ding, Fei: An Anomaly Detection Approach Based on Isolation Forest Algorithm for
 * Streaming Data using Sliding Window, IFAC 2013): an Isolation Forest over the last rows,
 * trained again when a window of rows has passed, either always or, as published, only when too
 * many of its rows looked anomalous.
 *
 * The rows are kept in a ring. Training does not stop the stream: at the end of a window its
 * rows are numbered, and from then on each row that comes grows one tree from them, which takes
 * the place of the oldest. So the ring holds a few rows more than the window, and no row costs
 * more than a tree:
 *
 *     ... | window of window_size rows       | next window                            |
 *                              its last row: ^ tree 0
 *                                              then trees 1, 2, ... T-1, one with each row
 *
 * Until the first window is full the forest is trained whenever the number of rows has doubled,
 * so that early rows get useful scores.
 *
 * A row costs O(num_trees log2(subsample_size)), and a tree's O(subsample_size
 * log2(subsample_size)) in the first num_trees rows of a window. iforest.c has the trees.
 */
#include "base/block.h"
#include "base/error.h"
#include "base/invariant.h"
#include "base/memory.h"
#include "detect/iforest_asd/iforest.h"
#include "detect/isolation.h"

#include <string.h>

enum { CHUNK = 256 }; /* rows that are scored together */

typedef enum retrain { EVERY_WINDOW, ON_DRIFT } retrain;

static const double anomalous = 0.5; /* a score above counts as an anomaly for the drift rule */

/* The state begins with this; arrays follow at the offsets `.._at`. Without padding, whose
 * bytes no one would set: equal detectors are equal bytes. */
typedef struct asd_state {
    uint32_t dimension, num_trees, window_size;
    retrain retrain;
    double drift_rate;
    oif_random random;

    /* of the ring: a window, and the rows that come while trees are grown from it */
    uint32_t slots;
    uint32_t rows_held;  /* in the window */
    uint32_t next_slot;  /* of the ring */
    uint32_t doublings;  /* until the first window is full */
    uint32_t rows_to_go; /* until the next doubling or, later, the end of the window */
    uint32_t anomalies;  /* among the rows of this window so far; only for the drift rule */

    /* that the trees are being grown from; their slots are in `training` */
    uint32_t training_rows;
    uint32_t trained_rows; /* that the last complete training had */
    uint32_t next_tree;    /* to be grown; num_trees when all are */
    uint32_t trees_a_row;  /* that each row grows during a training */

    size_t window_at;   /* double   [slots][dimension] */
    size_t training_at; /* uint32_t [window_size] */
    size_t forest_at;   /* oif_iforest */
    size_t bytes;
} asd_state;

/* ---- Where things are ---- */

static oif_iforest *own_forest(const asd_state *asd)
{
    return oif_block_part(asd, asd->forest_at);
}

static double *slot_row(const asd_state *asd, uint32_t slot)
{
    return (double *)oif_block_part(asd, asd->window_at) + (size_t)slot * asd->dimension;
}

/* ---- Creation ---- */

/* The rows at which the forest is trained with this many doublings left until the first window
 * is full. */
static uint32_t early_rows(const asd_state *asd, uint32_t doublings)
{
    return asd->window_size >> doublings;
}

/* The head of the state and, apart from it, that of the forest. */
static asd_state lay_out(const oif_params *params, size_t dimension, oif_iforest *forest)
{
    asd_state asd = {.dimension = (uint32_t)dimension,
                     .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
                     .window_size = (uint32_t)oif_params_value(params, "window_size"),
                     .retrain = (retrain)oif_params_value(params, "retrain"),
                     .drift_rate = oif_params_value(params, "drift_rate"),
                     .random = oif_random_stream((uint64_t)oif_params_value(params, "seed"), 0)};
    uint32_t subsample_size = (uint32_t)oif_params_value(params, "subsample_size");
    *forest =
        oif_iforest_lay_out(asd.num_trees, oif_min_u32(subsample_size, asd.window_size), dimension);
    asd.slots = asd.window_size + oif_min_u32(asd.num_trees, asd.window_size);
    asd.next_tree = asd.num_trees;
    while (early_rows(&asd, asd.doublings + 1) >= 2)
        asd.doublings++;
    asd.rows_to_go = early_rows(&asd, asd.doublings);

    asd.window_at = oif_size_align(sizeof asd);
    asd.training_at = oif_size_align(oif_size_add(
        asd.window_at, oif_size_multiply(asd.slots, oif_size_multiply(dimension, sizeof(double)))));
    asd.forest_at = oif_size_align(
        oif_size_add(asd.training_at, oif_size_multiply(asd.window_size, sizeof(uint32_t))));
    asd.bytes = oif_size_add(asd.forest_at, forest->bytes);
    return asd;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    oif_iforest forest;
    return lay_out(params, dimension, &forest).bytes;
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    asd_state *asd = state;
    oif_iforest forest;
    *asd = lay_out(params, dimension, &forest);
    oif_iforest_init(own_forest(asd), &forest);
}

static double insertion_depth(const oif_params *params)
{
    double rows = oif_params_value(params, "subsample_size");
    double most = oif_params_value(params, "window_size");
    uint32_t sample = (uint32_t)(rows < most ? rows : most);
    return oif_params_value(params, "insertion") != 0 ? oif_average_path_length_of(sample) : 0;
}

/* ---- Scoring ---- */

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const oif_iforest *forest = own_forest(state);
    for (size_t i = 0; i < rows->count; i++) {
        const double *row = oif_rows_at(rows, i);
        bool complete = oif_rows_complete_at(rows, i, forest->dimension);
        scores[i] = oif_iforest_score(forest, row, complete);
    }
}

/* ---- Training ---- */

/* Numbers the rows of the window. All trees are to be grown from them before the next one ends. */
static void begin_training(asd_state *asd)
{
    uint32_t *training = oif_block_part(asd, asd->training_at);
    uint32_t slot = asd->next_slot >= asd->rows_held ? asd->next_slot - asd->rows_held
                                                     : asd->next_slot + asd->slots - asd->rows_held;
    for (uint32_t i = 0; i < asd->rows_held; i++) {
        training[i] = slot;
        slot = slot + 1 == asd->slots ? 0 : slot + 1;
    }
    asd->training_rows = asd->rows_held;
    asd->next_tree = 0;
    asd->trees_a_row = (asd->num_trees + asd->rows_to_go - 1) / asd->rows_to_go;
}

/* Grows the trees that are this row's share of a training that is under way. */
static void train_on(asd_state *asd)
{
    if (asd->next_tree == asd->num_trees)
        return;
    uint32_t end = oif_min_u32(asd->next_tree + asd->trees_a_row, asd->num_trees);
    for (; asd->next_tree < end; asd->next_tree++)
        oif_iforest_grow(own_forest(asd), asd->next_tree, oif_block_part(asd, asd->window_at),
                         asd->dimension, oif_block_part(asd, asd->training_at), asd->training_rows,
                         &asd->random);
    if (end == asd->num_trees)
        asd->trained_rows = asd->training_rows;
}

/* Ding and Fei's rule. */
static bool has_drifted(const asd_state *asd)
{
    return asd->anomalies > asd->drift_rate * asd->window_size;
}

/* A window has ended, or before the first one has, the number of rows has doubled. */
static void end_window(asd_state *asd)
{
    bool first = asd->trained_rows < asd->window_size,
         due = first || asd->retrain == EVERY_WINDOW || has_drifted(asd);
    asd->rows_to_go = asd->window_size;
    if (asd->doublings > 0) {
        asd->rows_to_go = early_rows(asd, asd->doublings - 1) - asd->rows_held;
        asd->doublings--;
    }
    asd->anomalies = 0;
    if (due)
        begin_training(asd);
}

/* ---- Learning ---- */

static void store_row(asd_state *asd, const double *row)
{
    memcpy(slot_row(asd, asd->next_slot), row, asd->dimension * sizeof *row);
    asd->next_slot = asd->next_slot + 1 == asd->slots ? 0 : asd->next_slot + 1;
    asd->rows_held += asd->rows_held < asd->window_size;
    asd->rows_to_go--;
}

/* How many of the coming rows find the forest as it is now. */
static uint32_t quiet_rows(const asd_state *asd)
{
    return asd->next_tree < asd->num_trees ? 0 : asd->rows_to_go;
}

static void count_anomalies(asd_state *asd, const double *scores, size_t count)
{
    for (size_t i = 0; i < count; i++)
        asd->anomalies += scores[i] > anomalous;
}

/* Learns rows that find the forest in one state: quiet ones, or a single one that grows trees.
 * The training that the end of a window begins waits for the next row, so that a row's score
 * does not depend on what its own window decides. */
static void learn_chunk(asd_state *asd, const oif_rows *rows, double *scores, oif_pool *pool)
{
    double own_scores[CHUNK];
    double *written = scores || asd->retrain == EVERY_WINDOW ? scores : own_scores;
    for (size_t i = 0; i < rows->count; i++)
        store_row(asd, oif_rows_at(rows, i));
    train_on(asd);
    if (written) {
        oif_rows_score(rows, score_rows, asd, written, pool);
        if (asd->retrain == ON_DRIFT)
            count_anomalies(asd, written, rows->count);
    }
    if (asd->rows_to_go == 0)
        end_window(asd);
}

/* How many of the coming rows learn_chunk takes at most. */
static uint32_t chunk_rows(const asd_state *asd)
{
    uint32_t quiet = oif_min_u32(quiet_rows(asd), CHUNK);
    return quiet == 0 ? 1 : quiet;
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    asd_state *asd = state;
    for (size_t from = 0; from < rows->count;) {
        oif_rows chunk = oif_rows_from(rows, from, chunk_rows(asd));
        learn_chunk(asd, &chunk, scores ? scores + from : NULL, pool);
        from += chunk.count;
    }
}

/* Quiet rows have the same scores before and after they are learned. */
static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    asd_state *asd = state;
    for (size_t from = 0; from < rows->count;) {
        oif_rows chunk = oif_rows_from(rows, from, chunk_rows(asd));
        const bool quiet = quiet_rows(asd) > 0;
        if (!quiet)
            score_rows(asd, &chunk, scores + from);
        learn_chunk(asd, &chunk, quiet ? scores + from : NULL, pool);
        from += chunk.count;
    }
}

/* ---- Questions ---- */

/* Every tree has been grown from a whole subsample: the forest of the paper, if from a part of
 * the window. */
static bool ready(const void *state)
{
    const asd_state *asd = state;
    return asd->trained_rows >= own_forest(asd)->subsample_size;
}

/* While the first window fills, a doubling is due when it has the rows of one. */
static oif_status check_window(const asd_state *asd, oif_error *error)
{
    const oif_check whole = {error, NULL, 0};
    bool filling = asd->rows_held < asd->window_size;
    OIF_REQUIRE(&whole, asd->rows_held <= asd->window_size && asd->next_slot < asd->slots,
                "the window holds more rows than it has room for");
    OIF_REQUIRE(&whole, !filling || asd->next_slot == asd->rows_held, "the ring has a gap");
    OIF_REQUIRE(&whole, asd->rows_to_go > 0 && asd->rows_to_go <= asd->window_size,
                "the window does not end within window_size rows");
    OIF_REQUIRE(&whole,
                asd->doublings == 0 ||
                    (filling && asd->doublings < 32 && early_rows(asd, asd->doublings) >= 2),
                "the first window has too many doublings to go");
    OIF_REQUIRE(&whole,
                !filling || asd->rows_held + asd->rows_to_go == early_rows(asd, asd->doublings),
                "the next doubling is not due when it should be");
    OIF_REQUIRE(&whole, asd->anomalies <= asd->window_size - asd->rows_to_go,
                "more rows were anomalous than the window has had");
    OIF_REQUIRE(&whole,
                oif_none_of_many_infinite(slot_row(asd, 0), (size_t)asd->slots * asd->dimension),
                "a row is infinite");
    return OIF_OK;
}

static oif_status check_training(const asd_state *asd, oif_error *error)
{
    const oif_check whole = {error, NULL, 0};
    const uint32_t *training = oif_block_part(asd, asd->training_at);
    OIF_REQUIRE(&whole,
                asd->training_rows <= asd->window_size && asd->trained_rows <= asd->window_size,
                "trees were grown from more rows than there are");
    OIF_REQUIRE(&whole, asd->next_tree <= asd->num_trees && asd->trees_a_row <= asd->num_trees,
                "more trees are to be grown than there are");
    OIF_REQUIRE(&whole,
                asd->num_trees - asd->next_tree <= (uint64_t)asd->trees_a_row * asd->rows_to_go,
                "the trees will not be grown before the window ends");
    for (uint32_t i = 0; i < asd->training_rows; i++)
        OIF_REQUIRE(&whole, training[i] < asd->slots,
                    "a tree would be grown from a row outside the ring");
    return OIF_OK;
}

static oif_status check(const void *state, oif_error *error)
{
    const asd_state *asd = state;
    oif_status status = check_window(asd, error);
    if (status == OIF_OK)
        status = check_training(asd, error);
    return status == OIF_OK ? oif_iforest_check(own_forest(asd), error) : status;
}

/* ---- Snapshots ---- */

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    asd_state *asd = state;
    oif_visit_u64(visitor, "random", &asd->random.state, 1);
    oif_visit_u32(visitor, "rows_held", &asd->rows_held, 1);
    oif_visit_u32(visitor, "next_slot", &asd->next_slot, 1);
    oif_visit_u32(visitor, "doublings", &asd->doublings, 1);
    oif_visit_u32(visitor, "rows_to_go", &asd->rows_to_go, 1);
    oif_visit_u32(visitor, "anomalies", &asd->anomalies, 1);
    oif_visit_u32(visitor, "training_rows", &asd->training_rows, 1);
    oif_visit_u32(visitor, "trained_rows", &asd->trained_rows, 1);
    oif_visit_u32(visitor, "next_tree", &asd->next_tree, 1);
    oif_visit_u32(visitor, "trees_a_row", &asd->trees_a_row, 1);
    oif_visit_f64(visitor, "window", slot_row(asd, 0), (size_t)asd->slots * asd->dimension);
    oif_visit_u32(visitor, "training", oif_block_part(asd, asd->training_at), asd->window_size);
    oif_iforest_visit_fields(own_forest(asd), visitor);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const asd_state *asd = state;
    oif_tree_figures figures = {0};
    oif_iforest_add_figures(own_forest(asd), &figures);
    tell(context, "rows_held", asd->rows_held);
    oif_figures_tell(&figures, tell, context);
    tell(context, "trained_rows", asd->trained_rows);
    tell(context, "trees_to_grow", asd->num_trees - asd->next_tree);
    tell(context, "rows_until_window_ends", asd->rows_to_go);
    if (asd->retrain == ON_DRIFT)
        tell(context, "anomalies_in_window", asd->anomalies);
}

/* ---- The table ---- */

static const char *const insertion_words[] = {"none", "row", NULL};
static const char *const retrain_words[] = {"window", "drift", NULL};

static const oif_param params_table[] = {
    {"num_trees", "trees in the forest; more give steadier scores", OIF_PARAM_INTEGER, 1, 4096, 32,
     NULL},
    {"window_size", "rows that the forest is trained on, and that pass between two trainings",
     OIF_PARAM_INTEGER, 2, 1 << 24, 2048, NULL},
    {"subsample_size", "rows of the window that each tree is grown from", OIF_PARAM_INTEGER, 2,
     OIF_MAX_SUBSAMPLE_SIZE, 256, NULL},
    {"retrain",
     "when a window ends: always (window), or if more than drift_rate of its rows were anomalous "
     "(drift)",
     OIF_PARAM_CHOICE, 0, 1, EVERY_WINDOW, retrain_words},
    {"drift_rate",
     "share of the rows with a score above 0.5 at which the stream has changed; for retrain=drift",
     OIF_PARAM_REAL, 0, 1, 0.25, NULL},
    {"insertion",
     "a row outside the ranges of recent rows is scored as if inserted (row), or not (none)",
     OIF_PARAM_CHOICE, 0, 1, 0, insertion_words},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_iforest_asd = {
    .info =
        {.table.name = "iforest-asd",
         .table.summary =
             "an isolation forest that is retrained on each window of rows, or when they change",
         .paper = "Ding, Fei: An Anomaly Detection Approach Based on Isolation Forest Algorithm "
                  "for Streaming Data using Sliding Window, IFAC ICONS 2013",
         .cost = "num_trees x log2(subsample_size), and num_trees trees to grow in each window",
         .choose = "for speed, if data change slowly: an isolation forest, one window late",
         .table.params = params_table,
         .table.param_count = sizeof params_table / sizeof params_table[0]},
    .rarity = {.usual = 0.5, .per_decade = 0.2},
    .check_params = NULL, /* any fit together: a subsample larger than the window is the window */
    .minds_constants = true,
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
