#include "pipeline/model.h"

#include "base/block.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "detect/detector.h"
#include "detect/together.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The first anomalies of an episode. They are learned with OIF_LEARN_DECAY, so what comes back
 * again and again becomes usual. Those after them wait until there are `patience` of them. */
enum {
    EARLY_ANOMALIES = 4,
    ACCEPTED_ROWS = 16 /* of an accepted change, the scores of one row in this many count */
};

static const double usual_memory = 1000; /* rows that the usual values are averaged over */

static const double first_value_severity = 3.5; /* a note */

/* Of the budget, a sense may spend a third for long. */
static const double debt_step = 1, sense_share = 0.3, most_debt = 100;

/* ---- Creation ---- */

static oif_model lay_out(const oif_model_options *options, const oif_derived_plan *plan,
                         size_t detectors)
{
    const size_t columns = plan->derived_columns;
    const bool derives = plan->count > 0;
    oif_model m = {.options = *options,
                   .plan = plan,
                   .columns = columns,
                   .bytes = oif_size_align(sizeof m),
                   .detector_count = detectors};
    size_t numbers = oif_size_multiply(options->shingle, columns);
    m.judges_at = oif_size_append(&m.bytes, oif_model_judges(&m), sizeof(oif_judge));
    m.senses_at = oif_size_append(&m.bytes, oif_senses_bytes(columns, &options->senses), 1);
    m.recent_at = oif_size_append(&m.bytes, numbers, sizeof(double));
    m.usual_at = oif_size_append(&m.bytes, columns, sizeof(oif_usual));
    m.shares_at = oif_size_append(&m.bytes, columns, sizeof(double));
    m.scratch_at = oif_size_append(&m.bytes, numbers, sizeof(double));
    m.derived_at = oif_size_append(&m.bytes, derives ? oif_derived_state_bytes(plan) : 0, 1);
    m.row_at = oif_size_append(&m.bytes, derives ? columns : 0, sizeof(double));
    oif_score_history_init(&m.history, options->memory);
    oif_alerts_init(&m.alerts, &options->alerts);
    return m;
}

static oif_judge *judges_of(const oif_model *m)
{
    return oif_block_part(m, m->judges_at);
}

static oif_senses *senses_of(const oif_model *m)
{
    return oif_block_part(m, m->senses_at);
}

static oif_derived_state *derived_of(const oif_model *m)
{
    return oif_block_part(m, m->derived_at);
}

oif_status oif_model_estimate_bytes(const oif_params *params, const oif_derived_plan *plan,
                                    const oif_model_options *options, size_t *bytes,
                                    oif_error *error)
{
    oif_params parts[OIF_TOGETHER_MAX];
    const size_t count = oif_together_split(params, parts),
                 numbers = oif_size_multiply(options->shingle, plan->derived_columns);
    if (count == 0) /* fails and sets the error */
        return oif_detector_estimate_bytes(params, numbers, bytes, error);
    size_t total = lay_out(options, plan, count).bytes;
    for (size_t i = 0; i < count; i++) {
        size_t detector_bytes = 0;
        oif_status status = oif_detector_estimate_bytes(&parts[i], numbers, &detector_bytes, error);
        if (status != OIF_OK)
            return status;
        total = oif_size_add(total, detector_bytes);
    }
    *bytes = total;
    return OIF_OK;
}

/* Allocates the block of a model and sets its head; the rest is uninitialised. */
static oif_status make_block(const oif_model *head, oif_model **made, oif_error *error)
{
    *made = oif_memory_new(head->bytes);
    if (!*made)
        return oif_fail(error, OIF_EMEMORY, "no memory for a model of %zu bytes", head->bytes);
    **made = *head;
    return OIF_OK;
}

static oif_score_scale scale_of(const oif_model *m, size_t judge)
{
    if (judge < m->detector_count)
        return oif_detector_scale(m->detectors[judge]);
    const oif_senses_options *senses = &m->options.senses;
    const size_t sense = judge - m->detector_count, first_season = senses->stuck + senses->partner;
    return sense < first_season               ? OIF_SCORES_OF_EVIDENCE
           : sense < oif_senses_count(senses) ? OIF_SCORES_OF_SEASON
                                              : OIF_SCORES_OF_SEVERITY;
}

/* A quarter of the memory, because only every fourth score is learned. */
static double judge_memory(const oif_model_options *options)
{
    const double least = 4096;
    return options->memory / 4 > least ? options->memory / 4 : least;
}

static void init_judges(oif_model *m)
{
    for (size_t i = 0; i < oif_model_judges(m); i++)
        oif_judge_init(&judges_of(m)[i], scale_of(m, i), judge_memory(&m->options));
}

