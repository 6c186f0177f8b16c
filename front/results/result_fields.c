#include "result_fields.h"

#include "front/advice/advice.h"
#include "front/columns/derive.h"
#include "front/text/cut.h"
#include "front/text/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names that rows have already ---- */

static bool is_added(const result_fields *fields, const char *name)
{
    size_t prefix_bytes = strlen(fields->prefix);
    if (prefix_bytes > 0 &&
        (strncmp(name, fields->prefix, prefix_bytes) != 0 || name[prefix_bytes++] != '_'))
        return false;
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(name + prefix_bytes, added_field_names[fields->chosen[i]]) == 0)
            return true;
    return false;
}

static bool is_member(const result_fields *fields, const column_source *from, const char *name)
{
    size_t bytes = strlen(fields->member);
    return strncmp(name, fields->member, bytes) == 0 &&
           (name[bytes] == '\0' || (name[bytes] == '.' && from->format == OIF_FORMAT_NDJSON));
}

void result_fields_note_clash(const result_fields *fields, const column_source *from,
                              bool as_member)
{
    advice given;
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++) {
        const char *name = oif_reader_column_name(from->reader, i);
        if (as_member ? !is_member(fields, from, name) : !is_added(fields, name))
            continue;
        note_because(advice_on(&given, ADVICE_FIELD_THERE, NULL),
                     "%s: rows already have a field '%s'", from->name,
                     cut_name(as_member ? fields->member : name).text);
        return;
    }
}

/* ---- Choosing them ---- */

static exit_code complain_no_field(const char *name, size_t name_bytes)
{
    word_suggestion suggestion = suggestion_for(name, name_bytes);
    char hint[HINT_BYTES];
    for (size_t i = 0; i < FIELDS_MAX; i++)
        suggestion_consider(&suggestion, added_field_names[i]);
    return complain(
        EXIT_USAGE,
        "--fields: there is no field '%.*s'%s (score, p, severity, threshold, anomaly, grade, "
        "ready, learned, episode, episode_id, episode_start, episode_rows, episode_peak, "
        "episode_why, why, expected, expected_low, expected_high)",
        (int)name_bytes, name, suggestion_hint(&suggestion, "", hint));
}

static bool is_chosen(const result_fields *fields, int field)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->chosen[i] == field)
            return true;
    return false;
}

/* Whether a field says why a row is an anomaly. */
static bool asks_why(const result_fields *fields)
{
    for (int i = FIELD_WHY; i <= FIELD_EXPECTED_HIGH; i++)
        if (is_chosen(fields, i))
            return true;
    return false;
}

static exit_code choose(result_fields *fields, const char *list)
{
    while (list) {
        size_t bytes = strcspn(list, ",");
        int field = added_field_find(list, bytes);
        if (field == FIELDS_MAX)
            return complain_no_field(list, bytes);
        if (is_chosen(fields, field))
            return complain(EXIT_USAGE, "--fields: '%s' is given twice; leave one out",
                            added_field_names[field]);
        fields->chosen[fields->count++] = field;
        list = list[bytes] ? list + bytes + 1 : NULL;
    }
    return EXIT_OK;
}

/* The fields needed to act on a row; with one line per episode, also whether it begins or ends
 * and which one it is; and the reasons if they are asked for. */
static void choose_usual(result_fields *fields, const score_settings *settings)
{
    static const int usual[] = {FIELD_SCORE, FIELD_P, FIELD_ANOMALY};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        fields->chosen[fields->count++] = usual[i];
    for (int i = FIELD_EPISODE; settings->alert_once && i <= FIELD_EPISODE_PEAK; i++)
        fields->chosen[fields->count++] = i;
    if (settings->alert_once && settings->explain_top > 0)
        fields->chosen[fields->count++] = FIELD_EPISODE_WHY;
    if (settings->explain_top > 0)
        fields->chosen[fields->count++] = FIELD_WHY;
}

/* Whether reasons are asked for, but neither a field nor another output shows them. */
static bool is_why_forgotten(const result_fields *fields, const score_settings *settings)
{
    return settings->explain_top > 0 && !asks_why(fields) &&
           !is_chosen(fields, FIELD_EPISODE_WHY) && !settings->on_alert && !settings->incidents;
}

