/* Streams whose rows come from an existing Prometheus. At every step, all queries run for one
 * common time, and the answers are processed like any batch of rows. One thread per stream.
 *
 * A failed step is retried until the next one is due, and steps never pile up. What was missed
 * while oif was down is fetched at the start if `past` is configured: the same queries for the
 * times since the last row of the stream, one after the other. */
#ifndef OIF_SERVE_PROMETHEUS_PULL_H
#define OIF_SERVE_PROMETHEUS_PULL_H

#include "config.h"
#include "serve/stream/streams.h"

typedef struct pull pull;

/* Starts a thread for each stream; the streams must exist. All arguments must live until the stop.
 * On failure, `why` has the cause and nothing runs. */
bool pull_start(const prometheus_config *config, streams *all, pull **started, problem *why);
void pull_stop(pull *puller); /* accepts NULL */

typedef struct pull_figures {
    const char *stream;
    uint64_t left_out; /* series in no row: too many keys, or a duplicate key */
    bool is_failing;   /* the latest attempt failed */
} pull_figures;

void pull_each(pull *puller, void (*visit)(void *context, const pull_figures *figures),
               void *context);

#endif
