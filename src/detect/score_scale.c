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
    case OIF_SCORES_IN_BITS: break;
    }
    return score;
}

double oif_score_severity(oif_score_scale scale, oif_score_rarity rarity, double score)
{
    const double of_usual = 1.3010299956639812; /* one row in 20 */
    const double beyond = oif_score_evidence(scale, score) - rarity.usual,
                 severity = of_usual + beyond / rarity.per_decade;
    return severity > 0 ? severity : 0;
}
