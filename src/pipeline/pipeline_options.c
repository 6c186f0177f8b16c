/* The options of a pipeline: their table, what may not be combined, and what can change later. */
#include "pipeline/pipeline_options.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "detect/detector.h"
#include "detect/params.h"

#include <string.h>

/* ---- The table ---- */

static const char *const learn_words[] = {"all", "normal", "decay", "none", NULL};

static const char *const evicted_words[] = {"forget", "keep", NULL};

static const char *const switch_words[] = {"off", "on", NULL};

static const double initial_rate = 0.001;

static const oif_param option_list[] = {
    {"alert_rate", "episodes that a stream may cost, per row: a limit, not a quota", OIF_PARAM_REAL,
     1e-9, 0.5, 0.001, NULL},
    {"learn",
     "which rows are learned: all; only those that are not anomalous (normal); these, the first "
     "four of an episode, and all once 64 of them have come (decay); or none, to compare rows with "
     "what was learned",
     OIF_PARAM_CHOICE, 0, 3, OIF_LEARN_DECAY, learn_words},
    {"shingle", "rows of a series that are scored as one", OIF_PARAM_INTEGER, 1, 1 << 16, 1, NULL},
    {"max_keys",
     "keys that have a model at the same time; beyond that a new key waits until another is no "
     "longer seen",
     OIF_PARAM_INTEGER, 1, 1 << 29, 100000, NULL},
    {"memory_limit", "bytes that all models may use, enforced in the same way; 0: no limit",
     OIF_PARAM_INTEGER, 0, 0x1p53, 0, NULL},
    {"evicted",
     "the model of an evicted key: forget it, or keep it beside the state file until the key comes "
     "back",
     OIF_PARAM_CHOICE, 0, 1, OIF_EVICTED_FORGET, evicted_words},
    {"season_rows", "rows after which the stream repeats itself; 0: none", OIF_PARAM_INTEGER, 0,
     1 << 30, 0, NULL},
    {"season_seconds", "seconds after which it repeats itself, by the times of the rows; 0: none",
     OIF_PARAM_REAL, 0, 1e10, 0, NULL},
    {"other_season_seconds", "a second season in seconds, such as a week beside a day; 0: none",
     OIF_PARAM_REAL, 0, 1e10, 0, NULL},
    {"find_season",
     "whether a season is searched for while rows arrive, unless one is given, so a value may be "
     "unusual for its time",
     OIF_PARAM_CHOICE, 0, 1, 1, switch_words},
    {"moves", "whether detectors get how the values moved beside the values; not with a shingle",
     OIF_PARAM_CHOICE, 0, 1, 1, switch_words},
    {"alerts",
     "episodes per day that all keys together may cost, instead of alert_rate; 0: no such limit",
     OIF_PARAM_REAL, 0, 1e6, 0, NULL},
    {"silence",
     "alert after this many seconds without a row; 0: after more than twice the longest pause of "
     "the last weeks; -1: never",
     OIF_PARAM_REAL, -1, 1e9, 0, NULL},
};

static const oif_param_table options_table = {
    .name = "pipeline",
    .summary = "from rows to alerts",
    .params = option_list,
    .param_count = sizeof option_list / sizeof option_list[0],
};

void oif_pipeline_options_init(oif_params *options)
{
    oif_params_init_table(options, &options_table);
}

/* ---- Values ---- */

static void add_season(oif_judges_options *judges, double period, bool in_seconds)
{
    if (period > 0)
        judges->seasons[judges->season_count++] = (oif_season_options){period, in_seconds};
}

static oif_judges_options read_judges(const oif_params *options)
{
    oif_judges_options judges = {0};
    add_season(&judges, oif_params_value(options, "season_rows"), false);
    add_season(&judges, oif_params_value(options, "season_seconds"), true);
    add_season(&judges, oif_params_value(options, "other_season_seconds"), true);
    if (judges.season_count == 0 && oif_params_value(options, "find_season") != 0)
        judges.season_count = 1; /* with the period 0 */
    return judges;
}

/* A shingle already shows how values move. A detector that minds constants would score a table
 * whose rows do not move otherwise with the moves than without. */
static bool shows_moves(const oif_params *options, const oif_params *detector)
{
    return oif_params_value(options, "moves") != 0 && oif_params_value(options, "shingle") == 1 &&
           !oif_detector_minds_constants(detector);
}

oif_model_options oif_pipeline_options_read(const oif_params *options, const oif_params *detector)
{
    return (oif_model_options){
        .shingle = (uint32_t)oif_params_value(options, "shingle"),
        .learn = (oif_learn)oif_params_value(options, "learn"),
        .earned = oif_params_value(options, "alert_rate"),
        .silence = oif_params_value(options, "silence"),
        .moves = shows_moves(options, detector),
        .judges = read_judges(options),
    };
}

oif_status oif_pipeline_options_check(const oif_params *options, oif_error *error)
{
    if (!options || options->table != &options_table)
        return oif_fail(error, OIF_EPARAM,
                        "these are not the options of a pipeline; fill them with "
                        "oif_pipeline_options_init");
    oif_status status = oif_params_check(options, error);
    if (status != OIF_OK)
        return status;
    const oif_judges_options judges = read_judges(options);
    const double silence = oif_params_value(options, "silence");
    if (oif_params_value(options, "alerts") > 0 &&
        oif_params_value(options, "alert_rate") != initial_rate)
        return oif_fail(error, OIF_EPARAM, "alerts contradicts alert_rate; leave one out");
    if (silence < 0 && silence != -1)
        return oif_fail(error, OIF_EPARAM, "silence must be a time, 0 or -1");
    for (size_t i = 0; i < judges.season_count; i++)
        if (judges.seasons[i].period < 2 && judges.seasons[i].period != 0)
            return oif_fail(error, OIF_EPARAM, "a season needs at least 2 rows, or 2 seconds");
    return OIF_OK;
}

/* ---- Changes ---- */

bool oif_pipeline_option_is_changeable(const char *name)
{
    static const char *const names[] = {"alert_rate", "alerts", "silence", "learn"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The last option set wins: a budget replaces a rate, and vice versa. */
static oif_status let_the_last_rule(oif_params *options, const char *name, double value,
                                    oif_error *error)
{
    if (strcmp(name, "alerts") == 0 && value > 0)
        return oif_params_set(options, "alert_rate", initial_rate, error);
    if (strcmp(name, "alert_rate") == 0)
        return oif_params_set(options, "alerts", 0, error);
    return OIF_OK;
}

oif_status oif_pipeline_options_change(oif_params *options, const char *name, double value,
                                       oif_error *error)
{
    if (!name)
        name = "";
    if (!oif_pipeline_option_is_changeable(name))
        return oif_fail(error, OIF_EPARAM, "%s cannot be changed once the pipeline exists",
                        oif_excerpt_of(name, name + strlen(name)).text);
    oif_status status = oif_params_set(options, name, value, error);
    if (status == OIF_OK)
        status = let_the_last_rule(options, name, value, error);
    return status == OIF_OK ? oif_pipeline_options_check(options, error) : status;
}
