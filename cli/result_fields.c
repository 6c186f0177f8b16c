#include "result_fields.h"

#include "added_fields.h"
#include "derive.h"
#include "durations.h"
#include "quoting.h"
#include "suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_text(const char *text)
{
    return output_write(text, strlen(text));
}

enum { WHY_TEXT_BYTES = 1024 }; /* longer names are cut off */

/* With --digits, the nearest number of that many digits. */
static double shorten(const result_fields *fields, double number)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    if (fields->digits == 0 || !isfinite(number))
        return number;
    int length = snprintf(text, sizeof text, "%.*e", fields->digits - 1, number);
    oif_number_parse(text, text + length, &number);
    return number;
}

/* A number that is none is `absent`. */
static bool write_number(const result_fields *fields, double number, const char *absent)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    return isfinite(number) ? output_write(text, oif_number_format(shorten(fields, number), text))
                            : write_text(absent);
}

/* p is an estimate: more than four digits would only look like knowledge. */
static double rounded_p(double p)
{
    double scale = 1;
    while (p * scale < 1000 && scale < 1e18)
        scale *= 10;
    return round(p * scale) / scale;
}

static double rounded_severity(double severity)
{
    return round(severity * 100) / 100;
}

static bool write_p(const result_fields *fields, double p)
{
    return write_number(fields, rounded_p(p), "");
}

static bool write_severity(const result_fields *fields, double severity)
{
    return write_number(fields, rounded_severity(severity), "");
}

/* ---- Reasons ---- */

static const char *direction_word(int direction)
{
    return direction < 0 ? "low" : direction > 0 ? "high" : "odd";
}

/* The same for programs, which also are to know what is unusual about a category. */
static const char *found_word(oif_reason reason, int direction)
{
    return reason == OIF_REASON_NEW_VALUE    ? "new"
           : reason == OIF_REASON_RARE_VALUE ? "rare"
                                             : direction_word(direction);
}

/* What is unusual about a column: "high", "stuck", "no longer follows cpu". `partner` is a name. */
static void print_unusual(oif_reason reason, int direction, double value, const char *partner,
                          char text[WHY_TEXT_BYTES])
{
    switch (reason) {
    case OIF_REASON_STUCK: snprintf(text, WHY_TEXT_BYTES, "stuck"); break;
    case OIF_REASON_PARTNER: snprintf(text, WHY_TEXT_BYTES, "no longer follows %s", partner); break;
    case OIF_REASON_SEASON:
        snprintf(text, WHY_TEXT_BYTES, "%s for this time", direction_word(direction));
        break;
    case OIF_REASON_SILENCE: snprintf(text, WHY_TEXT_BYTES, "after a silence"); break;
    case OIF_REASON_NEW_VALUE: snprintf(text, WHY_TEXT_BYTES, "new value"); break;
    case OIF_REASON_RARE_VALUE: snprintf(text, WHY_TEXT_BYTES, "rare value"); break;
    case OIF_REASON_VALUES:
        snprintf(text, WHY_TEXT_BYTES, "%s", isnan(value) ? "missing" : direction_word(direction));
        break;
    }
}

void result_fields_unusual_text(oif_reason reason, int direction, double value, const char *partner,
                                char *text, size_t capacity)
{
    char whole[WHY_TEXT_BYTES];
    print_unusual(reason, direction, value, partner, whole);
    snprintf(text, capacity, "%s", whole);
}

/* The text of a category that is new or rare; NULL for others. */
static const oif_text *category_text(const row_verdict *verdict, size_t column)
{
    const result_fields *fields = verdict->fields;
    const oif_reason reason = fields->attributions[column].reason;
    bool is_category = reason == OIF_REASON_NEW_VALUE || reason == OIF_REASON_RARE_VALUE;
    return is_category ? categories_text(fields->categories, fields->places[column]) : NULL;
}

