/* OTLP metrics as protobuf: opentelemetry/proto/metrics/v1/metrics.proto.
 *
 *     1: ResourceMetrics  1: Resource  1: KeyValue
 *                         2: ScopeMetrics  2: Metric  1: name
 *                                                     5 7 9 10 11: data  1: points
 */
#include "otlp_points.h"
#include "wire.h"

#include <math.h>

typedef struct otlp_request {
    sample_reading *reading;
    text_buffer name;
    otlp_labels labels; /* of the resource, then of a point */
    size_t resource_labels;
    otlp_point point;
} otlp_request;

/* ---- Attributes ---- */

static void take_value(otlp_labels *labels, oif_text name, oif_text bytes, bool is_of_sender)
{
    wire_message value = wire_open(bytes);
    wire_field field;
    while (wire_next(&value, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES))
            otlp_labels_add(labels, name, field.bytes, is_of_sender);
        else if (wire_is(&field, 2, WIRE_VARINT))
            otlp_labels_add(labels, name,
                            field.value ? (oif_text){"true", 4} : (oif_text){"false", 5},
                            is_of_sender);
        else if (wire_is(&field, 3, WIRE_VARINT))
            otlp_labels_add_integer(labels, name, wire_signed(&field), is_of_sender);
        else if (wire_is(&field, 4, WIRE_64))
            otlp_labels_add_number(labels, name, wire_double(&field), is_of_sender);
    }
}

/* Lists, objects and bytes are skipped. */
static bool take_attribute(otlp_labels *labels, oif_text bytes, bool is_of_sender)
{
    wire_message pair = wire_open(bytes);
    wire_field field;
    oif_text name = {"", 0}, value = {"", 0};
    while (wire_next(&pair, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES))
            name = field.bytes;
        else if (wire_is(&field, 2, WIRE_BYTES))
            value = field.bytes;
    }
    take_value(labels, name, value, is_of_sender);
    return !pair.is_bad;
}

/* ---- Points ---- */

/* The numbers of fields of the kinds of points. All have 3: time, 4: count or value, 5: sum. */
typedef struct point_layout {
    uint32_t attributes, flags, min, max, buckets, bounds, quantiles;
} point_layout;

static const point_layout layouts[] = {
    [OTLP_GAUGE] = {.attributes = 7, .flags = 8},
    [OTLP_SUM] = {.attributes = 7, .flags = 8},
    [OTLP_HISTOGRAM] =
        {.attributes = 9, .flags = 10, .min = 11, .max = 12, .buckets = 6, .bounds = 7},
    [OTLP_EXPONENTIAL] = {.attributes = 1, .flags = 10, .min = 12, .max = 13},
    [OTLP_SUMMARY] = {.attributes = 7, .flags = 8, .quantiles = 6},
};

/* Packed numbers of 8 bytes, or a single one. */
static void take_numbers(const wire_field *field, bool are_doubles, double *list, size_t *count)
{
    const oif_text bytes = field->bytes;
    const size_t numbers = field->type == WIRE_64 ? 1 : bytes.bytes / 8;
    for (size_t i = 0; i < numbers; i++, ++*count) {
        wire_field number = *field;
        for (size_t j = 8; j-- > 0 && field->type != WIRE_64;)
            number.value = number.value << 8 | (unsigned char)bytes.text[8 * i + j];
        if (*count < OTLP_BUCKETS_MAX)
            list[*count] = are_doubles ? wire_double(&number) : (double)number.value;
    }
}

static void take_quantile(otlp_point *point, oif_text bytes)
{
    wire_message message = wire_open(bytes);
    wire_field field;
    double quantile = 0, value = 0;
    while (wire_next(&message, &field)) {
        if (wire_is(&field, 1, WIRE_64))
            quantile = wire_double(&field);
        else if (wire_is(&field, 2, WIRE_64))
            value = wire_double(&field);
    }
    if (point->quantile_count < OTLP_QUANTILES_MAX) {
        point->quantiles[point->quantile_count] = quantile;
        point->quantile_values[point->quantile_count] = value;
    }
    point->quantile_count++;
}

/* Fields that have the same number in all kinds. */
static void take_common(otlp_point *point, otlp_kind kind, const wire_field *field)
{
    const bool is_number = kind == OTLP_GAUGE || kind == OTLP_SUM;
    if (wire_is(field, 3, WIRE_64))
        point->seconds = (double)field->value / 1e9;
    else if (wire_is(field, 4, WIRE_64) && is_number)
        point->value = wire_double(field);
    else if (wire_is(field, 6, WIRE_64) && is_number)
        point->value = (double)wire_signed(field);
    else if (wire_is(field, 4, WIRE_64))
        point->count = (double)field->value;
    else if (wire_is(field, 5, WIRE_64))
        point->sum = wire_double(field);
}

