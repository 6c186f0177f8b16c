/* Severity: about one ordinary row in 10^severity has such a score. Among the known scores that is
 * -log10 of the share that is as high. Beyond the highest 2% the tail is continued from two of its
 * points, the scores of one row in 50 and of one in 500: they are one unit of severity apart.
 *
 * That is the severity of a result. Judges (judges.h) are compared by one more estimate, which is
 * continued from the body of the scores, those of one row in 2 and of one in 5, and the larger one
 * counts. Where many anomalies of one kind are in the history they are its tail, and only the body
 * shows that they are not ordinary rows.
 */
#ifndef OIF_PIPELINE_SEVERITY_H
#define OIF_PIPELINE_SEVERITY_H

#include "detect/score_scale.h"
#include "pipeline/score_history.h"

/* -log10 of a share, which is above 0 and at most 1. */
double oif_share_severity(double share);

/* Of a score, `share` of the scores being as high. */
double oif_severity(const oif_score_history *history, oif_score_scale scale, double score,
                    double share);

/* The score that one row in 1 / rate exceeds, if that is rarer than any score that is known;
 * +infinity while too few are. */
double oif_severity_threshold(const oif_score_history *history, oif_score_scale scale, double rate);

/* A line through two points of a history: how severity grows with evidence. */
typedef struct oif_severity_line {
    double evidence, severity; /* of the first point */
    double apart;              /* evidence per unit of severity */
} oif_severity_line;

/* The tail and the body of a history, for judges. */
typedef struct oif_severity_curve {
    bool is_known;     /* there are enough scores */
    double tail_score; /* where the tail begins */
    oif_severity_line tail, body;
} oif_severity_curve;

oif_severity_curve oif_severity_curve_of(const oif_score_history *history, oif_score_scale scale);

/* The severity of a score for a judge; 0 while too few scores are known. The history is the one
 * that the curve is of. */
double oif_curve_severity(const oif_severity_curve *curve, const oif_score_history *history,
                          oif_score_scale scale, double score);

/* The score that has this severity by the tail alone, as the threshold has; above log10(50). */
double oif_curve_tail_score(const oif_severity_curve *curve, oif_score_scale scale,
                            double severity);

/* The score that has this severity, which is above 0. */
double oif_curve_score(const oif_severity_curve *curve, const oif_score_history *history,
                       oif_score_scale scale, double severity);

#endif