static void count_unseen(oif_model *m)
{
    m->unseen_columns = 0;
    for (size_t i = 0; i < m->columns; i++)
        m->unseen_columns += oif_model_usual(m)[i].half_mean != oif_model_usual(m)[i].half_mean;
}

/* Initialises a model with blank detectors. */
static void init(oif_model *m, const oif_model *head)
{
    memset(m, 0, head->bytes); /* padding too: equal models have equal bytes */
    *m = *head;
    init_judges(m);
    oif_senses_init(senses_of(m), m->columns, &m->options.senses);
    for (size_t i = 0; i < m->columns; i++)
        oif_model_usual(m)[i].half_mean = NAN;
    count_unseen(m);
    if (m->plan->count > 0)
        oif_derived_state_init(m->plan, derived_of(m));
}

static void free_detectors(oif_model *model)
{
    for (size_t i = 0; i < model->detector_count; i++)
        oif_detector_free(model->detectors[i]);
}

oif_status oif_model_new(const oif_params *params, const oif_derived_plan *plan,
                         const oif_model_options *options, oif_model **model, oif_error *error)
{
    oif_params parts[OIF_TOGETHER_MAX];
    size_t count = oif_together_split(params, parts); /* not 0: the estimate would have failed */
    oif_model head = lay_out(options, plan, count), *made;
    oif_status status = OIF_OK;
    for (size_t i = 0; i < count && status == OIF_OK; i++)
        status = oif_detector_new(&parts[i], oif_size_multiply(options->shingle, head.columns),
                                  &head.detectors[i], error);
    if (status == OIF_OK)
        status = make_block(&head, &made, error);
    if (status != OIF_OK) {
        free_detectors(&head);
        return status;
    }
    init(made, &head);
    *model = made;
    return OIF_OK;
}

void oif_model_reset(oif_model *model, const oif_model_options *options)
{
    oif_model head = lay_out(options, model->plan, model->detector_count);
    memcpy(head.detectors, model->detectors, sizeof head.detectors);
    for (size_t i = 0; i < head.detector_count; i++)
        oif_detector_strip(head.detectors[i]);
    init(model, &head);
}

oif_status oif_model_clone(const oif_model *model, oif_model **copy, oif_error *error)
{
    oif_model head = *model, *made;
    memset(head.detectors, 0, sizeof head.detectors);
    oif_status status = make_block(&head, &made, error);
    if (status != OIF_OK)
        return status;
    for (size_t i = 0; i < model->detector_count && status == OIF_OK; i++)
        status = oif_detector_clone(model->detectors[i], &made->detectors[i], error);
    if (status != OIF_OK) {
        oif_model_free(made);
        return status;
    }
    memcpy(made + 1, model + 1, model->bytes - sizeof *model);
    *copy = made;
    return OIF_OK;
}

void oif_model_assign(oif_model *model, const oif_model *other)
{
    oif_detector *detectors[OIF_TOGETHER_MAX];
    const oif_derived_plan *plan = model->plan;
    memcpy(detectors, model->detectors, sizeof detectors);
    memcpy(model, other, model->bytes);
    model->plan = plan;
    memcpy(model->detectors, detectors, sizeof detectors);
    for (size_t i = 0; i < model->detector_count; i++)
        oif_detector_assign(detectors[i], other->detectors[i]);
}

void oif_model_free(oif_model *model)
{
    if (!model)
        return;
    free_detectors(model);
    oif_memory_free(model);
}

void oif_model_set_options(oif_model *model, const oif_model_options *options)
{
    if (options->memory != model->options.memory) {
        oif_score_history_set_memory(&model->history, options->memory);
        for (size_t i = 0; i < oif_model_judges(model); i++)
            oif_score_history_set_memory(&judges_of(model)[i].history, judge_memory(options));
    }
    model->options = *options;
    model->alerts.options = options->alerts;
}

size_t oif_model_memory_bytes(const oif_model *model)
{
    size_t bytes = model->bytes;
    for (size_t i = 0; i < model->detector_count; i++)
        bytes += oif_detector_memory_bytes(model->detectors[i]);
    return bytes;
}

/* ---- Deciding ---- */

/* The severity that a row must exceed to be an anomaly. A frozen model judges a row the same way,
 * whatever came before. */
static double bar_of(const oif_model *m)
{
    const bool in_episode = m->alerts.in_episode && m->options.learn != OIF_LEARN_NONE;
    return oif_alert_level_bar(&m->level, m->options.alert_rate, m->history.total, in_episode);
}

static double threshold_of(const oif_model *m)
{
    if (m->options.threshold != 0)
        return m->options.threshold;
    return oif_severity_threshold(&m->history, oif_detector_scale(m->detectors[0]), bar_of(m));
}

bool oif_model_ready(const oif_model *model)
{
    return oif_detector_ready(model->detectors[0]) && threshold_of(model) < INFINITY;
}