static bool read_point(otlp_request *request, otlp_kind kind, oif_text bytes)
{
    const point_layout *layout = &layouts[kind];
    otlp_point *point = &request->point;
    wire_message message = wire_open(bytes);
    wire_field field;
    bool is_good = true;
    otlp_point_clear(point);
    if (kind >= OTLP_HISTOGRAM)
        point->count = 0; /* protobuf leaves zeros out */
    if (kind == OTLP_SUMMARY)
        point->sum = 0;
    request->labels.count = request->resource_labels;
    while (wire_next(&message, &field)) {
        take_common(point, kind, &field);
        if (wire_is(&field, layout->attributes, WIRE_BYTES))
            is_good &= take_attribute(&request->labels, field.bytes, false);
        else if (wire_is(&field, layout->flags, WIRE_VARINT))
            point->has_no_value = field.value & 1;
        else if (wire_is(&field, layout->min, WIRE_64))
            point->min = wire_double(&field);
        else if (wire_is(&field, layout->max, WIRE_64))
            point->max = wire_double(&field);
        else if (field.number == layout->buckets)
            take_numbers(&field, false, point->bucket_counts, &point->bucket_count);
        else if (field.number == layout->bounds)
            take_numbers(&field, true, point->bounds, &point->bound_count);
        else if (wire_is(&field, layout->quantiles, WIRE_BYTES))
            take_quantile(point, field.bytes);
    }
    return is_good && !message.is_bad;
}

/* ---- Metrics ---- */

/* Their data, a field of the metric, and what it says about all points. */
static otlp_kind kind_of(uint32_t number)
{
    switch (number) {
    case 5: return OTLP_GAUGE;
    case 7: return OTLP_SUM;
    case 9: return OTLP_HISTOGRAM;
    case 10: return OTLP_EXPONENTIAL;
    case 11: return OTLP_SUMMARY;
    default: return OTLP_NONE;
    }
}

static bool read_metric(oif_text bytes, otlp_metric *metric, oif_text *data)
{
    wire_message message = wire_open(bytes);
    wire_field field;
    *metric = (otlp_metric){.kind = OTLP_NONE};
    while (wire_next(&message, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES))
            metric->name = field.bytes;
        else if (field.type == WIRE_BYTES && kind_of(field.number) != OTLP_NONE) {
            metric->kind = kind_of(field.number);
            *data = field.bytes;
        }
    }
    wire_message about = wire_open(*data);
    while (wire_next(&about, &field)) {
        if (wire_is(&field, 2, WIRE_VARINT))
            metric->is_delta = field.value == 1;
        else if (wire_is(&field, 3, WIRE_VARINT))
            metric->is_monotonic = field.value != 0;
    }
    return !message.is_bad && !about.is_bad;
}

static bool take_metric(otlp_request *request, oif_text bytes)
{
    otlp_metric metric;
    oif_text data = {"", 0};
    wire_field field;
    if (!read_metric(bytes, &metric, &data) || metric.kind == OTLP_NONE)
        return sample_reading_skip(request->reading, 0,
                                   "a metric is malformed, or has data of an unknown kind");
    wire_message points = wire_open(data);
    while (wire_next(&points, &field)) {
        if (!wire_is(&field, 1, WIRE_BYTES))
            continue;
        if (!read_point(request, metric.kind, field.bytes))
            sample_reading_skip(request->reading, 0, "a point is malformed");
        else if (!otlp_point_take(request->reading, &request->name, &metric, &request->labels,
                                  &request->point))
            return false;
    }
    return true;
}

/* ---- Resources ---- */

static bool take_scope(otlp_request *request, oif_text bytes)
{
    wire_message scope = wire_open(bytes);
    wire_field field;
    while (wire_next(&scope, &field))
        if (wire_is(&field, 2, WIRE_BYTES) && !take_metric(request, field.bytes))
            return false;
    if (scope.is_bad)
        sample_reading_skip(request->reading, 0, "a scope is malformed");
    return true;
}

static void take_resource(otlp_request *request, oif_text bytes)
{
    wire_message resource = wire_open(bytes);
    wire_field field;
    while (wire_next(&resource, &field))
        if (wire_is(&field, 1, WIRE_BYTES))
            take_attribute(&request->labels, field.bytes, true);
    request->resource_labels = request->labels.count;
}

/* The resource may come behind its metrics. */
static bool take_resource_metrics(otlp_request *request, oif_text bytes)
{
    wire_message message = wire_open(bytes), again = message;
    wire_field field;
    request->labels.count = request->resource_labels = 0;
    while (wire_next(&message, &field))
        if (wire_is(&field, 1, WIRE_BYTES))
            take_resource(request, field.bytes);
    while (wire_next(&again, &field))
        if (wire_is(&field, 2, WIRE_BYTES) && !take_scope(request, field.bytes))
            return false;
    if (again.is_bad)
        sample_reading_skip(request->reading, 0, "the metrics of a resource are malformed");
    return true;
}

bool otlp_read(sample_reading *reading, oif_text body, problem *why)
{
    wire_message message = wire_open(body);
    wire_field field;
    otlp_request *request = calloc(1, sizeof *request);
    bool is_good = request != NULL;
    if (request)
        request->reading = reading;
    while (is_good && wire_next(&message, &field))
        if (wire_is(&field, 1, WIRE_BYTES))
            is_good = take_resource_metrics(request, field.bytes);
    if (request)
        text_buffer_free(&request->name);
    free(request);
    if (!is_good)
        return samples_refuse(reading->all, why);
    return !message.is_bad || problem_set(why, 400, "Send an ExportMetricsServiceRequest.",
                                          "the body is not OTLP metrics as protobuf");
}
