/* The answers of Prometheus to the queries of one step, joined to rows of NDJSON:
 *
 *     load: {instance="a"} 0.3, {instance="b"} 0.4
 *     free: {instance="a"} 8
 *
 *     {"time":60,"instance":"a","load":0.3,"free":8}
 *     {"time":60,"instance":"b","load":0.4,"free":null}
 *
 * There is one row per key, in the order of the keys. The labels that make the key are columns, so
 * the stream joins them as it does for any composite key. Without named labels the values of all
 * labels, in the order of the labels' names, make one column: key. */
#ifndef OIF_SERVE_PROMETHEUS_ROWS_H
#define OIF_SERVE_PROMETHEUS_ROWS_H

#include "config.h"

typedef struct prometheus_rows prometheus_rows;

/* `config` must live as long. NULL: memory is short. */
prometheus_rows *prometheus_rows_new(const pull_config *config, size_t rows_max);
void prometheus_rows_free(prometheus_rows *rows);

/* The answer to the query of the next column; it still belongs to the caller. Returns false, with
 * the cause in `why`, if it is not one that rows can be made of. */
bool prometheus_rows_add(prometheus_rows *rows, json_t *answer, problem *why);

/* Writes them to the output. */
void prometheus_rows_write(prometheus_rows *rows, double time_seconds);

size_t prometheus_rows_count(const prometheus_rows *rows);

/* Series that are in no row: there are more keys than rows_max, or the key is too long. */
size_t prometheus_rows_left_out(const prometheus_rows *rows);

/* Series whose key another series of the same query has; the first one counts. */
size_t prometheus_rows_doubled(const prometheus_rows *rows);

#endif
