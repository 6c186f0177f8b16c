/* The scores of the recent past, in a few kilobytes: how rare is a score as high as this one,
 * and which score is as rare as wanted?
 *
 * High scores are what is asked about, so these are kept best. Scores are put together in
 * groups; a group may hold one part in PRECISION of all that is as high or higher:
 *
 *     low |        group        |     group    |   group  | group | grp | g | g |.|.|.|. high
 *                                                                              one score each
 *
 * so that a share of scores is known to a few percent of itself, be it a tenth or a millionth.
 * Older scores count less and less, to 1/e after `memory` scores.
 */
#ifndef OIF_ALERT_SCORE_HISTORY_H
#define OIF_ALERT_SCORE_HISTORY_H

#include "base/state_visitor.h"

#include <stdbool.h>

enum {
    OIF_HISTORY_GROUPS = 480, /* at most; about 32 (1 + ln(memory / 32)) are in use */
    OIF_HISTORY_PENDING = 32  /* scores that come together before they are grouped */
};

typedef struct oif_score_history {
    double memory; /* scores after which one counts 1/e */
    double decay;  /* what a score's weight becomes, multiplied, while OIF_HISTORY_PENDING come */
    double total;  /* the weight of all groups */
    uint32_t groups, pending;
    double scores[OIF_HISTORY_GROUPS];  /* of each group the mean, ascending */
    double weights[OIF_HISTORY_GROUPS]; /* of each group and all above it */
    double waiting[OIF_HISTORY_PENDING];
} oif_score_history;

void oif_score_history_init(oif_score_history *history, double memory);

/* Remembers a score; it takes part in the answers once OIF_HISTORY_PENDING have come together,
 * sooner at the start. */
void oif_score_history_add(oif_score_history *history, double score);

/* The share of scores at least as high, this one among them: over 0, up to 1. */
double oif_score_history_share(const oif_score_history *history, double score);

/* The least score t so that the share of any score above t is at most `rate`; +infinity while
 * too few are known. */
double oif_score_history_threshold(const oif_score_history *history, double rate);

void oif_score_history_visit_fields(oif_score_history *history, oif_state_visitor *visitor);

/* Whether this can be a history: it may come from a damaged snapshot. */
bool oif_score_history_check(const oif_score_history *history);

#endif
