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

/* In the order of oif_motion_mode. */
static const char *const motion_words[] = {"off", "on", "auto", NULL};

static const double initial_rate = 0.001;

static const oif_param option_list[] = {
    {"alert_rate", "episodes of anomalies to report, per row", OIF_PARAM_REAL, 1e-9, 0.5, 0.001,
     NULL},
    {"threshold", "if not 0: rows with a higher score are anomalous, whatever their share",
     OIF_PARAM_REAL, -1e300, 1e300, 0, NULL},
    {"memory", "past scores that alert_rate is measured on; 0: 16 / alert_rate, but at least 8192",
     OIF_PARAM_INTEGER, 0, 0x1p53, 0, NULL},
    {"learn",
     "which rows are learned: all; only those that are not anomalous (normal); the first four of "
     "an "
     "episode, and all once patience of them have come (decay); or none, to compare rows with what "
     "was learned",
     OIF_PARAM_CHOICE, 0, 3, OIF_LEARN_DECAY, learn_words},
    {"patience", "anomalies after which a lasting change is learned as normal; for learn=decay",
     OIF_PARAM_INTEGER, 1, 1 << 30, 256, NULL},
    {"calm", "rows without an anomaly that end an episode of anomalies", OIF_PARAM_INTEGER, 1,
     1 << 30, 16, NULL},
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
    {"persistence", "rows whose evidence adds up, so a lasting anomaly is found sooner; 1: none",
     OIF_PARAM_INTEGER, 1, OIF_PERSISTENCE_MAX, 3, NULL},
    {"stuck", "whether a column that repeats one value for longer than it ever did is an anomaly",
     OIF_PARAM_CHOICE, 0, 1, 1, switch_words},
    {"partner", "whether a column that no longer follows another one is an anomaly",
     OIF_PARAM_CHOICE, 0, 1, 1, switch_words},
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
    {"motion",
     "whether detectors see how values move: jumps, flutter, shapes; auto: of columns whose values "
     "resemble those before, and not with a shingle",
     OIF_PARAM_CHOICE, 0, 2, OIF_MOTION_AUTO, motion_words},
    {"alerts", "episodes per day to aim for, all keys together, instead of alert_rate; 0: none",
     OIF_PARAM_REAL, 0, 1e6, 0, NULL},
    {"cooldown",
     "seconds after an episode in which anomalies continue it instead of beginning another",
     OIF_PARAM_REAL, 0, 1e9, 0, NULL},
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

static void add_season(oif_senses_options *senses, double period, bool in_seconds)
{
    if (period > 0)
        senses->seasons[senses->season_count++] = (oif_season_options){period, in_seconds};
}

static oif_senses_options read_senses(const oif_params *options)
{
    oif_senses_options senses = {.stuck = oif_params_value(options, "stuck") != 0,
                                 .partner = oif_params_value(options, "partner") != 0};
    add_season(&senses, oif_params_value(options, "season_rows"), false);
    add_season(&senses, oif_params_value(options, "season_seconds"), true);
    add_season(&senses, oif_params_value(options, "other_season_seconds"), true);
    if (senses.season_count == 0 && oif_params_value(options, "find_season") != 0)
        senses.season_count = 1; /* with the period 0 */
    return senses;
}

static oif_model_options read_all_but_motion(const oif_params *options)
{
    oif_model_options o = {
        .shingle = (uint32_t)oif_params_value(options, "shingle"),
        .alert_rate = oif_params_value(options, "alert_rate"),
        .earned = oif_params_value(options, "alert_rate"),
        .threshold = oif_params_value(options, "threshold"),
        .memory = oif_params_value(options, "memory"),
        .learn = (oif_learn)oif_params_value(options, "learn"),
        .patience = (uint32_t)oif_params_value(options, "patience"),
        .persistence = (uint32_t)oif_params_value(options, "persistence"),
        .senses = read_senses(options),
        .alerts = {.calm = (uint32_t)oif_params_value(options, "calm"),
                   .cooldown = oif_params_value(options, "cooldown"),
                   .silence = oif_params_value(options, "silence")},
    };
    double enough = 16 / o.alert_rate > 8192 ? 16 / o.alert_rate : 8192;
    o.memory = o.memory == 0 ? enough : o.memory;
    return o;
}

/* A shingle already shows how values move, so motion is then off. Without memory the numbers are
 * constant, which must not change scores. */
static oif_motion_mode read_motion(const oif_params *options, const oif_params *detector)
{
    const oif_motion_mode mode = (oif_motion_mode)oif_params_value(options, "motion");
    const bool fits = oif_params_value(options, "shingle") == 1 &&
                      (mode == OIF_MOTION_ON || !oif_detector_minds_constants(detector));
    return fits ? mode : OIF_MOTION_OFF;
}

oif_model_options oif_pipeline_options_read(const oif_params *options, const oif_params *detector)
{
    oif_model_options o = read_all_but_motion(options);
    o.motion = read_motion(options, detector);
    return o;
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
    oif_model_options o = read_all_but_motion(options);
    if (oif_params_value(options, "alerts") > 0 &&
        (o.threshold != 0 || o.alert_rate != initial_rate))
        return oif_fail(error, OIF_EPARAM,
                        "alerts contradicts alert_rate and threshold; leave all but one out");
    if (oif_params_value(options, "motion") == OIF_MOTION_ON && o.shingle > 1)
        return oif_fail(error, OIF_EPARAM,
                        "motion=on contradicts shingle, which already shows how values move");
    if (o.alerts.silence < 0 && o.alerts.silence != -1)
        return oif_fail(error, OIF_EPARAM, "silence must be a time, 0 or -1");
    if (o.memory < 1 / o.alert_rate)
        return oif_fail(error, OIF_EPARAM,
                        "memory must be at least 1 / alert_rate, or no score could be that rare");
    for (uint32_t i = 0; i < o.senses.season_count; i++)
        if (o.senses.seasons[i].period < 2 && o.senses.seasons[i].period != 0)
            return oif_fail(error, OIF_EPARAM, "a season needs at least 2 rows, or 2 seconds");
    return OIF_OK;
}

/* ---- Changes ---- */

bool oif_pipeline_option_is_changeable(const char *name)
{
    static const char *const names[] = {"alert_rate", "threshold", "alerts", "calm",
                                        "cooldown",   "silence",   "learn"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The last option set wins: a budget replaces a rate or a threshold, and vice versa. */
static oif_status let_the_last_rule(oif_params *options, const char *name, double value,
                                    oif_error *error)
{
    oif_status status = OIF_OK;
    if (strcmp(name, "alerts") == 0 && value > 0) {
        status = oif_params_set(options, "alert_rate", initial_rate, error);
        if (status == OIF_OK)
            status = oif_params_set(options, "threshold", 0, error);
    } else if (strcmp(name, "alert_rate") == 0 || (strcmp(name, "threshold") == 0 && value != 0)) {
        status = oif_params_set(options, "alerts", 0, error);
    }
    return status;
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
