/* The values of the fields, in CSV, in JSON, and for formats that know types. */
#include "front/text/quoting.h"
#include "result_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- Numbers, truths and words ---- */

double result_number_shorten(const result_fields *fields, double number)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    if (fields->digits == 0 || !isfinite(number))
        return number;
    int length = snprintf(text, sizeof text, "%.*e", fields->digits - 1, number);
    oif_number_parse(text, text + length, &number);
    return number;
}

bool result_number_write(const result_fields *fields, double number, const char *absent)
{
    return isfinite(number) ? output_number(result_number_shorten(fields, number))
                            : output_text(absent);
}

double rounded_severity(double severity)
{
    return round(severity * 100) / 100;
}

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

static bool is_number(int field)
{
    return field == FIELD_SCORE || field == FIELD_SEVERITY || field == FIELD_THRESHOLD;
}

/* NaN or infinite: the field has no number. */
static double number_of(const row_verdict *verdict, int field)
{
    const oif_result *result = &verdict->result;
    double number = field == FIELD_SCORE       ? result->score
                    : !result->ready           ? NAN
                    : field == FIELD_SEVERITY  ? rounded_severity(result->severity)
                    : field == FIELD_THRESHOLD ? result->threshold
                                               : NAN;
    return result_number_shorten(verdict->fields, number);
}

/* Whether a row is an anomaly is not known before it is judged, unless a rule says that it is
 * not. */
static bool is_known(const row_verdict *verdict, int field)
{
    return field != FIELD_ANOMALY || verdict->result.ready || verdict->result.rule > 0;
}

/* 0 or 1; -1: the field is something else. */
static int truth_of(const oif_result *result, int field)
{
    return field == FIELD_ANOMALY ? result->anomaly : field == FIELD_READY ? result->ready : -1;
}

/* NULL: the field is something else. */
static const char *word_of(const oif_result *result, int field)
{
    return field == FIELD_GRADE     ? grade_word(result->grade)
           : field == FIELD_EPISODE ? episode_word(result->episode)
                                    : NULL;
}

/* ---- Values ---- */

void result_fields_value(const row_verdict *verdict, int field, field_value *value)
{
    const int truth = truth_of(&verdict->result, field);
    const char *word = word_of(&verdict->result, field);
    value->kind = VALUE_TEXT;
    if (!is_known(verdict, field)) {
        value->kind = VALUE_ABSENT;
    } else if (is_number(field)) {
        value->kind = VALUE_NUMBER;
        value->number = number_of(verdict, field);
    } else if (truth >= 0) {
        value->kind = VALUE_TRUTH;
        value->truth = truth;
    } else if (word) {
        snprintf(value->text, sizeof value->text, "%s", word);
    } else if (field == FIELD_WHY) {
        result_fields_reasons_text(verdict, value->text, sizeof value->text);
    } else if (field == FIELD_EXPECTED) {
        result_expected_sentence(verdict, value->text);
    } else {
        value->kind = verdict->episode.number == 0 ? VALUE_ABSENT : VALUE_COUNT;
        value->count = verdict->episode.number;
    }
    if ((value->kind == VALUE_NUMBER && !isfinite(value->number)) ||
        (value->kind == VALUE_TEXT && value->text[0] == '\0'))
        value->kind = VALUE_ABSENT;
}

/* ---- CSV ---- */

bool result_fields_write_names(const result_fields *fields, char delimiter)
{
    bool written = true;
    for (size_t i = 0; i < fields->count && written; i++)
        written = output_write(&delimiter, 1) && output_text(added_field_names[fields->chosen[i]]);
    return written;
}

/* Numbers and truths are put together and written at once: a row has three of them, and each write
 * costs as much as a short number. */
typedef struct short_fields {
    char text[FIELDS_MAX * (1 + OIF_NUMBER_TEXT_BYTES)];
    size_t bytes;
} short_fields;

/* Adds a delimiter and the field's value; false: it is another kind of value, or there is none. */
static bool add_short(short_fields *to, const row_verdict *verdict, int field, char delimiter,
                      char decimal)
{
    const int truth = truth_of(&verdict->result, field);
    const double number = truth < 0                  ? number_of(verdict, field)
                          : is_known(verdict, field) ? 0
                                                     : NAN;
    char *at = to->text + to->bytes;
    if (!isfinite(number))
        return false;
    at[0] = delimiter;
    at[1] = (char)('0' + truth);
    size_t bytes = truth < 0 ? oif_number_format(number, at + 1) : 1;
    char *point = decimal == '.' ? NULL : memchr(at + 1, '.', bytes);
    if (point)
        *point = decimal;
    to->bytes += 1 + bytes;
    return true;
}

/* A field that is not short. Between blanks an empty one could not be seen. */
static bool write_csv_value(const row_verdict *verdict, int field, char delimiter)
{
    field_value value;
    if (field == FIELD_WHY)
        return result_reasons_write_csv(verdict, delimiter);
    result_fields_value(verdict, field, &value);
    if (value.kind == VALUE_COUNT)
        return output_print("%" PRIu64, value.count);
    return quoting_write_csv(value.text, value.kind == VALUE_TEXT ? strlen(value.text) : 0,
                             delimiter);
}

bool result_fields_write_csv(const row_verdict *verdict, char delimiter, char decimal)
{
    const result_fields *fields = verdict->fields;
    short_fields together;
    bool written = true;
    together.bytes = 0;
    for (size_t i = 0; i < fields->count && written; i++) {
        if (add_short(&together, verdict, fields->chosen[i], delimiter, decimal))
            continue;
        written = output_write(together.text, together.bytes) && output_write(&delimiter, 1) &&
                  write_csv_value(verdict, fields->chosen[i], delimiter);
        together.bytes = 0;
    }
    return written && output_write(together.text, together.bytes);
}

/* ---- JSON ---- */

static bool write_json_value(const row_verdict *verdict, int field)
{
    field_value value;
    if (field == FIELD_WHY)
        return result_reasons_write_json(verdict);
    result_fields_value(verdict, field, &value);
    switch (value.kind) {
    case VALUE_NUMBER: return output_number(value.number);
    case VALUE_COUNT: return output_print("%" PRIu64, value.count);
    case VALUE_TRUTH: return output_text(value.truth ? "true" : "false");
    case VALUE_TEXT: return quoting_write_json(value.text, strlen(value.text));
    default: return output_text("null");
    }
}

bool result_fields_write_json(const row_verdict *verdict)
{
    const result_fields *fields = verdict->fields;
    bool written = output_text("\"oif\":{");
    for (size_t i = 0; i < fields->count && written; i++)
        written = output_text(i > 0 ? ",\"" : "\"") &&
                  output_text(added_field_names[fields->chosen[i]]) && output_text("\":") &&
                  write_json_value(verdict, fields->chosen[i]);
    return written && output_text("}");
}
