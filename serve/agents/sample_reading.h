/* Bodies of agents that become samples. A reader takes what is good, and counts the rest. */
#ifndef OIF_SERVE_SAMPLE_READING_H
#define OIF_SERVE_SAMPLE_READING_H

#include "samples.h"

typedef struct sample_reading {
    samples *all;
    double now_seconds; /* the time of samples without one */
    bool uses_now;      /* there are such */
    double per_second;  /* units of Influx's times in a second */
    uint64_t bad;       /* lines, metrics or points that are malformed */
    problem first_bad;  /* about the first of them */
} sample_reading;

/* Counts a malformed line; of the first one the message is kept. Returns true. */
bool sample_reading_skip(sample_reading *reading, uint64_t line, const char *message);

/* All return false if nothing of the body can be used, with the reason in `why`. */
bool influx_samples_read(sample_reading *reading, oif_text body, problem *why);
bool prometheus_samples_read(sample_reading *reading, oif_text body, problem *why);
bool remote_write_read(sample_reading *reading, oif_text body, problem *why);
bool otlp_read(sample_reading *reading, oif_text body, problem *why);

/* By the conventions of Prometheus: _total, _count and _sum are counters, _bucket with the label le
 * is a bucket. */
sample_kind sample_kind_by_name(oif_text name, bool has_bound);

#endif
