#include "fields.h"

#include "suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Texts ---- */

static bool write_text(const char *text)
{
    return output_write(text, strlen(text));
}

static bool write_doubling_quotes(const char *text, size_t bytes)
{
    bool written = true;

    for (size_t i = 0; i < bytes; i++)
        written = output_write(text + i, 1) && (text[i] != '"' || output_write("\"", 1));
    return written;
}

bool write_csv_field(const char *text, size_t bytes, char delimiter)
{
    bool quotes = memchr(text, delimiter, bytes) || memchr(text, '"', bytes) ||
                  memchr(text, '\n', bytes) || memchr(text, '\r', bytes);

    if (!quotes)
        return output_write(text, bytes);
    return output_write("\"", 1) && write_doubling_quotes(text, bytes) && output_write("\"", 1);
}

bool write_json_string(const char *text, size_t bytes)
{
    size_t start = 0;

    output_write("\"", 1);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        char control[ESCAPE_BYTES];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        output_write(text + start, i - start);
        write_text(c < 0x20 ? escape_control(c, control) : c == '"' ? "\\\"" : "\\\\");
        start = i + 1;
    }
    return output_write(text + start, bytes - start) && output_write("\"", 1);
}

/* A number that is none is `absent`. */
static bool write_number(double number, const char *absent)
{
    char text[OIF_NUMBER_TEXT_BYTES];

    return isfinite(number) ? output_write(text, oif_number_format(number, text))
                            : write_text(absent);
}

/* p is an estimate: more than four digits would only look like knowledge. */
static bool write_p(double p)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    double scale = 1;

    while (p * scale < 1000 && scale < 1e18)
        scale *= 10;
    return output_write(text, oif_number_format(round(p * scale) / scale, text));
}

/* ---- Reasons ---- */

static const char *direction_word(int direction)
{
    return direction < 0 ? "low" : direction > 0 ? "high" : "odd";
}

void fields_reasons_text(const struct verdict *verdict, const struct input *input, char *text,
                         size_t capacity)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < verdict->reason_count && length < capacity; i++) {
        size_t column = verdict->fields->order[i];
        const oif_attribution *reason = &verdict->fields->attributions[column];
        int printed = snprintf(text + length, capacity - length, "%s%s %s %.0f%%",
                               i > 0 ? "; " : "", input_feature_name(input, column),
                               direction_word(reason->direction), reason->share * 100);
        length += printed > 0 ? (size_t)printed : 0;
    }
}

static bool write_reasons(const struct verdict *verdict, const struct input *input,
                          bool doubles_quotes)
{
    for (size_t i = 0; i < verdict->reason_count; i++) {
        size_t column = verdict->fields->order[i];
        const oif_attribution *reason = &verdict->fields->attributions[column];
        const char *name = input_feature_name(input, column);

        if (i > 0)
            write_text("; ");
        if (doubles_quotes)
            write_doubling_quotes(name, strlen(name));
        else
            write_text(name);
        output_print(" %s %.0f%%", direction_word(reason->direction), reason->share * 100);
    }
    return output_is_open();
}

static bool needs_quotes(const struct verdict *verdict, const struct input *input, char delimiter)
{
    const char special[] = {delimiter, '"', '\n', '\r', '\0'};

    if (delimiter == ';' || delimiter == ' ')
        return verdict->reason_count > 0;
    for (size_t i = 0; i < verdict->reason_count; i++)
        if (strpbrk(input_feature_name(input, verdict->fields->order[i]), special))
            return true;
    return false;
}

static bool write_why_csv(const struct verdict *verdict, const struct input *input, char delimiter)
{
    const char *quote = needs_quotes(verdict, input, delimiter) ? "\"" : "";

    return write_text(quote) && write_reasons(verdict, input, *quote != '\0') && write_text(quote);
}

static bool write_why_json(const struct verdict *verdict, const struct input *input)
{
    write_text("[");
    for (size_t i = 0; i < verdict->reason_count; i++) {
        size_t column = verdict->fields->order[i];
        const oif_attribution *reason = &verdict->fields->attributions[column];
        const char *name = input_feature_name(input, column);

        write_text(i > 0 ? ",{\"column\":" : "{\"column\":");
        write_json_string(name, strlen(name));
        output_print(",\"direction\":\"%s\",\"share\":%.2f}", direction_word(reason->direction),
                     reason->share);
    }
    return write_text("]");
}

/* ---- The fields ---- */

enum field {
    FIELD_SCORE,
    FIELD_P,
    FIELD_THRESHOLD,
    FIELD_ANOMALY,
    FIELD_READY,
    FIELD_LEARNED,
    FIELD_EPISODE,
    FIELD_WHY
};

static const char *const names[FIELDS_MAX] = {"score", "p",       "threshold", "anomaly",
                                              "ready", "learned", "episode",   "why"};

static const char *episode_word(oif_episode episode)
{
    static const char *const words[] = {"", "begins", "lasts", "ends"};

    return words[episode];
}

static bool write_csv_value(const struct verdict *verdict, const struct input *input, int field,
                            char delimiter)
{
    const oif_result *result = &verdict->result;

    switch ((enum field)field) {
    case FIELD_SCORE: return write_number(result->score, "");
    case FIELD_P: return write_p(result->p);
    case FIELD_THRESHOLD: return write_number(result->threshold, "");
    case FIELD_ANOMALY: return write_text(result->anomaly ? "1" : "0");
    case FIELD_READY: return write_text(result->ready ? "1" : "0");
    case FIELD_LEARNED: return write_text(result->learned ? "1" : "0");
    case FIELD_EPISODE: return write_text(episode_word(result->episode));
    case FIELD_WHY: return write_why_csv(verdict, input, delimiter);
    }
    return false;
}

