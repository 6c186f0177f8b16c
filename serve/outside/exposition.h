/* GET /metrics: the Prometheus text format 0.0.4. Names are those of `oif score --output
 * prometheus` where it has them. */
#ifndef OIF_SERVE_EXPOSITION_H
#define OIF_SERVE_EXPOSITION_H

#include "alertmanager.h"
#include "prometheus_pull.h"
#include "serve/http/request_figures.h"
#include "serve/stream/streams.h"
#include "webhook.h"

enum { EXPOSITION_KEYS_INITIALLY = 100 };
#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef struct exposition_sources {
    streams *all;         /* NULL while loading */
    alertmanager *sender; /* NULL: none */
    webhook *hook;        /* NULL: none */
    pull *puller;         /* NULL: none */
    size_t keys_max;      /* of each stream with their own series: the worst ones */
} exposition_sources;

/* Writes them to the (diverted) output. Returns false if out of memory. */
bool exposition_write(const exposition_sources *sources, request_figures *requests);

#endif
