#include "pipeline/alerts/severity.h"

#include "base/stable_math.h"

#include <math.h>

static const double common_share = 0.05, rare_share = 0.005, body_shares[] = {0.5, 0.2};
static const double log10_of_20 = 1.3010299956639813;
static const double log10_of_2 = 0.30102999566398120, log2_of_10 = 3.3219280948873623;
static const double enough_scores = 500; /* so there is a score of one row in 500 */

/* A judge whose scores hardly differ must not call the first deviation extreme. */
static double least_apart(oif_score_scale scale)
{
    switch (scale) {
    case OIF_SCORES_OF_EVIDENCE: return 0.5;
    case OIF_SCORES_OF_SEASON: return 0.3;
    case OIF_SCORES_OF_SEVERITY: return 0.7;
    default: return 0x1p-4;
    }
}

double oif_share_severity(double share)
{
    return share < 1 ? -oif_log2(share) * log10_of_2 : 0;
}

static oif_severity_line line_between(oif_score_scale scale, double common, double common_severity,
                                      double rare, double severities_between)
{
    oif_severity_line line = {oif_score_evidence(scale, common), common_severity, 0};
    double apart = (oif_score_evidence(scale, rare) - line.evidence) / severities_between;
    line.apart = apart > least_apart(scale) ? apart : least_apart(scale);
    return line;
}

static oif_severity_line tail_of(const oif_score_history *history, oif_score_scale scale,
                                 double common)
{
    return line_between(scale, common, log10_of_20, oif_score_history_at(history, rare_share), 1);
}

static double severity_on(const oif_severity_line *line, double evidence)
{
    return line->severity + (evidence - line->evidence) / line->apart;
}

static double evidence_on(const oif_severity_line *line, double severity)
{
    return line->evidence + (severity - line->severity) * line->apart;
}

double oif_severity(const oif_score_history *history, oif_score_scale scale, double score,
                    double share)
{
    double common = oif_score_history_at(history, common_share);
    if (!(score > common) || common == -INFINITY)
        return oif_share_severity(share);
    oif_severity_line tail = tail_of(history, scale, common);
    return severity_on(&tail, oif_score_evidence(scale, score));
}

double oif_severity_threshold(const oif_score_history *history, oif_score_scale scale,
                              double severity)
{
    const double least_scores = 256;
    if (!(severity < INFINITY))
        return INFINITY;
    if (severity <= log10_of_20 || history->total < least_scores)
        return oif_score_history_threshold(history, oif_exp2(-severity * log2_of_10));
    const double common = oif_score_history_at(history, common_share);
    const oif_severity_line tail = tail_of(history, scale, common);
    const double score = oif_evidence_score(scale, evidence_on(&tail, severity));
    return score > common ? score : common;
}

/* ---- For judges ---- */

oif_severity_curve oif_severity_curve_of(const oif_score_history *history, oif_score_scale scale)
{
    oif_severity_curve curve = {0};
    if (history->total < enough_scores)
        return curve;
    double half = oif_score_history_smooth_at(history, body_shares[0]),
           fifth = oif_score_history_smooth_at(history, body_shares[1]);
    curve.tail_score = oif_score_history_at(history, common_share);
    curve.tail = tail_of(history, scale, curve.tail_score);
    curve.body =
        line_between(scale, half, oif_share_severity(body_shares[0]), fifth,
                     oif_share_severity(body_shares[1]) - oif_share_severity(body_shares[0]));
    return curve;
}

double oif_curve_severity(const oif_severity_curve *curve, const oif_score_history *history,
                          oif_score_scale scale, double score)
{
    if (!oif_curve_is_known(curve))
        return 0;
    double evidence = oif_score_evidence(scale, score), severity;
    if (score > curve->tail_score) {
        severity = severity_on(&curve->tail, evidence);
    } else {
        severity = oif_share_severity(oif_score_history_smooth_share(history, score));
        severity = severity < log10_of_20 ? severity : log10_of_20;
    }
    double by_body = severity_on(&curve->body, evidence);
    return by_body > severity ? by_body : severity;
}

double oif_curve_tail_score(const oif_severity_curve *curve, oif_score_scale scale, double severity)
{
    double score = oif_evidence_score(scale, evidence_on(&curve->tail, severity));
    return score > curve->tail_score ? score : curve->tail_score;
}

double oif_curve_score(const oif_severity_curve *curve, const oif_score_history *history,
                       oif_score_scale scale, double severity)
{
    double score;
    if (severity > log10_of_20) {
        score = oif_curve_tail_score(curve, scale, severity);
    } else {
        score = oif_score_history_smooth_at(history, oif_exp2(-severity * log2_of_10));
        score = score < curve->tail_score ? score : curve->tail_score;
    }
    double by_body = oif_evidence_score(scale, evidence_on(&curve->body, severity));
    return by_body < score ? by_body : score;
}
