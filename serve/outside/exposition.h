/* GET /metrics: the Prometheus text format 0.0.4, with figures of each stream and of the program.
 * Keys have no series of their own: the page and alerts name them. */
#ifndef OIF_SERVE_EXPOSITION_H
#define OIF_SERVE_EXPOSITION_H

#include "alertmanager.h"
#include "prometheus_pull.h"
#include "serve/http/request_figures.h"
#include "serve/stream/streams.h"
#include "webhook.h"

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef struct exposition_sources {
    streams *all;         /* NULL while loading */
    alertmanager *sender; /* NULL: none */
    webhook *hook;        /* NULL: none */
    pull *puller;         /* NULL: none */
} exposition_sources;

/* Writes them to the (diverted) output. Returns false if out of memory. */
bool exposition_write(const exposition_sources *sources, request_figures *requests);

#endif