static oif_grade grade_of(double severity)
{
    const double warning = 4, critical = 5;
    return severity < warning    ? OIF_GRADE_NOTE
           : severity < critical ? OIF_GRADE_WARNING
                                 : OIF_GRADE_CRITICAL;
}

/* Whether all recent rows equal this one: then it is ordinary, whatever its score. */
static bool is_like_all_recent(const oif_model *m)
{
    uint64_t before = m->rows - 1;
    return before > 0 &&
           m->same_rows >= (before < OIF_MODEL_SAME_ROWS ? before : OIF_MODEL_SAME_ROWS);
}

/* Judges after the detectors and senses: the categories, and the first value of each column. */
static size_t category_judge(const oif_model *m)
{
    return m->detector_count + senses_of(m)->count;
}

static size_t first_value_judge(const oif_model *m, size_t column)
{
    return category_judge(m) + 1 + column;
}

/* Whether a category decided. Its values may differ although the learned rows are equal. */
static bool is_by_category(const oif_model *m)
{
    return m->judge == category_judge(m);
}

/* The finding of the sense that decided, of the categories, or of a first value. */
static oif_finding finding_of(const oif_model *m)
{
    const size_t sense = m->judge - m->detector_count;
    if (sense < senses_of(m)->count)
        return senses_of(m)->findings[sense];
    if (!is_by_category(m))
        return (oif_finding){.reason = OIF_REASON_FIRST_VALUE,
                             .column = (uint32_t)(m->judge - first_value_judge(m, 0))};
    const oif_derived_state *derived = derived_of(m);
    return (oif_finding){.reason = derived->is_new ? OIF_REASON_NEW_VALUE : OIF_REASON_RARE_VALUE,
                         .direction = 1,
                         .column = derived->surprising_column};
}

static void count_anomalies(oif_model *m, bool anomaly)
{
    if (anomaly)
        m->recent_anomalies += m->recent_anomalies < m->options.patience;
    else
        m->recent_anomalies -= m->recent_anomalies > 0;
}

/* Whether an anomaly is one of the first of its episode. */
static bool is_early(const oif_model *m)
{
    return !m->alerts.in_episode || m->alerts.episode.anomalies < EARLY_ANOMALIES;
}

/* Whether anomalies have come for so long that they are the new normal. */
static bool is_change_accepted(const oif_model *m)
{
    return m->recent_anomalies == m->options.patience;
}

/* The first column that has its first value; the number of columns if none has. */
static size_t first_value_column(const oif_model *m, const double *row)
{
    for (size_t i = 0; i < m->columns && m->unseen_columns > 0; i++)
        if (row[i] == row[i] && oif_model_usual(m)[i].half_mean != oif_model_usual(m)[i].half_mean)
            return i;
    return m->columns;
}

static bool has_first_value(const oif_model *m, const double *row)
{
    return first_value_column(m, row) < m->columns;
}

/* A first value is learned at once, so it is reported once. */
static bool is_acceptable(const oif_model *m, const double *row, bool anomaly)
{
    switch (m->options.learn) {
    case OIF_LEARN_ALL: return true;
    case OIF_LEARN_NORMAL: return !anomaly;
    case OIF_LEARN_DECAY:
        return !anomaly || is_early(m) || is_change_accepted(m) || has_first_value(m, row);
    case OIF_LEARN_NONE: break;
    }
    return false;
}

/* ---- Rows ---- */

/* By value: NaNs have different bits, and a snapshot keeps only one of them. */
static bool are_equal(const double *a, const double *b, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        if (!(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i])))
            return false;
    return true;
}

/* Appends the row to the shingle; returns whether the shingle is full. */
static bool join_recent(oif_model *m, const double *row)
{
    double *recent = oif_model_recent(m);
    size_t older = (m->options.shingle - 1) * m->columns;
    bool same = m->rows > 0 && are_equal(recent + older, row, m->columns);
    m->same_rows = same ? m->same_rows + (m->same_rows < OIF_MODEL_SAME_ROWS) : 0;
    memmove(recent, recent + m->columns, older * sizeof *recent);
    memcpy(recent + older, row, m->columns * sizeof *recent);
    return ++m->rows >= m->options.shingle;
}

/* Moves the usual values towards the row. */
static void learn_usual(oif_model *m, const double *row)
{
    double age = (double)oif_detector_rows_learned(m->detectors[0]);
    double weight = 1 / (age < usual_memory ? age + 1 : usual_memory);
    for (size_t i = 0; i < m->columns; i++) {
        oif_usual *usual = &oif_model_usual(m)[i];
        double half = row[i] / 2;
        if (half != half)
            continue;
        if (usual->half_mean != usual->half_mean) {
            usual->half_mean = half;
            m->unseen_columns--;
        }
        double away = fabs(half - usual->half_mean);
        usual->half_mean += (half - usual->half_mean) * weight;
        usual->half_spread += (away - usual->half_spread) * weight;
    }
}

