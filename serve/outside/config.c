#include "config.h"

#include "front/input/key_columns.h"
#include "front/results/result_fields.h"
#include "front/text/cut.h"
#include "front/text/durations.h"
#include "front/text/name_list.h"
#include "front/text/suggest.h"
#include "serve/agents/sample_names.h"
#include "serve/base/json_options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_SECONDS_INITIALLY = 60, RESEND_SECONDS_INITIALLY = 60 };

static const double day_seconds = 86400, days_max = 366, past_steps_max = 100000;

/* The file being read, and the first problem with it. */
typedef struct reading {
    const char *path;
    server_config *config;
    problem *why;
} reading;

__attribute__((format(printf, 2, 3))) static bool refuse(reading *r, const char *format, ...)
{
    va_list arguments;
    problem cause;
    va_start(arguments, format);
    problem_set_list(&cause, 400, NULL, format, arguments);
    va_end(arguments);
    return problem_set(r->why, 400, NULL, "%s: %s", r->path, cause.message);
}

static bool refuse_memory(reading *r)
{
    return refuse(r, "out of memory");
}

/* ---- Objects with known members ---- */

typedef enum member_kind {
    MEMBER_TEXT,
    MEMBER_SECONDS,
    MEMBER_DAYS, /* seconds, too, but more of them */
    MEMBER_OBJECT,
    MEMBER_ARRAY
} member_kind;

typedef struct member {
    const char *name;
    member_kind kind;
    size_t offset; /* in the structure to fill */
    bool is_needed;
} member;

static bool store_seconds(json_t *value, double most, double *seconds)
{
    if (json_is_number(value))
        *seconds = json_number_value(value);
    else if (!json_is_string(value) || !duration_parse(json_string_value(value), seconds))
        return false;
    return isfinite(*seconds) && *seconds > 0 && *seconds <= most;
}

/* Returns NULL, or what the value should have been. */
static const char *store_member(const member *m, json_t *value, void *filled)
{
    char *place = (char *)filled + m->offset;
    switch (m->kind) {
    case MEMBER_TEXT:
        if (!json_is_string(value) || json_string_length(value) == 0)
            return "a text";
        *(const char **)(void *)place = json_string_value(value);
        return NULL;
    case MEMBER_SECONDS:
        if (!store_seconds(value, day_seconds, (double *)(void *)place))
            return "seconds or a text such as \"15s\", at most a day";
        return NULL;
    case MEMBER_DAYS:
        if (!store_seconds(value, days_max * day_seconds, (double *)(void *)place))
            return "seconds or a text such as \"14d\", at most 366 days";
        return NULL;
    case MEMBER_OBJECT:
        *(json_t **)(void *)place = value;
        return json_is_object(value) ? NULL : "an object";
    default: *(json_t **)(void *)place = value; return json_is_array(value) ? NULL : "an array";
    }
}

/* Objects and arrays that are left out count as empty. */
static bool store_empty(const member *m, json_t *object, void *filled)
{
    if (m->kind != MEMBER_OBJECT && m->kind != MEMBER_ARRAY)
        return true;
    json_t *empty = m->kind == MEMBER_OBJECT ? json_object() : json_array();
    *(json_t **)(void *)((char *)filled + m->offset) = empty;
    return json_object_set_new(object, m->name, empty) == 0;
}

static const member *find_member(const member *members, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    return NULL;
}

static bool refuse_member(reading *r, const char *place, const member *members, size_t count,
                          const char *name)
{
    char hint[HINT_BYTES];
    word_suggestion suggestion = suggestion_for(name, strlen(name));
    for (size_t i = 0; i < count; i++)
        suggestion_consider(&suggestion, members[i].name);
    return refuse(r, "%s has no member '%s'%s", place, cut_name(name).text,
                  suggestion_hint(&suggestion, "", hint));
}

/* Fills a structure from an object; `place` is its name in messages. */
static bool read_members(reading *r, const char *place, json_t *object, const member *members,
                         size_t count, void *filled)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return refuse(r, "%s: must be an object", place);
    json_object_foreach(object, name, value) {
        const member *m = find_member(members, count, name);
        if (!m)
            return refuse_member(r, place, members, count, name);
        const char *expected = store_member(m, value, filled);
        if (expected)
            return refuse(r, "%s: '%s' must be %s", place, name, expected);
    }
    for (size_t i = 0; i < count; i++) {
        if (json_object_get(object, members[i].name))
            continue;
        if (members[i].is_needed)
            return refuse(r, "%s: '%s' is missing", place, members[i].name);
        if (!store_empty(&members[i], object, filled))
            return refuse_memory(r);
    }
    return true;
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

