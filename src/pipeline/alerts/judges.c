#include "pipeline/alerts/judges.h"

#include <math.h>

/* Another judge overrules the leader only with a row that is twice as rare to it: log10(2). So
 * something slightly unusual to one judge does not drown what another is sure of. Measured on the
 * paper's data sets and on synthetic anomalies: docs/algorithms/together.md. */
static const double margin = 0.30102999566398120;

void oif_judge_init(oif_judge *judge, oif_score_scale scale, double memory)
{
    *judge = (oif_judge){.scale = scale, .score = NAN};
    oif_score_history_init(&judge->history, memory);
}

void oif_judge_visit_fields(oif_judge *judge, oif_state_visitor *visitor)
{
    oif_score_history_visit_fields(&judge->history, visitor);
    /* The fields may be damaged; the checks after reading refuse them. */
    if (oif_score_history_check(&judge->history))
        judge->curve = oif_severity_curve_of(&judge->history, judge->scale);
}

static double severity_of(const oif_judge *judge, double score)
{
    bool tells_nothing =
        score != score ||
        ((judge->scale == OIF_SCORES_OF_EVIDENCE || judge->scale == OIF_SCORES_OF_SEASON) &&
         score <= 0);
    return tells_nothing ? 0
                         : oif_curve_severity(&judge->curve, &judge->history, judge->scale, score);
}

double oif_judge_severity_of(const oif_judge *judge, double score)
{
    return severity_of(judge, score) - margin;
}

double oif_judge_severity(const oif_judge *judge)
{
    return oif_judge_severity_of(judge, judge->score);
}

double oif_judges_severity(const oif_judge judges[], size_t count, uint32_t *decisive)
{
    double most = severity_of(&judges[0], judges[0].score);
    *decisive = 0;
    for (uint32_t i = 1; i < count && oif_curve_is_known(&judges[0].curve); i++) {
        double severity = oif_judge_severity(&judges[i]);
        if (severity > most) {
            most = severity;
            *decisive = i;
        }
    }
    return most;
}

double oif_judge_score(const oif_judge *leader, double severity)
{
    return oif_curve_score(&leader->curve, &leader->history, leader->scale, severity);
}

double oif_judge_alarm_score(const oif_judge *leader, double severity)
{
    return oif_curve_tail_score(&leader->curve, leader->scale, severity);
}

void oif_judges_learn(oif_judge judges[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        oif_judge *judge = &judges[i];
        if (judge->score != judge->score)
            continue;
        oif_score_history_add(&judge->history, judge->score);
        if (judge->history.pending == 0) /* the history has changed */
            judge->curve = oif_severity_curve_of(&judge->history, judge->scale);
    }
}