/* The score of a detector. With OIF_LEARN_ALL it learns the shingle first. */
static double score_by(const oif_model *m, oif_detector *detector)
{
    const double *recent = oif_model_recent(m);
    double score = NAN;
    oif_status status = m->options.learn == OIF_LEARN_ALL
                            ? oif_detector_learn_score(detector, recent, &score, NULL)
                            : oif_detector_score(detector, recent, &score, NULL);
    (void)status; /* only an infinity could fail */
    return score;
}

/* The mean severity of the last rows. */
static double recent_severity(oif_model *m, double severity)
{
    const uint32_t rows = m->options.persistence;
    double sum = 0;
    m->severities[m->rows % rows] = severity;
    for (uint32_t i = 1; i <= rows; i++) /* oldest first */
        sum += m->severities[(m->rows + i) % rows];
    return sum / rows;
}

/* The number of the persistence among the debts. */
static uint32_t persistence_of(const oif_model *m)
{
    return senses_of(m)->count;
}

/* The severity found by a sense or the persistence, if it is enough for an alert, else 0. Anything
 * less would only disturb the order of the scores. An episode continues at the debt that it began
 * with. */
static double alarm_of(const oif_model *m, const oif_judge *judge, uint32_t who)
{
    double severity = oif_judge_severity(judge);
    if (!(severity > 0) || !oif_curve_is_known(&judges_of(m)[0].curve)) /* usually so */
        return 0;
    const bool is_own = m->alerts.in_episode && m->opened_by == who + 1;
    severity -= m->debts[who] - (is_own ? debt_step : 0);
    return severity > bar_of(m) ? severity : 0;
}

/* The same for a sense, less its fatigue. */
static double finding_severity(oif_model *m, const oif_judge *judge, uint32_t who)
{
    const double per_row = 0.015, recovery = 1.0 / 256;
    const double severity = alarm_of(m, judge, who);
    double *fatigue = &m->fatigues[who];
    *fatigue += severity > 0 ? per_row : -*fatigue * recovery;
    return severity - *fatigue > bar_of(m) ? severity - *fatigue : 0;
}

/* The verdict of the judges on the last row. */
typedef struct row_scores {
    double score;
    double severity;    /* by the detectors */
    bool persists;      /* together with the rows before it, it is an anomaly */
    double for_history; /* the score to learn: by detectors and persistence, not by senses */
} row_scores;

static void judge_values(oif_model *m, row_scores *scores)
{
    oif_judge *judges = judges_of(m);
    for (size_t i = 0; i < m->detector_count; i++) {
        bool was_ready = oif_detector_ready(m->detectors[i]);
        double given = score_by(m, m->detectors[i]);
        judges[i].score = was_ready || i == 0 ? given : NAN;
    }
    scores->severity = oif_judges_severity(judges, m->detector_count, &m->judge);
    scores->score = m->judge > 0 ? oif_judge_score(&judges[0], scores->severity) : judges[0].score;
    scores->for_history = scores->score;
}

/* Whether the row and the rows before it are an anomaly together. */
static void judge_stretch(oif_model *m, row_scores *scores)
{
    oif_judge *stretch = &judges_of(m)[oif_model_judges(m) - 1];
    stretch->score = recent_severity(m, scores->severity);
    const double least_unusual = 1.3; /* one row in twenty: the row itself must be unusual too */
    double severity =
        scores->severity > least_unusual ? alarm_of(m, stretch, persistence_of(m)) : 0;
    scores->persists = severity > scores->severity;
    if (scores->persists)
        scores->for_history = oif_judge_score(&judges_of(m)[0], severity);
}

/* Raises the score of the row if a sense finds it more severe. */
static void judge_by_senses(oif_model *m, const double *row, double seconds, row_scores *scores)
{
    oif_judge *judges = judges_of(m), *senses = judges + m->detector_count;
    double evidence[OIF_SENSES_MAX], most = scores->severity;
    oif_senses_observe(senses_of(m), row, seconds, evidence);
    for (uint32_t i = 0; i < senses_of(m)->count; i++) {
        senses[i].score = evidence[i];
        double found = finding_severity(m, &senses[i], i);
        if (found > most) {
            most = found;
            m->judge = (uint32_t)m->detector_count + i;
        }
    }
    if (most > scores->severity) {
        double score = oif_judge_alarm_score(&judges[0], most);
        scores->score = score > scores->score ? score : scores->score;
    }
}

/* The same if a category is more surprising. The surprise is already a fraction of rows, so it
 * needs no history: docs/algorithms/categories.md. */
