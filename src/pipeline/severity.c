#include "pipeline/severity.h"

#include "base/stable_math.h"

#include <math.h>

static const double common_share = 0.02, rare_share = 0.002;
static const double log10_of_50 = 1.6989700043360187;
static const double log10_of_2 = 0.30102999566398120, log2_of_10 = 3.3219280948873623;
static const double enough_scores = 500; /* so there is a score of one row in 500 */

/* The tail beyond the score of one row in 50. */
typedef struct tail {
    double score;    /* where it begins */
    double evidence; /* of that score */
    double apart;    /* evidence per unit of severity */
} tail;

static tail tail_of(const oif_score_history *history, oif_score_scale scale)
{
    const double least_apart = 0x1p-4;
    tail t = {.score = oif_score_history_at(history, common_share)};
    t.evidence = oif_score_evidence(scale, t.score);
    double rare = oif_score_evidence(scale, oif_score_history_at(history, rare_share));
    t.apart = rare - t.evidence > least_apart ? rare - t.evidence : least_apart;
    return t;
}

static double severity_of_share(double share)
{
    return share < 1 ? -oif_log2(share) * log10_of_2 : 0;
}

double oif_severity(const oif_score_history *history, oif_score_scale scale, double score,
                    double share)
{
    double common = oif_score_history_at(history, common_share);
    if (!(score > common) || common == -INFINITY)
        return severity_of_share(share);
    tail t = tail_of(history, scale);
    return log10_of_50 + (oif_score_evidence(scale, score) - t.evidence) / t.apart;
}

double oif_smooth_severity(const oif_score_history *history, oif_score_scale scale, double score)
{
    if (history->total < enough_scores)
        return 0;
    if (score > oif_score_history_at(history, common_share))
        return oif_severity(history, scale, score, 1);
    double severity = severity_of_share(oif_score_history_smooth_share(history, score));
    return severity < log10_of_50 ? severity : log10_of_50;
}

double oif_severity_score(const oif_score_history *history, oif_score_scale scale, double severity)
{
    tail t = tail_of(history, scale);
    if (severity > log10_of_50) {
        double evidence = t.evidence + (severity - log10_of_50) * t.apart;
        double score = oif_evidence_score(scale, evidence);
        return score > t.score ? score : t.score;
    }
    double score = oif_score_history_smooth_at(history, oif_exp2(-severity * log2_of_10));
    return score < t.score ? score : t.score;
}
