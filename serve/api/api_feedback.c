/* Rules that mute alerts: proposed from an episode, added and removed. */
#include "api.h"

#include "front/text/cut.h"

#include <stdio.h>
#include <string.h>

/* ---- Bodies ---- */

/* A key may have any character; other texts have no NUL, which is_line finds. */
enum { BODY_FLAGS = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL };

static const api_object episode_object = {"the members", "{\"episode\": 3, \"key\": \"web-1\"}",
                                          BODY_FLAGS};
static const api_object rule_object = {"the members", "{\"rule\": \"mute column=cpu change<20%\"}",
                                       BODY_FLAGS};

static bool is_known(const char *name, const char *const *members)
{
    for (; *members; members++)
        if (strcmp(*members, name) == 0)
            return true;
    return false;
}

/* Reads the body, which may have only these members. The caller frees it. */
static bool read_members(const request *asked, const api_object *kind, const char *const *members,
                         json_t **object, problem *why)
{
    const char *name;
    json_t *value;
    if (!api_read_object(asked, kind, object, why))
        return false;
    if (!*object) {
        problem_set(why, 400, NULL, "the request has no body");
        snprintf(why->remedy, sizeof why->remedy, "Send an object such as %s.", kind->example);
        return false;
    }
    json_object_foreach(*object, name, value) {
        if (is_known(name, members))
            continue;
        problem_set(why, 400, NULL, "\"%s\" is not a member of the body", cut_name(name).text);
        snprintf(why->remedy, sizeof why->remedy, "Send an object such as %s.", kind->example);
        return false;
    }
    return true;
}

/* One line, and nothing that a terminal would obey. */
static bool is_line(const json_t *text)
{
    const char *at = json_string_value(text);
    if (!at || strlen(at) != json_string_length(text))
        return false;
    for (; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return false;
    return true;
}

/* The episode that the members `episode` and `key` name. */
static bool read_episode(const json_t *object, episode_name *name, problem *why)
{
    const json_t *number = json_object_get(object, "episode"),
                 *key = json_object_get(object, "key");
    if (!json_is_integer(number) || json_integer_value(number) < 1)
        return problem_set(why, 400, "Send \"episode\": N, as in the list of episodes.",
                           "\"episode\" is not the number of an episode");
    if (key && !json_is_string(key) && !json_is_null(key))
        return problem_set(why, 400, NULL, "\"key\" is not a text");
    *name = (episode_name){json_string_value(key), json_string_length(key),
                           (uint64_t)json_integer_value(number)};
    return true;
}

bool api_propose_rule(api_call *call, problem *why)
{
    static const char *const members[] = {"episode", "key", NULL};
    json_t *object = NULL;
    episode_name name;
    bool is_good = api_find_stream(call, why) &&
                   read_members(call->asked, &episode_object, members, &object, why) &&
                   read_episode(object, &name, why) && stream_write_proposal(call->one, &name, why);
    call->is_change = false;
    json_decref(object);
    return is_good;
}

/* ---- Rules ---- */

static bool read_rule(const json_t *object, const char **rule, problem *why)
{
    const json_t *text = json_object_get(object, "rule");
    *rule = json_string_value(text);
    return (is_line(text) && **rule) ||
           problem_set(why, 400, "Send \"rule\": \"mute column=cpu change<20%\".",
                       "\"rule\" is not one line of text");
}

/* The body that both ways of changing rules have. */
static bool change_rules(api_call *call,
                         bool (*change)(stream *one, const char *rule, problem *why), problem *why)
{
    static const char *const members[] = {"rule", NULL};
    json_t *object = NULL;
    const char *rule;
    bool is_good = api_find_stream(call, why) &&
                   read_members(call->asked, &rule_object, members, &object, why) &&
                   read_rule(object, &rule, why) && change(call->one, rule, why);
    json_decref(object);
    return is_good;
}

bool api_post_rule(api_call *call, problem *why)
{
    return change_rules(call, stream_add_rule, why);
}

bool api_delete_rule(api_call *call, problem *why)
{
    return change_rules(call, stream_remove_rule, why);
}
