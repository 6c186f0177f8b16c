/* The meaning of a CSV field. The field is in a buffer, followed by its delimiter or a \n, so these
 * functions may read the byte after it. Inline, because the parser calls them for every field. */
#ifndef OIF_ROWS_CSV_FIELD_H
#define OIF_ROWS_CSV_FIELD_H

#include "oif_rows.h"
#include "rows/reader.h"
#include "rows/short_number.h"

#include <math.h>
#include <string.h>

/* A blank around a field. If runs of blanks separate fields, the rest of a run counts too. */
static inline bool oif_csv_is_blank(char byte, char delimiter)
{
    return (byte == ' ' || byte == '\t') && (byte != delimiter || delimiter == ' ');
}

/* Letters cannot: numbers begin or end with them, as in inf, nan, 1e5. */
static inline bool oif_csv_can_delimit(char byte)
{
    bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    return byte && !letter && !strchr("0123456789.+-\"\r\n", byte);
}

static inline bool oif_csv_ends_field(const char *at, char delimiter)
{
    return *at == delimiter || *at == '\n' || (*at == '\r' && at[1] == '\n');
}

/* The byte after the closing quote, or NULL if there is none before `end`; the byte before `end` is
 * a \n. */
static inline const char *oif_csv_quoted_end(const char *at, const char *end)
{
    while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
        if (at[1] != '"')
            return at + 1;
        at += 2;
    }
    return NULL;
}

/* The delimiter or \n that ends the field, or NULL if its quote is still open at `end`. A quote
 * counts only as the first byte of a field. It is known to be open up to `scanned`, if that is
 * after it. */
static inline const char *oif_csv_field_end(const char *field, const char *scanned, const char *end,
                                            char delimiter)
{
    const char *at = field;
    if (*at == '"') {
        at = oif_csv_quoted_end(scanned > field ? scanned : field + 1, end);
        if (!at)
            return NULL;
    }
    while (*at != delimiter && *at != '\n')
        at++;
    return at;
}

/* ---- Fields between runs of blanks ---- */

static inline bool oif_csv_is_in_run(char byte)
{
    return byte == ' ' || byte == '\t';
}

static inline const char *oif_csv_past_run(const char *at)
{
    while (oif_csv_is_in_run(*at))
        at++;
    return at;
}

/* The last byte of the run that begins at the end of a field, or the \n if nothing follows. As with
 * other delimiters, the next field begins after it. */
static inline const char *oif_csv_run_end(const char *at)
{
    const char *next = oif_csv_past_run(at);
    if (*next == '\n')
        return next;
    if (*next == '\r' && next[1] == '\n')
        return next + 1;
    return next - 1;
}

/* Like oif_csv_field_end. */
static inline const char *oif_csv_blank_field_end(const char *field, const char *scanned,
                                                  const char *end)
{
    const char *at = oif_csv_past_run(field);
    if (*at == '"') {
        at = oif_csv_quoted_end(scanned > at ? scanned : at + 1, end);
        if (!at)
            return NULL;
    }
    while (!oif_csv_is_in_run(*at) && *at != '\n')
        at++;
    return *at == '\n' ? at : oif_csv_run_end(at);
}

/* Like oif_csv_plain_field_end; no field is empty. */
static inline const char *oif_csv_plain_blank_field_end(const char *field, const char *lines_end,
                                                        double *value)
{
    const char *text = oif_csv_past_run(field), *end = oif_short_number_end(text, lines_end, value);
    if (!end || !(oif_csv_is_in_run(*end) || oif_csv_ends_field(end, '\n'))) {
        end = oif_number_parse(text, lines_end, value);
        if (!end || !(oif_csv_is_in_run(*end) || oif_csv_ends_field(end, '\n')) || isinf(*value))
            return NULL;
    }
    return oif_csv_run_end(end);
}

/* ---- Meaning ---- */

static inline oif_span oif_csv_without_blanks(oif_span text, char delimiter)
{
    while (text.start < text.end && oif_csv_is_blank(*text.start, delimiter))
        text.start++;
    while (text.start < text.end && oif_csv_is_blank(text.end[-1], delimiter))
        text.end--;
    return text;
}

static inline bool oif_csv_is_in_quotes(oif_span text)
{
    return text.end - text.start >= 2 && *text.start == '"' && text.end[-1] == '"';
}

/* Ignores case; the word is in lower case. */
static inline bool oif_csv_is_word(oif_span text, const char *word)
{
    const char *at = text.start;
    while (at < text.end && *word && (*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at) == *word)
        at++, word++;
    return at == text.end && !*word;
}

