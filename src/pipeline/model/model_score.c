/* The score of a row: by the detectors, by the senses if they find more, and by the categories. */
#include "base/stable_math.h"
#include "pipeline/model/model_parts.h"

#include <math.h>

/* ---- Detectors ---- */

bool oif_model_learns_first(const oif_model *m)
{
    return m->options.learn == OIF_LEARN_ALL &&
           (!m->options.motion || oif_motion_counts(motion_of(m)));
}

/* The score of a detector. */
static double score_by(const oif_model *m, oif_detector *detector)
{
    const double *recent = oif_model_recent(m);
    double score = NAN;
    oif_status status = oif_model_learns_first(m)
                            ? oif_detector_learn_score(detector, recent, &score, NULL)
                            : oif_detector_score(detector, recent, &score, NULL);
    (void)status; /* only an infinity could fail */
    return score;
}

static void judge_values(oif_model *m, oif_row_scores *scores)
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
    scores->detector = m->judge;
}

/* ---- Senses and persistence ---- */

/* The severity found by a sense or the persistence, if it is enough for an alert, else 0. Anything
 * less would only disturb the order of the scores. An episode continues at the debt that it began
 * with. */
static double alarm_of(const oif_model *m, const oif_judge *judge, uint32_t who, double bar)
{
    double severity = oif_judge_severity(judge);
    if (!(severity > 0) || !oif_curve_is_known(&judges_of(m)[0].curve)) /* usually so */
        return 0;
    const bool is_own = m->alerts.in_episode && m->opened_by == who + 1;
    severity -= m->debts[who] - (is_own ? OIF_MODEL_DEBT_STEP : 0);
    return severity > bar ? severity : 0;
}

/* The same for a sense, less its fatigue. */
static double finding_severity(oif_model *m, const oif_judge *judge, uint32_t who, double bar)
{
    const double per_row = 0.015, recovery = 1.0 / 256;
    const double severity = alarm_of(m, judge, who, bar);
    double *fatigue = &m->fatigues[who];
    *fatigue += severity > 0 ? per_row : -*fatigue * recovery;
    return severity - *fatigue > bar ? severity - *fatigue : 0;
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

/* Whether the row and the rows before it are an anomaly together. */
static void judge_stretch(oif_model *m, oif_row_scores *scores)
{
    oif_judge *stretch = &judges_of(m)[oif_model_judges(m) - 1];
    stretch->score = recent_severity(m, scores->severity);
    const double least_unusual = 1.3; /* one row in twenty: the row itself must be unusual too */
    double severity =
        scores->severity > least_unusual ? alarm_of(m, stretch, persistence_of(m), scores->bar) : 0;
    scores->persists = severity > scores->severity;
    if (scores->persists)
        scores->for_history = oif_judge_score(&judges_of(m)[0], severity);
}

/* Raises the score of the row if a sense finds it more severe. */
static void judge_by_senses(oif_model *m, const double *row, double seconds, oif_row_scores *scores)
{
    oif_judge *judges = judges_of(m), *senses = judges + m->detector_count;
    double evidence[OIF_SENSES_MAX], most = scores->severity, most_found = 0;
    oif_senses_observe(senses_of(m), row, seconds, evidence);
    for (uint32_t i = 0; i < senses_of(m)->count; i++) {
        senses[i].score = evidence[i];
        double found = finding_severity(m, &senses[i], i, scores->bar);
        scores->found[i] = found;
        if (found > most_found) {
            most_found = found;
            scores->sense = (uint32_t)m->detector_count + i;
        }
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

/* ---- Categories, and all together ---- */

/* The same if a category is more surprising. The surprise is already a fraction of rows, so it
 * needs no history: docs/algorithms/categories.md. */
static void judge_by_categories(oif_model *m, oif_row_scores *scores)
{
    const double log10_of_2 = 0.30102999566398120, margin = 1; /* one bit, like other judges */
    if (m->plan->categories == 0 || !oif_curve_is_known(&judges_of(m)[0].curve))
        return;
    double chances = oif_log2((double)m->plan->categories), /* it is the maximum of several */
        severity = (derived_of(m)->surprise - chances - margin) * log10_of_2;
    if (severity > scores->bar)
        scores->found[senses_of(m)->count] = severity;
    if (!(severity > scores->severity) || !(severity > scores->bar))
        return;
    double score = oif_judge_alarm_score(&judges_of(m)[0], severity);
    if (score > scores->score) {
        scores->score = score;
        m->judge = (uint32_t)m->detector_count + senses_of(m)->count;
    }
}

/* By the senses and the categories beside what a table says about the row. */
static oif_row_scores score_with_verdict(oif_model *m, const double *row, double seconds,
                                         const oif_table_verdict *verdict)
{
    oif_row_scores scores = {.bar = oif_model_bar(m),
                             .score = verdict->score,
                             .severity = verdict->severity,
                             .for_history = verdict->score};
    m->judge = verdict->detector;
    for (size_t i = 0; i < oif_model_judges(m); i++)
        judges_of(m)[i].score = NAN;
    if (oif_model_judges(m) > 0) {
        judge_by_senses(m, row, seconds, &scores);
        judge_by_categories(m, &scores);
    }
    return scores;
}

/* A frozen model has neither senses nor persistence, because they follow the stream. */
oif_row_scores oif_model_score(oif_model *m, const double *row, double seconds,
                               const oif_table_verdict *verdict)
{
    if (verdict)
        return score_with_verdict(m, row, seconds, verdict);
    oif_row_scores scores = {.bar = oif_model_bar(m)};
    m->judge = 0;
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
