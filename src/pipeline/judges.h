/* Several judges and one score. The first judge leads: the score of a row is the leader's, unless
 * another judge finds the row more severe, by a margin. Then the row gets the score that the leader
 * gives rows of that severity. So there is one scale, one threshold and one history of what came
 * out.
 *
 *     leader    score .52    severity 1.2 ----------------------------+
 *     other     score 7.1    severity 3.4, less the margin: 3.1       +-> the larger: .69
 *                            the leader's score of severity 3.1: .69 -+
 *
 * Each judge is compared with its own history. That of the leader must not hold what others put in
 * its place: the scores it lends would raise each other without end.
 */
#ifndef OIF_PIPELINE_JUDGES_H
#define OIF_PIPELINE_JUDGES_H

#include "pipeline/severity.h"

typedef struct oif_judge {
    oif_score_scale scale;
    double score; /* of the last row; NaN: the judge does not know */
    oif_severity_curve curve;
    oif_score_history history;
} oif_judge;

void oif_judge_init(oif_judge *judge, oif_score_scale scale, double memory);
void oif_judge_visit_fields(oif_judge *judge, oif_state_visitor *visitor);

/* The severity of the row that all judges have a score for: the largest, others than the leader
 * less the margin. `*decisive` becomes the number of the judge whose severity it is. */
double oif_judges_severity(const oif_judge judges[], size_t count, uint32_t *decisive);

/* The severity that a judge other than the leader finds, less the margin. */
double oif_judge_severity(const oif_judge *judge);

/* The score that a leader gives rows of this severity. Its curve is known. */
double oif_judge_score(const oif_judge *leader, double severity);

/* The score of a row that is an alert by itself: compared with the threshold, not with rows. */
double oif_judge_alarm_score(const oif_judge *leader, double severity);

/* The scores of the row are part of what is usual. */
void oif_judges_learn(oif_judge judges[], size_t count);

#endif