static void judge_by_categories(oif_model *m, row_scores *scores)
{
    const double log10_of_2 = 0.30102999566398120, margin = 1; /* one bit, like other judges */
    if (m->plan->categories == 0 || !oif_curve_is_known(&judges_of(m)[0].curve))
        return;
    double chances = oif_log2((double)m->plan->categories), /* it is the maximum of several */
        severity = (derived_of(m)->surprise - chances - margin) * log10_of_2;
    if (!(severity > scores->severity) || !(severity > bar_of(m)))
        return;
    double score = oif_judge_alarm_score(&judges_of(m)[0], severity);
    if (score > scores->score) {
        scores->score = score;
        m->judge = (uint32_t)m->detector_count + senses_of(m)->count;
    }
}

/* A column that begins is news, not an incident: the severity is that of a note, however extreme
 * the detectors find it. */
static void judge_first_value(const oif_model *m, row_scores *scores)
{
    const oif_score_scale scale = oif_detector_scale(m->detectors[0]);
    const double score = oif_severity_threshold(&m->history, scale, first_value_severity);
    if (first_value_severity > bar_of(m) && score < INFINITY && score > scores->score)
        scores->score = score;
}

/* A frozen model has neither senses nor persistence, because they follow the stream. */
static row_scores score_by_all(oif_model *m, const double *row, double seconds)
{
    row_scores scores = {0};
    if (oif_model_judges(m) == 0) {
        scores.score = scores.for_history = score_by(m, m->detectors[0]);
        return scores;
    }
    judge_values(m, &scores);
    if (m->options.learn == OIF_LEARN_NONE) {
        judge_by_categories(m, &scores);
        return scores;
    }
    /* A shingle already covers several rows. */
    if (m->options.persistence > 1 && m->options.threshold == 0 && m->options.shingle == 1)
        judge_stretch(m, &scores);
    else if (m->options.persistence > 1)
        judges_of(m)[oif_model_judges(m) - 1].score = NAN;
    judge_by_senses(m, row, seconds, &scores);
    judge_by_categories(m, &scores);
    return scores;
}

/* How far a value is from the mean of its column, in units of the spread. If the value is missing
 * but others were not, or present but all others were missing: the maximum if it caused the score,
 * else rather far, because some columns miss values now and then. */
static double departure(const oif_usual *usual, double number, double share)
{
    const double most = 1e6 /* for a column that was constant */, rather_far = 10;
    bool is_missing = number != number, was_missing = usual->half_mean != usual->half_mean;
    if (is_missing && was_missing)
        return 0;
    if (is_missing || was_missing)
        return share > 0.5 ? most : rather_far;
    double away = fabs(number / 2 - usual->half_mean);
    if (away == 0)
        return 0;
    return away < most * usual->half_spread ? away / usual->half_spread : most;
}

/* A sense that compares values with others decided, but a plainer reason is as good: the value is
 * far outside the usual values of its column. */
static void prefer_plain_reason(oif_model *m, const double *row)
{
    const double far = 8; /* mean absolute deviations */
    if (m->judge >= category_judge(m))
        return;
    const oif_finding found = finding_of(m);
    const bool has_partner = found.reason == OIF_REASON_PARTNER;
    if ((has_partner || found.reason == OIF_REASON_SEASON) &&
        (departure(&oif_model_usual(m)[found.column], row[found.column], 0) > far ||
         (has_partner &&
          departure(&oif_model_usual(m)[found.partner], row[found.partner], 0) > far)))
        m->judge = 0;
}

static void judge(oif_model *m, bool was_ready, const row_scores *scores, const double *row,
                  oif_result *result)
{
    const double score = scores->score;
    if (m->judge >= m->detector_count)
        prefer_plain_reason(m, row);
    result->score = score;
    result->p = oif_score_history_share(&m->history, score);
    result->threshold = threshold_of(m);
    /* Consecutive unusual rows lower the threshold. */
    if (scores->persists && score <= result->threshold && scores->for_history > result->threshold)
        result->threshold = score - fabs(score) * DBL_EPSILON - DBL_MIN;
    result->ready = was_ready && result->threshold < INFINITY;
    /* A frozen model judges a row the same way, whatever came before. */
    bool is_frozen = m->options.learn == OIF_LEARN_NONE;
    result->anomaly = result->ready && score > result->threshold &&
                      (is_frozen || is_by_category(m) || !is_like_all_recent(m));
    result->severity =
        result->ready
            ? oif_severity(&m->history, oif_detector_scale(m->detectors[0]), score, result->p)
            : 0;
    if (m->judge < m->detector_count)
        result->detector = m->judge;
    else
        result->reason = finding_of(m).reason;
    if (result->anomaly && result->reason == OIF_REASON_VALUES && has_first_value(m, row)) {
        m->judge = (uint32_t)first_value_judge(m, first_value_column(m, row));
        result->reason = OIF_REASON_FIRST_VALUE;
        result->severity = first_value_severity;
    }
    result->grade = result->anomaly ? grade_of(result->severity) : OIF_GRADE_NONE;
}

