/* From rows to alerts:
 *
 *     row -> | last rows | -> detector -> score -> history of scores -> p, threshold -> anomaly? -> episode
 *               shingle          ^                                          |
 *                                +----------- learn, unless anomalous? -----+
 *
 * A pipeline is a block of memory beside its detector's; nothing is allocated once it is made.
 */
#include "pipeline/pipeline.h"

#include "base/error.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double usual_memory = 1000; /* numbers of a column that say what is usual */

/* ---- Creation ---- */

static oif_status fill_in(oif_pipeline_options *options, oif_error *error)
{
    options->shingle = options->shingle ? options->shingle : 1;
    options->alert_rate = options->alert_rate != 0 ? options->alert_rate : 0.001;
    options->patience = options->patience ? options->patience : 256;
    options->calm = options->calm ? options->calm : 16;
    if (!(options->alert_rate > 0 && options->alert_rate < 1))
        return oif_fail(error, OIF_EPARAM, "alert_rate must be over 0 and under 1");
    double enough = 16 / options->alert_rate;
    options->memory = options->memory != 0 ? options->memory : enough > 8192 ? enough : 8192;
    if (!(options->memory >= 1 / options->alert_rate && options->memory <= 0x1p53))
        return oif_fail(error, OIF_EPARAM,
                        "memory must be at least 1 / alert_rate, or nothing could be so rare");
    if (!(fabs(options->threshold) <= DBL_MAX))
        return oif_fail(error, OIF_EPARAM, "threshold must be a number");
    if (options->learn < OIF_LEARN_ALL || options->learn > OIF_LEARN_DECAY)
        return oif_fail(error, OIF_EPARAM, "learn must be one of: all, normal, decay");
    return OIF_OK;
}

static oif_pipeline lay_out(const oif_pipeline_options *options, size_t columns)
{
    oif_pipeline p = {.options = *options, .columns = columns, .bytes = oif_size_align(sizeof p)};
    size_t numbers = oif_size_multiply(options->shingle, columns);
    p.recent_at = oif_size_append(&p.bytes, numbers, sizeof(double));
    p.usual_at = oif_size_append(&p.bytes, columns, sizeof(oif_usual));
    p.shares_at = oif_size_append(&p.bytes, columns, sizeof(double));
    p.scratch_at = oif_size_append(&p.bytes, numbers, sizeof(double));
    oif_score_history_init(&p.history, options->memory);
    return p;
}

oif_status oif_pipeline_new(const oif_params *params, size_t columns, const oif_pipeline_options *options,
                            oif_pipeline **pipeline, oif_error *error)
{
    oif_pipeline_options wanted = *options;
    oif_status status = fill_in(&wanted, error);
    if (status != OIF_OK)
        return status;
    oif_pipeline head = lay_out(&wanted, columns), *made = oif_memory_new(head.bytes);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory for a pipeline of %zu bytes", head.bytes);
    status = oif_detector_new(params, oif_size_multiply(wanted.shingle, columns), &head.detector, error);
    if (status != OIF_OK) {
        oif_memory_free(made);
        return status;
    }
    memset(made, 0, head.bytes);
    *made = head;
    for (size_t i = 0; i < columns; i++)
        oif_pipeline_usual(made)[i].half_mean = NAN;
    *pipeline = made;
    return OIF_OK;
}

oif_status oif_pipeline_clone(const oif_pipeline *pipeline, oif_pipeline **copy, oif_error *error)
{
    oif_detector *detector;
    oif_status status = oif_detector_clone(pipeline->detector, &detector, error);
    if (status != OIF_OK)
        return status;
    oif_pipeline *made = oif_memory_new(pipeline->bytes);
    if (!made) {
        oif_detector_free(detector);
        return oif_fail(error, OIF_EMEMORY, "no memory for a pipeline of %zu bytes", pipeline->bytes);
    }
    memcpy(made, pipeline, pipeline->bytes);
    made->detector = detector;
    *copy = made;
    return OIF_OK;
}

void oif_pipeline_free(oif_pipeline *pipeline)
{
    if (!pipeline)
        return;
    oif_detector_free(pipeline->detector);
    oif_memory_free(pipeline);
}

/* ---- Deciding ---- */

static double threshold_of(const oif_pipeline *p)
{
    if (p->options.threshold != 0)
        return p->options.threshold;
    return oif_score_history_threshold(&p->history, p->options.alert_rate);
}

