/* The answers of Prometheus to the queries of one step become samples, one column per query:
 *
 *     load: {instance="a"} 0.3, {instance="b"} 0.4
 *     free: {instance="a"} 8
 *
 *     {"time":60,"instance":"a","load":0.3,"free":8}
 *     {"time":60,"instance":"b","load":0.4}
 *
 * Labels are in the key or nowhere. If the key names none, all of them are the key, as one text. */
#ifndef OIF_SERVE_PROMETHEUS_ROWS_H
#define OIF_SERVE_PROMETHEUS_ROWS_H

#include "serve/agents/samples.h"

/* Adds the answer to the query of a column; the caller still owns it. Returns false, with the cause
 * in `why`, if it cannot become samples. */
bool prometheus_rows_add(samples *all, const char *column, double seconds, json_t *answer,
                         problem *why);

#endif
