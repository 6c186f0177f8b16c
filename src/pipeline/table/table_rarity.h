/* How rare a score is among those of a table, which are few. The evidence of ordinary rows becomes
 * rarer at a constant rate (score_scale.h), so beyond the median it is distributed exponentially:
 *
 *     severity(e) = log10(2) + (e - median) / apart
 *
 * `apart` is the mean of what the rows above the median have beyond it, or of what the highest
 * fifth has beyond the others, if that is more: the tail is heavy. The highest twentieth counts as
 * if it were no higher than the row below it, because it may be anomalies (an exponential
 * distribution whose end is censored).
 *
 * That would be exact if the tail were exponential. Of tables without anomalies, more rows exceed a
 * severity than it says: docs/manual/short.md has the measurements, and oif_table_chance what they
 * allow to say. */
#ifndef OIF_PIPELINE_TABLE_RARITY_H
#define OIF_PIPELINE_TABLE_RARITY_H

#include "detect/score_scale.h"

#include <stddef.h>

typedef struct oif_table_rarity {
    oif_score_scale scale;
    double median; /* evidence */
    double apart;  /* evidence per unit of severity */
} oif_table_rarity;

/* `sorted` has room for `count` numbers, at least 2. */
oif_table_rarity oif_table_rarity_of(const double *scores, size_t count, oif_score_scale scale,
                                     double *sorted);

double oif_table_severity(const oif_table_rarity *rarity, double score);

/* Sorts numbers, the lowest first. */
void oif_table_sort(double *numbers, size_t count);

/* The severity that an anomaly exceeds: that of one row in 1,000. */
double oif_table_bar(void);

/* The share of rows that exceed a severity in a table without anomalies, at most: by its measured
 * tail, not by the definition of the severity. */
double oif_table_chance(double severity);

#endif