exit_code result_fields_open(result_fields *fields, const cli_settings *settings)
{
    exit_code code = EXIT_OK;
    const char *prefix = settings->score.prefix;
    *fields = (result_fields){.top = settings->score.explain_top,
                              .digits = (int)settings->score.digits,
                              .prefix = prefix ? prefix : "",
                              .member = prefix ? prefix : "oif"};
    fields->json_start_bytes =
        (size_t)snprintf(fields->json_start, sizeof fields->json_start, "\"%s\":{", fields->member);
    if (settings->score.fields) {
        code = choose(fields, settings->score.fields);
        if (code == EXIT_OK && is_why_forgotten(fields, &settings->score))
            fields->chosen[fields->count++] = FIELD_WHY;
    }
    if (!settings->score.fields)
        choose_usual(fields, &settings->score);
    if (fields->top == 0 && (asks_why(fields) || settings->score.watch ||
                             settings->score.on_alert || settings->score.incidents))
        fields->top = DEFAULT_EXPLAIN_TOP;
    fields->follows_episodes = is_chosen(fields, FIELD_EPISODE_WHY) || settings->score.on_alert ||
                               settings->score.incidents;
    return code;
}

exit_code result_fields_start(result_fields *fields, const oif_pipeline *pipeline,
                              const cli_columns *columns)
{
    const size_t count = oif_pipeline_learned_columns(pipeline);
    fields->attributions = calloc(count, sizeof *fields->attributions);
    fields->expected = calloc(count, sizeof *fields->expected);
    fields->order = calloc(count, sizeof *fields->order);
    fields->names = calloc(count, sizeof *fields->names);
    fields->places = calloc(count, sizeof *fields->places);
    fields->categories = &columns->categories;
    bool has_memory = fields->attributions && fields->expected && fields->order && fields->names &&
                      fields->places;
    fields->column_count = has_memory ? count : 0;
    for (size_t i = 0; i < count && has_memory; i++) {
        oif_derive kind;
        fields->places[i] = oif_pipeline_learned_from(pipeline, i, &kind);
        has_memory = (fields->names[i] = derive_name(pipeline, columns, i)) != NULL;
    }
    return has_memory ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
}

static void free_columns(result_fields *fields)
{
    free(fields->attributions);
    free(fields->expected);
    free(fields->order);
    free(fields->places);
    for (size_t i = 0; i < fields->column_count; i++)
        free(fields->names[i]);
    free(fields->names);
}

exit_code result_fields_start_again(result_fields *fields, const oif_pipeline *pipeline,
                                    const cli_columns *columns)
{
    free_columns(fields);
    fields->column_count = 0;
    return result_fields_start(fields, pipeline, columns);
}

void result_fields_close(result_fields *fields)
{
    free_columns(fields);
    *fields = (result_fields){0};
}

/* ---- Judging ---- */

/* Sorts the highest shares to the front, as many as are shown; returns how many are reasons. A
 * share below half a percent is not a reason. */
static size_t rank_reasons(result_fields *fields)
{
    size_t count = 0;
    for (size_t i = 0; i < fields->column_count; i++)
        fields->order[i] = i;
    for (; count < fields->top && count < fields->column_count; count++) {
        size_t best = count, moved;
        for (size_t i = count + 1; i < fields->column_count; i++)
            if (fields->attributions[fields->order[i]].share >
                fields->attributions[fields->order[best]].share)
                best = i;
        moved = fields->order[best];
        fields->order[best] = fields->order[count];
        fields->order[count] = moved;
        if (fields->attributions[moved].share < 0.005)
            break;
    }
    return count;
}

/* The episode of the row that the pipeline has processed last. */
static bool find_episode(const oif_pipeline *pipeline, oif_episode_info *episode)
{
    size_t key_bytes;
    const char *key = oif_pipeline_recent_key(pipeline, &key_bytes);
    return oif_pipeline_episode(pipeline, key, key_bytes, episode);
}

void result_fields_follow(result_fields *fields, oif_pipeline *pipeline, const oif_result *result)
{
    oif_episode_info episode;
    if (fields->follows_episodes && result->anomaly && find_episode(pipeline, &episode) &&
        episode.peak_row == episode.first_row + episode.rows - 1)
        oif_pipeline_explain(pipeline, fields->attributions);
}

row_verdict result_fields_judge(result_fields *fields, oif_pipeline *pipeline,
                                const oif_result *result, double seconds)
{
    row_verdict verdict = {.result = *result,
                           .values = oif_pipeline_learned_row(pipeline),
                           .fields = fields,
                           .seconds = seconds};
    if (result->episode != OIF_EPISODE_NONE)
        find_episode(pipeline, &verdict.episode);
    if (fields->top == 0 || !result->anomaly)
        return verdict;
    oif_pipeline_explain(pipeline, fields->attributions);
    oif_pipeline_expected(pipeline, fields->expected);
    verdict.reason_count = rank_reasons(fields);
    return verdict;
}
