/* What scores are, and how to compare those of different detectors: evidence has no upper end, and
 * the evidence of ordinary rows gets rarer evenly. It grows with the score. */
#ifndef OIF_DETECT_SCORE_SCALE_H
#define OIF_DETECT_SCORE_SCALE_H

typedef enum oif_score_scale {
    OIF_SCORES_UP_TO_1,     /* between 0 and 1: 2^-(relative depth), or like it */
    OIF_SCORES_IN_BITS,     /* without an upper end: one more is half as likely */
    OIF_SCORES_OF_MASS,     /* without an upper end: rows that a removal would move */
    OIF_SCORES_OF_DISTANCE, /* without an upper end: how far the row is from others */
    OIF_SCORES_OF_EVIDENCE, /* evidence, most often 0; one more is much */
    OIF_SCORES_OF_SEVERITY  /* one more is a tenth as likely */
} oif_score_scale;

double oif_score_evidence(oif_score_scale scale, double score);

/* The score that has this evidence. */
double oif_evidence_score(oif_score_scale scale, double evidence);

#endif
