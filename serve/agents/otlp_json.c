/* OTLP metrics as JSON: the messages of otlp.c with names in lowerCamelCase. Whole numbers of 64
 * bits are strings there, but may be numbers. */
#include "otlp_points.h"

#include <math.h>

typedef struct otlp_document {
    sample_reading *reading;
    text_room name;
    otlp_labels labels; /* of the resource, then of a point */
    size_t resource_labels;
    otlp_point point;
} otlp_document;

/* ---- Values ---- */

/* NaN: there is none. */
static double number_of(const json_t *value)
{
    double number;
    const char *text = json_string_value(value);
    if (!text)
        return json_is_number(value) ? json_number_value(value) : NAN;
    const char *end = text + json_string_length(value);
    return oif_number_parse(text, end, &number) == end ? number : NAN;
}

static double member(const json_t *object, const char *name)
{
    return number_of(json_object_get(object, name));
}

static oif_text text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return (oif_text){text ? text : "", json_string_length(value)};
}

static void take_attribute(otlp_labels *labels, const json_t *pair, bool is_of_sender)
{
    const oif_text name = text_of(json_object_get(pair, "key"));
    const json_t *any = json_object_get(pair, "value"), *text = json_object_get(any, "stringValue"),
                 *flag = json_object_get(any, "boolValue"),
                 *whole = json_object_get(any, "intValue"),
                 *number = json_object_get(any, "doubleValue");
    if (text)
        otlp_labels_add(labels, name, text_of(text), is_of_sender);
    else if (flag)
        otlp_labels_add(labels, name,
                        json_is_true(flag) ? (oif_text){"true", 4} : (oif_text){"false", 5},
                        is_of_sender);
    else if (json_is_string(whole))
        otlp_labels_add(labels, name, text_of(whole), is_of_sender);
    else if (whole)
        otlp_labels_add_integer(labels, name, (int64_t)json_integer_value(whole), is_of_sender);
    else if (number)
        otlp_labels_add_number(labels, name, number_of(number), is_of_sender);
}

static void take_attributes(otlp_labels *labels, const json_t *of, bool is_of_sender)
{
    const json_t *pair;
    size_t i;
    json_array_foreach(json_object_get(of, "attributes"), i, pair) {
        take_attribute(labels, pair, is_of_sender);
    }
}

/* ---- Points ---- */

static size_t take_numbers(const json_t *list, double *numbers)
{
    const json_t *number;
    size_t i;
    json_array_foreach(list, i, number) {
        if (i < OTLP_BUCKETS_MAX)
            numbers[i] = number_of(number);
    }
    return json_array_size(list);
}

static void take_quantiles(otlp_point *point, const json_t *list)
{
    const json_t *one;
    size_t i;
    json_array_foreach(list, i, one) {
        if (i >= OTLP_QUANTILES_MAX)
            break;
        point->quantiles[i] = member(one, "quantile");
        point->quantile_values[i] = member(one, "value");
    }
    point->quantile_count = json_array_size(list);
}

static void read_point(otlp_document *document, const json_t *from)
{
    otlp_point *point = &document->point;
    const double nanoseconds = member(from, "timeUnixNano"), flags = member(from, "flags");
    otlp_point_clear(point);
    document->labels.count = document->resource_labels;
    take_attributes(&document->labels, from, false);
    if (isfinite(nanoseconds))
        point->seconds = nanoseconds / 1e9;
    point->has_no_value = fmod(flags, 2) == 1;
    point->value = member(from, "asDouble");
    if (isnan(point->value))
        point->value = member(from, "asInt");
    point->count = member(from, "count");
    point->sum = member(from, "sum");
    point->min = member(from, "min");
    point->max = member(from, "max");
    point->bucket_count = take_numbers(json_object_get(from, "bucketCounts"), point->bucket_counts);
    point->bound_count = take_numbers(json_object_get(from, "explicitBounds"), point->bounds);
    take_quantiles(point, json_object_get(from, "quantileValues"));
}

/* ---- Metrics ---- */

static const json_t *find_data(const json_t *from, otlp_metric *metric)
{
    static const char *const names[] = {[OTLP_GAUGE] = "gauge",
                                        [OTLP_SUM] = "sum",
                                        [OTLP_HISTOGRAM] = "histogram",
                                        [OTLP_EXPONENTIAL] = "exponentialHistogram",
                                        [OTLP_SUMMARY] = "summary"};
    for (otlp_kind kind = OTLP_GAUGE; kind <= OTLP_SUMMARY; kind++) {
        const json_t *data = json_object_get(from, names[kind]);
        metric->kind = kind;
        if (json_is_object(data))
            return data;
    }
    metric->kind = OTLP_NONE;
    return NULL;
}

/* An enumerator may be a number or its name. */
static bool is_delta(const json_t *data)
{
    const json_t *value = json_object_get(data, "aggregationTemporality");
    const char *word = json_string_value(value);
    return word ? strcmp(word, "AGGREGATION_TEMPORALITY_DELTA") == 0
                : json_integer_value(value) == 1;
}

static bool take_metric(otlp_document *document, const json_t *from)
{
    otlp_metric metric = {.name = text_of(json_object_get(from, "name"))};
    const json_t *data = find_data(from, &metric), *point;
    size_t i;
    if (!data)
        return sample_reading_skip(document->reading, 0,
                                   "a metric has no data of a kind that is known");
    metric.is_delta = is_delta(data);
    metric.is_monotonic = json_is_true(json_object_get(data, "isMonotonic"));
    json_array_foreach(json_object_get(data, "dataPoints"), i, point) {
        read_point(document, point);
        if (!otlp_point_take(document->reading, &document->name, &metric, &document->labels,
                             &document->point))
            return false;
    }
    return true;
}

static bool take_resource(otlp_document *document, const json_t *from)
{
    const json_t *scope, *metric;
    size_t i, j;
    document->labels.count = 0;
    take_attributes(&document->labels, json_object_get(from, "resource"), true);
    document->resource_labels = document->labels.count;
    json_array_foreach(json_object_get(from, "scopeMetrics"), i, scope) {
        json_array_foreach(json_object_get(scope, "metrics"), j, metric) {
            if (!take_metric(document, metric))
                return false;
        }
    }
    return true;
}

static bool take_all(sample_reading *reading, const json_t *resources)
{
    const json_t *resource;
    size_t i;
    bool is_good = true;
    otlp_document *document = calloc(1, sizeof *document);
    if (!document)
        return false;
    document->reading = reading;
    json_array_foreach(resources, i, resource) {
        if (is_good)
            is_good = take_resource(document, resource);
    }
    text_room_free(&document->name);
    free(document);
    return is_good;
}

bool otlp_json_read(sample_reading *reading, oif_text body, problem *why)
{
    json_error_t error;
    if (!sample_json_check(body, why))
        return false;
    json_t *root = json_loadb(body.text, body.bytes, 0, &error);
    const json_t *resources = json_object_get(root, "resourceMetrics");
    bool is_good = root != NULL && json_is_array(resources);
    if (!root) {
        problem_set(why, 400, NULL, "the body is not JSON: %s", error.text);
        why->cause = OIF_CAUSE_BAD_JSON;
        why->line = error.line > 0 ? (uint64_t)error.line : 0;
    } else if (!is_good) {
        problem_set(why, 400, "Send an ExportMetricsServiceRequest.",
                    "the body is not OTLP metrics: it has no list \"resourceMetrics\"");
    } else if (!take_all(reading, resources)) {
        is_good = samples_refuse(reading->all, why);
    }
    json_decref(root);
    return is_good;
}
