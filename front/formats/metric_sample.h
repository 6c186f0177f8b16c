/* A sample in Prometheus's text, in its parts:
 *
 *     http_requests_total{code="200"} 1027 1794970649000
 */
#ifndef OIF_FRONT_METRIC_SAMPLE_H
#define OIF_FRONT_METRIC_SAMPLE_H

#include "oif_rows.h"

#include <stdbool.h>

/* They point into the line. */
typedef struct metric_sample {
    oif_text name;   /* without labels */
    oif_text labels; /* what is between the braces */
    oif_text value, time;
} metric_sample;

/* Whether a byte may be in the name of a metric. */
bool metric_name_byte(char byte);

/* False if the line is not a sample. */
bool metric_sample_split(oif_text line, metric_sample *sample);

/* The next label="value" of [*at, end), with the comma behind it. False after the last. The value
 * has its escapes: \\, \" and \n. */
bool metric_sample_next_label(const char **at, const char *end, oif_text *whole, oif_text *name,
                              oif_text *value);

#endif
