/* What happens with a row: it is observed, scored, judged and learned. */
#include "pipeline/model/model_parts.h"

#include <math.h>
#include <string.h>

/* The first anomalies of an episode. They are learned with OIF_LEARN_DECAY, so what comes back
 * again and again becomes usual. Those after them wait until there are `patience` of them. */
enum {
    EARLY_ANOMALIES = 4,
    ACCEPTED_ROWS = 16 /* of an accepted change, the scores of one row in this many count */
};

static const double usual_memory = 1000; /* rows that the usual values are averaged over */

/* Of the budget, what a sense may spend for long. */
static const double sense_share = 0.6;

/* ---- Observing ---- */

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

/* A frozen model judges a row the same way, whatever came before: as if it moved as usual. */
static void observe_motion(oif_model *m, const double *row)
{
    const oif_motion *motion = motion_of(m);
    const double *judged = m->options.learn == OIF_LEARN_NONE ? motion->usual : motion->numbers;
    oif_motion_observe(motion_of(m), row);
    for (oif_move k = 0; k < OIF_MOVES; k++)
        moves_of_row(m)[k] = oif_motion_counts(motion) ? judged[k] : 1;
}

/* ---- Learning ---- */

/* Other rows count a quarter. So a stream with an alert in every second row, as of a season whose
 * other half was never learned, does not stay so. */
