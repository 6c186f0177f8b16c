/* How good a detector is on labelled rows: what an operator asks about its alerts, and how well its
 * scores separate anomalies from the rest.
 *
 * An episode is a run of alerts of one key, as `oif score` has them. A labelled episode is a run of
 * labelled rows of one key. It is found if one of its rows is an alert; its delay is the number of
 * rows, or the time, from its first row to the first alert among its rows. An episode is false if
 * none of its alerts is a labelled row. */
#ifndef OIF_CLI_EVAL_MEASURES_H
#define OIF_CLI_EVAL_MEASURES_H

#include "roc.h"

/* Measures are numbers; NaN where one means nothing. */
typedef enum eval_measure {
    MEASURE_ALERTS,    /* rows */
    MEASURE_EPISODES,  /* of alerts */
    MEASURE_NOTE_ROWS, /* alerts of each grade, and episodes whose worst row has it */
    MEASURE_WARNING_ROWS,
    MEASURE_CRITICAL_ROWS,
    MEASURE_NOTE_EPISODES,
    MEASURE_WARNING_EPISODES,
    MEASURE_CRITICAL_EPISODES,
    MEASURE_PRECISION, /* the share of alerts that are labelled */
    MEASURE_RECALL,    /* the share of labelled rows that are alerts */
    MEASURE_FOUND,     /* labelled episodes */
    MEASURE_DELAY_ROWS,
    MEASURE_DELAY_SECONDS,
    MEASURE_FALSE_EPISODES,
    MEASURE_FALSE_PER_DAY,
    MEASURE_FALSE_PER_1000, /* rows */
    MEASURE_NOT_READY,      /* rows */
    MEASURE_LABELLED_NOT_READY,
    MEASURE_ROC_AUC,
    MEASURE_AVERAGE_PRECISION,
    MEASURES
} eval_measure;

/* "roc_auc": as JSON has it. */
const char *eval_measure_name(eval_measure measure);

/* What a row was for a detector, as bits; ROW_GRADE times its grade. */
enum { ROW_IS_ALERT = 1, ROW_BEGINS_EPISODE = 2, ROW_IS_READY = 4, ROW_GRADE = 8 };

/* The rows of a stream, without their numbers. */
typedef struct eval_rows {
    size_t count, capacity;
    uint8_t *labels; /* the code of its value; once decided, 1 for an anomaly */
    uint32_t *keys;  /* numbers; NULL: there are none */
    double *seconds; /* NaN: unknown; NULL: no --time */
    size_t key_count;
    size_t anomaly_count, labelled_episodes; /* known at the end */
} eval_rows;

/* Makes room for that many rows; the caller notes the capacity. These return false when memory is
 * short. */
bool eval_rows_reserve(eval_rows *rows, size_t capacity, bool has_keys, bool has_times);

/* Counts the labelled rows and episodes. */
bool eval_rows_count(eval_rows *rows);

/* The measures of one detector's scores and marks. */
bool eval_measures_take(const eval_rows *rows, const double scores[], const uint8_t marks[],
                        double measures[MEASURES]);

/* A sorted ranking of all rows; to be freed. */
bool eval_measures_rank(const eval_rows *rows, const double scores[], roc_ranking *ranking);

/* Mean and standard deviation of those that are not NaN. */
void eval_measures_spread(const double values[], size_t count, double *mean, double *deviation);

#endif
