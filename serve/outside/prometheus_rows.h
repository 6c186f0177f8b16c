/* Joins the answers of Prometheus to the queries of one step into rows of NDJSON:
 *
 *     load: {instance="a"} 0.3, {instance="b"} 0.4
 *     free: {instance="a"} 8
 *
 *     {"time":60,"instance":"a","load":0.3,"free":8}
 *     {"time":60,"instance":"b","load":0.4,"free":null}
 *
 * There is one row per key, in the order of the keys. The labels of the key are columns, and the
 * stream joins them like any composite key. If no labels are named, the values of all labels, in
 * the order of their names, form one column: key. */
#ifndef OIF_SERVE_PROMETHEUS_ROWS_H
#define OIF_SERVE_PROMETHEUS_ROWS_H

#include "config.h"

typedef struct prometheus_rows prometheus_rows;

/* `config` must live as long. NULL: out of memory. */
prometheus_rows *prometheus_rows_new(const pull_config *config, size_t rows_max);
void prometheus_rows_free(prometheus_rows *rows);

/* Adds the answer to the query of the next column; the caller still owns it. Returns false, with
 * the cause in `why`, if it cannot become rows. */
bool prometheus_rows_add(prometheus_rows *rows, json_t *answer, problem *why);

/* Writes them to the output. */
void prometheus_rows_write(prometheus_rows *rows, double time_seconds);

size_t prometheus_rows_count(const prometheus_rows *rows);

/* Series in no row: there are more keys than rows_max, or the key is too long. */
size_t prometheus_rows_left_out(const prometheus_rows *rows);

/* Series with the same key as another series of the query; the first one counts. */
size_t prometheus_rows_doubled(const prometheus_rows *rows);

#endif