static bool write_json_value(const struct verdict *verdict, const struct input *input, int field)
{
    const oif_result *result = &verdict->result;
    const char *episode = episode_word(result->episode);

    switch ((enum field)field) {
    case FIELD_SCORE: return write_number(result->score, "null");
    case FIELD_P: return write_p(result->p);
    case FIELD_THRESHOLD: return write_number(result->threshold, "null");
    case FIELD_ANOMALY: return write_text(result->anomaly ? "true" : "false");
    case FIELD_READY: return write_text(result->ready ? "true" : "false");
    case FIELD_LEARNED: return write_text(result->learned ? "true" : "false");
    case FIELD_EPISODE: return *episode ? output_print("\"%s\"", episode) : write_text("null");
    case FIELD_WHY: return write_why_json(verdict, input);
    }
    return false;
}

bool fields_write_names(const struct fields *fields, char delimiter)
{
    bool written = true;

    for (size_t i = 0; i < fields->count && written; i++)
        written = output_write(&delimiter, 1) && write_text(names[fields->chosen[i]]);
    return written;
}

bool fields_write_csv(const struct verdict *verdict, const struct input *input, char delimiter)
{
    const struct fields *fields = verdict->fields;
    bool written = true;

    for (size_t i = 0; i < fields->count && written; i++)
        written = output_write(&delimiter, 1) &&
                  write_csv_value(verdict, input, fields->chosen[i], delimiter);
    return written;
}

bool fields_write_json(const struct verdict *verdict, const struct input *input)
{
    const struct fields *fields = verdict->fields;
    bool written = write_text("\"oif\":{");

    for (size_t i = 0; i < fields->count && written; i++)
        written = write_text(i > 0 ? ",\"" : "\"") && write_text(names[fields->chosen[i]]) &&
                  write_text("\":") && write_json_value(verdict, input, fields->chosen[i]);
    return written && write_text("}");
}

/* ---- Choosing them ---- */

static exit_code complain_no_field(const char *name, size_t name_bytes)
{
    struct suggestion suggestion = suggestion_for(name, name_bytes);
    char hint[HINT_BYTES];

    for (size_t i = 0; i < FIELDS_MAX; i++)
        suggestion_consider(&suggestion, names[i]);
    return complain(
        EXIT_USAGE,
        "--fields: there is no field '%.*s'%s (score, p, threshold, anomaly, ready, learned, "
        "episode, why)",
        (int)name_bytes, name, suggestion_hint(&suggestion, "", hint));
}

static bool is_chosen(const struct fields *fields, int field)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->chosen[i] == field)
            return true;
    return false;
}

static exit_code choose(struct fields *fields, const char *list)
{
    while (list) {
        size_t bytes = strcspn(list, ",");
        int field = 0;
        while (field < FIELDS_MAX &&
               (strlen(names[field]) != bytes || memcmp(names[field], list, bytes) != 0))
            field++;
        if (field == FIELDS_MAX)
            return complain_no_field(list, bytes);
        if (is_chosen(fields, field))
            return complain(EXIT_USAGE, "--fields: '%s' is given twice", names[field]);
        fields->chosen[fields->count++] = field;
        list = list[bytes] ? list + bytes + 1 : NULL;
    }
    return EXIT_OK;
}

/* What is needed to act on a row: with one line an episode, whether it begins or ends; why, if
 * that is asked. */
static void choose_usual(struct fields *fields, const struct score_settings *settings)
{
    static const int usual[] = {FIELD_SCORE, FIELD_P, FIELD_ANOMALY};

    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        fields->chosen[fields->count++] = usual[i];
    if (settings->alert_once)
        fields->chosen[fields->count++] = FIELD_EPISODE;
    if (settings->explain_top > 0)
        fields->chosen[fields->count++] = FIELD_WHY;
}

exit_code fields_open(struct fields *fields, const struct settings *settings,
                      const struct input *input)
{
    exit_code code = EXIT_OK;

    *fields =
        (struct fields){.top = settings->score.explain_top, .column_count = input->feature_count};
    if (settings->score.fields)
        code = choose(fields, settings->score.fields);
    else
        choose_usual(fields, &settings->score);
    if (fields->top == 0 && (is_chosen(fields, FIELD_WHY) || settings->score.watch))
        fields->top = DEFAULT_EXPLAIN_TOP;
    fields->attributions = calloc(fields->column_count, sizeof *fields->attributions);
    fields->order = calloc(fields->column_count, sizeof *fields->order);
    if (code == EXIT_OK && (!fields->attributions || !fields->order))
        code = complain(EXIT_FAILED, "out of memory");
    if (code != EXIT_OK)
        fields_close(fields);
    return code;
}

void fields_close(struct fields *fields)
{
    free(fields->attributions);
    free(fields->order);
    fields->attributions = NULL;
    fields->order = NULL;
}

/* ---- Judging ---- */

/* Puts the highest shares first, as far as they are shown; returns how many are reasons. Less
 * than half a percent is none. */
static size_t rank_reasons(struct fields *fields)
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

struct verdict fields_judge(struct fields *fields, oif_pipeline *pipeline, const oif_result *result)
{
    struct verdict verdict = {.result = *result, .fields = fields};

    if (fields->top == 0 || !result->anomaly)
        return verdict;
    oif_pipeline_explain(pipeline, fields->attributions);
    verdict.reason_count = rank_reasons(fields);
    return verdict;
}
