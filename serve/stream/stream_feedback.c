/* Feedback: a rule that is proposed from a past episode, and the rules that people add. They are
 * part of the pipeline, so they go into the journal. */
#include "stream_parts.h"

#include "front/options/rule_list.h"
#include "front/options/rule_options.h"
#include "front/results/rules_json.h"
#include "front/text/quoting.h"
#include "serve/base/background.h"

#include <stdlib.h>
#include <string.h>

bool stream_has_keys(stream *one)
{
    stream_read_lock(one);
    bool has_keys = one->settings.cli.score.key != NULL;
    stream_read_unlock(one);
    return has_keys;
}

/* ---- Rules ---- */

static bool check_rows(const stream *one, problem *why)
{
    return one->pipeline ||
           problem_set(why, 409, "Send rows first, or PATCH the setting \"mute\".",
                       "the stream has no rows yet, so there are no columns for a rule");
}

static bool refuse_rule(problem *why, const oif_error *error)
{
    problem_set_error(why, error->status == OIF_EMEMORY ? 503 : 400,
                      "A rule is a line such as: mute column=latency change<20%.", error);
    why->column = error->column;
    return false;
}

/* Call it under the lock. Reading works for a broken stream, too. */
static bool write_proposal(const stream *one, const episode_name *name, problem *why)
{
    char rule[OIF_RULE_BYTES];
    oif_error error;
    if (!one->pipeline)
        return problem_set(why, 404, NULL, "the stream has no rows yet, and so no episodes");
    if (oif_pipeline_propose(one->pipeline, name->key, name->key_bytes, name->number, rule,
                             &error) != OIF_OK)
        return problem_set_error(why, 404, "GET .../episodes lists the latest.", &error);
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

static size_t count_rules(const oif_pipeline *pipeline)
{
    oif_rule_info rule;
    size_t count = 0;
    while (oif_pipeline_rule(pipeline, count, &rule))
        count++;
    return count;
}

/* The place of a rule with this text, before `end`; `end` if there is none. */
static size_t find_rule(const oif_pipeline *pipeline, const char *text, size_t end)
{
    oif_rule_info rule;
    size_t at = 0;
    while (at < end && oif_pipeline_rule(pipeline, at, &rule) && strcmp(rule.text, text) != 0)
        at++;
    return at;
}

/* ---- Adding and removing ---- */

/* The text of a rule changes when it is added: a named zone becomes a POSIX one. So whether it was
 * there before is known afterwards. *is_new: it was not. Else it stays where it is or, if `moves`,
 * becomes the last. */
static bool apply_added(oif_pipeline *pipeline, const char *line, bool moves, bool *is_new,
                        problem *why)
{
    const size_t before = count_rules(pipeline);
    oif_rule_info added;
    oif_error error;
    if (oif_rules_check(line, strlen(line), &error) != OIF_OK ||
        !rule_list_exchange(pipeline, SIZE_MAX, line, &error))
        return refuse_rule(why, &error);
    if (!oif_pipeline_rule(pipeline, before, &added))
        return problem_set(why, 400, "A rule is a line such as: mute column=latency change<20%.",
                           "there is no rule in this text");
    const size_t same = find_rule(pipeline, added.text, before);
    *is_new = same == before;
    return *is_new || rule_list_exchange(pipeline, moves ? same : before, NULL, &error) ||
           refuse_rule(why, &error);
}

static void write_rules(const stream *one)
{
    output_print("{\"rules\":");
    rules_write_json(one->pipeline);
    output_print("}\n");
}

static journal_record rule_record(const stream *one, rule_change change, const char *line)
{
    return (journal_record){.kind = JOURNAL_RULE,
                            .format = (int)change,
                            .first_row = stream_row_count(one),
                            .seconds = background_wall_seconds(),
                            .payload = line,
                            .bytes = strlen(line)};
}

/* Call it under the lock. */
static bool add_rule(stream *one, const char *line, problem *why)
{
    const journal_record record = rule_record(one, RULE_ADDED, line);
    bool is_new = false;
    if (!stream_check_usable(one, why) || !check_rows(one, why) ||
        !stream_keep_record(one, &record, why))
        return false;
    bool is_good = apply_added(one->pipeline, line, false, &is_new, why);
    one->changes += is_new;
    if (!is_new && one->folder)
        journal_undo(&one->log);
    return is_good;
}

bool stream_add_rule(stream *one, const char *rule, problem *why)
{
    char *line = rule_list_line(rule);
    if (!line)
        return problem_set(why, 503, NULL, "out of memory");
    stream_begin_change(one);
    bool is_good = add_rule(one, line, why);
    if (is_good)
        write_rules(one);
    stream_end_change(one);
    free(line);
    if (is_good)
        stream_sync(one);
    return is_good;
}

/* The rule with this text, also without the mark of feedback. */
static size_t choose_rule(const oif_pipeline *pipeline, const char *rule)
{
    const size_t count = count_rules(pipeline);
    char *line = rule_list_line(rule);
    size_t at = find_rule(pipeline, rule, count);
    if (at == count && line)
        at = find_rule(pipeline, line, count);
    free(line);
    return at;
}

/* Call it under the lock. */
static bool remove_rule(stream *one, const char *rule, problem *why)
{
    oif_rule_info info;
    oif_error error;
    if (!stream_check_usable(one, why))
        return false;
    const size_t at = one->pipeline ? choose_rule(one->pipeline, rule) : 0;
    if (!one->pipeline || !oif_pipeline_rule(one->pipeline, at, &info))
        return problem_set(why, 404, "GET the stream: its \"rules\" lists them.",
                           "the stream has no such rule");
    if (!strstr(info.text, RULE_FEEDBACK_MARK))
        return problem_set(why, 409, "Change the setting with PATCH.",
                           "this rule comes from the settings of the stream");
    const journal_record record = rule_record(one, RULE_REMOVED, info.text);
    if (!stream_keep_record(one, &record, why))
        return false;
    if (rule_list_exchange(one->pipeline, at, NULL, &error)) {
        one->changes++;
        return true;
    }
    if (one->folder)
        journal_undo(&one->log);
    return refuse_rule(why, &error);
}

bool stream_remove_rule(stream *one, const char *rule, problem *why)
{
    stream_begin_change(one);
    bool is_good = remove_rule(one, rule, why);
    if (is_good)
        write_rules(one);
    stream_end_change(one);
    if (is_good)
        stream_sync(one);
    return is_good;
}

/* The snapshot may have what follows, too. So a rule that it has becomes the last again. Its count
 * is 0, because no row came since it was added. */
void stream_replay_rule(stream *one, const journal_record *record)
{
    char *line = strndup(record->payload, record->bytes);
    bool is_new;
    problem why;
    oif_error error;
    if (!line || !one->pipeline) {
        free(line);
        return;
    }
    const size_t count = count_rules(one->pipeline), at = find_rule(one->pipeline, line, count);
    if (record->format == RULE_ADDED)
        apply_added(one->pipeline, line, true, &is_new, &why);
    else if (at < count)
        rule_list_exchange(one->pipeline, at, NULL, &error);
    one->changes++;
    free(line);
}
