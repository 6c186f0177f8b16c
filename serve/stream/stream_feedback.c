/* Feedback: which past episodes were useless, and the rules that are added because of it. Both are
 * part of the pipeline, so both go into the journal. */
#include "stream_parts.h"

#include "front/options/rule_options.h"
#include "front/results/feedback_json.h"
#include "front/results/rules_json.h"
#include "serve/base/background.h"

#include <stdlib.h>
#include <string.h>

bool stream_has_keys(stream *one)
{
    stream_begin_look(one);
    bool has_keys = one->settings.cli.score.key != NULL;
    stream_end_look(one);
    return has_keys;
}

/* ---- Looking ---- */

static void write_episodes(const oif_pipeline *pipeline)
{
    oif_past_episode episode;
    output_print("\"episodes\": [");
    for (size_t i = 0; oif_pipeline_past_episode(pipeline, i, &episode); i++) {
        output_print(i > 0 ? ", " : "");
        feedback_write_episode(pipeline, &episode);
    }
    output_print("], ");
}

static void write_proposals(const oif_proposal *proposals, size_t count)
{
    output_print("\"proposals\": [");
    for (size_t i = 0; i < count; i++) {
        output_print(i > 0 ? ", " : "");
        feedback_write_proposal(&proposals[i], i + 1);
    }
    output_print("]}\n");
}

/* Call it under the lock. Reading works for a broken stream, too. */
static bool write_feedback(const stream *one, bool has_episodes, problem *why)
{
    size_t count = 0;
    oif_proposal *proposals = one->pipeline ? feedback_proposals(one->pipeline, &count) : NULL;
    if (one->pipeline && !proposals)
        return problem_set(why, 503, NULL, "out of memory");
    output_print("{");
    if (has_episodes && one->pipeline)
        write_episodes(one->pipeline);
    else if (has_episodes)
        output_print("\"episodes\": [], ");
    write_proposals(proposals, count);
    free(proposals);
    return true;
}

bool stream_write_feedback(stream *one, problem *why)
{
    stream_begin_look(one);
    bool is_good = write_feedback(one, true, why);
    stream_end_look(one);
    return is_good;
}

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

/* Call it under the lock. */
static bool write_trial(const stream *one, const char *rule, problem *why)
{
    bool is_held[OIF_PAST_EPISODES_MAX];
    oif_rule_trial trial;
    oif_error error;
    oif_past_episode episode;
    if (!check_rows(one, why))
        return false;
    if (oif_pipeline_try_rules(one->pipeline, rule, strlen(rule), &trial, is_held, &error) !=
        OIF_OK)
        return refuse_rule(why, &error);
    const char *comma = "";
    output_print("{");
    feedback_write_trial(&trial);
    output_print(", \"real\": [");
    for (size_t i = 0; oif_pipeline_past_episode(one->pipeline, i, &episode); i++) {
        if (!is_held[i] || episode.mark != OIF_MARK_REAL)
            continue;
        output_print("%s", comma);
        feedback_write_episode(one->pipeline, &episode);
        comma = ", ";
    }
    output_print("]}\n");
    return true;
}

/* ---- Marks ---- */

static bool apply_mark(stream *one, const episode_name *name, oif_mark mark, problem *why)
{
    oif_error error;
    if (!one->pipeline)
        return problem_set(why, 404, NULL, "the stream has no rows yet, and so no episodes");
    if (oif_pipeline_mark_episode(one->pipeline, name->key, name->key_bytes, name->number, mark,
                                  &error) == OIF_OK)
        return true;
    return problem_set_error(why, 404, "GET .../feedback lists the episodes that can be marked.",
                             &error);
}

bool stream_mark(stream *one, const episode_name *name, oif_mark mark, problem *why)
{
    stream_begin_change(one);
    const journal_record record = {.kind = JOURNAL_MARK,
                                   .format = (int)mark,
                                   .first_row = stream_row_count(one),
                                   .skip = name->number,
                                   .seconds = background_wall_seconds(),
                                   .payload = name->key,
                                   .bytes = name->key_bytes};
    bool is_good = stream_check_usable(one, why) && stream_keep_record(one, &record, why);
    if (is_good && !apply_mark(one, name, mark, why)) {
        is_good = false;
        if (one->folder)
            journal_undo(&one->log);
    }
    one->changes += is_good;
    is_good = is_good && write_feedback(one, false, why);
    stream_end_change(one);
    if (is_good)
        stream_sync(one);
    return is_good;
}

void stream_replay_mark(stream *one, const journal_record *record)
{
    const episode_name name = {record->bytes > 0 ? record->payload : NULL, record->bytes,
                               record->skip};
    problem ignored;
    one->changes += apply_mark(one, &name, (oif_mark)record->format, &ignored);
}

