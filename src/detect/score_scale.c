#include "detect/score_scale.h"

#include "base/stable_math.h"

/* Bounds within (0, 1) between which the logarithm of the logarithm is finite. */
static const double least_below_1 = 0x1p-1000, most_below_1 = 1 - 0x1p-52;

static double clamp(double number, double least, double most)
{
    return number < least ? least : number > most ? most : number;
}

double oif_score_evidence(oif_score_scale scale, double score)
{
    switch (scale) {
    case OIF_SCORES_UP_TO_1: return -oif_log2(-oif_log2(clamp(score, least_below_1, most_below_1)));
    case OIF_SCORES_OF_MASS: return oif_log2(1 + (score > 0 ? score : 0));
    case OIF_SCORES_OF_DISTANCE: return oif_log2(clamp(score, 0x1p-1000, 0x1p1000));
    case OIF_SCORES_OF_EVIDENCE:
    case OIF_SCORES_OF_SEASON:
    case OIF_SCORES_OF_SEVERITY:
    case OIF_SCORES_IN_BITS: break;
    }
    return score;
}

double oif_evidence_score(oif_score_scale scale, double evidence)
{
    switch (scale) {
    case OIF_SCORES_UP_TO_1: return oif_exp2(-oif_exp2(-clamp(evidence, -10, 52)));
    case OIF_SCORES_OF_MASS: return oif_exp2(clamp(evidence, 0, 1000)) - 1;
    case OIF_SCORES_OF_DISTANCE: return oif_exp2(clamp(evidence, -1000, 1000));
    case OIF_SCORES_OF_EVIDENCE:
    case OIF_SCORES_OF_SEASON:
    case OIF_SCORES_OF_SEVERITY:
    case OIF_SCORES_IN_BITS: break;
    }
    return evidence;
}