static const char *unusual_text(const row_verdict *verdict, size_t column,
                                char text[WHY_TEXT_BYTES])
{
    const oif_attribution *why = &verdict->fields->attributions[column];
    const oif_text *category = category_text(verdict, column);
    print_unusual(why->reason, why->direction, verdict->values[column],
                  verdict->fields->names[why->partner], text);
    if (category) {
        char quoted[CATEGORY_TEXT_BYTES];
        size_t length = strlen(text);
        snprintf(text + length, WHY_TEXT_BYTES - length, " %s", category_quoted(category, quoted));
    }
    return text;
}

/* For programs: which sense it was. */
static const char *reason_word(oif_reason reason)
{
    static const char *const words[] = {"values",  "stuck",     "season",    "partner",
                                        "silence", "new_value", "rare_value"};
    return words[reason];
}

void result_fields_reasons_text(const row_verdict *verdict, char *text, size_t capacity)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < verdict->reason_count && length < capacity; i++) {
        size_t column = verdict->fields->order[i];
        double share = verdict->fields->attributions[column].share;
        char unusual[WHY_TEXT_BYTES];
        int printed = snprintf(text + length, capacity - length, "%s%s %s %.0f%%",
                               i > 0 ? "; " : "", verdict->fields->names[column],
                               unusual_text(verdict, column, unusual), share * 100);
        length += printed > 0 ? (size_t)printed : 0;
    }
}

static bool write_name(const char *name, bool doubles_quotes)
{
    return doubles_quotes ? quoting_write_doubled(name, strlen(name)) : write_text(name);
}

static bool write_reasons(const row_verdict *verdict, bool doubles_quotes)
{
    for (size_t i = 0; i < verdict->reason_count; i++) {
        size_t column = verdict->fields->order[i];
        char unusual[WHY_TEXT_BYTES];
        write_text(i > 0 ? "; " : "");
        write_name(verdict->fields->names[column], doubles_quotes);
        write_text(" ");
        write_name(unusual_text(verdict, column, unusual), doubles_quotes);
        output_print(" %.0f%%", verdict->fields->attributions[column].share * 100);
    }
    return output_is_open();
}

static bool needs_quotes(const row_verdict *verdict, char delimiter)
{
    const char special[] = {delimiter, '"', '\n', '\r', '\0'};
    if (delimiter == ';' || delimiter == ' ')
        return verdict->reason_count > 0 || delimiter == ' ';
    for (size_t i = 0; i < verdict->reason_count; i++) {
        size_t column = verdict->fields->order[i];
        char unusual[WHY_TEXT_BYTES];
        if (strpbrk(verdict->fields->names[column], special) ||
            strpbrk(unusual_text(verdict, column, unusual), special))
            return true;
    }
    return false;
}

static bool write_why_csv(const row_verdict *verdict, char delimiter)
{
    const char *quote = needs_quotes(verdict, delimiter) ? "\"" : "";
    return write_text(quote) && write_reasons(verdict, *quote != '\0') && write_text(quote);
}

size_t result_fields_reason_column(const row_verdict *verdict, size_t reason)
{
    return verdict->fields->order[reason];
}

const char *result_fields_direction(const row_verdict *verdict, size_t column)
{
    const oif_attribution *why = &verdict->fields->attributions[column];
    bool is_missing = why->reason == OIF_REASON_VALUES && isnan(verdict->values[column]);
    return is_missing ? "missing" : found_word(why->reason, why->direction);
}

void result_fields_column_text(const row_verdict *verdict, size_t column, char *text,
                               size_t capacity)
{
    char unusual[WHY_TEXT_BYTES];
    snprintf(text, capacity, "%s", unusual_text(verdict, column, unusual));
}

static bool write_reason_json(const row_verdict *verdict, size_t column)
{
    const oif_attribution *why = &verdict->fields->attributions[column];
    const char *name = verdict->fields->names[column],
               *partner = verdict->fields->names[why->partner];
    write_text("{\"column\":");
    quoting_write_json(name, strlen(name));
    output_print(",\"direction\":\"%s\",\"share\":%.2f", result_fields_direction(verdict, column),
                 why->share);
    if (why->reason != OIF_REASON_VALUES)
        output_print(",\"reason\":\"%s\"", reason_word(why->reason));
    if (why->reason == OIF_REASON_PARTNER) {
        write_text(",\"partner\":");
        quoting_write_json(partner, strlen(partner));
    }
    const oif_text *category = category_text(verdict, column);
    if (category) {
        write_text(",\"value\":");
        quoting_write_json(category->text, category->bytes);
    }
    return write_text("}");
}

