/* What happens with a row: it is observed, scored, judged and learned. */
#include "base/stable_math.h"
#include "pipeline/model/model_parts.h"

#include <math.h>
#include <string.h>

/* The first anomalies of an episode are learned with OIF_LEARN_DECAY, so what comes back again and
 * again becomes usual; and all once there are 64: they are the new normal. */
enum { EARLY_ANOMALIES = 4, PATIENCE = 64 };

static const double first_value_severity = 3; /* a note */

/* ---- Observing ---- */

const double *oif_model_derive(oif_model *m, const double *row, double seconds)
{
    if (m->plan->count == 0)
        return row;
    double *derived = oif_block_part(m, m->at.row);
    oif_derived_row(m->plan, derived_of(m), row, seconds, derived);
    return derived;
}

bool oif_model_join(oif_model *m, const double *row)
{
    const size_t older = (m->options.shingle - 1) * m->columns;
    memmove(oif_model_recent(m), oif_model_recent(m) + m->columns, older * sizeof *row);
    memcpy(last_row_of(m), row, m->columns * sizeof *row);
    return ++m->rows >= m->options.shingle;
}

/* A column that begins is news, not an incident. */
static void find_first_value(const oif_model *m, const double *row, oif_finding *found)
{
    for (uint32_t j = 0; j < m->columns && watch_of(m)->unseen > 0; j++)
        if (row[j] == row[j] && !oif_watch_has_seen(watch_of(m), j)) {
            *found = (oif_finding){.severity = first_value_severity,
                                   .size = NAN,
                                   .usual = NAN,
                                   .reason = OIF_REASON_FIRST_VALUE,
                                   .column = j};
            return;
        }
}

/* The surprise is already a fraction of rows, so it has no usual size:
 * docs/algorithms/categories.md. */
static void find_category(const oif_model *m, oif_finding *found)
{
    const double log10_of_2 = 0.30102999566398120, margin = 1; /* bit */
    const oif_derived_state *derived = derived_of(m);
    if (m->plan->categories == 0)
        return;
    const double chances = oif_log2((double)m->plan->categories), /* the maximum of several */
        severity = (derived->surprise - chances - margin) * log10_of_2;
    *found = (oif_finding){.severity = severity > 0 ? severity : 0,
                           .size = NAN,
                           .usual = NAN,
                           .reason = derived->is_new ? OIF_REASON_NEW_VALUE : OIF_REASON_RARE_VALUE,
                           .direction = 1,
                           .column = derived->surprising_column};
}

/* ---- Scores ---- */

static bool counts_moves(const oif_model *m)
{
    return oif_watch_moves_count(watch_of(m)) && !is_frozen(m);
}

/* Whether detectors learn a row and then score it. Usually they score it first. */
static bool learns_first(const oif_model *m)
{
    return m->options.learn == OIF_LEARN_ALL && (!m->options.moves || counts_moves(m));
}

/* Moves that do not count are as usual to a detector, but it learns them. */
static void set_moves(const oif_model *m, bool to_learn)
{
    const double as_usual = 1;
    for (size_t i = 0; m->options.moves && i < OIF_MOVES; i++)
        moves_of_row(m)[i] = to_learn || counts_moves(m) ? watch_of(m)->moves[i] : as_usual;
}

static double score_by(oif_model *m, size_t i)
{
    double score = NAN;
    const oif_status status =
        learns_first(m)
            ? oif_detector_learn_score(m->detectors[i], oif_model_recent(m), &score, NULL)
            : oif_detector_score(m->detectors[i], oif_model_recent(m), &score, NULL);
    (void)status; /* only an infinity could fail */
    return score;
}

/* Of a single number a detector finds little that the other judges do not, and it alerts more
 * often. */
static bool judges_scores(const oif_model *m)
{
    return m->columns * m->options.shingle > 1;
}

/* Three rare rows in a row are rarer than each of them: their mean and a half. A row that was an
 * alert does not count again (oif_model_process). A frozen model judges each row alone. */
static double with_rows_before(oif_model *m, double severity)
{
    const double rare = 1.3, more = 0.5;
    const double three = (severity + m->before[0] + m->before[1]) / 3 + more;
    m->before[1] = m->before[0];
    m->before[0] = severity;
    return severity > rare && three > severity ? three : severity;
}

/* The score is the detector's own; of several detectors, whose scores have no common scale, the
 * severity. */
static void score(oif_model *m, oif_finding *found, oif_result *result)
{
    double most = 0;
    set_moves(m, false);
    for (uint32_t i = 0; i < m->detector_count; i++) {
        const bool was_ready = oif_detector_ready(m->detectors[i]);
        const double given = score_by(m, i),
                     severity = was_ready ? oif_detector_severity(m->detectors[i], given) : 0;
        if (severity > most) {
            most = severity;
            m->detector = i;
        }
        if (i == 0)
            result->score = given;
    }
    if (m->detector_count > 1)
        result->score = most;
    if (judges_scores(m))
        found->severity = is_frozen(m) ? most : with_rows_before(m, most);
}

static void take_verdict(oif_model *m, const oif_table_verdict *verdict, oif_finding *found,
                         oif_result *result)
{
    result->score = verdict->score;
    found->severity = verdict->severity;
    m->detector = verdict->detector;
}

/* ---- Learning ---- */

/* Whether an anomaly of an episode is learned with OIF_LEARN_DECAY. */
static bool is_early_or_lasting(const oif_model *m)
{
    const uint64_t anomalies = m->gate.in_episode ? m->gate.episode.anomalies : 0;
    return anomalies < EARLY_ANOMALIES || anomalies >= PATIENCE;
}