static inline bool oif_csv_is_missing(oif_span text)
{
    static const char *const words[] = {"",        "na",    "n/a",  "nan",    "null",   "none",
                                        "-",       "--",    "?",    "#n/a",   "#na",    "\\n",
                                        "nil",     "<na>",  "nat",  "(null)", "#null!", "#div/0!",
                                        "#value!", "#ref!", "#num!"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (oif_csv_is_word(text, words[i]))
            return true;
    return false;
}

/* The delimiter or \n after a field that is a finite number, missing or empty, with at most blanks
 * before it. NULL for any other field; *value is then undefined. */
static inline const char *oif_csv_plain_field_end(const char *field, const char *lines_end,
                                                  char delimiter, double *value)
{
    const char *text = field, *end;
    while (oif_csv_is_blank(*text, delimiter))
        text++;
    end = oif_short_number_end(text, lines_end, value);
    if (!end || !oif_csv_ends_field(end, delimiter)) {
        end = oif_csv_ends_field(text, delimiter) ? text : oif_number_parse(text, lines_end, value);
        if (end == text)
            *value = NAN;
        else if (!end || !oif_csv_ends_field(end, delimiter) || isinf(*value))
            return NULL;
    }
    return end + (*end == '\r');
}

typedef enum oif_csv_meaning {
    OIF_CSV_NUMBER,
    OIF_CSV_MISSING,
    OIF_CSV_INFINITE,
    OIF_CSV_OTHER_TEXT
} oif_csv_meaning;

/* The meaning of the field [field, end) without blanks and quotes; its value if it is a number or a
 * truth value, NaN if missing. */
static inline oif_csv_meaning oif_csv_field_meaning(const char *field, const char *end,
                                                    char delimiter, double *value)
{
    oif_span text = oif_csv_without_blanks(oif_span_without_returns(field, end), delimiter);
    double number;
    if (oif_csv_is_in_quotes(text))
        text = oif_csv_without_blanks((oif_span){text.start + 1, text.end - 1}, delimiter);
    if (oif_number_parse(text.start, text.end, &number) == text.end) {
        *value = number;
        return isnan(number) ? OIF_CSV_MISSING : isinf(number) ? OIF_CSV_INFINITE : OIF_CSV_NUMBER;
    }
    const bool is_true = oif_csv_is_word(text, "true");
    if (is_true || oif_csv_is_word(text, "false")) { /* as in JSON */
        *value = is_true;
        return OIF_CSV_NUMBER;
    }
    *value = NAN;
    return oif_csv_is_missing(text) ? OIF_CSV_MISSING : OIF_CSV_OTHER_TEXT;
}

/* ---- Decimal commas ---- */

enum { OIF_COMMA_NUMBER_BYTES = 64 };

/* Whether the points group thousands: 1.234,5 and 1.234.567. A single point without a comma, as in
 * 1.234, could also be decimal, so it counts only if `is_certain`. */
static inline bool oif_csv_has_grouping_points(oif_span text, bool is_certain, bool has_comma)
{
    const char *at = text.start + (text.start < text.end && strchr("+-", *text.start));
    size_t digits = 0, first_digits = 0;
    for (size_t groups = 0; at < text.end; at++) {
        if (*at >= '0' && *at <= '9') {
            digits++;
            continue;
        }
        if (groups == 0)
            first_digits = digits;
        if ((groups > 0 && digits != 3) || (*at != '.' && *at != ','))
            return false;
        groups++;
        digits = 0;
        if (*at == ',')
            break;
    }
    return first_digits >= 1 && first_digits <= 3 && (has_comma || (is_certain && digits == 3));
}

/* Reads a number with a decimal comma; false if it is not one. */
static inline bool oif_csv_parse_comma_number(oif_span text, bool is_comma_certain, double *value)
{
    char point_text[OIF_COMMA_NUMBER_BYTES], *next = point_text;
    size_t points = 0, commas = 0;
    if (text.start == text.end || text.end - text.start > OIF_COMMA_NUMBER_BYTES)
        return false;
    for (const char *at = text.start; at < text.end; at++) {
        points += *at == '.';
        commas += *at == ',';
        if (*at != '.')
            *next++ = *at == ',' ? '.' : *at;
    }
    bool is_certain = is_comma_certain || points >= 2;
    if (commas > 1 || (points > 0 && !oif_csv_has_grouping_points(text, is_certain, commas > 0)))
        return false;
    return oif_number_parse(point_text, next, value) == next;
}

/* Like oif_csv_field_meaning. */
static inline oif_csv_meaning oif_csv_comma_meaning(const char *field, const char *end,
                                                    char delimiter, bool is_comma_certain,
                                                    double *value)
{
    oif_span text = oif_csv_without_blanks(oif_span_without_returns(field, end), delimiter);
    double number;
    if (oif_csv_is_in_quotes(text))
        text = oif_csv_without_blanks((oif_span){text.start + 1, text.end - 1}, delimiter);
    *value = NAN;
    if (!oif_csv_parse_comma_number(text, is_comma_certain, &number))
        return oif_csv_is_missing(text) ? OIF_CSV_MISSING : OIF_CSV_OTHER_TEXT;
    *value = number;
    return isnan(number) ? OIF_CSV_MISSING : isinf(number) ? OIF_CSV_INFINITE : OIF_CSV_NUMBER;
}

/* Writes a field without its quotes; returns the end. */
static inline char *oif_csv_write_unquoted(oif_span text, char *at)
{
    bool quoted = oif_csv_is_in_quotes(text);
    for (const char *from = text.start + quoted; from < text.end - quoted; from++) {
        *at++ = *from;
        if (quoted && *from == '"' && from[1] == '"' && from + 1 < text.end - 1)
            from++;
    }
    return at;
}

/* The candidate that occurs most often outside quotes in a line; the first candidate if none
 * occurs. */
static inline char oif_csv_most_frequent_delimiter(oif_span line)
{
    static const char candidates[] = ",;|\t";
    size_t counts[sizeof candidates] = {0};
    size_t best = 0;
    bool in_quotes = false;
    bool may_open = true; /* at the start of a field, and after a closing quote */

    for (const char *at = line.start; at < line.end; at++) {
        const char *candidate = *at && !in_quotes ? strchr(candidates, *at) : NULL;
        bool toggles = *at == '"' && (in_quotes || may_open);
        if (candidate)
            counts[candidate - candidates]++;
        in_quotes ^= toggles;
        may_open = candidate || toggles;
    }
    for (size_t i = 1; candidates[i]; i++)
        if (counts[i] > counts[best])
            best = i;
    return candidates[best];
}

#endif
