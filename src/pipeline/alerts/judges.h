/* Several judges, one score. The first judge leads: a row gets the leader's score, unless another
 * judge finds the row more severe by a margin. Then it gets the score that the leader gives to rows
 * of that severity. So there is one scale, one threshold and one history of resulting scores.
 *
 *     leader    score .52    severity 1.2 ----------------------------+
 *     other     score 7.1    severity 3.4, less the margin: 3.1       +-> the larger: .69
 *                            the leader's score of severity 3.1: .69 -+
 *
 * Each judge is compared with its own history. The leader's history must not contain scores due to
 * other judges: they would raise each other without end.
 */
#ifndef OIF_PIPELINE_JUDGES_H
#define OIF_PIPELINE_JUDGES_H

#include "pipeline/alerts/severity.h"

typedef struct oif_judge {
    oif_score_scale scale;
    uint32_t unused;
    double score; /* of the last row; NaN: unknown */
    oif_severity_curve curve;
    oif_score_history history;
} oif_judge;

void oif_judge_init(oif_judge *judge, oif_score_scale scale, double memory);
void oif_judge_visit_fields(oif_judge *judge, oif_state_visitor *visitor);

/* The largest severity of the row over all judges, less the margin for all but the leader.
 * `*decisive` becomes the number of that judge. */
double oif_judges_severity(const oif_judge judges[], size_t count, uint32_t *decisive);

/* The severity found by a judge other than the leader, less the margin. */
double oif_judge_severity(const oif_judge *judge);

/* The same for another score of the row. */
double oif_judge_severity_of(const oif_judge *judge, double score);

/* The score that a leader gives to rows of this severity. Its curve must be known. */
double oif_judge_score(const oif_judge *leader, double severity);

/* The score of a row that is an alert in itself, by the tail that also gives the threshold. */
double oif_judge_alarm_score(const oif_judge *leader, double severity);

/* Adds the scores of the row to the histories. */
void oif_judges_learn(oif_judge judges[], size_t count);

#endif
