/* How samples become rows. A sample is a number with a name, labels and a time:
 *
 *     Influx, Telegraf      cpu,host=a,cpu=cpu0 usage_idle=97.5 1794970649000000000
 *     Prometheus            node_load1{instance="a:9100",job="node"} 0.7
 *     OpenTelemetry         a point of a metric, with its attributes and those of its resource
 *
 * Labels that the key names make the key of the row. The others stay with the name, and both are
 * the column: cpu_usage_idle{cpu="cpu0"}. Samples of a key whose times are close are one row:
 *
 *     {"time":1794970649,"host":"a","cpu_usage_idle{cpu=\"cpu0\"}":97.5,"mem_used":5120} */
#ifndef OIF_SERVE_SAMPLE_RULE_H
#define OIF_SERVE_SAMPLE_RULE_H

#include "serve/base/problem.h"

#include <jansson.h>

enum { RULE_KEYS_MAX = 8 };

typedef struct sample_rule {
    json_t *texts;                   /* members point into these, or into the settings */
    const char *keys[RULE_KEYS_MAX]; /* labels of the key, as the setting names them */
    size_t key_count;
    const char *time;        /* the member of rows that has the time */
    const char *drop_labels; /* a list: neither in the key nor in the columns; NULL: none */
    const char *metrics;     /* a list of names and patterns; NULL: all */
    bool has_buckets;        /* those of histograms become columns, too */
    double span_seconds;     /* samples of a row are less than this apart; 0: at the same time */
    double wait_seconds;     /* a row waits for samples of later requests; 0: it does not */
    /* Of a pull: */
    size_t keys_max; /* samples of more keys are left out as too long; 0: the request is refused */
    bool keeps_missing; /* a key without a finite number has a row, too */
} sample_rule;

/* Whether a setting of a stream is one of the rule's own: "drop-labels", "metrics", "buckets",
 * "row-span" and "row-wait". The rule also has the settings "key" and "time". */
bool sample_rule_has(const char *name);

/* Takes the rule from the settings of a stream, which must outlive it; 400 if one is wrong. Close
 * it in any case. */
bool sample_rule_open(sample_rule *rule, const json_t *settings, problem *why);
void sample_rule_close(sample_rule *rule);

#endif
