#include "prometheus_rows.h"

#include "front/text/cut.h"

#include <math.h>
#include <string.h>

/* A value that is not finite cannot be learned, so it is missing. */
static double number_of(const json_t *value)
{
    double number;
    const char *text = json_string_value(json_array_get(value, 1));
    const char *end = text ? oif_number_parse(text, text + strlen(text), &number) : NULL;
    return end && !*end && isfinite(number) ? number : NAN;
}

static bool add_number(samples *all, sample *one, json_t *metric, const json_t *value)
{
    sample_label labels[SAMPLE_LABELS_MAX + 1]; /* one more: the series is left out */
    size_t count = 0;
    const char *name;
    json_t *text;
    json_object_foreach(metric, name, text)
        if (json_is_string(text) && strcmp(name, "__name__") != 0 && count <= SAMPLE_LABELS_MAX)
            labels[count++] =
                (sample_label){.name = {name, strlen(name)},
                               .value = {json_string_value(text), json_string_length(text)},
                               .is_of_sender = true};
    one->value = number_of(value);
    return samples_begin(all, (oif_text){"", 0}, labels, count) && samples_add(all, one);
}

static bool add_vector(samples *all, sample *one, json_t *series)
{
    size_t i;
    json_t *entry;
    json_array_foreach(series, i, entry) {
        json_t *metric = json_object_get(entry, "metric");
        if (json_is_object(metric) &&
            !add_number(all, one, metric, json_object_get(entry, "value")))
            return false;
    }
    return true;
}

static bool refuse_answer(json_t *answer, problem *why)
{
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (!error)
        error = "it is not an answer to a query";
    return problem_set(why, 502, NULL, "%.*s", (int)cut_bytes(error, strlen(error), 300), error);
}

bool prometheus_rows_add(samples *all, const char *column, double seconds, json_t *answer,
                         problem *why)
{
    const char *status = json_string_value(json_object_get(answer, "status"));
    json_t *data = json_object_get(answer, "data"), *result = json_object_get(data, "result");
    const char *type = json_string_value(json_object_get(data, "resultType"));
    sample one = {.name = {column, strlen(column)}, .kind = SAMPLE_GAUGE, .seconds = seconds};
    if (!status || strcmp(status, "success") != 0 || !type || !json_is_array(result))
        return refuse_answer(answer, why);
    const bool is_vector = strcmp(type, "vector") == 0, is_scalar = strcmp(type, "scalar") == 0;
    if (!is_vector && !is_scalar)
        return problem_set(why, 502, NULL,
                           "the query returns a %s; it must return one number per series",
                           cut_name(type).text);
    return (is_vector ? add_vector(all, &one, result) : add_number(all, &one, NULL, result)) ||
           samples_refuse(all, why);
}
