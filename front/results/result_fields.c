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
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(name, added_field_names[fields->chosen[i]]) == 0)
            return true;
    return false;
}

static bool is_member(const column_source *from, const char *name)
{
    return strcmp(name, "oif") == 0 ||
           (strncmp(name, "oif.", 4) == 0 && from->format == OIF_FORMAT_NDJSON);
}

void result_fields_note_clash(const result_fields *fields, const column_source *from,
                              bool as_member)
{
    advice given;
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++) {
        const char *name = oif_reader_column_name(from->reader, i);
        if (as_member ? !is_member(from, name) : !is_added(fields, name))
            continue;
        note_because(advice_on(&given, ADVICE_FIELD_THERE, NULL),
                     "%s: rows already have a field '%s'", from->name, as_member ? "oif" : name);
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
    return complain(EXIT_USAGE,
                    "--fields: there is no field '%.*s'%s (score, severity, threshold, anomaly, "
                    "grade, ready, episode, episode_id, why, expected)",
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
    return is_chosen(fields, FIELD_WHY) || is_chosen(fields, FIELD_EXPECTED);
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

/* Whether only alerts are printed, or a program that shows them reads the rows. */
static bool shows_alerts(const score_settings *settings)
{
    return settings->rows == PRINT_ALERTS || settings->rows == PRINT_EPISODES ||
           settings->min_grade != OIF_GRADE_NONE || settings->is_explained;
}

/* The fields needed to act on a row, and the reasons where alerts are shown. */
static void choose_usual(result_fields *fields, const score_settings *settings)
{
    static const int usual[] = {FIELD_SCORE, FIELD_SEVERITY, FIELD_ANOMALY};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        fields->chosen[fields->count++] = usual[i];
    if (shows_alerts(settings))
        fields->chosen[fields->count++] = FIELD_WHY;
}

exit_code result_fields_open(result_fields *fields, const run_settings *settings)
{
    const score_settings *score = &settings->score;
    const bool is_told = score->on_alert || score->rows == PRINT_INCIDENTS;
    exit_code code = EXIT_OK;
    *fields = (result_fields){.digits = (int)score->digits};
    if (score->fields)
        code = choose(fields, score->fields);
    else
        choose_usual(fields, score);
    if (asks_why(fields) || is_told || score->watch || score->is_explained)
        fields->top = REASONS_MAX;
    fields->follows_episodes = is_told;
    return code;
}

exit_code result_fields_start(result_fields *fields, const oif_pipeline *pipeline,
                              const input_columns *columns)
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
