/* A summary of recent scores in a few kilobytes. It answers: what fraction of the scores is at
 * least this high, and which score is exceeded by this fraction?
 *
 * Scores are merged into groups. High scores matter most, so groups are finer there: a group may
 * hold one part in PRECISION of the weight of all scores that are as high or higher.
 *
 *     low |        group        |     group    |   group  | group | grp | g | g |.|.|.|. high
 *                                                                              one score each
 *
 * So the relative error of a fraction is a few percent, whether it is a tenth or a millionth.
 * Weights decay with age, to 1/e after `memory` scores.
 */
#ifndef OIF_PIPELINE_SCORE_HISTORY_H
#define OIF_PIPELINE_SCORE_HISTORY_H

#include "base/state_visitor.h"
#include "base/unchanged.h"

#include <stdbool.h>

enum {
    OIF_HISTORY_GROUPS = 480, /* at most; about 32 (1 + ln(memory / 32)) are in use */
    OIF_HISTORY_PENDING = 32  /* scores collected before they are merged into groups */
};

typedef struct oif_score_history {
    double memory; /* scores after which the weight of a score is 1/e */
    double decay;  /* the factor on all weights for OIF_HISTORY_PENDING new scores */
    double total;  /* the weight of all groups */
    uint32_t groups, pending;
    double scores[OIF_HISTORY_GROUPS];   /* the mean score of each group, ascending */
    double weights[OIF_HISTORY_GROUPS];  /* the weight of each group and all above it */
    double waiting[OIF_HISTORY_PENDING]; /* scores not in a group yet */
} oif_score_history;

void oif_score_history_init(oif_score_history *history, double memory);

/* Changes how long future scores count. */
void oif_score_history_set_memory(oif_score_history *history, double memory);

/* Adds a score. It affects the answers once OIF_HISTORY_PENDING scores are collected. */
void oif_score_history_add(oif_score_history *history, double score);

/* The fraction of scores at least this high, this one included: above 0, at most 1. */
double oif_score_history_share(const oif_score_history *history, double score);

/* The lowest score t such that the fraction of every score above t is at most `rate`; +infinity
 * while there are too few scores. */
double oif_score_history_threshold(const oif_score_history *history, double rate);

/* The highest score reached by at least `share` of the scores; -infinity if none is known. */
double oif_score_history_at(const oif_score_history *history, double share);

/* The same two, interpolated between the groups: they change with every score, and each is the
 * inverse of the other. For comparing histories; the functions above return actual scores. */
double oif_score_history_smooth_share(const oif_score_history *history, double score);
double oif_score_history_smooth_at(const oif_score_history *history, double share);

/* Reports groups that the last scores, at most one per row, have not changed. */
void oif_score_history_unchanged(const oif_score_history *history, const oif_unchanged *unchanged);

void oif_score_history_visit_fields(oif_score_history *history, oif_state_visitor *visitor);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_score_history_check(const oif_score_history *history);

#endif