static bool write_why_json(const row_verdict *verdict)
{
    write_text("[");
    for (size_t i = 0; i < verdict->reason_count; i++) {
        write_text(i > 0 ? "," : "");
        write_reason_json(verdict, verdict->fields->order[i]);
    }
    return write_text("]");
}

/* ---- The fields ---- */

/* As added_field_names. */
typedef enum result_field {
    FIELD_SCORE,
    FIELD_P,
    FIELD_SEVERITY,
    FIELD_THRESHOLD,
    FIELD_ANOMALY,
    FIELD_GRADE,
    FIELD_READY,
    FIELD_LEARNED,
    FIELD_EPISODE,
    FIELD_EPISODE_ID,
    FIELD_EPISODE_START,
    FIELD_EPISODE_ROWS,
    FIELD_EPISODE_PEAK,
    FIELD_EPISODE_WHY,
    FIELD_WHY
} result_field;

const char *grade_word(oif_grade grade)
{
    static const char *const words[] = {"", "note", "warning", "critical"};
    return words[grade];
}

static const char *episode_word(oif_episode episode)
{
    static const char *const words[] = {"", "begins", "lasts", "ends"};
    return words[episode];
}

/* ---- Episodes ---- */

static bool knows_why(const oif_episode_info *episode)
{
    return episode->number > 0 && episode->column != OIF_UNKNOWN_COLUMN;
}

void result_fields_episode_text(const result_fields *fields, const oif_episode_info *episode,
                                char text[FIELD_TEXT_BYTES])
{
    char unusual[WHY_TEXT_BYTES];
    text[0] = '\0';
    if (!knows_why(episode))
        return;
    print_unusual(episode->reason, episode->direction, episode->value, "another column", unusual);
    snprintf(text, FIELD_TEXT_BYTES, "%s %s", fields->names[episode->column], unusual);
}

static bool write_episode_why_csv(const result_fields *fields, const oif_episode_info *episode,
                                  char delimiter)
{
    char text[FIELD_TEXT_BYTES];
    result_fields_episode_text(fields, episode, text);
    return quoting_write_csv(text, strlen(text), delimiter);
}

static bool write_episode_why_json(const result_fields *fields, const oif_episode_info *episode)
{
    if (!knows_why(episode))
        return write_text("null");
    const char *name = fields->names[episode->column];
    bool is_missing = episode->reason == OIF_REASON_VALUES && isnan(episode->value);
    write_text("{\"column\":");
    quoting_write_json(name, strlen(name));
    output_print(",\"direction\":\"%s\"",
                 is_missing ? "missing" : found_word(episode->reason, episode->direction));
    if (episode->reason != OIF_REASON_VALUES)
        output_print(",\"reason\":\"%s\"", reason_word(episode->reason));
    write_text(",\"value\":");
    return write_number(fields, episode->value, "null") && write_text("}");
}

/* The time of its first row; where that is unknown, the row's number among those of its key. */
static bool write_episode_start(const oif_episode_info *episode, const char *quote)
{
    char text[MOMENT_TEXT_BYTES];
    if (isnan(episode->first_seconds))
        return output_print("%llu", (unsigned long long)episode->first_row);
    return output_print("%s%s%s", quote, moment_text(episode->first_seconds, text), quote);
}

