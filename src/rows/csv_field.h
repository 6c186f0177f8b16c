/* What the text of a CSV field means. A field lies in a buffer and is followed by its delimiter or by a
 * \n, so these functions may look at the byte behind it. Inline: the parser calls them for every field. */
#ifndef OIF_ROWS_CSV_FIELD_H
#define OIF_ROWS_CSV_FIELD_H

#include "base/number_text.h"
#include "oif.h"

#include <float.h>
#include <math.h>
#include <string.h>

static inline bool is_blank(char byte, char delimiter)
{
    return (byte == ' ' || byte == '\t') && byte != delimiter;
}

/* A letter can begin or end a number too: inf, nan, 1e5. */
static inline bool can_delimit(char byte)
{
    bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    return byte && !letter && !strchr("0123456789.+-\"\r\n", byte);
}

static inline bool ends_field(const char *at, char delimiter)
{
    return *at == delimiter || *at == '\n' || (*at == '\r' && at[1] == '\n');
}

/* Past the closing quote, or NULL when there is none before `end`; the byte before `end` is a \n. */
static inline const char *quoted_end(const char *at, const char *end)
{
    while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
        if (at[1] != '"')
            return at + 1;
        at += 2;
    }
    return NULL;
}

/* The delimiter or \n that ends the field, or NULL when its quote is still open at `end`. A quote counts only
 * as the first byte of a field; it is known to be open up to `scanned` if that lies behind it. */
static inline const char *field_end(const char *field, const char *scanned, const char *end, char delimiter)
{
    const char *at = field;

    if (*at == '"') {
        at = quoted_end(scanned > field ? scanned : field + 1, end);
        if (!at)
            return NULL;
    }
    while (*at != delimiter && *at != '\n')
        at++;
    return at;
}

struct span {
    const char *start, *end;
};

static inline struct span without_blanks(struct span text, char delimiter)
{
    while (text.start < text.end && is_blank(*text.start, delimiter))
        text.start++;
    while (text.start < text.end && is_blank(text.end[-1], delimiter))
        text.end--;
    return text;
}

/* [start, end) without the \r of the line's end, if it ends there. */
static inline struct span without_returns(const char *start, const char *end)
{
    if (*end == '\n')
        while (end > start && end[-1] == '\r')
            end--;
    return (struct span){start, end};
}

static inline bool is_in_quotes(struct span text)
{
    return text.end - text.start >= 2 && *text.start == '"' && text.end[-1] == '"';
}

static inline bool is_missing(struct span text)
{
    static const char *const words[] = {"", "na", "n/a", "nan", "null", "none"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = text.start, *word = words[i];
        while (at < text.end && *word && (*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at) == *word)
            at++, word++;
        if (at == text.end && !*word)
            return true;
    }
    return false;
}

/* Reads what most numbers look like: [-]digits[.digits] in at most seven characters and whatever ends it, all in one
 * word and without a branch that depends on the number, as lengths are hard to predict. Such digits and such a power of
 * ten are doubles without rounding, so one division gives the nearest double, the same as oif_number_parse. NULL for all
 * others. */
static inline const char *short_number_end(const char *text, const char *lines_end, double *value)
{
    static const double powers_of_ten[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    if (lines_end - text < 9 || FLT_EVAL_METHOD != 0) /* a wider type would round twice */
        return NULL;
    const bool negative = *text == '-';
    const char *first = text + negative;
    const uint64_t word = load_eight(first) ^ EVERY_BYTE * '0'; /* digits become 0 to 9 */
    const uint64_t others =
        (((word & EVERY_BYTE * 0x7f) + EVERY_BYTE * (0x7f - 9)) | word) & EVERY_BYTE * 0x80;
    if (others == 0)
        return NULL;
    const unsigned whole = (unsigned)__builtin_ctzll(others) / 8; /* digits before the point */
    const uint64_t point = (word >> 8 * whole & 0xff) == ('.' ^ '0');
    const uint64_t ends = others & (others - point); /* without the point, which is the lowest bit */
    if (ends == 0)
        return NULL;
    const unsigned end = (unsigned)__builtin_ctzll(ends) / 8, count = end - (unsigned)point;
    if (count == 0)
        return NULL;
    /* Close the gap where the point was, then move the digits to the top: what is below counts as leading zeros. */
    const uint64_t before = (UINT64_C(1) << 8 * whole) - 1, gap = before | (point - 1);
    const uint64_t digits = (word & gap) | (word >> 8 & ~gap);
    const double magnitude = (double)(int64_t)join_eight_digits(digits << 8 * (8 - count));
    *value = (negative ? -magnitude : magnitude) / powers_of_ten[end - whole - (unsigned)point];
    return first + end;
}

/* The delimiter or \n behind a field that is a finite number, missing or empty, with blanks at most before
 * it; NULL for any other field, whatever *value is then. */
static inline const char *plain_field_end(const char *field, const char *lines_end, char delimiter,
                                          double *value)
{
    const char *text = field, *end;

    while (is_blank(*text, delimiter))
        text++;
    end = short_number_end(text, lines_end, value);
    if (!end || !ends_field(end, delimiter)) {
        end = ends_field(text, delimiter) ? text : oif_number_parse(text, lines_end, value);
        if (end == text)
            *value = NAN;
        else if (!end || !ends_field(end, delimiter) || isinf(*value))
            return NULL;
    }
    return end + (*end == '\r');
}

enum meaning { A_NUMBER, MISSING, INFINITE, OTHER_TEXT };

/* What the field [field, end) means, blanks and quotes aside; its value if it is a number, NaN if missing. */
static inline enum meaning field_meaning(const char *field, const char *end, char delimiter, double *value)
{
    struct span text = without_blanks(without_returns(field, end), delimiter);
    double number;

    if (is_in_quotes(text))
        text = without_blanks((struct span){text.start + 1, text.end - 1}, delimiter);
    if (oif_number_parse(text.start, text.end, &number) == text.end) {
        *value = number;
        return isnan(number) ? MISSING : isinf(number) ? INFINITE : A_NUMBER;
    }
    *value = NAN;
    return is_missing(text) ? MISSING : OTHER_TEXT;
}

/* Writes a header's field without its quotes and a NUL behind it; returns where the NUL is. */
static inline char *write_name(struct span text, char *name)
{
    bool quoted = is_in_quotes(text);

    for (const char *at = text.start + quoted; at < text.end - quoted; at++) {
        *name++ = *at;
        if (quoted && *at == '"' && at[1] == '"' && at + 1 < text.end - 1)
            at++;
    }
    *name = '\0';
    return name;
}

/* The most frequent of the candidates outside quotes in a line, the first of them if none is there. */
static inline char most_frequent_delimiter(struct span line)
{
    static const char candidates[] = ",;|\t";
    size_t counts[sizeof candidates] = {0};
    size_t best = 0;
    bool in_quotes = false,
         may_open = true; /* a quote opens a field, or after a closing one opens it again */

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

/* The first byte that no text has: a NUL, or the mark with which UTF-16 begins; NULL when there is none. */
static inline const char *find_binary(struct span line)
{
    const size_t bytes = (size_t)(line.end - line.start);

    if (bytes >= 2 && (!memcmp(line.start, "\xff\xfe", 2) || !memcmp(line.start, "\xfe\xff", 2)))
        return line.start;
    return memchr(line.start, '\0', bytes);
}

static inline uint64_t count_newlines(const char *at, const char *end)
{
    uint64_t count = 0;

    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        count++;
        at++;
    }
    return count;
}

#endif
