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

/* The same as a magnitude: twice as large for each unit of evidence. */
double oif_score_magnitude(oif_score_scale scale, double score);

#endif