static bool write_episode_value(const row_verdict *verdict, int field, char delimiter)
{
    const oif_episode_info *episode = &verdict->episode;
    bool is_json = delimiter == '\0';
    if (episode->number == 0)
        return write_text(is_json ? "null" : "");
    if (field == FIELD_EPISODE_ID)
        return output_print("%llu", (unsigned long long)episode->number);
    if (field == FIELD_EPISODE_START)
        return write_episode_start(episode, is_json ? "\"" : "");
    if (field == FIELD_EPISODE_ROWS)
        return output_print("%llu", (unsigned long long)episode->rows);
    if (field == FIELD_EPISODE_PEAK)
        return write_severity(verdict->fields, episode->peak_severity);
    return is_json ? write_episode_why_json(verdict->fields, episode)
                   : write_episode_why_csv(verdict->fields, episode, delimiter);
}

/* Between blanks an empty field could not be seen. */
static bool write_word_csv(const char *word, char delimiter)
{
    return quoting_write_csv(word, strlen(word), delimiter);
}

static bool write_csv_value(const row_verdict *verdict, int field, char delimiter)
{
    const oif_result *result = &verdict->result;
    const char *missing = delimiter == ' ' ? "\"\"" : "";
    switch ((result_field)field) {
    case FIELD_SCORE: return write_number(verdict->fields, result->score, missing);
    case FIELD_P: return write_p(verdict->fields, result->p);
    case FIELD_SEVERITY: return write_severity(verdict->fields, result->severity);
    case FIELD_THRESHOLD: return write_number(verdict->fields, result->threshold, missing);
    case FIELD_ANOMALY: return write_text(result->anomaly ? "1" : "0");
    case FIELD_GRADE: return write_word_csv(grade_word(result->grade), delimiter);
    case FIELD_READY: return write_text(result->ready ? "1" : "0");
    case FIELD_LEARNED: return write_text(result->learned ? "1" : "0");
    case FIELD_EPISODE: return write_word_csv(episode_word(result->episode), delimiter);
    case FIELD_EPISODE_ID:
    case FIELD_EPISODE_START:
    case FIELD_EPISODE_ROWS:
    case FIELD_EPISODE_PEAK:
    case FIELD_EPISODE_WHY: return write_episode_value(verdict, field, delimiter);
    case FIELD_WHY: return write_why_csv(verdict, delimiter);
    }
    return false;
}

/* A word; null where there is none. */
static bool write_json_word(const char *word)
{
    return *word ? output_print("\"%s\"", word) : write_text("null");
}

static bool write_json_value(const row_verdict *verdict, int field)
{
    const oif_result *result = &verdict->result;
    switch ((result_field)field) {
    case FIELD_SCORE: return write_number(verdict->fields, result->score, "null");
    case FIELD_P: return write_p(verdict->fields, result->p);
    case FIELD_SEVERITY: return write_severity(verdict->fields, result->severity);
    case FIELD_THRESHOLD: return write_number(verdict->fields, result->threshold, "null");
    case FIELD_ANOMALY: return write_text(result->anomaly ? "true" : "false");
    case FIELD_GRADE: return write_json_word(grade_word(result->grade));
    case FIELD_READY: return write_text(result->ready ? "true" : "false");
    case FIELD_LEARNED: return write_text(result->learned ? "true" : "false");
    case FIELD_EPISODE: return write_json_word(episode_word(result->episode));
    case FIELD_EPISODE_ID:
    case FIELD_EPISODE_START:
    case FIELD_EPISODE_ROWS:
    case FIELD_EPISODE_PEAK:
    case FIELD_EPISODE_WHY: return write_episode_value(verdict, field, '\0');
    case FIELD_WHY: return write_why_json(verdict);
    }
    return false;
}

/* ---- As values, for formats of their own ---- */

static void episode_value(const row_verdict *verdict, int field, field_value *value)
{
    const oif_episode_info *episode = &verdict->episode;
    *value = (field_value){.kind = VALUE_ABSENT};
    if (episode->number == 0)
        return;
    value->kind = VALUE_COUNT;
    if (field == FIELD_EPISODE_ID) {
        value->count = episode->number;
    } else if (field == FIELD_EPISODE_ROWS) {
        value->count = episode->rows;
    } else if (field == FIELD_EPISODE_PEAK) {
        value->kind = VALUE_NUMBER;
        value->number = rounded_severity(episode->peak_severity);
    } else if (field == FIELD_EPISODE_WHY) {
        value->kind = VALUE_TEXT;
        result_fields_episode_text(verdict->fields, episode, value->text);
    } else if (isnan(episode->first_seconds)) {
        value->count = episode->first_row;
    } else {
        char moment[MOMENT_TEXT_BYTES];
        value->kind = VALUE_TEXT;
        snprintf(value->text, sizeof value->text, "%s",
                 moment_text(episode->first_seconds, moment));
    }
}