static void judge(const oif_pipeline *p, bool was_ready, double score, oif_result *result)
{
    result->score = score;
    result->p = oif_score_history_share(&p->history, score);
    result->threshold = threshold_of(p);
    result->ready = was_ready && result->threshold < INFINITY;
    result->anomaly = result->ready && score > result->threshold;
}

static void count_strangers(oif_pipeline *p, bool anomaly)
{
    if (anomaly)
        p->strangers += p->strangers < p->options.patience;
    else
        p->strangers -= p->strangers > 0;
}

static bool is_acceptable(const oif_pipeline *p, bool anomaly)
{
    return !anomaly || p->options.learn == OIF_LEARN_ALL ||
           (p->options.learn == OIF_LEARN_DECAY && p->strangers == p->options.patience);
}

static oif_episode follow_episode(oif_pipeline *p, bool anomaly)
{
    bool lasted = p->in_episode;
    if (anomaly) {
        p->in_episode = 1;
        p->calm_rows = 0;
        return lasted ? OIF_EPISODE_LASTS : OIF_EPISODE_BEGINS;
    }
    if (!lasted)
        return OIF_EPISODE_NONE;
    p->in_episode = ++p->calm_rows < p->options.calm;
    return p->in_episode ? OIF_EPISODE_LASTS : OIF_EPISODE_ENDS;
}

/* ---- Rows ---- */

static oif_status refuse_infinite(const double *row, size_t columns, oif_error *error)
{
    for (size_t i = 0; i < columns; i++)
        if (row[i] > DBL_MAX || row[i] < -DBL_MAX)
            return oif_fail_at(error, OIF_EVALUE, 1, i + 1,
                               "number %zu of the row is infinite; use NaN for a missing one", i + 1);
    return OIF_OK;
}

/* Puts the row behind the others of the shingle; false while there are too few. */
static bool join_recent(oif_pipeline *p, const double *row)
{
    double *recent = oif_pipeline_recent(p);
    size_t older = (p->options.shingle - 1) * p->columns;
    memmove(recent, recent + p->columns, older * sizeof *recent);
    memcpy(recent + older, row, p->columns * sizeof *recent);
    return ++p->rows >= p->options.shingle;
}

/* What is usual follows the numbers. All in halves, because the difference of two doubles may be none. */
static void learn_usual(oif_pipeline *p, const double *row)
{
    double age = (double)oif_detector_rows_learned(p->detector);
    double weight = 1 / (age < usual_memory ? age + 1 : usual_memory);
    for (size_t i = 0; i < p->columns; i++) {
        oif_usual *usual = &oif_pipeline_usual(p)[i];
        double half = row[i] / 2;
        if (half != half)
            continue;
        if (usual->half_mean != usual->half_mean)
            usual->half_mean = half;
        double away = fabs(half - usual->half_mean);
        usual->half_mean += (half - usual->half_mean) * weight;
        usual->half_spread += (away - usual->half_spread) * weight;
    }
}

/* Scores, decides, and learns in the order of the options. The rows are known to have no infinities. */
static void score_recent(oif_pipeline *p, const double *row, oif_result *result)
{
    const double *recent = oif_pipeline_recent(p);
    bool was_ready = oif_detector_ready(p->detector), learns_first = p->options.learn == OIF_LEARN_ALL;
    double score = NAN;
    oif_status status = learns_first ? oif_detector_learn_score(p->detector, recent, &score, NULL)
                                     : oif_detector_score(p->detector, recent, &score, NULL);
    judge(p, was_ready, score, result);
    count_strangers(p, result->anomaly);
    result->learned = is_acceptable(p, result->anomaly);
    if (result->learned && !learns_first)
        status = oif_detector_learn(p->detector, recent, NULL);
    (void)status; /* only an infinity could fail */
    if (!result->learned)
        return;
    learn_usual(p, row);
    if (was_ready) /* scores of a detector that knows nothing would be a bad example */
        oif_score_history_add(&p->history, score);
}

oif_status oif_pipeline_process(oif_pipeline *pipeline, const double *row, oif_result *result,
                                oif_error *error)
{
    oif_status status = refuse_infinite(row, pipeline->columns, error);
    if (status != OIF_OK)
        return status;
    *result = (oif_result){.score = NAN, .p = 1, .threshold = INFINITY};
    if (join_recent(pipeline, row))
        score_recent(pipeline, row, result);
    result->episode = follow_episode(pipeline, result->anomaly);
    return OIF_OK;
}

/* ---- Explanations ---- */

