/* Score scales. To compare scores of different detectors, convert them to evidence: it has no upper
 * bound, grows with the score, and among ordinary rows becomes rarer at a constant rate. */
#ifndef OIF_DETECT_SCORE_SCALE_H
#define OIF_DETECT_SCORE_SCALE_H

typedef enum oif_score_scale {
    OIF_SCORES_UP_TO_1,    /* between 0 and 1: 2^-(relative depth), or similar */
    OIF_SCORES_IN_BITS,    /* no upper bound: one more is half as likely */
    OIF_SCORES_OF_MASS,    /* no upper bound: rows that a removal would move */
    OIF_SCORES_OF_DISTANCE /* no upper bound: distance from other rows */
} oif_score_scale;

double oif_score_evidence(oif_score_scale scale, double score);

/* How rare such a score is, as a severity: one unit more is a tenth as frequent. The numbers are
 * those of many recorded series, not of one: docs/measurements/judges.md. */
typedef struct oif_score_rarity {
    double usual;      /* the evidence that one row in 20 exceeds */
    double per_decade; /* more evidence, and a tenth of the rows exceed it */
} oif_score_rarity;

double oif_score_severity(oif_score_scale scale, oif_score_rarity rarity, double score);

#endif
