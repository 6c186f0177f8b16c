/* Feedback: a rule that is proposed from a past episode, and the rules that people add, which are
 * the setting "mute" of the stream. */
#include "stream_parts.h"

#include "front/results/rules_json.h"
#include "front/text/quoting.h"

#include <string.h>

/* ---- Proposals ---- */

/* Call it under the lock. Reading works for a broken stream, too. */
static bool write_proposal(const stream *one, const episode_name *name, problem *why)
{
    char rule[OIF_RULE_BYTES];
    oif_error error;
    if (!one->pipeline)
        return problem_set(why, 404, NULL, "the stream has no rows yet, and so no episodes");
    if (oif_pipeline_propose(one->pipeline, name->key, name->key_bytes, name->number, rule,
                             &error) != OIF_OK)
        return problem_set_error(why, 404, "GET .../episodes lists the latest, with their keys.",
                                 &error);
    output_print("{\"rule\":");
    if (*rule)
        quoting_write_json(rule, strlen(rule));
    else
        output_print("null");
    output_print("}\n");
    return true;
}

bool stream_write_proposal(stream *one, const episode_name *name, problem *why)
{
    stream_read_lock(one);
    bool is_good = write_proposal(one, name, why);
    stream_read_unlock(one);
    return is_good;
}

/* ---- Rules ---- */

static bool is_same_rule(const char *a, const char *b)
{
    static const char verb[] = "mute ";
    const size_t bytes = sizeof verb - 1;
    a += strncmp(a, verb, bytes) == 0 ? bytes : 0;
    b += strncmp(b, verb, bytes) == 0 ? bytes : 0;
    return strcmp(a, b) == 0;
}

/* The rules of the settings, which the caller frees; NULL: out of memory. */
static json_t *copy_rules(const stream *one)
{
    json_t *set = json_object_get(one->settings.object, "mute");
    json_t *rules = json_is_array(set) ? json_copy(set) : json_array();
    if (json_is_string(set))
        json_array_append(rules, set);
    return rules;
}

/* The pipeline has them in the same order, but with another text if a rule names a zone. */
static size_t find_rule(const stream *one, const json_t *rules, const char *rule)
{
    oif_rule_info info;
    size_t i = 0;
    for (; i < json_array_size(rules); i++) {
        const char *set = json_string_value(json_array_get(rules, i));
        if ((set && is_same_rule(set, rule)) ||
            (oif_pipeline_rule(one->pipeline, i, &info) && is_same_rule(info.text, rule)))
            break;
    }
    return i;
}

static void write_rules(const stream *one)
{
    output_print("{\"rules\":");
    rules_write_json(one->pipeline);
    output_print("}\n");
}

static bool check_rows(const stream *one, problem *why)
{
    return one->pipeline ||
           problem_set(why, 409, "Send rows first, or PATCH the setting \"mute\".",
                       "the stream has no rows yet, so there are no columns for a rule");
}

/* Without rules there is no setting. */
static bool set_rules(stream *one, json_t *rules, problem *why)
{
    json_t *settings = json_object();
    json_object_set(settings, "mute", json_array_size(rules) > 0 ? rules : json_null());
    bool is_good = stream_change_now(one, settings, why);
    json_decref(settings);
    return is_good;
}

static bool add_rule(stream *one, json_t *rules, const char *rule, problem *why)
{
    if (find_rule(one, rules, rule) < json_array_size(rules))
        return true;
    json_array_append_new(rules, json_string(rule));
    return set_rules(one, rules, why);
}

static bool remove_rule(stream *one, json_t *rules, const char *rule, problem *why)
{
    return json_array_remove(rules, find_rule(one, rules, rule)) == 0
               ? set_rules(one, rules, why)
               : problem_set(why, 404, "GET the stream: its \"rules\" lists them.",
                             "the stream has no such rule");
}

static bool change_rules(stream *one,
                         bool (*change)(stream *one, json_t *rules, const char *rule, problem *why),
                         const char *rule, problem *why)
{
    stream_begin_change(one);
    json_t *rules = copy_rules(one);
    bool is_good =
        stream_check_usable(one, why) && check_rows(one, why) && change(one, rules, rule, why);
    json_decref(rules);
    if (is_good)
        write_rules(one);
    stream_end_change(one);
    if (is_good)
        stream_sync(one);
    return is_good;
}

bool stream_add_rule(stream *one, const char *rule, problem *why)
{
    return change_rules(one, add_rule, rule, why);
}

bool stream_remove_rule(stream *one, const char *rule, problem *why)
{
    return change_rules(one, remove_rule, rule, why);
}
