/* How well scores separate anomalies from the rest: ROC AUC and average precision, exact, in O(n
 * log n). */
#ifndef OIF_CLI_ROC_H
#define OIF_CLI_ROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ranked_row {
    double score;
    uint32_t row; /* from 0, in the order they were added */
    bool anomaly;
} ranked_row;

/* All zero is an empty ranking. */
typedef struct roc_ranking {
    ranked_row *rows;
    size_t count, capacity;
    size_t anomaly_count;
} roc_ranking;

/* False when memory is short, or after 2^32 rows. */
bool roc_add(roc_ranking *ranking, double score, bool anomaly);
void roc_free(roc_ranking *ranking);

/* Puts the highest score first; of equal ones, the earlier row. */
void roc_sort(roc_ranking *ranking);

/* Of a sorted ranking with at least one anomaly and one normal row, otherwise neither measure
 * means anything. */
bool roc_has_both(const roc_ranking *ranking);

/* The chance that an anomaly scores higher than a normal row; equal scores count half. */
double roc_auc(const roc_ranking *ranking);

/* The mean, over the anomalies, of the share of anomalies among the rows that score at least as
 * high. */
double roc_average_precision(const roc_ranking *ranking);

#endif
