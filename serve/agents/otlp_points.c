#include "otlp_points.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- Labels ---- */

void otlp_labels_add(otlp_labels *labels, oif_text name, oif_text value, bool is_of_sender)
{
    if (labels->count < SAMPLE_LABELS_MAX)
        labels->items[labels->count] = (sample_label){name, value, is_of_sender};
    labels->count++;
}

static void add_text(otlp_labels *labels, oif_text name, const char *text, size_t bytes,
                     bool is_of_sender)
{
    const size_t at = labels->count;
    if (at < SAMPLE_LABELS_MAX)
        memcpy(labels->numbers[at], text, bytes);
    otlp_labels_add(labels, name,
                    (oif_text){at < SAMPLE_LABELS_MAX ? labels->numbers[at] : "", bytes},
                    is_of_sender);
}

void otlp_labels_add_number(otlp_labels *labels, oif_text name, double number, bool is_of_sender)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    if (isinf(number))
        add_text(labels, name, number > 0 ? "+Inf" : "-Inf", 4, is_of_sender);
    else
        add_text(labels, name, text, oif_number_format(number, text), is_of_sender);
}

void otlp_labels_add_integer(otlp_labels *labels, oif_text name, int64_t number, bool is_of_sender)
{
    char text[OTLP_NUMBER_BYTES];
    const int bytes = snprintf(text, sizeof text, "%" PRId64, number);
    add_text(labels, name, text, (size_t)bytes, is_of_sender);
}

/* ---- Points ---- */

void otlp_point_clear(otlp_point *point)
{
    point->seconds = 0;
    point->has_no_value = false;
    point->value = point->count = point->sum = point->min = point->max = NAN;
    point->bound_count = point->bucket_count = point->quantile_count = 0;
}

/* Where the samples of a point go. */
typedef struct point_target {
    sample_reading *reading;
    text_buffer *room;
    const otlp_metric *metric;
    otlp_labels *labels;
    double seconds;
} point_target;

static bool begin(const point_target *to)
{
    return samples_begin(to->reading->all, (oif_text){"", 0}, to->labels->items, to->labels->count);
}

static bool add(const point_target *to, const char *ending, sample_kind kind, double value)
{
    to->room->count = 0;
    text_buffer_add(to->room, to->metric->name.text, to->metric->name.bytes);
    text_buffer_add(to->room, ending, strlen(ending));
    const sample one = {.name = {to->room->bytes, to->room->count},
                        .kind = kind,
                        .seconds = to->seconds,
                        .value = value};
    return !to->room->is_failed && samples_add(to->reading->all, &one);
}

/* A part that a point may lack. */
static bool add_part(const point_target *to, const char *ending, sample_kind kind, double value)
{
    return isnan(value) || add(to, ending, kind, value);
}

/* ---- Kinds ---- */

static bool has_ending(oif_text name, const char *ending)
{
    const size_t bytes = strlen(ending);
    if (name.bytes < bytes + 1)
        return false;
    const char *at = name.text + name.bytes - bytes;
    return memcmp(at, ending, bytes) == 0 && (at[-1] == '_' || at[-1] == '.');
}

static bool take_number(const point_target *to, const otlp_point *point)
{
    const otlp_metric *metric = to->metric;
    const bool is_counter = metric->kind == OTLP_SUM && metric->is_monotonic && !metric->is_delta;
    return add(to, is_counter && !has_ending(metric->name, "total") ? "_total" : "",
               is_counter ? SAMPLE_COUNTER : SAMPLE_GAUGE, point->value);
}

static sample_kind count_kind(const otlp_metric *metric)
{
    return metric->is_delta ? SAMPLE_GAUGE : SAMPLE_COUNTER;
}

/* Up to each bound, as Prometheus counts them. Each has one label more. */
static bool take_buckets(const point_target *to, const otlp_point *point)
{
    const size_t before = to->labels->count;
    double count = 0;
    if (point->bucket_count > OTLP_BUCKETS_MAX || point->bucket_count != point->bound_count + 1) {
        samples_leave_out(to->reading->all, LEFT_BUCKET, point->bucket_count);
        return true;
    }
    for (size_t i = 0; i < point->bucket_count; i++) {
        const double bound = i < point->bound_count ? point->bounds[i] : INFINITY;
        count += point->bucket_counts[i];
        otlp_labels_add_number(to->labels, (oif_text){"le", 2}, bound, false);
        bool is_added = begin(to) && add(to, "_bucket", SAMPLE_BUCKET, count);
        to->labels->count = before;
        if (!is_added)
            return false;
    }
    return true;
}

static bool take_quantiles(const point_target *to, const otlp_point *point)
{
    static const oif_text name = {"quantile", sizeof "quantile" - 1};
    const size_t before = to->labels->count, count = point->quantile_count < OTLP_QUANTILES_MAX
                                                         ? point->quantile_count
                                                         : OTLP_QUANTILES_MAX;
    samples_leave_out(to->reading->all, LEFT_UNKNOWN, point->quantile_count - count);
    for (size_t i = 0; i < count; i++) {
        otlp_labels_add_number(to->labels, name, point->quantiles[i], false);
        bool is_added = begin(to) && add(to, "", SAMPLE_GAUGE, point->quantile_values[i]);
        to->labels->count = before;
        if (!is_added)
            return false;
    }
    return true;
}

static bool take_distribution(const point_target *to, const otlp_point *point)
{
    const sample_kind kind = count_kind(to->metric);
    return add_part(to, "_count", kind, point->count) && add_part(to, "_sum", kind, point->sum) &&
           add_part(to, "_min", SAMPLE_GAUGE, point->min) &&
           add_part(to, "_max", SAMPLE_GAUGE, point->max) && take_buckets(to, point) &&
           take_quantiles(to, point);
}

bool otlp_point_take(sample_reading *reading, text_buffer *room, const otlp_metric *metric,
                     otlp_labels *labels, const otlp_point *point)
{
    const point_target to = {reading, room, metric, labels,
                             point->seconds != 0 ? point->seconds : reading->now_seconds};
    reading->uses_now |= point->seconds == 0;
    if (point->has_no_value) {
        samples_leave_out(reading->all, LEFT_STALE, 1);
        return true;
    }
    if (metric->name.bytes == 0 || metric->kind == OTLP_NONE)
        return sample_reading_skip(reading, 0, "a metric has no name, or data of an unknown kind");
    if (!begin(&to))
        return false;
    return metric->kind == OTLP_GAUGE || metric->kind == OTLP_SUM ? take_number(&to, point)
                                                                  : take_distribution(&to, point);
}
