#include "sample_rule.h"

#include "front/text/durations.h"
#include "front/text/name_list.h"
#include "serve/base/json_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less than the shortest usual interval of senders, 1s, and its jitter. */
static const double usual_span_seconds = 0.5;

bool sample_rule_has(const char *name)
{
    static const char *const names[] = {"drop-labels", "metrics", "buckets", "row-span",
                                        "row-wait"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The text of a setting; NULL if it is not given. */
static bool take_text(const sample_rule *rule, const json_t *settings, const char *name,
                      const char **text, problem *why)
{
    const json_t *value = json_object_get(settings, name);
    *text = NULL;
    if (!value || json_is_null(value))
        return true;
    *text = json_option_text(value, rule->texts);
    return *text ||
           problem_set(why, 400, NULL, "\"%s\": expected a name, or a list of names", name);
}

static bool take_seconds(const sample_rule *rule, const json_t *settings, const char *name,
                         double most, double *seconds, problem *why)
{
    const char *text;
    if (!take_text(rule, settings, name, &text, why))
        return false;
    if (!text || (strcmp(text, "0") == 0 && (*seconds = 0, true)))
        return true;
    return (duration_parse(text, seconds) && *seconds >= 0 && *seconds <= most) ||
           problem_set(why, 400, NULL, "\"%s\": expected a time from 0 to %gs, such as \"5s\"",
                       name, most);
}

static bool take_switch(const json_t *settings, const char *name, bool *is_on, problem *why)
{
    const json_t *value = json_object_get(settings, name);
    *is_on = json_is_true(value);
    return !value || json_is_boolean(value) || json_is_null(value) ||
           problem_set(why, 400, NULL, "\"%s\": expected true or false", name);
}

/* One name each. A key with more labels is the stream's to refuse. */
static bool take_keys(sample_rule *rule, const char *list, problem *why)
{
    char *name = list ? malloc(strlen(list) + 1) : NULL;
    if (list && !name)
        return problem_set(why, 503, NULL, "out of memory");
    while (list && rule->key_count < RULE_KEYS_MAX) {
        list = name_list_next(list, name);
        json_t *copy = json_string(name);
        json_array_append_new(rule->texts, copy);
        if (copy && *name)
            rule->keys[rule->key_count++] = json_string_value(copy);
    }
    free(name);
    return true;
}

bool sample_rule_open(sample_rule *rule, const json_t *settings, problem *why)
{
    const char *key;
    *rule = (sample_rule){.texts = json_array(), .span_seconds = usual_span_seconds};
    if (!take_text(rule, settings, "key", &key, why) || !take_keys(rule, key, why) ||
        !take_text(rule, settings, "time", &rule->time, why) ||
        !take_text(rule, settings, "drop-labels", &rule->drop_labels, why) ||
        !take_text(rule, settings, "metrics", &rule->metrics, why) ||
        !take_switch(settings, "buckets", &rule->has_buckets, why) ||
        !take_seconds(rule, settings, "row-span", 3600, &rule->span_seconds, why) ||
        !take_seconds(rule, settings, "row-wait", 3600, &rule->wait_seconds, why))
        return false;
    if (!rule->time || !*rule->time)
        rule->time = "time";
    return true;
}

void sample_rule_close(sample_rule *rule)
{
    json_decref(rule->texts);
    *rule = (sample_rule){.texts = NULL};
}
