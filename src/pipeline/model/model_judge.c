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
    return oif_judge_score(&judges_of(m)[0], oif_judge_severity_of(&judges_of(m)[m->judge], score));
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

/* How rare the score is, and which one would be an anomaly. */
static void compare_score(const oif_model *m, const oif_row_scores *scores,
                          const oif_table_verdict *verdict, oif_result *result)
{
    const double score = result->score = scores->score;
    const bool by_verdict = verdict && scores->decided < m->detector_count;
    result->p = by_verdict ? verdict->p : oif_score_history_share(&m->history, score);
    result->threshold =
        by_verdict && m->options.threshold == 0 ? verdict->threshold : threshold_of(m, scores->bar);
    /* Consecutive unusual rows lower the threshold. */
    if (scores->persists && score <= result->threshold && scores->for_history > result->threshold)
        result->threshold = score - fabs(score) * DBL_EPSILON - DBL_MIN;
    result->severity = by_verdict ? verdict->severity
                                  : oif_severity(&m->history, oif_detector_scale(m->detectors[0]),
                                                 score, result->p);
}

void oif_model_judge(oif_model *m, bool was_ready, const oif_row_scores *scores, const double *row,
                     const oif_table_verdict *verdict, oif_result *result)
{
    const double score = scores->score;
    if (m->judge >= m->detector_count)
        prefer_plain_reason(m, row);
    compare_score(m, scores, verdict, result);
    result->ready = was_ready && result->threshold < INFINITY;
    /* A frozen model judges a row the same way, whatever came before. */
    bool is_frozen = m->options.learn == OIF_LEARN_NONE;
    result->anomaly = result->ready && score > result->threshold &&
                      (is_frozen || is_by_category(m) || !is_like_all_recent(m));
    if (!result->ready)
        result->severity = 0;
    if (m->judge < m->detector_count) {
        result->detector = m->judge;
        if (result->anomaly && !verdict && may_be_motion(m, scores) &&
            !oif_model_has_first_value(m, row))
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

/* ---- The verdict, again ---- */

static void judge_again(oif_model *m, uint32_t judge, double score, oif_result *result)
{
    m->judge = judge;
    result->detector = judge < m->detector_count ? judge : 0;
    result->reason = judge < m->detector_count ? OIF_REASON_VALUES : oif_model_finding(m).reason;
    result->score = score;
    result->p = oif_score_history_share(&m->history, score);
    result->severity =
        oif_severity(&m->history, oif_detector_scale(m->detectors[0]), score, result->p);
    result->grade = grade_of(result->severity);
}

void oif_model_judge_values(oif_model *m, const oif_row_scores *scores, oif_result *result)
{
    judge_again(m, scores->detector, scores->for_history, result);
}

/* What a sense or category found in the row. */
static oif_finding finding_of(oif_model *m, uint32_t judge)
{
    const uint32_t before = m->judge;
    m->judge = judge;
    const oif_finding found = oif_model_finding(m);
    m->judge = before;
    return found;
}

/* Whether a finding is in another column than what was held back: the same news has another name
 * there, such as a high value that is high for its time, too. */
static bool is_elsewhere(oif_model *m, const oif_row_rules *rules, double seconds, uint32_t first,
                         const oif_finding *found)
{
    const bool by_values = m->judge < m->detector_count;
    const oif_finding value = {.column = found->column,
                               .direction = oif_model_direction(m, found->column)};
    if (first >= m->detector_count && finding_of(m, first).column == found->column)
        return false;
    return !by_values || !oif_model_is_finding_muted(m, rules, seconds, &value);
}

bool oif_model_judge_others(oif_model *m, const oif_row_rules *rules, double seconds,
                            uint32_t first, const oif_row_scores *scores, oif_result *result)
{
    const uint32_t begin = (uint32_t)m->detector_count, end = (uint32_t)category_judge(m);
    double most = 0;
    uint32_t best = 0;
    for (uint32_t judge = begin; judge <= end; judge++) {
        const double severity = scores->found[judge - begin];
        if (judge == first || !(severity > most) ||
            !(oif_judge_alarm_score(&judges_of(m)[0], severity) > result->threshold))
            continue;
        const oif_finding found = finding_of(m, judge);
        if (!is_elsewhere(m, rules, seconds, first, &found) ||
            oif_model_is_finding_muted(m, rules, seconds, &found))
            continue;
        most = severity;
        best = judge;
    }
    if (most > 0)
        judge_again(m, best, oif_judge_alarm_score(&judges_of(m)[0], most), result);
    return most > 0;
}
