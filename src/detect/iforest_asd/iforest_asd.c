/* iForestASD (Ding, Fei: An Anomaly Detection Approach Based on Isolation Forest Algorithm for
 * Streaming Data using Sliding Window, IFAC 2013): an Isolation Forest over the last rows,
 * trained anew when a window of rows has passed, either always or, as published, only when too
 * many of its rows looked anomalous.
 *
 * The rows are kept in a ring. Training does not stop the stream: at the end of a window its
 * rows are numbered, and from then on each row that comes grows one tree from them, which takes
 * the place of the oldest. So the ring holds a few rows more than the window, and no row costs
 * more than a tree:
 *
 *     ... | window of window_size rows       | next window                            |
 *                              its last row: ^ tree 0, then tree 1, 2, ... T-1 with the next rows, then none for long
 *
 * Until the first window is full the forest is trained whenever the number of rows has doubled,
 * so that early rows get useful scores.
 *
 * A row costs O(num_trees log2(subsample_size)), and a tree's O(subsample_size
 * log2(subsample_size)) in the first num_trees rows of a window. iforest.c has the trees.
 */
#include "base/error.h"
#include "base/memory.h"
#include "detect/iforest_asd/iforest.h"

#include <string.h>

enum { CHUNK = 256 }; /* rows that are scored together */

typedef enum retrain { EVERY_WINDOW, ON_DRIFT } retrain;

static const double anomalous = 0.5; /* a score above counts as an anomaly for the drift rule */

/* The state begins with this; arrays follow at the offsets `.._at`. Without padding, whose
 * bytes no one would set: equal detectors are equal bytes. */
typedef struct asd {
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

    /* that the trees are being grown from; their slots stand in `training` */
    uint32_t training_rows;
    uint32_t trained_rows; /* that the last complete training had */
    uint32_t next_tree;    /* to be grown; num_trees when all are */
    uint32_t trees_a_row;  /* that each row grows during a training */

    size_t window_at;   /* double   [slots][dimension] */
    size_t training_at; /* uint32_t [window_size] */
    size_t forest_at;   /* oif_iforest */
    size_t bytes;
} asd;

/* ---- Where things are ---- */

static void *part_at(const asd *a, size_t offset)
{
    return (unsigned char *)a + offset;
}

static oif_iforest *own_forest(const asd *a)
{
    return part_at(a, a->forest_at);
}

static double *slot_row(const asd *a, uint32_t slot)
{
    return (double *)part_at(a, a->window_at) + (size_t)slot * a->dimension;
}

/* ---- Creation ---- */

static oif_status check_params(const oif_params *params, oif_error *error)
{
    (void)params, (void)error;
    return OIF_OK; /* any fit together: a subsample larger than the window is the window */
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The rows at which the forest is trained with so many doublings left until the first window is
 * full. */
static uint32_t early_rows(const asd *a, uint32_t doublings)
{
    return a->window_size >> doublings;
}

/* The head of the state and, apart from it, that of the forest. */
static asd lay_out(const oif_params *params, size_t dimension, oif_iforest *forest)
{
    asd a = {.dimension = (uint32_t)dimension,
             .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
             .window_size = (uint32_t)oif_params_value(params, "window_size"),
             .retrain = (retrain)oif_params_value(params, "retrain"),
             .drift_rate = oif_params_value(params, "drift_rate"),
             .random = oif_random_stream((uint64_t)oif_params_value(params, "seed"), 0)};
    uint32_t subsample_size = (uint32_t)oif_params_value(params, "subsample_size");
    *forest = oif_iforest_lay_out(a.num_trees, smaller(subsample_size, a.window_size), dimension);
    a.slots = a.window_size + smaller(a.num_trees, a.window_size);
    a.next_tree = a.num_trees;
    while (early_rows(&a, a.doublings + 1) >= 2)
        a.doublings++;
    a.rows_to_go = early_rows(&a, a.doublings);

    a.window_at = oif_size_align(sizeof a);
    a.training_at = oif_size_align(oif_size_add(
        a.window_at, oif_size_multiply(a.slots, oif_size_multiply(dimension, sizeof(double)))));
    a.forest_at = oif_size_align(
        oif_size_add(a.training_at, oif_size_multiply(a.window_size, sizeof(uint32_t))));
    a.bytes = oif_size_add(a.forest_at, forest->bytes);
    return a;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    oif_iforest forest;
    return lay_out(params, dimension, &forest).bytes;
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    asd *a = state;
    oif_iforest forest;
    *a = lay_out(params, dimension, &forest);
    oif_iforest_init(own_forest(a), &forest);
}

/* ---- Scoring ---- */

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const oif_iforest *forest = own_forest(state);
    for (size_t i = 0; i < rows->count; i++) {
        const double *row = oif_rows_at(rows, i);
        bool complete = rows->complete || oif_row_is_complete(row, forest->dimension);
        scores[i] = oif_iforest_score(forest, row, complete);
    }
}

