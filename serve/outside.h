/* What the server has to do with other programs: the streams of its configuration, Alertmanager,
 * Prometheus, and the metrics about all of it. */
#ifndef OIF_SERVE_OUTSIDE_H
#define OIF_SERVE_OUTSIDE_H

#include "configured.h"
#include "request_figures.h"
#include "streams.h"

typedef struct outside outside;

/* `both` and `all` must live until the stop; `page_url` is used if no other was asked for.
 * Complains and returns NULL if it cannot. */
outside *outside_start(const configured *both, const char *page_url, streams *all);
void outside_stop(outside *others); /* NULL is fine */

/* Writes what GET /metrics answers to the (diverted) output. False: memory is short. */
bool outside_write_metrics(outside *others, request_figures *requests);

#endif
