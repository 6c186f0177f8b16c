/* Severity: about one ordinary row in 10^severity has such a score. Within the known scores that is
 * -log10 of the fraction at least as high. Beyond the highest 5% the tail is extrapolated from two
 * points, the scores of one row in 20 and of one in 200, which are one unit of severity apart.
 *
 * This is the severity of a result. To compare judges (judges.h), there is a second estimate,
 * extrapolated from the body of the scores: those of one row in 2 and of one in 5. The larger
 * estimate counts. If the history contains many anomalies of one kind, they are its tail, and only
 * the body shows that they are not ordinary rows.
 */
#ifndef OIF_PIPELINE_SEVERITY_H
#define OIF_PIPELINE_SEVERITY_H

#include "detect/score_scale.h"
#include "pipeline/alerts/score_history.h"

/* -log10 of a share above 0, at most 1. */
double oif_share_severity(double share);

/* The severity of a score, if `share` of the scores are as high. */
double oif_severity(const oif_score_history *history, oif_score_scale scale, double score,
                    double share);

/* The score with this severity; +infinity while too few scores are known. */
double oif_severity_threshold(const oif_score_history *history, oif_score_scale scale,
                              double severity);

/* A line through two points of a history: severity as a function of evidence. */
typedef struct oif_severity_line {
    double evidence, severity; /* of the first point */
    double apart;              /* evidence per unit of severity */
} oif_severity_line;

/* The tail and the body of a history, for judges. */
typedef struct oif_severity_curve {
    double tail_score; /* where the tail begins */
    oif_severity_line tail, body;
} oif_severity_curve;

/* Whether there were enough scores. */
static inline bool oif_curve_is_known(const oif_severity_curve *curve)
{
    return curve->tail.apart > 0;
}

oif_severity_curve oif_severity_curve_of(const oif_score_history *history, oif_score_scale scale);

/* The severity of a score for a judge; 0 while too few scores are known. `history` must be the
 * history of the curve. */
double oif_curve_severity(const oif_severity_curve *curve, const oif_score_history *history,
                          oif_score_scale scale, double score);

/* The score with this severity, above log10(20), by the tail alone, like the threshold. */
double oif_curve_tail_score(const oif_severity_curve *curve, oif_score_scale scale,
                            double severity);

/* The score with this severity, which must be above 0. */
double oif_curve_score(const oif_severity_curve *curve, const oif_score_history *history,
                       oif_score_scale scale, double severity);

#endif