/* ---- The rules of a pipeline as one text ---- */

typedef struct rule_lines {
    char *text;
    size_t bytes;
    bool is_good;
} rule_lines;

static void add_line(rule_lines *lines, const char *line)
{
    const size_t bytes = strlen(line);
    char *larger = lines->is_good ? realloc(lines->text, lines->bytes + bytes + 1) : NULL;
    lines->is_good = larger != NULL;
    if (!larger)
        return;
    memcpy(larger + lines->bytes, line, bytes);
    larger[lines->bytes + bytes] = '\n';
    lines->text = larger;
    lines->bytes += bytes + 1;
}

/* Gives the pipeline all its rules but one, and one more, which may be NULL. Those that stay keep
 * their counts. */
static bool exchange_rules(oif_pipeline *pipeline, size_t without, const char *more,
                           oif_error *error)
{
    rule_lines lines = {.is_good = true};
    oif_rule_info rule;
    for (size_t i = 0; oif_pipeline_rule(pipeline, i, &rule); i++)
        if (i != without)
            add_line(&lines, rule.text);
    if (more)
        add_line(&lines, more);
    bool is_done = lines.is_good;
    if (!is_done)
        *error = (oif_error){.status = OIF_EMEMORY, .message = "out of memory"};
    else
        is_done = oif_pipeline_set_rules(pipeline, lines.text ? lines.text : "", lines.bytes,
                                         error) == OIF_OK;
    free(lines.text);
    return is_done;
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
        !exchange_rules(pipeline, SIZE_MAX, line, &error))
        return refuse_rule(why, &error);
    if (!oif_pipeline_rule(pipeline, before, &added))
        return problem_set(why, 400, "A rule is a line such as: mute column=latency change<20%.",
                           "there is no rule in this text");
    const size_t same = find_rule(pipeline, added.text, before);
    *is_new = same == before;
    return *is_new || exchange_rules(pipeline, moves ? same : before, NULL, &error) ||
           refuse_rule(why, &error);
}

/* The line that is stored, to be freed: with the mark of feedback. */
static char *make_line(const char *rule)
{
    const size_t bytes = strlen(rule), mark_bytes = strlen(RULE_FEEDBACK_MARK);
    const bool has_mark =
        bytes >= mark_bytes && strcmp(rule + bytes - mark_bytes, RULE_FEEDBACK_MARK) == 0;
    char *line = malloc(bytes + mark_bytes + 1);
    if (line)
        snprintf(line, bytes + mark_bytes + 1, "%s%s", rule, has_mark ? "" : RULE_FEEDBACK_MARK);
    return line;
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
    char *line = make_line(rule);
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

/* The rule with this text, also without the mark of feedback, or with this number. */
static size_t choose_rule(const oif_pipeline *pipeline, const char *rule, uint64_t number)
{
    const size_t count = count_rules(pipeline);
    char *line = rule ? make_line(rule) : NULL;
    size_t at = number > 0 && number <= count ? (size_t)number - 1 : count;
    if (rule)
        at = find_rule(pipeline, rule, count);
    if (at == count && line)
        at = find_rule(pipeline, line, count);
    free(line);
    return at;
}

/* Call it under the lock. */
static bool remove_rule(stream *one, const char *rule, uint64_t number, problem *why)
{
    oif_rule_info info;
    oif_error error;
    if (!stream_check_usable(one, why))
        return false;
    const size_t at = one->pipeline ? choose_rule(one->pipeline, rule, number) : 0;
    if (!one->pipeline || !oif_pipeline_rule(one->pipeline, at, &info))
        return problem_set(why, 404, "GET the stream: its \"rules\" lists them.",
                           "the stream has no such rule");
    if (!strstr(info.text, RULE_FEEDBACK_MARK))
        return problem_set(why, 409, "Change the setting with PATCH.",
                           "this rule comes from the settings of the stream");
    const journal_record record = rule_record(one, RULE_REMOVED, info.text);
    if (!stream_keep_record(one, &record, why))
        return false;
    if (exchange_rules(one->pipeline, at, NULL, &error)) {
        one->changes++;
        return true;
    }
    if (one->folder)
        journal_undo(&one->log);
    return refuse_rule(why, &error);
}

bool stream_remove_rule(stream *one, const char *rule, uint64_t number, problem *why)
{
    stream_begin_change(one);
    bool is_good = remove_rule(one, rule, number, why);
    if (is_good)
        write_rules(one);
    stream_end_change(one);
    if (is_good)
        stream_sync(one);
    return is_good;
}

bool stream_write_trial(stream *one, const char *rule, problem *why)
{
    stream_begin_look(one);
    bool is_good = write_trial(one, rule, why);
    stream_end_look(one);
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
        exchange_rules(one->pipeline, at, NULL, &error);
    one->changes++;
    free(line);
}