static bool check_url(reading *r, const char *place, const char *url)
{
    if (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0)
        return true;
    return refuse(r, "%s: 'url' must begin with http:// or https://", place);
}

/* Labels and metrics of Prometheus have this form; a label has no colon. */
static bool is_label_name(const char *name)
{
    if (!*name || (*name >= '0' && *name <= '9'))
        return false;
    for (; *name; name++) {
        bool is_letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
        if (!is_letter && *name != '_' && (*name < '0' || *name > '9'))
            return false;
    }
    return true;
}

/* ---- Options of the command ---- */

static bool add_option(reading *r, const char *name, json_t *value)
{
    if (strcmp(name, "config") == 0)
        return refuse(r, "'config' cannot be in the configuration itself");
    if (!json_option_is_value(value))
        return refuse(r, "'%s' must be " JSON_OPTION_VALUES, cut_name(name).text);
    if (json_is_false(value) || json_is_null(value))
        return true;
    return json_object_set(r->config->options, name, value) == 0 || refuse_memory(r);
}

/* ---- Streams ---- */

static const member stream_members[] = {
    {"name", MEMBER_TEXT, offsetof(stream_config, name), true},
    {"settings", MEMBER_OBJECT, offsetof(stream_config, settings), false},
};

static bool check_is_first(reading *r, const char *name)
{
    const server_config *config = r->config;
    size_t times = 0;
    for (size_t i = 0; i < config->stream_count; i++)
        times += config->streams[i].name && strcmp(config->streams[i].name, name) == 0;
    for (size_t i = 0; i < config->prometheus.stream_count; i++) {
        const char *other = config->prometheus.streams[i].stream.name;
        times += other && strcmp(other, name) == 0;
    }
    return times < 2 || refuse(r, "two streams have the name '%.*s'",
                               (int)cut_bytes(name, strlen(name), 64), name);
}

static bool read_streams(reading *r, json_t *list)
{
    size_t i;
    json_t *entry;
    if (!json_is_array(list))
        return refuse(r, "'streams' must be an array");
    r->config->stream_count = json_array_size(list);
    r->config->streams = calloc(json_array_size(list) + 1, sizeof *r->config->streams);
    if (!r->config->streams)
        return refuse_memory(r);
    json_array_foreach(list, i, entry) {
        char place[32];
        stream_config *stream = &r->config->streams[i];
        snprintf(place, sizeof place, "streams[%zu]", i);
        if (!read_members(r, place, entry, stream_members, COUNT(stream_members), stream) ||
            !check_is_first(r, stream->name))
            return false;
    }
    return true;
}

/* ---- Alertmanager ---- */

static const member alertmanager_members[] = {
    {"url", MEMBER_TEXT, offsetof(alertmanager_config, url), false},
    {"token_file", MEMBER_TEXT, offsetof(alertmanager_config, token_file), false},
    {"labels", MEMBER_OBJECT, offsetof(alertmanager_config, labels), false},
    {"min_grade", MEMBER_TEXT, offsetof(alertmanager_config, min_grade), false},
    {"resend_seconds", MEMBER_SECONDS, offsetof(alertmanager_config, resend_seconds), false},
};

static bool check_labels(reading *r, json_t *labels)
{
    static const char *const ours[] = {"stream", "key", "column", "severity", "incident"};
    const char *name;
    json_t *value;
    json_object_foreach(labels, name, value) {
        if (!is_label_name(name))
            return refuse(r, "alertmanager: '%s' cannot be the name of a label",
                          cut_name(name).text);
        if (!json_is_string(value))
            return refuse(r, "alertmanager: the label '%s' must be a text", cut_name(name).text);
        for (size_t i = 0; i < COUNT(ours); i++)
            if (strcmp(name, ours[i]) == 0)
                return refuse(r, "alertmanager: the label '%s' is set by oif", name);
    }
    return true;
}

static bool check_grade(reading *r, const char *grade)
{
    for (oif_grade known = OIF_GRADE_NOTE; known <= OIF_GRADE_CRITICAL; known++)
        if (strcmp(grade, grade_word(known)) == 0)
            return true;
    return refuse(r, "alertmanager: 'min_grade' must be note, warning or critical");
}

static bool read_alertmanager(reading *r, json_t *object)
{
    alertmanager_config *alertmanager = &r->config->alertmanager;
    return read_members(r, "alertmanager", object, alertmanager_members,
                        COUNT(alertmanager_members), alertmanager) &&
           (!alertmanager->url || check_url(r, "alertmanager", alertmanager->url)) &&
           (!alertmanager->min_grade || check_grade(r, alertmanager->min_grade)) &&
           check_labels(r, alertmanager->labels);
}

