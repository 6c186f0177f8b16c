/* Why a row or an episode is anomalous, as text and as JSON. */
#include "front/text/quoting.h"
#include "front/text/write_json.h"
#include "result_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WHY_TEXT_BYTES = 1024, /* longer names are cut off */
    NUMBER_TEXT_BYTES = 32,
    DIGITS = 3 /* of a number that is read */
};

/* A magnitude and the usual one; NaN: unknown. */
typedef struct unusual_size {
    double size, usual;
} unusual_size;

/* ---- Rows ---- */

static const char *direction_word(int direction)
{
    return direction < 0 ? "low" : direction > 0 ? "high" : "unusual";
}

/* The same for programs; for categories it also says what is unusual. */
static const char *found_word(oif_reason reason, int direction)
{
    const bool is_new = reason == OIF_REASON_NEW_VALUE || reason == OIF_REASON_FIRST_VALUE;
    return is_new ? "new" : reason == OIF_REASON_RARE_VALUE ? "rare" : direction_word(direction);
}

/* As people read a number: 15400, 0.0523; powers of ten only beyond what can be counted. */
static const char *plain_number(double number, char text[NUMBER_TEXT_BYTES])
{
    const double magnitude = fabs(number);
    const int whole = magnitude > 0 ? (int)floor(log10(magnitude)) + 1 : 1,
              decimals = whole < DIGITS ? DIGITS - whole : 0;
    const double unit = whole > DIGITS ? pow(10, whole - DIGITS) : 1,
                 rounded = decimals > 0 ? number : round(number / unit) * unit;
    if (!(magnitude < 1e15) || (magnitude > 0 && magnitude < 1e-6)) {
        snprintf(text, NUMBER_TEXT_BYTES, "%.*g", DIGITS, number);
        return text;
    }
    snprintf(text, NUMBER_TEXT_BYTES, "%.*f", decimals, rounded);
    for (size_t length = strlen(text); decimals > 0 && strchr("0.", text[length - 1]); length--) {
        const bool is_point = text[length - 1] == '.';
        text[length - 1] = '\0';
        if (is_point)
            break;
    }
    return text;
}

/* "no value", " for", " rows": "no value for 14 rows, usually at most 2", as far as that is
 * known. */
static void print_size(const unusual_size *size, const char *what, const char *joint,
                       const char *unit, char text[WHY_TEXT_BYTES])
{
    char number[NUMBER_TEXT_BYTES], usual[NUMBER_TEXT_BYTES];
    if (isnan(size->size))
        snprintf(text, WHY_TEXT_BYTES, "%s", what);
    else if (isnan(size->usual))
        snprintf(text, WHY_TEXT_BYTES, "%s%s %s%s", what, joint, plain_number(size->size, number),
                 unit);
    else
        snprintf(text, WHY_TEXT_BYTES, "%s%s %s%s, usually at most %s", what, joint,
                 plain_number(size->size, number), unit, plain_number(size->usual, usual));
}

/* What is unusual about a column: "high", "no longer follows cpu", "the same value for 220 rows,
 * usually at most 6". `partner` is a name. */
static void print_unusual(oif_reason reason, int direction, double value, const char *partner,
                          const unusual_size *size, char text[WHY_TEXT_BYTES])
{
    switch (reason) {
    case OIF_REASON_STUCK: print_size(size, "the same value", " for", " rows", text); break;
    case OIF_REASON_MISSING: print_size(size, "no value", " for", " rows", text); break;
    case OIF_REASON_PARTNER: snprintf(text, WHY_TEXT_BYTES, "no longer follows %s", partner); break;
    case OIF_REASON_SEASON:
        snprintf(text, WHY_TEXT_BYTES, "%s for this time", direction_word(direction));
        break;
    case OIF_REASON_SILENCE: snprintf(text, WHY_TEXT_BYTES, "after a silence"); break;
    case OIF_REASON_NEW_VALUE: snprintf(text, WHY_TEXT_BYTES, "new value"); break;
    case OIF_REASON_RARE_VALUE: snprintf(text, WHY_TEXT_BYTES, "rare value"); break;
    case OIF_REASON_FIRST_VALUE: snprintf(text, WHY_TEXT_BYTES, "has its first value"); break;
    case OIF_REASON_JUMP:
        print_size(size, direction < 0 ? "jumps down" : "jumps up", " by", "", text);
        break;
    case OIF_REASON_LEVEL:
        print_size(size, direction < 0 ? "stays below its level" : "stays above its level", " by",
                   "", text);
        break;
    case OIF_REASON_SPREAD:
        print_size(size, "far from its level for 16 rows", ": by", " standard deviations", text);
        break;
    case OIF_REASON_VALUES:
    case OIF_REASONS:
        snprintf(text, WHY_TEXT_BYTES, "%s", isnan(value) ? "missing" : direction_word(direction));
        break;
    }
}

