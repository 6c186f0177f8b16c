/* Online Isolation Forest (Leveni, Cassales, Pfahringer, Bifet, Boracchi, ICML 2024): trees
 * that cut a leaf in two at random when it counts enough rows. Dense regions are cut often, so
 * a row that ends in a shallow leaf lies where data are sparse: it is anomalous.
 *
 * Two forests grow such trees and differ in how they forget: window_forest.c is the paper's and
 * uncounts the rows that leave a sliding window, turnover_forest.c replaces the oldest tree
 * every few rows. Here is what they share: one table of parameters, and the choice between
 * them.
 */
#include "detect/online_iforest/online_iforest.h"

static const oif_detector_kind *const forests[] = {
    [OIF_FORGET_BY_WINDOW] = &oif_window_forest,
    [OIF_FORGET_BY_TURNOVER] = &oif_turnover_forest,
};

static const oif_detector_kind *forest_for(const oif_params *params)
{
    return forests[(oif_forgetting)oif_params_value(params, "forgetting")];
}

/* The state of either begins with its way of forgetting. */
static const oif_detector_kind *forest_of(const void *state)
{
    return forests[*(const oif_forgetting *)state];
}

static oif_status check_params(const oif_params *params, oif_error *error)
{
    return forest_for(params)->check_params(params, error);
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return forest_for(params)->state_bytes(params, dimension);
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    forest_for(params)->init(state, params, dimension);
}

bool oif_online_iforest_inserts(const oif_params *params)
{
    oif_insertion asked = (oif_insertion)oif_params_value(params, "insertion");
    bool as_published = (oif_variant)oif_params_value(params, "variant") != OIF_RUNNING;
    return asked == OIF_INSERT_ROW || (asked == OIF_INSERT_AUTO && !as_published);
}

static double insertion_depth(const oif_params *params)
{
    if (!oif_online_iforest_inserts(params))
        return 0;
    double depth = forest_for(params)->insertion_depth(params);
    return depth > 1 ? depth : 1;
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    forest_of(state)->learn_rows(state, rows, scores, pool);
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    forest_of(state)->score_rows(state, rows, scores);
}

static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    forest_of(state)->score_learn_rows(state, rows, scores, pool);
}

static bool ready(const void *state)
{
    return forest_of(state)->ready(state);
}

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    forest_of(state)->visit_fields(state, visitor);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    forest_of(state)->describe(state, tell, context);
}

static oif_status check(const void *state, oif_error *error)
{
    return forest_of(state)->check(state, error);
}

/* ---- The table ---- */

static const char *const growth_words[] = {"adaptive", "fixed", NULL};
static const char *const variant_words[] = {"running", "paper", "reference", NULL};
static const char *const insertion_words[] = {"none", "row", "auto", NULL};
static const char *const forgetting_words[] = {"window", "turnover", NULL};

static const oif_param params_table[] = {
    {"num_trees", "trees in the forest; more give steadier scores", OIF_PARAM_INTEGER, 1, 4096, 32,
     NULL},
    {"window_size", "rows remembered; older ones are forgotten", OIF_PARAM_INTEGER, 1, 1 << 24,
     2048, NULL},
    {"max_leaf_samples",
     "rows that the first leaf of a tree holds before it is cut; 0: 32, with turnover 8",
     OIF_PARAM_INTEGER, 0, 1 << 24, 0, NULL},
    {"growth",
     "rows a leaf holds before it is cut: twice as many at each depth (adaptive), or the same "
     "(fixed)",
     OIF_PARAM_CHOICE, 0, 1, OIF_ADAPTIVE, growth_words},
    {"variant",
     "depths relative to the rows now in the window (running), as the paper's text (paper) or as "
     "the authors' code (reference)",
     OIF_PARAM_CHOICE, 0, 2, OIF_RUNNING, variant_words},
    {"subsample", "share of the rows that each tree learns", OIF_PARAM_REAL, 0.001, 1, 1, NULL},
    {"forgetting",
     "what is forgotten: each row when it leaves the window (window), or the oldest tree every few "
     "rows (turnover)",
     OIF_PARAM_CHOICE, 0, 1, OIF_FORGET_BY_WINDOW, forgetting_words},
    {"shadow_trees", "with turnover: young trees that learn beside the others and do not score yet",
     OIF_PARAM_INTEGER, 1, 4096, 4, NULL},
    {"maturity", "with turnover: rows after which a young tree scores; 0: a quarter of window_size",
     OIF_PARAM_INTEGER, 0, 1 << 24, 0, NULL},
    {"insertion",
     "a row outside the ranges of recent rows is scored as if inserted (row), or not (none); auto: "
     "row, with variant paper or reference none",
     OIF_PARAM_CHOICE, 0, 2, OIF_INSERT_AUTO, insertion_words},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_online_iforest = {
    .info =
        {.table.name = "online-iforest",
         .table.summary =
             "trees that grow where rows are dense and shrink where they are forgotten",
         .paper =
             "Leveni, Cassales, Pfahringer, Bifet, Boracchi: Online Isolation Forest, ICML 2024",
         .cost = "num_trees x (log2(window_size / max_leaf_samples) + d)",
         .choose = "to follow its paper: every row is learned as it arrives and forgotten in order",
         .table.params = params_table,
         .table.param_count = sizeof params_table / sizeof params_table[0]},
    .rarity = {.usual = 0.1, .per_decade = 0.9},
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
