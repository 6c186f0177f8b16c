/* Streams whose rows come from an existing Prometheus: every step its queries are asked for one
 * common time, and the answers go through the stream as any batch of rows. One thread per stream.
 *
 * A step that fails is tried again until the next one is due; steps never pile up, and what was
 * missed while oif or Prometheus was down is not made up for. */
#ifndef OIF_SERVE_PROMETHEUS_PULL_H
#define OIF_SERVE_PROMETHEUS_PULL_H

#include "config.h"
#include "streams.h"

typedef struct pull pull;

/* Starts a thread for each stream, which must be there. All arguments must live until the stop. On
 * failure `why` says the cause and nothing runs. */
bool pull_start(const prometheus_config *config, streams *all, pull **started, problem *why);
void pull_stop(pull *puller); /* NULL is fine */

typedef struct pull_figures {
    const char *stream;
    uint64_t steps;    /* whose rows went through the stream */
    uint64_t failures; /* attempts that did not succeed */
    uint64_t missed;   /* steps that were not asked for, because one before took too long */
    uint64_t rows;
    uint64_t left_out;   /* series in no row: too many keys, or two of one key */
    double last_seconds; /* that the last step took */
    bool is_failing;
} pull_figures;

void pull_each(pull *puller, void (*visit)(void *context, const pull_figures *figures),
               void *context);

#endif
