/* Severity: about one ordinary row in 10^severity has such a score. Among the known scores that is
 * -log10 of the share that is as high. Beyond the highest 2% the tail is continued from two of its
 * points, the scores of one row in 50 and of one in 500: they are one unit of severity apart.
 *
 * So the severities of different detectors can be compared, however far out a row is.
 */
#ifndef OIF_PIPELINE_SEVERITY_H
#define OIF_PIPELINE_SEVERITY_H

#include "detect/score_scale.h"
#include "pipeline/score_history.h"

/* Of a score, `share` of the scores being as high. */
double oif_severity(const oif_score_history *history, oif_score_scale scale, double score,
                    double share);

/* The same with a share between the groups of the history; 0 while too few scores are known. */
double oif_smooth_severity(const oif_score_history *history, oif_score_scale scale, double score);

/* The score that has this smooth severity. */
double oif_severity_score(const oif_score_history *history, oif_score_scale scale, double severity);

#endif
