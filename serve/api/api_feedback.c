/* What people say about episodes: marks and rules. */
#include "api.h"

#include "front/text/cut.h"

#include <stdio.h>
#include <string.h>

/* ---- Bodies ---- */

/* A key may have any character; other texts have no NUL, which is_line finds. */
enum { BODY_FLAGS = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL };

static const api_object mark_object = {
    "the members", "{\"episode\": 3, \"key\": \"web-1\", \"mark\": \"useless\"}", BODY_FLAGS};
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
static bool read_episode(stream *one, const json_t *object, episode_name *name, problem *why)
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
    if (stream_has_keys(one) == (name->key != NULL))
        return true;
    return name->key ? problem_set(why, 400, "Leave \"key\" out.", "the stream has no keys")
                     : problem_set(why, 400, "Send \"key\": \"...\" too.",
                                   "the stream has keys, and \"key\" is not given");
}

/* ---- Marks ---- */

bool api_get_feedback(api_call *call, problem *why)
{
    return api_find_stream(call, why) && stream_write_feedback(call->one, why);
}

static bool read_mark(const json_t *object, oif_mark *mark, problem *why)
{
    static const char *const words[] = {"none", "useless", "real"};
    const char *word = json_string_value(json_object_get(object, "mark"));
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0) {
            *mark = (oif_mark)i;
            return true;
        }
    return problem_set(why, 400, "Send \"mark\": \"useless\", \"real\" or \"none\".",
                       "\"mark\" is not one of the three words");
}

bool api_post_feedback(api_call *call, problem *why)
{
    static const char *const members[] = {"episode", "key", "mark", NULL};
    json_t *object = NULL;
    episode_name name;
    oif_mark mark = OIF_MARK_NONE;
    bool is_good = api_find_stream(call, why) &&
                   read_members(call->asked, &mark_object, members, &object, why) &&
                   read_episode(call->one, object, &name, why) && read_mark(object, &mark, why) &&
                   stream_mark(call->one, &name, mark, why);
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

bool api_post_rule(api_call *call, problem *why)
{
    static const char *const members[] = {"rule", NULL};
    json_t *object = NULL;
    const char *rule;
    bool is_trial = false;
    bool is_good = api_find_stream(call, why) && request_flag(call->asked, "try", &is_trial, why) &&
                   read_members(call->asked, &rule_object, members, &object, why) &&
                   read_rule(object, &rule, why) &&
                   (is_trial ? stream_write_trial : stream_add_rule)(call->one, rule, why);
    call->is_change = !is_trial;
    json_decref(object);
    return is_good;
}

static bool delete_rule(const api_call *call, const json_t *object, problem *why)
{
    const char *rule = NULL;
    uint64_t number = 0;
    const bool has_number = request_find(call->asked, "number") != NULL;
    if (has_number == (object != NULL))
        return problem_set(why, 400, "Send {\"rule\": \"...\"}, or ?number=N, not both.",
                           "the request does not name one rule");
    return (has_number ? request_count(call->asked, "number", UINT64_C(1) << 40, &number, why)
                       : read_rule(object, &rule, why)) &&
           stream_remove_rule(call->one, rule, number, why);
}

bool api_delete_rule(api_call *call, problem *why)
{
    static const char *const members[] = {"rule", NULL};
    json_t *object = NULL;
    const bool has_body = call->asked->body_bytes > 0;
    bool is_good = api_find_stream(call, why) &&
                   (!has_body || read_members(call->asked, &rule_object, members, &object, why)) &&
                   delete_rule(call, object, why);
    json_decref(object);
    return is_good;
}