/* ---- Webhook ---- */

static const member webhook_members[] = {
    {"url", MEMBER_TEXT, offsetof(webhook_config, url), true},
    {"token_file", MEMBER_TEXT, offsetof(webhook_config, token_file), false},
    {"secret_file", MEMBER_TEXT, offsetof(webhook_config, secret_file), false},
};

static bool read_webhook(reading *r, json_t *object)
{
    webhook_config *webhook = &r->config->webhook;
    return read_members(r, "webhook", object, webhook_members, COUNT(webhook_members), webhook) &&
           check_url(r, "webhook", webhook->url);
}

/* ---- Prometheus ---- */

typedef struct prometheus_members {
    const char *url, *token_file;
    double step_seconds, past_seconds;
    json_t *streams;
} prometheus_members;

static const member prometheus_table[] = {
    {"url", MEMBER_TEXT, offsetof(prometheus_members, url), false},
    {"token_file", MEMBER_TEXT, offsetof(prometheus_members, token_file), false},
    {"step", MEMBER_SECONDS, offsetof(prometheus_members, step_seconds), false},
    {"past", MEMBER_DAYS, offsetof(prometheus_members, past_seconds), false},
    {"streams", MEMBER_ARRAY, offsetof(prometheus_members, streams), true},
};

static const member pull_members[] = {
    {"name", MEMBER_TEXT, offsetof(pull_config, stream.name), true},
    {"settings", MEMBER_OBJECT, offsetof(pull_config, stream.settings), false},
    {"queries", MEMBER_OBJECT, offsetof(pull_config, queries), true},
    {"key", MEMBER_ARRAY, offsetof(pull_config, labels), false},
    {"step", MEMBER_SECONDS, offsetof(pull_config, step_seconds), false},
    {"past", MEMBER_DAYS, offsetof(pull_config, past_seconds), false},
};

static bool has_text(json_t *array, const char *text)
{
    size_t i;
    json_t *item;
    json_array_foreach(array, i, item)
        if (json_is_string(item) && strcmp(json_string_value(item), text) == 0)
            return true;
    return false;
}

static bool is_column_name(const char *name)
{
    while (*name && sample_name_byte(*name) == *name)
        name++;
    return !*name;
}

static bool check_queries(reading *r, const char *place, const pull_config *pull)
{
    const char *column;
    json_t *query;
    if (json_object_size(pull->queries) == 0)
        return refuse(r, "%s: 'queries' is empty; write {\"load\": \"node_load1\"}", place);
    json_object_foreach(pull->queries, column, query) {
        if (!json_is_string(query) || json_string_length(query) == 0)
            return refuse(r, "%s: the query of '%s' must be a text", place, cut_name(column).text);
        if (!*column || strcmp(column, PULL_TIME_COLUMN) == 0 || has_text(pull->labels, column) ||
            (json_array_size(pull->labels) == 0 && strcmp(column, PULL_KEY_COLUMN) == 0))
            return refuse(r,
                          "%s: a query cannot be called '%s', the column of the time or of the "
                          "key; choose another name",
                          place, cut_name(column).text);
        if (!is_column_name(column))
            return refuse(r,
                          "%s: a query cannot be called '%s'; use letters, digits, _ and :", place,
                          cut_name(column).text);
    }
    return true;
}

static bool check_key(reading *r, const char *place, json_t *labels)
{
    size_t i;
    json_t *label;
    if (json_array_size(labels) > KEY_COLUMNS_MAX)
        return refuse(r, "%s: at most %d labels make a key", place, KEY_COLUMNS_MAX);
    json_array_foreach(labels, i, label) {
        if (!json_is_string(label) || !is_label_name(json_string_value(label)))
            return refuse(r, "%s: 'key' must be names of labels such as [\"instance\"]", place);
        if (strcmp(json_string_value(label), PULL_TIME_COLUMN) == 0)
            return refuse(r, "%s: the label '" PULL_TIME_COLUMN "' cannot be in the key", place);
    }
    return true;
}

/* "a","b,c": the columns as a list for the setting "columns"; NULL: out of memory. */
static char *column_list(json_t *queries)
{
    const char *name;
    json_t *query;
    char *list = NULL;
    json_object_foreach(queries, name, query)
        if (!(list = name_list_append(list, name)))
            break;
    return list;
}

