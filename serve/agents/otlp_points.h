/* OpenTelemetry's metrics as samples; otlp.c reads their bytes:
 *
 *     gauge                     name
 *     sum                       name, with _total if it only grows and counts from its start
 *     histogram, exponential    name_count, name_sum, name_min, name_max, and of explicit bounds
 *                               name_bucket{le="0.5"}
 *     summary                   name_count, name_sum, name{quantile="0.99"}
 *
 * Attributes of a point are its labels; those of its resource may be part of the key. Deltas are
 * what happened since the point before, so they are gauges. */
#ifndef OIF_SERVE_OTLP_POINTS_H
#define OIF_SERVE_OTLP_POINTS_H

#include "sample_reading.h"
#include "text_buffer.h"

enum { OTLP_BUCKETS_MAX = 512, OTLP_QUANTILES_MAX = 64, OTLP_NUMBER_BYTES = 40 };

typedef enum otlp_kind {
    OTLP_NONE,
    OTLP_GAUGE,
    OTLP_SUM,
    OTLP_HISTOGRAM,
    OTLP_EXPONENTIAL,
    OTLP_SUMMARY
} otlp_kind;

typedef struct otlp_metric {
    oif_text name;
    otlp_kind kind;
    bool is_delta, is_monotonic;
} otlp_metric;

/* Labels, and room for the texts of numbers among them. */
typedef struct otlp_labels {
    sample_label items[SAMPLE_LABELS_MAX];
    char numbers[SAMPLE_LABELS_MAX][OTLP_NUMBER_BYTES];
    size_t count; /* it may be more than there is room for: then the samples are left out */
} otlp_labels;

void otlp_labels_add(otlp_labels *labels, oif_text name, oif_text value, bool is_of_sender);
void otlp_labels_add_number(otlp_labels *labels, oif_text name, double number, bool is_of_sender);
void otlp_labels_add_integer(otlp_labels *labels, oif_text name, int64_t number, bool is_of_sender);

typedef struct otlp_point {
    double seconds; /* 0: unknown */
    bool has_no_value;
    double value;                /* of gauges and sums; NaN: none */
    double count, sum, min, max; /* NaN: none */
    double bounds[OTLP_BUCKETS_MAX], bucket_counts[OTLP_BUCKETS_MAX];
    size_t bound_count, bucket_count; /* they may be more than there is room for */
    double quantiles[OTLP_QUANTILES_MAX], quantile_values[OTLP_QUANTILES_MAX];
    size_t quantile_count;
} otlp_point;

/* A point without anything. */
void otlp_point_clear(otlp_point *point);

/* Adds the samples of a point. `labels` are those of the point and its resource; others may be
 * added to them meanwhile. False: out of memory, or there are too many. */
bool otlp_point_take(sample_reading *reading, text_buffer *room, const otlp_metric *metric,
                     otlp_labels *labels, const otlp_point *point);

#endif
