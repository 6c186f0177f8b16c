/* Telegraf's JSON: {"metrics": [METRIC, ...]} as it sends batches, or single ones.
 *
 *     METRIC   {"name": "cpu", "tags": {"host": "a"}, "fields": {"usage": 12.5},
 *               "timestamp": 1794970649}
 */
#include "sample_reading.h"

#include <string.h>

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static oif_text text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return (oif_text){text ? text : "", json_string_length(value)};
}

static size_t take_tags(json_t *tags, sample_label *labels)
{
    const char *name;
    json_t *value;
    size_t count = 0;
    json_object_foreach(tags, name, value) {
        if (count < SAMPLE_LABELS_MAX)
            labels[count] = (sample_label){{name, strlen(name)}, text_of(value), false};
        count++;
    }
    return count;
}

static bool take_fields(sample_reading *reading, json_t *fields, double seconds)
{
    const char *name;
    json_t *value;
    json_object_foreach(fields, name, value) {
        sample one = {.name = {name, strlen(name)},
                      .seconds = seconds,
                      .value =
                          json_is_boolean(value) ? json_is_true(value) : json_number_value(value)};
        if (!json_is_number(value) && !json_is_boolean(value))
            samples_leave_out(reading->all, LEFT_TEXT, 1);
        else if (!samples_add(reading->all, &one))
            return false;
    }
    return true;
}

static bool is_metric(const json_t *metric)
{
    const json_t *tags = json_object_get(metric, "tags"),
                 *time = json_object_get(metric, "timestamp");
    return json_is_string(json_object_get(metric, "name")) &&
           json_is_object(json_object_get(metric, "fields")) && (!tags || json_is_object(tags)) &&
           (!time || json_is_number(time));
}

static bool take_metric(sample_reading *reading, const json_t *metric)
{
    sample_label labels[SAMPLE_LABELS_MAX];
    const json_t *time = json_object_get(metric, "timestamp");
    if (!is_metric(metric))
        return sample_reading_skip(
            reading, 0,
            "this is not a metric of Telegraf: it has a name, fields, tags and a timestamp");
    const size_t count = take_tags(json_object_get(metric, "tags"), labels);
    reading->uses_now |= !time;
    const double seconds = time ? sample_seconds(json_number_value(time)) : reading->now_seconds;
    return samples_begin(reading->all, text_of(json_object_get(metric, "name")), labels, count) &&
           take_fields(reading, json_object_get(metric, "fields"), seconds);
}

static bool take_document(sample_reading *reading, const json_t *document)
{
    const json_t *metrics = json_object_get(document, "metrics"), *metric;
    size_t i;
    if (!json_is_array(metrics))
        return take_metric(reading, document);
    json_array_foreach(metrics, i, metric)
        if (!take_metric(reading, metric))
            return false;
    return true;
}

/* {"fields": or {"name": is what it begins with; then all of the object is looked at. */
bool telegraf_samples_recognise(oif_text text)
{
    static const char *const first[] = {"fields", "name", "tags", "timestamp"};
    size_t at = 1;
    bool is_likely = false;
    while (at < text.bytes && is_blank(text.text[at]))
        at++;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        const size_t bytes = strlen(first[i]);
        is_likely |= text.bytes > at + bytes + 2 && text.text[at] == '"' &&
                     memcmp(text.text + at + 1, first[i], bytes) == 0 &&
                     text.text[at + 1 + bytes] == '"';
    }
    json_t *document = is_likely && *text.text == '{' && text.bytes <= SAMPLE_JSON_BYTES_MAX
                           ? json_loadb(text.text, text.bytes, JSON_DISABLE_EOF_CHECK, NULL)
                           : NULL;
    bool is_one = document && is_metric(document);
    json_decref(document);
    return is_one;
}

bool telegraf_samples_read(sample_reading *reading, oif_text body, problem *why)
{
    if (!sample_json_check(body, why))
        return false;
    for (size_t at = 0; at < body.bytes;) {
        json_error_t error;
        json_t *document =
            json_loadb(body.text + at, body.bytes - at, JSON_DISABLE_EOF_CHECK, &error);
        if (!document) {
            problem_set(why, 400, NULL, "the body is not JSON: %s", error.text);
            why->cause = OIF_CAUSE_BAD_JSON;
            return false;
        }
        bool is_good = take_document(reading, document);
        json_decref(document);
        if (!is_good)
            return samples_refuse(reading->all, why);
        at += (size_t)error.position;
        while (at < body.bytes && is_blank(body.text[at]))
            at++;
    }
    return true;
}