void result_fields_unusual_text(const oif_attribution *why, double value, const char *partner,
                                char *text, size_t capacity)
{
    char whole[WHY_TEXT_BYTES];
    print_unusual(why->reason, why->direction, value, partner,
                  &(unusual_size){why->size, why->usual}, whole);
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
                  verdict->fields->names[why->partner], &(unusual_size){why->size, why->usual},
                  text);
    if (category) {
        char quoted[CATEGORY_TEXT_BYTES];
        size_t length = strlen(text);
        snprintf(text + length, WHY_TEXT_BYTES - length, " %s", category_quoted(category, quoted));
    }
    return text;
}

/* For programs: which judge it was. */
const char *result_fields_reason_word(oif_reason reason)
{
    static const char *const words[] = {"values",  "jump",      "level",      "spread",
                                        "stuck",   "missing",   "season",     "partner",
                                        "silence", "new_value", "rare_value", "first_value"};
    return words[reason];
}

const char *result_fields_share_text(double share, char text[SHARE_TEXT_BYTES])
{
    const double nearly_all = 0.995;
    text[0] = '\0';
    if (share < nearly_all)
        snprintf(text, SHARE_TEXT_BYTES, " %.0f%%", share * 100);
    return text;
}

void result_fields_reasons_text(const row_verdict *verdict, char *text, size_t capacity)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < verdict->reason_count && length < capacity; i++) {
        const size_t column = verdict->fields->order[i];
        char unusual[WHY_TEXT_BYTES], share[SHARE_TEXT_BYTES];
        const int printed =
            snprintf(text + length, capacity - length, "%s%s %s%s", i > 0 ? "; " : "",
                     verdict->fields->names[column], unusual_text(verdict, column, unusual),
                     result_fields_share_text(verdict->fields->attributions[column].share, share));
        length += printed > 0 ? (size_t)printed : 0;
    }
}

static bool write_name(const char *name, bool doubles_quotes)
{
    return doubles_quotes ? quoting_write_doubled(name, strlen(name)) : output_text(name);
}