static void learn_recent(oif_model *m)
{
    oif_status status = OIF_OK;
    for (size_t i = 0; i < m->detector_count && m->options.learn != OIF_LEARN_ALL; i++)
        status = oif_detector_learn(m->detectors[i], oif_model_recent(m), NULL);
    (void)status; /* only an infinity could fail */
}

/* Judges beside the leader also learn the row that begins an episode, however severe it is: a judge
 * that fires again and again must count less each time. */
static void learn_judges(oif_model *m, bool is_usual, bool begins_episode)
{
    const double many_scores = 2048;
    const size_t count = oif_model_judges(m);
    oif_judge *judges = judges_of(m);
    if (count == 0)
        return;
    /* Once there are many rows, every fourth is enough: learning all of them cost 6% of the
     * time. */
    bool is_sampled = is_usual && (m->rows % 4 == 0 || judges[0].history.total < many_scores);
    if (is_sampled)
        oif_judges_learn(judges, 1);
    if (is_sampled || begins_episode)
        oif_judges_learn(judges + 1, count - 1);
}

/* ---- The budget ---- */

/* Who found the anomaly, as in opened_by. */
static uint32_t opener_of(const oif_model *m, const row_scores *scores)
{
    const size_t sense = m->judge - m->detector_count;
    if (m->judge >= m->detector_count)
        return sense < senses_of(m)->count ? (uint32_t)sense + 1 : 0;
    return scores->persists ? persistence_of(m) + 1 : 0;
}

/* Of an anomaly, at most a score a little beyond the threshold. So an incident does not hide the
 * next: the history follows a change, but a more extreme row is still more extreme than all of
 * it. */
static double score_to_learn(const oif_model *m, const row_scores *scores, const oif_result *result)
{
    const double beyond_bar = 0; /* so the rarest ordinary scores are known */
    if (!result->anomaly || m->options.threshold != 0)
        return scores->for_history;
    const double most = oif_severity_threshold(&m->history, oif_detector_scale(m->detectors[0]),
                                               bar_of(m) + beyond_bar);
    return scores->for_history < most ? scores->for_history : most;
}

/* What a row earns: part of the next episode, and of the debts. */
static void earn(oif_model *m)
{
    const double paid = debt_step * sense_share * m->options.earned;
    oif_alert_level_pass(&m->level, m->options.alert_rate, m->history.total, m->options.earned);
    for (uint32_t i = 0; i <= persistence_of(m); i++)
        m->debts[i] = m->debts[i] > paid ? m->debts[i] - paid : 0;
}

/* What the begin of an episode costs. */
static void spend(oif_model *m)
{
    oif_alert_level_begin(&m->level);
    if (m->opened_by > 0 && m->debts[m->opened_by - 1] < most_debt)
        m->debts[m->opened_by - 1] += debt_step;
}

/* ---- A row ---- */

/* Scores, judges and learns the shingle, which has no infinities. */
static void score_recent(oif_model *m, const double *row, double seconds, oif_result *result)
{
    bool was_ready = oif_detector_ready(m->detectors[0]);
    row_scores scores = score_by_all(m, row, seconds);
    if (m->unseen_columns > 0 && was_ready && has_first_value(m, row))
        judge_first_value(m, &scores);
    judge(m, was_ready, &scores, row, result);
    if (result->anomaly) /* it must not make the next rows anomalies too */
        m->severities[m->rows % m->options.persistence] = 0;
    count_anomalies(m, result->anomaly);
    result->learned = is_acceptable(m, row, result->anomaly);
    if (result->learned) {
        learn_recent(m);
        learn_usual(m, row);
        oif_senses_learn(senses_of(m), row, is_change_accepted(m));
    }
    if (!was_ready || m->options.learn == OIF_LEARN_NONE)
        return;
    m->opened_by = result->anomaly && !m->alerts.in_episode ? opener_of(m, &scores) : m->opened_by;
    /* Which scores enter the history. Those of a detector that is not ready say nothing about later
     * ones. Those of a whole incident would raise the threshold until nothing exceeds it. What the
     * senses find is left out: a loud sense must not hide what the detectors find. */
    const bool is_usual =
        !result->anomaly || is_early(m) || (is_change_accepted(m) && m->rows % ACCEPTED_ROWS == 0);
    if (is_usual)
        oif_score_history_add(&m->history, score_to_learn(m, &scores, result));
    learn_judges(m, is_usual, result->anomaly && !m->alerts.in_episode);
    earn(m);
    if (m->options.limits_rows)
        oif_alert_level_count_rows(&m->level, result->anomaly);
}

