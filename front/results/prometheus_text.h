/* The text format that Prometheus reads:
 *
 *     # HELP oif_score Score of the latest row.
 *     # TYPE oif_score gauge
 *     oif_score{host="web-1"} 0.71
 */
#ifndef OIF_FRONT_PROMETHEUS_TEXT_H
#define OIF_FRONT_PROMETHEUS_TEXT_H

#include <stddef.h>

/* The lines before the values. */
void prometheus_head(const char *name, const char *type, const char *help);

/* The text before it, such as {host=, and the value of a label. */
void prometheus_label(const char *before, const char *text, size_t bytes);

/* The end of a line. */
void prometheus_value(double value);

/* A metric without labels. */
void prometheus_single(const char *name, const char *type, const char *help, double value);

/* What each key has: gauges of its latest row. Their names come after oif_ or another prefix. */
enum { GAUGE_SCORE, GAUGE_SEVERITY, GAUGE_THRESHOLD, GAUGE_IN_EPISODE, KEY_GAUGES };

typedef struct key_gauge {
    const char *name, *help;
} key_gauge;

extern const key_gauge key_gauges[KEY_GAUGES];

#endif