/* A first value is learned at once, so it is reported once. */
static bool is_acceptable(const oif_model *m, const oif_finding *first_value, bool anomaly)
{
    switch (m->options.learn) {
    case OIF_LEARN_ALL: return true;
    case OIF_LEARN_NORMAL: return !anomaly;
    case OIF_LEARN_DECAY: return !anomaly || is_early_or_lasting(m) || first_value->severity > 0;
    case OIF_LEARN_NONE: break;
    }
    return false;
}

static void learn(oif_model *m, const double *row, bool by_detectors)
{
    oif_status status = OIF_OK;
    oif_judges_learn(judges_of(m), row);
    set_moves(m, true);
    for (size_t i = 0; i < m->detector_count && by_detectors; i++)
        status = oif_detector_learn(m->detectors[i], oif_model_recent(m), NULL);
    (void)status; /* only an infinity could fail */
}

/* Whether the categories of the row are counted. The first anomaly of an episode is, so a value
 * that comes back now and then becomes known; if the others were, a new value that stays would soon
 * be common. */
static bool counts_categories(const oif_model *m, const oif_result *result)
{
    return !is_frozen(m) && (!result->anomaly || result->learned || !m->gate.in_episode ||
                             m->gate.episode.anomalies >= PATIENCE);
}

/* ---- Pauses ---- */

/* The end of a silence is news only if its begin was: not if rules have held it back. */
static void arrive(oif_model *m, double seconds, const oif_row_rules *rules, bool is_ignored,
                   oif_result *result)
{
    const bool is_known = m->pauses.silence == OIF_SILENCE_REPORTED;
    const double deadline = oif_pauses_deadline(&m->pauses);
    if (!oif_pauses_arrive(&m->pauses, seconds, !is_frozen(m) && !is_ignored, result))
        return;
    const bool may_hold = !is_known && rules && rules->rules;
    if (!may_hold ||
        (!is_ignored && !oif_rules_hide_silence(rules->rules, rules->key, deadline, seconds)))
        result->reason = OIF_REASON_SILENCE;
}

/* ---- A row ---- */

/* A row that a rule ignores is scored as by a frozen model: it neither alerts nor teaches. */
static void process_ignored(oif_model *m, const double *row, double seconds,
                            const oif_row_rules *rules, oif_result *result)
{
    oif_finding found = {.size = NAN, .usual = NAN};
    const oif_learn learn = m->options.learn;
    m->options.learn = OIF_LEARN_NONE;
    if (oif_model_join(m, row))
        score(m, &found, result);
    m->options.learn = learn;
    oif_judges_pass(judges_of(m), row);
    m->judge = OIF_JUDGE_VALUES;
    m->found = found;
    arrive(m, seconds, rules, true, result); /* a pause is part of the work */
    oif_gate_follow(&m->gate, OIF_JUDGE_VALUES, m->rows, seconds, result);
}

/* Sets the findings of all judges, and the score. */
static void find(oif_model *m, const double *row, double seconds, const oif_table_verdict *verdict,
                 oif_finding findings[OIF_JUDGES], oif_result *result)
{
    const bool is_full = oif_model_join(m, row);
    find_first_value(m, row, &findings[OIF_JUDGE_FIRST_VALUE]);
    find_category(m, &findings[OIF_JUDGE_CATEGORY]);
    if (!is_frozen(m))
        oif_judges_observe(judges_of(m), row, seconds, findings);
    if (verdict)
        take_verdict(m, verdict, &findings[OIF_JUDGE_VALUES], result);
    else if (is_full)
        score(m, &findings[OIF_JUDGE_VALUES], result);
    if (findings[OIF_JUDGE_FIRST_VALUE].severity > 0)
        findings[OIF_JUDGE_VALUES].severity = 0; /* a value where none was before: the same news */
}

void oif_model_process(oif_model *model, const double *row, double seconds,
                       const oif_row_rules *rules, const oif_table_verdict *verdict,
                       oif_result *result)
{
    row = oif_model_derive(model, row, seconds);
    *result = (oif_result){.score = NAN, .threshold = INFINITY};
    const uint32_t ignored =
        rules && rules->rules ? oif_rules_ignore(rules->rules, rules->key, seconds) : 0;
    if (ignored > 0) {
        process_ignored(model, row, seconds, rules, result);
        result->rule = ignored;
        return;
    }
    oif_finding findings[OIF_JUDGES] = {{.size = NAN, .usual = NAN}};
    const bool was_ready = verdict || oif_model_ready(model);
    find(model, row, seconds, verdict, findings, result);
    const bool learns_before = learns_first(model); /* as when it was scored, after its moves */
    result->ready = was_ready && result->score == result->score;
    oif_model_decide(model, findings, seconds, rules, result);
    if (result->anomaly)
        model->before[0] = 0;
    result->learned = is_acceptable(model, &findings[OIF_JUDGE_FIRST_VALUE], result->anomaly) &&
                      model->rows >= model->options.shingle;
    if (result->learned)
        learn(model, row, !verdict && !learns_before);
    if (model->plan->categories > 0 && counts_categories(model, result))
        oif_derived_learn(model->plan, derived_of(model));
    if (!is_frozen(model))
        oif_gate_earn(&model->gate, model->options.earned);
    arrive(model, seconds, rules, false, result);
    oif_gate_follow(&model->gate, (oif_judge)model->judge, model->rows, seconds, result);
}