/* Returns the row to learn. */
static const double *derive_row(oif_model *m, const double *row, double seconds)
{
    if (m->plan->count == 0)
        return row;
    double *derived = oif_block_part(m, m->row_at);
    oif_derived_row(m->plan, derived_of(m), row, seconds, derived);
    return derived;
}

/* Whether the categories of the row are counted. Anomalies within an episode are not, until there
 * are `patience` of them, or a new value that stays would soon be common. The first one is counted,
 * so a value that comes back now and then becomes known. */
static bool counts_categories(const oif_model *m, const oif_result *result)
{
    if (m->options.learn == OIF_LEARN_NONE)
        return false;
    return !result->anomaly || result->learned || !m->alerts.in_episode ||
           m->alerts.episode.anomalies >= m->options.patience;
}

void oif_model_process(oif_model *model, const double *row, double seconds, oif_result *result)
{
    row = derive_row(model, row, seconds);
    *result = (oif_result){.score = NAN, .p = 1, .threshold = INFINITY};
    if (join_recent(model, row))
        score_recent(model, row, seconds, result);
    if (model->plan->categories > 0 && counts_categories(model, result))
        oif_derived_learn(model->plan, derived_of(model));
    oif_alerts_arrive(&model->alerts, seconds, model->options.learn != OIF_LEARN_NONE, result);
    oif_alerts_follow(&model->alerts, model->rows, seconds, result);
    if (result->episode == OIF_EPISODE_BEGINS && model->options.learn != OIF_LEARN_NONE)
        spend(model);
}

/* ---- Seasons ---- */

bool oif_model_season(const oif_model *model, size_t index, oif_season_info *info)
{
    const oif_season *season = oif_senses_season(senses_of(model), index);
    if (!season || season->period == 0)
        return false;
    *info = (oif_season_info){.rows = season->in_seconds ? 0 : season->period,
                              .seconds = season->in_seconds ? season->period : 0,
                              .was_found = season->options.period == 0};
    info->strength = oif_season_strength(season, &info->column);
    return true;
}

/* ---- Explanations ---- */

/* The trees of a forest detect that a value is beyond all others, but not how far. So a column's
 * share of the score is multiplied by the distance of its value from the usual one. A column that
 * the trees happen not to have cut gets part of the average share. */
static void explain_values(oif_model *model, oif_attribution *attributions)
{
    const size_t columns = model->columns;
    const double *recent = oif_model_recent(model),
                 *row = recent + (model->options.shingle - 1) * columns;
    double *shares = (double *)((unsigned char *)model + model->shares_at), sum = 0;
    double *scratch = (double *)((unsigned char *)model + model->scratch_at);
    if (oif_detector_explain(model->detectors[model->judge], recent, columns, shares, scratch,
                             NULL) != OIF_OK)
        memset(shares, 0, columns * sizeof *shares); /* only an infinity could fail */
    for (size_t i = 0; i < columns; i++) {
        const oif_usual *usual = &oif_model_usual(model)[i];
        double away = departure(usual, row[i], shares[i]);
        attributions[i].share = (shares[i] + 0.5 / (double)columns) * away * away;
        attributions[i].direction =
            (row[i] / 2 > usual->half_mean) - (row[i] / 2 < usual->half_mean);
        sum += attributions[i].share;
    }
    for (size_t i = 0; i < columns && sum > 0; i++)
        attributions[i].share /= sum;
    oif_alerts_note_reason(&model->alerts, model->rows, row, attributions, columns);
}

void oif_model_explain(oif_model *model, oif_attribution *attributions)
{
    if (model->judge < model->detector_count) {
        explain_values(model, attributions);
        return;
    }
    const oif_finding found = finding_of(model);
    oif_attribution *attribution = &attributions[found.column];
    attribution->share = 1;
    attribution->direction = found.direction;
    attribution->reason = found.reason;
    attribution->partner = found.partner;
    const double *row = oif_model_recent(model) + (model->options.shingle - 1) * model->columns;
    oif_alerts_note_reason(&model->alerts, model->rows, row, attributions, model->columns);
}

/* ---- Snapshots ---- */

