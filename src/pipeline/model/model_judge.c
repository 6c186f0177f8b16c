/* Whether a row is an anomaly, and for which reason. */
#include "base/stable_math.h"
#include "pipeline/model/model_parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double first_value_severity = 3.5; /* a note */

/* ---- The bar ---- */

double oif_model_bar(const oif_model *m)
{
    const bool in_episode = m->alerts.in_episode && m->options.learn != OIF_LEARN_NONE;
    const double paid = in_episode ? oif_alert_cost(m->opened_by > 0) : 0;
    return oif_alert_level_bar(&m->level, m->options.alert_rate, m->history.total, paid);
}

static double threshold_of(const oif_model *m, double bar)
{
    if (m->options.threshold != 0)
        return m->options.threshold;
    return oif_severity_threshold(&m->history, oif_detector_scale(m->detectors[0]), bar);
}

bool oif_model_ready(const oif_model *model)
{
    return oif_detector_ready(model->detectors[0]) &&
           threshold_of(model, oif_model_bar(model)) < INFINITY;
}

/* ---- Plain reasons ---- */

/* The first column that has its first value; the number of columns if none has. */
static size_t first_value_column(const oif_model *m, const double *row)
{
    for (size_t i = 0; i < m->columns && m->unseen_columns > 0; i++)
        if (row[i] == row[i] && oif_model_usual(m)[i].half_mean != oif_model_usual(m)[i].half_mean)
            return i;
    return m->columns;
}

bool oif_model_has_first_value(const oif_model *m, const double *row)
{
    return first_value_column(m, row) < m->columns;
}

/* A column that begins is news, not an incident: the severity is that of a note, however extreme
 * the detectors find it. */
void oif_model_judge_first_value(const oif_model *m, oif_row_scores *scores)
{
    const oif_score_scale scale = oif_detector_scale(m->detectors[0]);
    const double score = oif_severity_threshold(&m->history, scale, first_value_severity);
    if (first_value_severity > scores->bar && score < INFINITY && score > scores->score)
        scores->score = score;
}

/* A sense that compares values with others decided, but a plainer reason is as good: the value is
 * far outside the usual values of its column. */
static void prefer_plain_reason(oif_model *m, const double *row)
{
    const double far = 8; /* mean absolute deviations */
    if (m->judge >= category_judge(m))
        return;
    const oif_finding found = oif_model_finding(m);
    const bool has_partner = found.reason == OIF_REASON_PARTNER;
    if ((has_partner || found.reason == OIF_REASON_SEASON) &&
        (oif_model_departure(&oif_model_usual(m)[found.column], row[found.column], 0) > far ||
         (has_partner &&
          oif_model_departure(&oif_model_usual(m)[found.partner], row[found.partner], 0) > far)))
        m->judge = 0;
}

/* ---- Motion ---- */

static bool may_be_motion(const oif_model *m, const oif_row_scores *scores)
{
    return m->options.motion && m->options.learn != OIF_LEARN_NONE &&
           scores->decided < m->detector_count && oif_motion_counts(motion_of(m));
}

enum { NO_MOVES = 0, ALL_MOVES = (1 << OIF_MOVES) - 1 };

/* What the score would be if all other moves were as usual, by the detector that decided. `moves`:
 * a bit for each. */
static double score_with(const oif_model *m, int moves)
{
    double *row = scratch_of(m), score = NAN;
    memcpy(row, oif_model_recent(m), oif_model_numbers(&m->options, m->columns) * sizeof *row);
    for (oif_move k = 0; k < OIF_MOVES; k++)
        if (!(moves & 1 << k))
            row[m->columns + k] = motion_of(m)->usual[k];
    oif_status status = oif_detector_score(m->detectors[m->judge], row, &score, NULL);
    (void)status; /* only an infinity could fail */
    if (m->judge == 0)
        return score;
    oif_judge judge = judges_of(m)[m->judge];
    judge.score = score;
    return oif_judge_score(&judges_of(m)[0], oif_judge_severity(&judge));
}

/* The move that is the reason: the plainest one that is enough by itself, or else the one without
 * which the score falls most. OIF_MOVES if it has no name. */
static oif_move decisive_move(const oif_model *m, double threshold)
{
    const double clearly = 0.01;
    oif_move most = OIF_MOVES;
    double lowest = INFINITY;
    for (oif_move k = 0; k < OIF_MOVES; k++)
        if (oif_motion_is_named(motion_of(m), k) && score_with(m, 1 << k) > threshold)
            return k;
    for (oif_move k = 0; k < OIF_MOVES; k++) {
        const double without = score_with(m, ALL_MOVES & ~(1 << k));
        if (without < lowest - clearly && oif_motion_is_named(motion_of(m), k)) {
            most = k;
            lowest = without;
        }
    }
    return most;
}

/* If the row would be no anomaly had it moved as usual, its motion is the reason. A sense that
 * finds the row unusual, too, says more. */
static void judge_motion(oif_model *m, const oif_row_scores *scores, const oif_result *result)
{
    if (score_with(m, NO_MOVES) > result->threshold)
        return;
    if (scores->sense > 0) {
        m->judge = scores->sense;
        return;
    }
    const oif_move most = decisive_move(m, result->threshold);
    if (most == OIF_MOVES)
        return;
    const size_t column = oif_motion_column(motion_of(m), most);
    if (!oif_motion_is_missing(motion_of(m), column)) /* "missing" says more */
        m->judge = (uint32_t)move_judge(m, most, column);
}

/* ---- The verdict ---- */

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

void oif_model_judge(oif_model *m, bool was_ready, const oif_row_scores *scores, const double *row,
                     oif_result *result)
{
    const double score = scores->score;
    if (m->judge >= m->detector_count)
        prefer_plain_reason(m, row);
    result->score = score;
    result->p = oif_score_history_share(&m->history, score);
    result->threshold = threshold_of(m, scores->bar);
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
    if (m->judge < m->detector_count) {
        result->detector = m->judge;
        if (result->anomaly && may_be_motion(m, scores))
            judge_motion(m, scores, result);
    }
    if (m->judge >= m->detector_count)
        result->reason = oif_model_finding(m).reason;
    if (result->anomaly && result->reason == OIF_REASON_VALUES &&
        oif_model_has_first_value(m, row)) {
        m->judge = (uint32_t)first_value_judge(m, first_value_column(m, row));
        result->reason = OIF_REASON_FIRST_VALUE;
        result->severity = first_value_severity;
    }
    result->grade = result->anomaly ? grade_of(result->severity) : OIF_GRADE_NONE;
}

void oif_model_judge_values(oif_model *m, const oif_row_scores *scores, oif_result *result)
{
    m->judge = result->detector = 0;
    result->reason = OIF_REASON_VALUES;
    result->score = scores->for_history;
    result->p = oif_score_history_share(&m->history, result->score);
    result->severity =
        oif_severity(&m->history, oif_detector_scale(m->detectors[0]), result->score, result->p);
    result->grade = grade_of(result->severity);
}