static void set_text(field_value *value, const char *text)
{
    value->kind = VALUE_TEXT;
    snprintf(value->text, sizeof value->text, "%s", text);
}

void result_fields_value(const row_verdict *verdict, int field, field_value *value)
{
    const oif_result *result = &verdict->result;
    value->kind = VALUE_NUMBER;
    switch ((result_field)field) {
    case FIELD_SCORE: value->number = result->score; break;
    case FIELD_P: value->number = rounded_p(result->p); break;
    case FIELD_SEVERITY: value->number = rounded_severity(result->severity); break;
    case FIELD_THRESHOLD: value->number = result->threshold; break;
    case FIELD_ANOMALY:
        *value = (field_value){.kind = VALUE_TRUTH, .truth = result->anomaly};
        break;
    case FIELD_READY: *value = (field_value){.kind = VALUE_TRUTH, .truth = result->ready}; break;
    case FIELD_LEARNED:
        *value = (field_value){.kind = VALUE_TRUTH, .truth = result->learned};
        break;
    case FIELD_GRADE: set_text(value, grade_word(result->grade)); break;
    case FIELD_EPISODE: set_text(value, episode_word(result->episode)); break;
    case FIELD_EPISODE_ID:
    case FIELD_EPISODE_START:
    case FIELD_EPISODE_ROWS:
    case FIELD_EPISODE_PEAK:
    case FIELD_EPISODE_WHY: episode_value(verdict, field, value); break;
    case FIELD_WHY:
        value->kind = VALUE_TEXT;
        result_fields_reasons_text(verdict, value->text, sizeof value->text);
        break;
    }
    if (value->kind == VALUE_NUMBER)
        value->number = shorten(verdict->fields, value->number);
    if ((value->kind == VALUE_NUMBER && !isfinite(value->number)) ||
        (value->kind == VALUE_TEXT && value->text[0] == '\0'))
        value->kind = VALUE_ABSENT;
}

bool result_fields_write_name(const result_fields *fields, int field)
{
    return write_text(fields->prefix) && write_text(*fields->prefix ? "_" : "") &&
           write_text(added_field_names[field]);
}

bool result_fields_write_names(const result_fields *fields, char delimiter)
{
    bool written = true;
    for (size_t i = 0; i < fields->count && written; i++)
        written =
            output_write(&delimiter, 1) && result_fields_write_name(fields, fields->chosen[i]);
    return written;
}

/* Fields that are numbers are put together and written at once: a row has three of them, and each
 * write costs as much as a short number. */
typedef struct number_texts {
    char text[FIELDS_MAX * (1 + OIF_NUMBER_TEXT_BYTES)];
    size_t bytes;
} number_texts;

/* Adds a delimiter and the field's number; false: the field is not a number, or has none. */
static bool add_number(number_texts *numbers, const row_verdict *verdict, int field, char delimiter)
{
    const oif_result *result = &verdict->result;
    double number = field == FIELD_SCORE       ? result->score
                    : field == FIELD_P         ? rounded_p(result->p)
                    : field == FIELD_SEVERITY  ? rounded_severity(result->severity)
                    : field == FIELD_THRESHOLD ? result->threshold
                    : field == FIELD_ANOMALY   ? result->anomaly
                                               : NAN;
    char *at = numbers->text + numbers->bytes;
    if (!isfinite(number))
        return false;
    *at = delimiter;
    if (field == FIELD_ANOMALY) {
        at[1] = number > 0 ? '1' : '0';
        numbers->bytes += 2;
    } else {
        numbers->bytes += 1 + oif_number_format(shorten(verdict->fields, number), at + 1);
    }
    return true;
}