void oif_model_visit_fields(oif_model *m, oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "rows", &m->rows, 1);
    oif_visit_u32(visitor, "recent_anomalies", &m->recent_anomalies, 1);
    oif_visit_u32(visitor, "calm_rows", &m->alerts.calm_rows, 1);
    /* Two in one number, because snapshots of format 1 have no field for the second. */
    uint32_t episode = m->alerts.in_episode | m->same_rows << 1;
    oif_visit_u32(visitor, "in_episode", &episode, 1);
    m->alerts.in_episode = episode & 1;
    m->same_rows = episode >> 1;
    oif_visit_f64(visitor, "recent", oif_model_recent(m), m->options.shingle * m->columns);
    for (size_t i = 0; i < m->columns; i++) {
        oif_visit_f64(visitor, "half_mean", &oif_model_usual(m)[i].half_mean, 1);
        oif_visit_f64(visitor, "half_spread", &oif_model_usual(m)[i].half_spread, 1);
    }
    count_unseen(m);
    oif_score_history_visit_fields(&m->history, visitor);
    if (oif_model_judges(m) > 0)
        oif_visit_u32(visitor, "judge", &m->judge, 1);
    if (oif_visitor_has(visitor, OIF_FORMAT_EPISODES)) {
        oif_alert_level_visit_fields(&m->level, visitor);
        oif_visit_f64(visitor, "debts", m->debts, persistence_of(m) + 1);
        oif_visit_f64(visitor, "fatigues", m->fatigues, senses_of(m)->count);
        oif_visit_u32(visitor, "opened_by", &m->opened_by, 1);
    }
    if (m->options.persistence > 1)
        oif_visit_f64(visitor, "severities", m->severities, m->options.persistence);
    oif_senses_visit_fields(senses_of(m), visitor);
    for (size_t i = 0; i < oif_model_judges(m); i++)
        oif_judge_visit_fields(&judges_of(m)[i], visitor);
    if (m->plan->count > 0)
        oif_derived_state_visit_fields(m->plan, derived_of(m), visitor);
}

static bool has_infinity(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(numbers[i]) > DBL_MAX)
            return true;
    return false;
}

static bool knows_usual(const oif_model *m)
{
    for (size_t i = 0; i < m->columns; i++) {
        const oif_usual *usual = &oif_model_usual(m)[i];
        if (fabs(usual->half_mean) > DBL_MAX ||
            !(usual->half_spread >= 0 && usual->half_spread <= DBL_MAX))
            return false;
    }
    return true;
}

oif_status oif_model_check_own(const oif_model *model, oif_error *error)
{
    const oif_model_options *options = &model->options;
    if (model->recent_anomalies > options->patience || model->same_rows > OIF_MODEL_SAME_ROWS)
        return oif_fail(error, OIF_EINVARIANT, "the model counts more rows than its options allow");
    if (!oif_alerts_check(&model->alerts, model->rows, model->columns))
        return oif_fail(error, OIF_EINVARIANT, "the last episode or pause is inconsistent");
    if (has_infinity(oif_model_recent(model), options->shingle * model->columns))
        return oif_fail(error, OIF_EINVARIANT, "a value of the last rows is infinite");
    if (model->plan->count > 0 && !oif_derived_state_check(model->plan, derived_of(model)))
        return oif_fail(error, OIF_EINVARIANT, "the previous values of a column are not possible");
    if (!knows_usual(model))
        return oif_fail(error, OIF_EINVARIANT, "the usual values of a column are not finite");
    if (!oif_score_history_check(&model->history))
        return oif_fail(error, OIF_EINVARIANT, "the history of scores is inconsistent");
    if (model->judge >= first_value_judge(model, model->columns) ||
        (is_by_category(model) && model->plan->categories == 0))
        return oif_fail(error, OIF_EINVARIANT, "the last row was judged by no detector or sense");
    if (!oif_alert_level_check(&model->level))
        return oif_fail(error, OIF_EINVARIANT, "more episodes are overspent than can be");
    for (uint32_t i = 0; i <= OIF_SENSES_MAX; i++)
        if (!(model->debts[i] >= 0 && model->debts[i] <= 2 * most_debt))
            return oif_fail(error, OIF_EINVARIANT, "the debt of a sense is out of range");
    for (uint32_t i = 0; i < OIF_SENSES_MAX; i++)
        if (!(model->fatigues[i] >= 0 && model->fatigues[i] <= DBL_MAX))
            return oif_fail(error, OIF_EINVARIANT, "the fatigue of a sense is out of range");
    if (model->opened_by > persistence_of(model) + 1)
        return oif_fail(error, OIF_EINVARIANT, "the last episode was opened by no sense");
    for (uint32_t i = 0; i < options->persistence; i++)
        if (!(fabs(model->severities[i]) <= DBL_MAX))
            return oif_fail(error, OIF_EINVARIANT, "the severity of a row is not finite");
    for (size_t i = 0; i < oif_model_judges(model); i++)
        if (!oif_score_history_check(&judges_of(model)[i].history))
            return oif_fail(error, OIF_EINVARIANT, "the history of a judge is inconsistent");
    return oif_senses_check(senses_of(model), error);
}

oif_status oif_model_check(const oif_model *model, oif_error *error)
{
    oif_status status = oif_model_check_own(model, error);
    for (size_t i = 0; i < model->detector_count && status == OIF_OK; i++)
        status = oif_detector_check(model->detectors[i], error);
    return status;
}
