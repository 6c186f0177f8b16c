#include "agent_body.h"

#include "front/text/name_list.h"
#include "front/text/output.h"

#include <inttypes.h>
#include <string.h>

/* ---- Reading ---- */

typedef bool (*sample_reader)(sample_reading *reading, oif_text body, problem *why);

static const sample_reader readers[BODY_KINDS] = {[BODY_INFLUX] = influx_samples_read,
                                                  [BODY_PROMETHEUS] = prometheus_samples_read,
                                                  [BODY_REMOTE_WRITE] = remote_write_read,
                                                  [BODY_OTLP] = otlp_read};

/* The caller frees the samples, also if it fails. */
static bool read_samples(const agent_body *body, const sample_rule *rule, sample_reading *reading,
                         problem *why)
{
    *reading = (sample_reading){
        .all = samples_new(rule), .now_seconds = body->now_seconds, .per_second = body->per_second};
    if (!reading->all)
        return problem_set(why, 503, NULL, "out of memory");
    return readers[body->kind](reading, body->bytes, why);
}

bool agent_body_write(const agent_body *body, const sample_rule *rule, agent_report *report,
                      problem *why)
{
    sample_reading reading;
    bool is_good = read_samples(body, rule, &reading, why) &&
                   samples_write(reading.all, body->limit_bytes, why);
    *report = (agent_report){
        .bad = reading.bad, .has_times = !reading.uses_now, .first_bad = reading.first_bad};
    if (is_good)
        report->samples = *samples_counted(reading.all);
    samples_free(reading.all);
    return is_good;
}

/* ---- The settings of a new stream ---- */

/* The first group of which a label is there. */
static json_t *usual_key(const samples *all)
{
    static const char *const groups[][2] = {
        {"job", "instance"}, {"service_name", "host_name"}, {"host", NULL}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        json_t *key = json_array();
        for (size_t j = 0; j < 2 && groups[i][j]; j++)
            if (samples_had_label(all, groups[i][j]))
                json_array_append_new(key, json_string(groups[i][j]));
        if (json_array_size(key) > 0)
            return key;
        json_decref(key);
    }
    return NULL;
}

/* Whether all columns that a pattern means are counters, and some are. */
static bool means_counters(const samples *all, const char *ending, bool has_labels)
{
    bool has_one = false;
    for (size_t i = 0; i < samples_column_count(all); i++) {
        const sample_column_info column = samples_column_at(all, i);
        const size_t bytes = strlen(ending);
        if (column.is_left_out || column.has_labels != has_labels || column.name.bytes < bytes ||
            memcmp(column.name.text + column.name.bytes - bytes, ending, bytes) != 0)
            continue;
        if (!column.is_counter)
            return false;
        has_one = true;
    }
    return has_one;
}

static bool covers(const json_t *list, const char *name)
{
    const json_t *pattern;
    size_t i;
    json_array_foreach(list, i, pattern)
        if (name_covers(json_string_value(pattern), name, false) ||
            strcmp(json_string_value(pattern), name) == 0)
            return true;
    return false;
}

/* A counter that no pattern means is named, with all its labels. */
static void name_counters(const samples *all, json_t *rates)
{
    for (size_t i = 0; i < samples_column_count(all); i++) {
        const sample_column_info column = samples_column_at(all, i);
        json_t *name = column.is_counter && !column.is_left_out
                           ? json_sprintf("%.*s%s", (int)column.name.bytes, column.name.text,
                                          column.has_labels ? "{*" : "")
                           : NULL;
        if (name && !covers(rates, json_string_value(name)))
            json_array_append(rates, name);
        json_decref(name);
    }
}

static json_t *usual_rates(const samples *all)
{
    static const char *const endings[] = {"_total", "_count", "_sum", "_bucket"};
    json_t *rates = json_array();
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        for (int has_labels = 0; has_labels < 2; has_labels++)
            if (means_counters(all, endings[i], has_labels))
                json_array_append_new(rates,
                                      json_sprintf("*%s%s", endings[i], has_labels ? "{*" : ""));
    name_counters(all, rates);
    return rates;
}

/* Settings that were asked for stay. */
static void set_usual(json_t *settings, const char *name, json_t *value)
{
    if (value && !json_object_get(settings, name) &&
        !(json_is_array(value) && json_array_size(value) == 0))
        json_object_set(settings, name, value);
    json_decref(value);
}

/* Reads the samples by the settings so far, and adds one that follows from them. */
static bool settle(const agent_body *body, json_t *settings, const char *name,
                   json_t *(*usual)(const samples *all), problem *why)
{
    sample_rule rule;
    sample_reading reading = {.all = NULL};
    bool is_good =
        sample_rule_open(&rule, settings, why) && read_samples(body, &rule, &reading, why);
    if (is_good)
        set_usual(settings, name, usual(reading.all));
    samples_free(reading.all);
    sample_rule_close(&rule);
    return is_good;
}

/* The labels of the key are not in the names of columns, so it is first. */
bool agent_body_settle(const agent_body *body, json_t *settings, problem *why)
{
    set_usual(settings, "time", json_string("time"));
    if (body->kind == BODY_REMOTE_WRITE)
        set_usual(settings, "row-wait", json_string("10s"));
    return settle(body, settings, "key", usual_key, why) &&
           settle(body, settings, "rate", usual_rates, why);
}

/* ---- The report ---- */

void agent_report_write(const agent_report *report)
{
    const char *before = ",\"left_out\":{";
    for (left_out reason = 0; reason < LEFT_OUT_COUNT; reason++) {
        if (report->samples.left[reason] == 0)
            continue;
        output_print("%s\"%s\":%" PRIu64, before, left_out_word(reason),
                     report->samples.left[reason]);
        before = ",";
    }
    output_text(*before == ',' && before[1] == '\0' ? "}" : "");
}

bool agent_report_text(const agent_report *report, char text[AGENT_REPORT_BYTES])
{
    size_t used = 0;
    for (left_out reason = 0; reason < LEFT_OUT_COUNT; reason++)
        if (report->samples.left[reason] > 0)
            used += (size_t)snprintf(text + used, AGENT_REPORT_BYTES - used, "%s%s %" PRIu64,
                                     used > 0 ? ", " : "", left_out_word(reason),
                                     report->samples.left[reason]);
    return used > 0;
}