static bool write_reasons(const row_verdict *verdict, bool doubles_quotes)
{
    for (size_t i = 0; i < verdict->reason_count; i++) {
        size_t column = verdict->fields->order[i];
        char unusual[WHY_TEXT_BYTES], share[SHARE_TEXT_BYTES];
        output_text(i > 0 ? "; " : "");
        write_name(verdict->fields->names[column], doubles_quotes);
        output_text(" ");
        write_name(unusual_text(verdict, column, unusual), doubles_quotes);
        output_text(result_fields_share_text(verdict->fields->attributions[column].share, share));
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

bool result_reasons_write_csv(const row_verdict *verdict, char delimiter)
{
    const char *quote = needs_quotes(verdict, delimiter) ? "\"" : "";
    return output_text(quote) && write_reasons(verdict, *quote != '\0') && output_text(quote);
}

size_t result_fields_reason_column(const row_verdict *verdict, size_t reason)
{
    return verdict->fields->order[reason];
}

const char *result_fields_direction(const row_verdict *verdict, size_t column)
{
    const oif_attribution *why = &verdict->fields->attributions[column];
    bool is_missing = (why->reason == OIF_REASON_VALUES || why->reason == OIF_REASON_MISSING) &&
                      isnan(verdict->values[column]);
    return is_missing ? "missing" : found_word(why->reason, why->direction);
}

void result_fields_column_text(const row_verdict *verdict, size_t column, char *text,
                               size_t capacity)
{
    char unusual[WHY_TEXT_BYTES];
    snprintf(text, capacity, "%s", unusual_text(verdict, column, unusual));
}

/* ---- What was expected ---- */

/* An end of a range with as many digits as its width has sense: the range is an estimate. */
static double rounded_end(const oif_expected *expected, double end)
{
    enum { LEAST_DIGITS = 4, ALL_DIGITS = 17 };
    char text[OIF_NUMBER_TEXT_BYTES];
    const double width = expected->high - expected->low;
    int digits = ALL_DIGITS;
    if (!isfinite(width) || !isfinite(end))
        return end;
    if (width > 0 && end != 0)
        digits = 3 + (int)floor(log10(fabs(end))) - (int)floor(log10(width));
    digits = digits < LEAST_DIGITS ? LEAST_DIGITS : digits > ALL_DIGITS ? ALL_DIGITS : digits;
    const int length = snprintf(text, sizeof text, "%.*e", digits - 1, end);
    oif_number_parse(text, text + length, &end);
    return end;
}

/* Whether it can be said. A value that is stuck or missing, or new, is not too high or too low. */
static bool has_expected(const row_verdict *verdict, size_t column)
{
    const oif_expected *expected = &verdict->fields->expected[column];
    const oif_reason reason = verdict->fields->attributions[column].reason;
    const bool is_about_size = reason == OIF_REASON_VALUES || reason == OIF_REASON_SEASON ||
                               reason == OIF_REASON_PARTNER || reason == OIF_REASON_JUMP ||
                               reason == OIF_REASON_LEVEL;
    return is_about_size && !isnan(verdict->values[column]) && isfinite(expected->low) &&
           isfinite(expected->high);
}

const char *result_fields_expected_text(const row_verdict *verdict, size_t column,
                                        char text[EXPECTED_TEXT_BYTES])
{
    const oif_expected *expected = &verdict->fields->expected[column];
    char value[OIF_NUMBER_TEXT_BYTES + 1], low[OIF_NUMBER_TEXT_BYTES + 1],
        high[OIF_NUMBER_TEXT_BYTES + 1];
    text[0] = '\0';
    if (!has_expected(verdict, column))
        return text;
    value[oif_number_format(verdict->values[column], value)] = '\0';
    low[oif_number_format(rounded_end(expected, expected->low), low)] = '\0';
    high[oif_number_format(rounded_end(expected, expected->high), high)] = '\0';
    if (strcmp(low, high) == 0)
        snprintf(text, EXPECTED_TEXT_BYTES, "%s, expected %s", value, low);
    else
        snprintf(text, EXPECTED_TEXT_BYTES, "%s, expected %s to %s", value, low, high);
    return text;
}

void result_expected_sentence(const row_verdict *verdict, char text[FIELD_TEXT_BYTES])
{
    char expected[EXPECTED_TEXT_BYTES];
    text[0] = '\0';
    if (verdict->reason_count == 0)
        return;
    const size_t column = verdict->fields->order[0];
    if (*result_fields_expected_text(verdict, column, expected))
        snprintf(text, FIELD_TEXT_BYTES, "%s %s", verdict->fields->names[column], expected);
}

void result_fields_write_expected(const row_verdict *verdict, size_t column)
{
    const oif_expected *expected = &verdict->fields->expected[column];
    if (!has_expected(verdict, column))
        return;
    output_text(",\"expected\":[");
    output_number(rounded_end(expected, expected->low));
    output_text(",");
    output_number(rounded_end(expected, expected->high));
    output_text("]");
}

static bool write_reason_json(const row_verdict *verdict, size_t column)
{
    const oif_attribution *why = &verdict->fields->attributions[column];
    const char *name = verdict->fields->names[column],
               *partner = verdict->fields->names[why->partner];
    output_text("{\"column\":");
    quoting_write_json(name, strlen(name));
    output_print(",\"direction\":\"%s\",\"share\":%.2f", result_fields_direction(verdict, column),
                 why->share);
    if (why->reason != OIF_REASON_VALUES)
        output_print(",\"reason\":\"%s\"", result_fields_reason_word(why->reason));
    if (why->reason == OIF_REASON_PARTNER)
        write_json_string("partner", partner);
    const oif_text *category = category_text(verdict, column);
    if (category) {
        output_text(",\"value\":");
        quoting_write_json(category->text, category->bytes);
    }
    if (has_expected(verdict, column)) {
        output_text(",\"value\":");
        result_number_write(verdict->fields, verdict->values[column], "null");
        result_fields_write_expected(verdict, column);
    }
    return output_text("}");
}

bool result_reasons_write_json(const row_verdict *verdict)
{
    output_text("[");
    for (size_t i = 0; i < verdict->reason_count; i++) {
        output_text(i > 0 ? "," : "");
        write_reason_json(verdict, verdict->fields->order[i]);
    }
    return output_text("]");
}

/* ---- Episodes ---- */

static bool knows_why(const oif_episode_info *episode)
{
    return episode->number > 0 && episode->column != OIF_UNKNOWN_COLUMN;
}

/* NULL: it has none, or it is unknown. */
static const char *partner_of(const result_fields *fields, const oif_episode_info *episode)
{
    bool has_partner =
        episode->reason == OIF_REASON_PARTNER && episode->partner != OIF_UNKNOWN_COLUMN;
    return has_partner ? fields->names[episode->partner] : NULL;
}

void result_fields_episode_text(const result_fields *fields, const oif_episode_info *episode,
                                char text[FIELD_TEXT_BYTES])
{
    char unusual[WHY_TEXT_BYTES];
    text[0] = '\0';
    if (!knows_why(episode))
        return;
    const char *partner = partner_of(fields, episode);
    print_unusual(episode->reason, episode->direction, episode->value,
                  partner ? partner : "another column",
                  &(unusual_size){episode->size, episode->usual}, unusual);
    snprintf(text, FIELD_TEXT_BYTES, "%s %s", fields->names[episode->column], unusual);
}