/* ---- Training ---- */

/* Numbers the rows of the window. All trees are to be grown from them before the next one ends. */
static void begin_training(asd *a)
{
    uint32_t *training = part_at(a, a->training_at);
    uint32_t slot = a->next_slot >= a->rows_held ? a->next_slot - a->rows_held
                                                 : a->next_slot + a->slots - a->rows_held;
    for (uint32_t i = 0; i < a->rows_held; i++) {
        training[i] = slot;
        slot = slot + 1 == a->slots ? 0 : slot + 1;
    }
    a->training_rows = a->rows_held;
    a->next_tree = 0;
    a->trees_a_row = (a->num_trees + a->rows_to_go - 1) / a->rows_to_go;
}

/* Grows the trees that are this row's share of a training that is under way. */
static void train_on(asd *a)
{
    if (a->next_tree == a->num_trees)
        return;
    uint32_t end = smaller(a->next_tree + a->trees_a_row, a->num_trees);
    for (; a->next_tree < end; a->next_tree++)
        oif_iforest_grow(own_forest(a), a->next_tree, part_at(a, a->window_at), a->dimension,
                         part_at(a, a->training_at), a->training_rows, &a->random);
    if (end == a->num_trees)
        a->trained_rows = a->training_rows;
}

/* Ding and Fei's rule. */
static bool has_drifted(const asd *a)
{
    return a->anomalies > a->drift_rate * a->window_size;
}

/* A window has ended, or before the first one has, the number of rows has doubled. */
static void end_window(asd *a)
{
    bool first = a->trained_rows < a->window_size,
         due = first || a->retrain == EVERY_WINDOW || has_drifted(a);
    a->rows_to_go = a->window_size;
    if (a->doublings > 0) {
        a->rows_to_go = early_rows(a, a->doublings - 1) - a->rows_held;
        a->doublings--;
    }
    a->anomalies = 0;
    if (due)
        begin_training(a);
}

/* ---- Learning ---- */

static void store_row(asd *a, const double *row)
{
    memcpy(slot_row(a, a->next_slot), row, a->dimension * sizeof *row);
    a->next_slot = a->next_slot + 1 == a->slots ? 0 : a->next_slot + 1;
    a->rows_held += a->rows_held < a->window_size;
    a->rows_to_go--;
}

/* How many of the coming rows find the forest as it is now. */
static uint32_t quiet_rows(const asd *a)
{
    return a->next_tree < a->num_trees ? 0 : a->rows_to_go;
}

static void count_anomalies(asd *a, const double *scores, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a->anomalies += scores[i] > anomalous;
}

/* Learns rows that find the forest in one state: quiet ones, or a single one that grows trees.
 * The training that the end of a window begins waits for the next row, so that a row's score
 * does not depend on what its own window decides. */
static void learn_chunk(asd *a, const oif_rows *rows, double *scores, oif_pool *pool)
{
    double own_scores[CHUNK];
    double *written = scores || a->retrain == EVERY_WINDOW ? scores : own_scores;
    for (size_t i = 0; i < rows->count; i++)
        store_row(a, oif_rows_at(rows, i));
    train_on(a);
    if (written) {
        oif_rows_score(rows, score_rows, a, written, pool);
        if (a->retrain == ON_DRIFT)
            count_anomalies(a, written, rows->count);
    }
    if (a->rows_to_go == 0)
        end_window(a);
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    asd *a = state;
    for (size_t from = 0; from < rows->count;) {
        uint32_t quiet = smaller(quiet_rows(a), CHUNK);
        size_t left = rows->count - from, count = quiet == 0 ? 1 : left < quiet ? left : quiet;
        oif_rows chunk = {oif_rows_at(rows, from), count, rows->stride, rows->complete};
        learn_chunk(a, &chunk, scores ? scores + from : NULL, pool);
        from += count;
    }
}

/* ---- Questions ---- */

/* Every tree has been grown from a whole subsample: the forest of the paper, if from a part of
 * the window. */
static bool ready(const void *state)
{
    const asd *a = state;
    return a->trained_rows >= own_forest(a)->subsample_size;
}