static void count_anomalies(oif_model *m, bool anomaly)
{
    if (anomaly)
        m->recent_anomalies += m->recent_anomalies < m->options.patience;
    else
        m->recent_anomalies -= m->recent_anomalies > 0 && m->rows % 4 == 0;
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

/* A first value is learned at once, so it is reported once. */
static bool is_acceptable(const oif_model *m, const double *row, bool anomaly)
{
    switch (m->options.learn) {
    case OIF_LEARN_ALL: return true;
    case OIF_LEARN_NORMAL: return !anomaly;
    case OIF_LEARN_DECAY:
        return !anomaly || is_early(m) || is_change_accepted(m) ||
               oif_model_has_first_value(m, row);
    case OIF_LEARN_NONE: break;
    }
    return false;
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

static void learn_recent(oif_model *m, bool is_learned)
{
    oif_status status = OIF_OK;
    if (m->options.motion)
        memcpy(moves_of_row(m), motion_of(m)->numbers, sizeof motion_of(m)->numbers);
    for (size_t i = 0; i < m->detector_count && !is_learned; i++)
        status = oif_detector_learn(m->detectors[i], oif_model_recent(m), NULL);
    (void)status; /* only an infinity could fail */
}

/* A detector that is not ready has little to lose. */
static void learn_motion(oif_model *m)
{
    if (!oif_motion_learn(motion_of(m)))
        return;
    if (oif_detector_ready(m->detectors[0])) {
        oif_motion_wait(motion_of(m));
        return;
    }
    for (size_t i = 0; i < m->detector_count; i++)
        oif_detector_reset(m->detectors[i]);
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
static uint32_t opener_of(const oif_model *m, const oif_row_scores *scores)
{
    const size_t sense = scores->decided - m->detector_count;
    if (scores->decided >= m->detector_count)
        return sense < senses_of(m)->count ? (uint32_t)sense + 1 : 0;
    return scores->persists ? persistence_of(m) + 1 : 0;
}

/* Of an anomaly, at most the threshold. So an incident does not hide the
 * next: the history follows a change, but a more extreme row is still more extreme than all of
 * it. */
static double score_to_learn(const oif_model *m, const oif_row_scores *scores,
                             const oif_result *result)
{
    if (!result->anomaly || m->options.threshold != 0)
        return scores->for_history;
    const double most =
        oif_severity_threshold(&m->history, oif_detector_scale(m->detectors[0]), scores->bar);
    return scores->for_history < most ? scores->for_history : most;
}

/* What a row earns: part of the next episode, and of the debts. */
static void earn(oif_model *m)
{
    const double paid = OIF_MODEL_DEBT_STEP * sense_share * m->options.earned;
    oif_alert_level_pass(&m->level, m->options.alert_rate, m->history.total, m->options.earned);
    for (uint32_t i = 0; i <= persistence_of(m); i++)
        m->debts[i] = m->debts[i] > paid ? m->debts[i] - paid : 0;
}

/* What the begin of an episode costs. */
static void spend(oif_model *m, uint32_t opener)
{
    m->opened_by = opener;
    oif_alert_level_begin(&m->level, oif_alert_cost(m->opened_by > 0));
    if (m->opened_by > 0 && m->debts[m->opened_by - 1] < OIF_MODEL_MOST_DEBT)
        m->debts[m->opened_by - 1] += OIF_MODEL_DEBT_STEP;
}

/* ---- A row ---- */

/* An alert that a rule holds back is none: it opens no episode and spends nothing. But others may
 * have found another one in the same row. */
static void hold_back(oif_model *m, const oif_row_rules *rules, double seconds,
                      oif_row_scores *scores, oif_result *result)
{
    const bool is_beside = m->judge >= m->detector_count && m->judge <= category_judge(m);
    const uint32_t first = m->judge;
    result->rule = oif_model_muted_by(m, rules, seconds, result);
    if (result->rule > 0 && is_beside && scores->for_history > result->threshold) {
        oif_model_judge_values(m, scores, result);
        scores->decided = m->judge;
        result->rule = oif_model_muted_by(m, rules, seconds, result);
    }
    if (result->rule > 0 && oif_model_judge_others(m, rules, seconds, first, scores, result)) {
        scores->decided = m->judge;
        result->rule = 0;
    }
    if (result->rule == 0)
        return;
    result->anomaly = false;
    result->grade = OIF_GRADE_NONE;
}

/* What happens with an anomaly if there are rules, or its causes are wanted. */
static void ask_rules(oif_model *m, const oif_row_rules *rules, double seconds,
                      oif_row_scores *scores, oif_result *result)
{
    if (rules->rules)
        hold_back(m, rules, seconds, scores, result);
    if (result->anomaly && rules->causes && !m->alerts.in_episode)
        oif_model_find_causes(m, result, rules->causes);
}

/* Detectors and usual values know the row already; what follows the stream does not. */
static void learn_row_of_table(oif_model *m, const double *row, bool begins_episode)
{
    if (m->options.motion && oif_motion_learn(motion_of(m)))
        oif_motion_wait(motion_of(m));
    oif_senses_learn(senses_of(m), row, false);
    learn_judges(m, true, begins_episode);
    earn(m);
}

static void learn_row(oif_model *m, const double *row, bool is_learned)
{
    learn_recent(m, is_learned);
    learn_usual(m, row);
    if (m->options.motion)
        learn_motion(m);
    oif_senses_learn(senses_of(m), row, is_change_accepted(m));
}

/* Scores, judges and learns the shingle, which has no infinities. Returns who found an anomaly, as
 * in opened_by. */
static uint32_t score_recent(oif_model *m, const double *row, double seconds,
                             const oif_row_rules *rules, const oif_table_verdict *verdict,
                             oif_result *result)
{
    bool was_ready = verdict || oif_detector_ready(m->detectors[0]),
         is_learned = oif_model_learns_first(m);
    if (m->options.motion)
        observe_motion(m, row);
    if (m->options.motion && verdict)
        oif_model_hide_motion(m, oif_model_recent(m));
    oif_row_scores scores = oif_model_score(m, row, seconds, verdict);
    scores.decided = m->judge;
    if (m->unseen_columns > 0 && was_ready && oif_model_has_first_value(m, row))
        oif_model_judge_first_value(m, &scores);
    oif_model_judge(m, was_ready, &scores, row, verdict, result);
    if (result->anomaly) /* it must not make the next rows anomalies too */
        m->severities[m->rows % m->options.persistence] = 0;
    if (result->anomaly && rules)
        ask_rules(m, rules, seconds, &scores, result);
    count_anomalies(m, result->anomaly);
    result->learned = verdict || is_acceptable(m, row, result->anomaly);
    if (verdict) {
        learn_row_of_table(m, row, result->anomaly && !m->alerts.in_episode);
        return opener_of(m, &scores);
    }
    if (result->learned)
        learn_row(m, row, is_learned);
    if (!was_ready || m->options.learn == OIF_LEARN_NONE)
        return 0;
    /* Which scores enter the history. Those of a detector that is not ready say nothing about later
     * ones. Those of a whole incident would raise the threshold until nothing exceeds it, and so
     * would those that a rule holds back. What the senses find is left out: a loud sense must not
     * hide what the detectors find. */
    const bool is_usual =
        result->rule == 0 && (!result->anomaly || is_early(m) ||
                              (is_change_accepted(m) && m->rows % ACCEPTED_ROWS == 0));
    if (is_usual)
        oif_score_history_add(&m->history, score_to_learn(m, &scores, result));
    learn_judges(m, is_usual, result->anomaly && !m->alerts.in_episode);
    earn(m);
    if (m->options.limits_rows)
        oif_alert_level_count_rows(&m->level, result->anomaly);
    return opener_of(m, &scores);
}

/* Returns the row to learn. */
static const double *derive_row(oif_model *m, const double *row, double seconds)
{
    if (m->plan->count == 0)
        return row;
    double *derived = oif_block_part(m, m->at.row);
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

/* The end of a silence is news only if its begin was: not if rules have held it back. */
static void arrive(oif_model *m, double seconds, const oif_row_rules *rules, bool is_ignored,
                   oif_result *result)
{
    const oif_reason reason = result->reason;
    const bool is_known = m->alerts.silence == OIF_SILENCE_REPORTED,
               learns = m->options.learn != OIF_LEARN_NONE && !is_ignored;
    const double deadline = oif_alerts_deadline(&m->alerts);
    oif_alerts_arrive(&m->alerts, seconds, learns, result);
    if (result->reason != OIF_REASON_SILENCE || is_known || !rules || !rules->rules)
        return;
    if (is_ignored || oif_rules_hide_silence(rules->rules, rules->key, deadline, seconds))
        result->reason = reason;
}

/* A row that a rule ignores is scored as by a frozen model: it neither alerts nor teaches. */
static void process_ignored(oif_model *m, const double *row, double seconds,
                            const oif_row_rules *rules, oif_result *result)
{
    const oif_learn learn = m->options.learn;
    const uint32_t anomalies = m->recent_anomalies;
    m->options.learn = OIF_LEARN_NONE;
    if (join_recent(m, row))
        score_recent(m, row, seconds, NULL, NULL, result);
    m->options.learn = learn;
    oif_senses_pass(senses_of(m));
    m->recent_anomalies = anomalies;
    m->severities[m->rows % m->options.persistence] = 0;
    result->anomaly = false;
    result->grade = OIF_GRADE_NONE;
    result->reason = OIF_REASON_VALUES;
    arrive(m, seconds, rules, true, result); /* a pause is part of the work */
    oif_alerts_follow(&m->alerts, m->rows, seconds, result);
}

void oif_model_process(oif_model *model, const double *row, double seconds,
                       const oif_row_rules *rules, const oif_table_verdict *verdict,
                       oif_result *result)
{
    row = derive_row(model, row, seconds);
    *result = (oif_result){.score = NAN, .p = 1, .threshold = INFINITY};
    const uint32_t ignored =
        rules && rules->rules ? oif_rules_ignore(rules->rules, rules->key, seconds) : 0;
    if (ignored > 0) {
        process_ignored(model, row, seconds, rules, result);
        result->rule = ignored;
        return;
    }
    const uint32_t opener =
        join_recent(model, row) ? score_recent(model, row, seconds, rules, verdict, result) : 0;
    if (model->plan->categories > 0 && counts_categories(model, result))
        oif_derived_learn(model->plan, derived_of(model));
    arrive(model, seconds, rules, false, result);
    oif_alerts_follow(&model->alerts, model->rows, seconds, result);
    if (result->episode == OIF_EPISODE_BEGINS && model->options.learn != OIF_LEARN_NONE)
        spend(model, opener);
}
