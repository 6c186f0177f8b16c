/* The server's links to the outside: the configured streams, Alertmanager, Prometheus, and
 * metrics. */
#ifndef OIF_SERVE_OUTSIDE_H
#define OIF_SERVE_OUTSIDE_H

#include "configured.h"
#include "serve/http/request_figures.h"
#include "serve/stream/streams.h"

typedef struct outside outside;

/* `both` and `all` must live until the stop; `page_url` is used if none is configured. Complains
 * and returns NULL on failure. */
outside *outside_start(const configured *both, const char *page_url, streams *all);
void outside_stop(outside *others); /* accepts NULL */

/* Writes the answer to GET /metrics to the (diverted) output. False: out of memory. */
bool outside_write_metrics(outside *others, request_figures *requests);

#endif