bool result_fields_write_csv(const row_verdict *verdict, char delimiter)
{
    const result_fields *fields = verdict->fields;
    number_texts numbers;
    bool written = true;
    numbers.bytes = 0;
    for (size_t i = 0; i < fields->count && written; i++) {
        if (add_number(&numbers, verdict, fields->chosen[i], delimiter))
            continue;
        written = output_write(numbers.text, numbers.bytes) && output_write(&delimiter, 1) &&
                  write_csv_value(verdict, fields->chosen[i], delimiter);
        numbers.bytes = 0;
    }
    return written && output_write(numbers.text, numbers.bytes);
}

bool result_fields_write_json(const row_verdict *verdict)
{
    const result_fields *fields = verdict->fields;
    bool written = output_write(fields->json_start, fields->json_start_bytes);
    for (size_t i = 0; i < fields->count && written; i++)
        written = write_text(i > 0 ? ",\"" : "\"") &&
                  write_text(added_field_names[fields->chosen[i]]) && write_text("\":") &&
                  write_json_value(verdict, fields->chosen[i]);
    return written && write_text("}");
}

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
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++) {
        const char *name = oif_reader_column_name(from->reader, i);
        if (as_member ? !is_member(fields, from, name) : !is_added(fields, name))
            continue;
        note("%s: rows have '%.60s' already; --prefix NAME names the fields that are added here",
             from->name, as_member ? fields->member : name);
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
        "episode_why, why)",
        (int)name_bytes, name, suggestion_hint(&suggestion, "", hint));
}

static bool is_chosen(const result_fields *fields, int field)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->chosen[i] == field)
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
            return complain(EXIT_USAGE, "--fields: '%s' is given twice", added_field_names[field]);
        fields->chosen[fields->count++] = field;
        list = list[bytes] ? list + bytes + 1 : NULL;
    }
    return EXIT_OK;
}

/* What is needed to act on a row: with one line per episode, whether it begins or ends, and which
 * one it is; why, if that is asked. */
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
    if (settings->score.fields)
        code = choose(fields, settings->score.fields);
    else
        choose_usual(fields, &settings->score);
    if (fields->top == 0 &&
        (is_chosen(fields, FIELD_WHY) || settings->score.watch || settings->score.on_alert))
        fields->top = DEFAULT_EXPLAIN_TOP;
    fields->follows_episodes = is_chosen(fields, FIELD_EPISODE_WHY) || settings->score.on_alert;
    return code;
}

exit_code result_fields_start(result_fields *fields, const oif_pipeline *pipeline,
                              const cli_columns *columns)
{
    const size_t count = oif_pipeline_learned_columns(pipeline);
    fields->attributions = calloc(count, sizeof *fields->attributions);
    fields->order = calloc(count, sizeof *fields->order);
    fields->names = calloc(count, sizeof *fields->names);
    fields->places = calloc(count, sizeof *fields->places);
    fields->categories = &columns->categories;
    bool has_memory = fields->attributions && fields->order && fields->names && fields->places;
    fields->column_count = has_memory ? count : 0;
    for (size_t i = 0; i < count && has_memory; i++) {
        oif_derive kind;
        fields->places[i] = oif_pipeline_learned_from(pipeline, i, &kind);
        has_memory = (fields->names[i] = derive_name(pipeline, columns, i)) != NULL;
    }
    return has_memory ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
}

void result_fields_close(result_fields *fields)
{
    free(fields->attributions);
    free(fields->order);
    free(fields->places);
    for (size_t i = 0; i < fields->column_count; i++)
        free(fields->names[i]);
    free(fields->names);
    *fields = (result_fields){0};
}

/* ---- Judging ---- */

/* Puts the highest shares first, as far as they are shown; returns how many are reasons. Less
 * than half a percent is none. */
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
    verdict.reason_count = rank_reasons(fields);
    return verdict;
}
