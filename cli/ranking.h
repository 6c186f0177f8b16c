/* How well scores tell anomalies from the rest: ROC AUC and average precision, exact, in O(n
 * log n). */
#ifndef OIF_CLI_RANKING_H
#define OIF_CLI_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranked_row {
    double score;
    uint32_t row; /* from 0, in the order they were added */
    bool anomaly;
};

/* All zero is an empty ranking. */
struct ranking {
    struct ranked_row *rows;
    size_t count, capacity;
    size_t anomaly_count;
};

/* False when memory is short, or after 2^32 rows. */
bool ranking_add(struct ranking *ranking, double score, bool anomaly);
void ranking_free(struct ranking *ranking);

/* Puts the highest score first; of equal ones, the earlier row. */
void ranking_sort(struct ranking *ranking);

/* Of a sorted ranking with at least one anomaly and one normal row, otherwise neither measure
 * means anything. */
bool ranking_has_both(const struct ranking *ranking);

/* The chance that an anomaly scores higher than a normal row; equal scores count half. */
double ranking_roc_auc(const struct ranking *ranking);

/* The mean, over the anomalies, of the share of anomalies among the rows that score at least as
 * high. */
double ranking_average_precision(const struct ranking *ranking);

#endif