/* How far from the usual a number is, in units of what is usual. */
static double departure(const oif_usual *usual, double number)
{
    const double most = 1e6; /* of a column that has always been constant */
    double away = fabs(number / 2 - usual->half_mean);
    if (!(away > 0)) /* NaN, too: missing, or never seen before */
        return 0;
    return away < most * usual->half_spread ? away / usual->half_spread : most;
}

/* The trees of a forest see that a number is beyond all others, but not how far. So a column's share of the score counts
 * together with how far its number is from the usual, and a column that the trees happen not to have cut gets a part of
 * the average share. */
void oif_pipeline_explain(oif_pipeline *pipeline, oif_attribution *attributions)
{
    const size_t columns = pipeline->columns;
    const double *recent = oif_pipeline_recent(pipeline),
                 *row = recent + (pipeline->options.shingle - 1) * columns;
    double *shares = (double *)((unsigned char *)pipeline + pipeline->shares_at), sum = 0;
    double *scratch = (double *)((unsigned char *)pipeline + pipeline->scratch_at);
    if (oif_detector_explain(pipeline->detector, recent, columns, shares, scratch, NULL) != OIF_OK)
        memset(shares, 0, columns * sizeof *shares); /* only an infinity could fail */
    for (size_t i = 0; i < columns; i++) {
        const oif_usual *usual = &oif_pipeline_usual(pipeline)[i];
        double away = departure(usual, row[i]);
        attributions[i].share = (shares[i] + 0.5 / (double)columns) * away * away;
        attributions[i].direction = (row[i] / 2 > usual->half_mean) - (row[i] / 2 < usual->half_mean);
        sum += attributions[i].share;
    }
    for (size_t i = 0; i < columns && sum > 0; i++)
        attributions[i].share /= sum;
}

/* ---- Questions ---- */

const oif_detector *oif_pipeline_detector(const oif_pipeline *pipeline)
{
    return pipeline->detector;
}

const oif_pipeline_options *oif_pipeline_get_options(const oif_pipeline *pipeline)
{
    return &pipeline->options;
}

size_t oif_pipeline_columns(const oif_pipeline *pipeline)
{
    return pipeline->columns;
}

uint64_t oif_pipeline_rows(const oif_pipeline *pipeline)
{
    return pipeline->rows;
}

size_t oif_pipeline_memory_bytes(const oif_pipeline *pipeline)
{
    return pipeline->bytes + oif_detector_memory_bytes(pipeline->detector);
}

/* ---- Snapshots ---- */

void oif_pipeline_tell_fields(oif_pipeline *p, oif_fields *fields)
{
    oif_field_u64(fields, "rows", &p->rows, 1);
    oif_field_u32(fields, "strangers", &p->strangers, 1);
    oif_field_u32(fields, "calm_rows", &p->calm_rows, 1);
    oif_field_u32(fields, "in_episode", &p->in_episode, 1);
    oif_field_f64(fields, "recent", oif_pipeline_recent(p), p->options.shingle * p->columns);
    for (size_t i = 0; i < p->columns; i++) {
        oif_field_f64(fields, "half_mean", &oif_pipeline_usual(p)[i].half_mean, 1);
        oif_field_f64(fields, "half_spread", &oif_pipeline_usual(p)[i].half_spread, 1);
    }
    oif_score_history_tell_fields(&p->history, fields);
}

static bool has_infinity(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(numbers[i]) > DBL_MAX)
            return true;
    return false;
}

static bool knows_usual(const oif_pipeline *p)
{
    for (size_t i = 0; i < p->columns; i++) {
        const oif_usual *usual = &oif_pipeline_usual(p)[i];
        if (fabs(usual->half_mean) > DBL_MAX || !(usual->half_spread >= 0 && usual->half_spread <= DBL_MAX))
            return false;
    }
    return true;
}

oif_status oif_pipeline_check(const oif_pipeline *pipeline, oif_error *error)
{
    const oif_pipeline_options *options = &pipeline->options;
    if (pipeline->strangers > options->patience || pipeline->calm_rows > options->calm ||
        pipeline->in_episode > 1)
        return oif_fail(error, OIF_EINVARIANT, "the pipeline counts more rows than its options allow");
    if (has_infinity(oif_pipeline_recent(pipeline), options->shingle * pipeline->columns))
        return oif_fail(error, OIF_EINVARIANT, "a number of the last rows is infinite");
    if (!knows_usual(pipeline))
        return oif_fail(error, OIF_EINVARIANT, "what is usual for a column is no number");
    if (!oif_score_history_check(&pipeline->history))
        return oif_fail(error, OIF_EINVARIANT, "the history of scores does not hold together");
    return oif_detector_check(pipeline->detector, error);
}