#define REQUIRE(condition, words)                                                                  \
    do                                                                                             \
        if (!(condition))                                                                          \
            return oif_fail(error, OIF_EINVARIANT, words);                                         \
    while (0)

/* While the first window fills, a doubling is due when it has the rows of one. */
static oif_status check_window(const asd *a, oif_error *error)
{
    bool filling = a->rows_held < a->window_size;
    REQUIRE(a->rows_held <= a->window_size && a->next_slot < a->slots,
            "the window holds more rows than it has room for");
    REQUIRE(!filling || a->next_slot == a->rows_held, "the ring has a gap");
    REQUIRE(a->rows_to_go > 0 && a->rows_to_go <= a->window_size,
            "the window does not end within window_size rows");
    REQUIRE(a->doublings == 0 || (filling && a->doublings < 32 && early_rows(a, a->doublings) >= 2),
            "the first window has too many doublings to go");
    REQUIRE(!filling || a->rows_held + a->rows_to_go == early_rows(a, a->doublings),
            "the next doubling is not due when it should be");
    REQUIRE(a->anomalies <= a->window_size - a->rows_to_go,
            "more rows were anomalous than the window has had");
    REQUIRE(oif_none_infinite(slot_row(a, 0), (size_t)a->slots * a->dimension),
            "a row is infinite");
    return OIF_OK;
}

static oif_status check_training(const asd *a, oif_error *error)
{
    const uint32_t *training = part_at(a, a->training_at);
    REQUIRE(a->training_rows <= a->window_size && a->trained_rows <= a->window_size,
            "trees were grown from more rows than there are");
    REQUIRE(a->next_tree <= a->num_trees && a->trees_a_row <= a->num_trees,
            "more trees are to be grown than there are");
    REQUIRE(a->num_trees - a->next_tree <= (uint64_t)a->trees_a_row * a->rows_to_go,
            "the trees will not be grown before the window ends");
    for (uint32_t i = 0; i < a->training_rows; i++)
        REQUIRE(training[i] < a->slots, "a tree is to be grown from a row outside the ring");
    return OIF_OK;
}

static oif_status check(const void *state, oif_error *error)
{
    const asd *a = state;
    oif_status status = check_window(a, error);
    if (status == OIF_OK)
        status = check_training(a, error);
    return status == OIF_OK ? oif_iforest_check(own_forest(a), error) : status;
}

/* ---- Snapshots ---- */

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    asd *a = state;
    oif_visit_u64(visitor, "random", &a->random.state, 1);
    oif_visit_u32(visitor, "rows_held", &a->rows_held, 1);
    oif_visit_u32(visitor, "next_slot", &a->next_slot, 1);
    oif_visit_u32(visitor, "doublings", &a->doublings, 1);
    oif_visit_u32(visitor, "rows_to_go", &a->rows_to_go, 1);
    oif_visit_u32(visitor, "anomalies", &a->anomalies, 1);
    oif_visit_u32(visitor, "training_rows", &a->training_rows, 1);
    oif_visit_u32(visitor, "trained_rows", &a->trained_rows, 1);
    oif_visit_u32(visitor, "next_tree", &a->next_tree, 1);
    oif_visit_u32(visitor, "trees_a_row", &a->trees_a_row, 1);
    oif_visit_f64(visitor, "window", slot_row(a, 0), (size_t)a->slots * a->dimension);
    oif_visit_u32(visitor, "training", part_at(a, a->training_at), a->window_size);
    oif_iforest_visit_fields(own_forest(a), visitor);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const asd *a = state;
    oif_tree_figures figures = {0};
    oif_iforest_add_figures(own_forest(a), &figures);
    tell(context, "rows_held", a->rows_held);
    oif_figures_tell(&figures, tell, context);
    tell(context, "trained_rows", a->trained_rows);
    tell(context, "trees_to_grow", a->num_trees - a->next_tree);
    tell(context, "rows_until_window_ends", a->rows_to_go);
    if (a->retrain == ON_DRIFT)
        tell(context, "anomalies_in_window", a->anomalies);
}

/* ---- The table ---- */

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
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_iforest_asd = {
    .info =
        {.name = "iforest-asd",
         .summary =
             "an isolation forest that is trained anew on each window of rows, or when they change",
         .paper =
             "Ding, Fei: An Anomaly Detection Approach Based on Isolation Forest Algorithm for "
             "Streaming Data "
             "using Sliding Window, IFAC ICONS 2013",
         .cost = "num_trees x log2(subsample_size), and num_trees trees to grow in each window",
         .choose = "where data change slowly: the accuracy of an isolation forest, a window late",
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
    .check = check,
};