/* The columns of a pulled stream are known, so its settings follow from them. */
static bool derive_settings(reading *r, const char *place, pull_config *pull)
{
    static const char *const ours[] = {"key", "time", "columns", "format"};
    json_t *settings = pull->stream.settings;
    for (size_t i = 0; i < COUNT(ours); i++)
        if (json_object_get(settings, ours[i]))
            return refuse(r, "%s: the setting '%s' follows from the queries; leave it out", place,
                          ours[i]);
    json_t *texts = json_array();
    const char *key =
        json_array_size(pull->labels) > 0 ? json_option_text(pull->labels, texts) : PULL_KEY_COLUMN;
    char *columns = column_list(pull->queries);
    bool is_set = columns && key && json_object_set_new(settings, "key", json_string(key)) == 0 &&
                  json_object_set_new(settings, "time", json_string(PULL_TIME_COLUMN)) == 0 &&
                  json_object_set_new(settings, "columns", json_string(columns)) == 0 &&
                  json_object_set_new(settings, "format", json_string("ndjson")) == 0;
    free(columns);
    json_decref(texts);
    return is_set || refuse_memory(r);
}

static bool check_past(reading *r, const char *place, const pull_config *pull)
{
    return pull->past_seconds <= past_steps_max * pull->step_seconds ||
           refuse(r, "%s: 'past' has more than %.0f steps; make it shorter, or 'step' longer",
                  place, past_steps_max);
}

static bool read_pull(reading *r, const char *place, json_t *entry, pull_config *pull)
{
    return read_members(r, place, entry, pull_members, COUNT(pull_members), pull) &&
           check_past(r, place, pull) && check_key(r, place, pull->labels) &&
           check_queries(r, place, pull) && derive_settings(r, place, pull) &&
           check_is_first(r, pull->stream.name);
}

static bool read_prometheus(reading *r, json_t *object)
{
    prometheus_config *prometheus = &r->config->prometheus;
    prometheus_members members = {.step_seconds = STEP_SECONDS_INITIALLY};
    size_t i;
    json_t *entry;
    if (!read_members(r, "prometheus", object, prometheus_table, COUNT(prometheus_table),
                      &members) ||
        (members.url && !check_url(r, "prometheus", members.url)))
        return false;
    prometheus->url = members.url;
    prometheus->token_file = members.token_file;
    prometheus->stream_count = json_array_size(members.streams);
    prometheus->streams = calloc(prometheus->stream_count + 1, sizeof *prometheus->streams);
    if (!prometheus->streams)
        return refuse_memory(r);
    json_array_foreach(members.streams, i, entry) {
        char place[48];
        snprintf(place, sizeof place, "prometheus.streams[%zu]", i);
        prometheus->streams[i].step_seconds = members.step_seconds;
        prometheus->streams[i].past_seconds = members.past_seconds;
        if (!read_pull(r, place, entry, &prometheus->streams[i]))
            return false;
    }
    return true;
}

/* ---- The file ---- */

static bool read_member(reading *r, const char *name, json_t *value)
{
    if (strcmp(name, "streams") == 0)
        return read_streams(r, value);
    if (strcmp(name, "alertmanager") == 0)
        return read_alertmanager(r, value);
    if (strcmp(name, "webhook") == 0)
        return read_webhook(r, value);
    if (strcmp(name, "prometheus") == 0)
        return read_prometheus(r, value);
    return add_option(r, name, value);
}

static bool read_text(reading *r)
{
    const char *name;
    json_t *value;
    if (!json_is_object(r->config->text))
        return refuse(r, "must be a JSON object");
    json_object_foreach(r->config->text, name, value) {
        if (!read_member(r, name, value))
            return false;
    }
    return true;
}

static json_t *parse_file(reading *r)
{
    json_error_t error;
    FILE *file = fopen(r->path, "r");
    if (!file) {
        refuse(r, "%s", strerror(errno));
        return NULL;
    }
    json_t *text = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (!text) {
        refuse(r, "line %d, column %d: %s", error.line, error.column, error.text);
        r->why->line = error.line > 0 ? (uint64_t)error.line : 0;
        r->why->column = error.column > 0 ? (uint64_t)error.column : 0;
    }
    return text;
}

void config_init(server_config *config)
{
    *config = (server_config){.options = json_object(),
                              .alertmanager.resend_seconds = RESEND_SECONDS_INITIALLY};
}

bool config_load(const char *path, server_config *config, problem *why)
{
    config_init(config);
    reading r = {path, config, why};
    config->text = parse_file(&r);
    if (config->text && read_text(&r))
        return true;
    config_close(config);
    return false;
}

void config_close(server_config *config)
{
    json_decref(config->options);
    free(config->streams);
    free(config->prometheus.streams);
    json_decref(config->text);
    *config = (server_config){0};
}
