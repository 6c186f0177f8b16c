/* Influx's line protocol:
 *
 *     cpu,host=a usage=12.5,procs=3i 1794970649000000000
 *
 * becomes a row in which the series is the key, unless --key says otherwise:
 *
 *     {"time":1794970649000000000,"series":"cpu,host=a","measurement":"cpu","host":"a",
 *      "usage":12.5, "procs": 3}
 *
 * Blanks in it show what a member was, so the line can be printed again: before the name, it is a
 * field; after the colon, a blank is an integer and a tab an unsigned integer. */
#include "influx.h"
#include "formats.h"
#include "influx_line.h"

#include "front/text/name_list.h"
#include "front/text/quoting.h"

#include <math.h>
#include <stdlib.h>

/* gcc's analyzer reports influx_state.room as leaked, because it is stored through a
 * pointer. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

typedef struct influx_state {
    char *room; /* for a text without its escapes */
    size_t room_bytes;
} influx_state;

/* ---- JSON ---- */

/* Prints a text without its escapes as a string of JSON. */
static void print_text(translator *by, oif_text text, const char *special)
{
    influx_state *state = by->state;
    if (text.bytes > state->room_bytes) {
        char *room = realloc(state->room, 2 * text.bytes);
        if (!room) {
            translator_fail(by, by->line, "out of memory");
            return;
        }
        state->room = room;
        state->room_bytes = 2 * text.bytes;
    }
    const size_t bytes = text.bytes > 0 ? influx_line_unescape(text, special, state->room) : 0;
    quoting_write_json(bytes > 0 ? state->room : "", bytes);
}

/* Whether JSON may have the number as it is written: not .5, 1. or +1. */
static bool is_json_number(oif_text text)
{
    const char *at = text.text, *end = at + text.bytes;
    at += at < end && *at == '-';
    if (at == end || (*at == '0' && at + 1 < end && at[1] >= '0' && at[1] <= '9'))
        return false;
    for (; at < end; at++)
        if (!(*at >= '0' && *at <= '9') &&
            (!strchr(".eE+-", *at) || at == text.text || at + 1 == end || *at == '\0' ||
             (*at == '.' && !(at[-1] >= '0' && at[-1] <= '9' && at[1] >= '0' && at[1] <= '9'))))
            return false;
    return true;
}

/* Prints a number as JSON; `text` is how the line has it. */
static void print_number(oif_text text, double number)
{
    const char last = text.text[text.bytes - 1];
    const bool is_whole = last == 'i' || last == 'u';
    text.bytes -= is_whole;
    output_text(!is_whole ? "" : last == 'i' ? " " : "\t");
    if (is_json_number(text))
        output_write(text.text, text.bytes);
    else
        output_number(number);
}

static bool print_value(translator *by, oif_text value)
{
    double number;
    const influx_kind kind = influx_line_value(value, &number);
    if (kind == INFLUX_STRING)
        print_text(by, (oif_text){value.text + 1, value.bytes - 2}, INFLUX_STRING_ESCAPES);
    else if (kind == INFLUX_BOOLEAN)
        output_text(number == 1 ? "true" : "false");
    else if (kind == INFLUX_NUMBER)
        print_number(value, number);
    return kind != INFLUX_BAD;
}

/* ---- A line ---- */

static bool has_tags(const influx_line *parts)
{
    return parts->series.bytes > parts->measurement.bytes;
}

static bool print_tags(translator *by, const influx_line *parts)
{
    const char *at = NULL;
    oif_text name, value;
    do {
        if (!has_tags(parts))
            return true;
        if (!influx_line_next_tag(parts, &at, &name, &value))
            return false;
        output_text(",");
        print_text(by, name, INFLUX_TAG_ESCAPES);
        output_text(":");
        print_text(by, value, INFLUX_TAG_ESCAPES);
    } while (at);
    return true;
}

static bool print_fields(translator *by, const influx_line *parts)
{
    const char *at = NULL;
    oif_text name, value;
    do {
        if (!influx_line_next_field(parts, &at, &name, &value))
            return false;
        output_text(", ");
        print_text(by, name, INFLUX_TAG_ESCAPES);
        output_text(":");
        if (!print_value(by, value))
            return false;
    } while (at);
    return true;
}

static bool print_parts(translator *by, const influx_line *parts)
{
    output_text("{");
    if (parts->time.bytes > 0) {
        output_text("\"time\":");
        output_write(parts->time.text, parts->time.bytes);
        output_text(",");
    }
    output_text("\"series\":");
    quoting_write_json(parts->series.text, parts->series.bytes);
    output_text(",\"measurement\":");
    print_text(by, parts->measurement, INFLUX_MEASUREMENT_ESCAPES);
    bool is_good = print_tags(by, parts) && print_fields(by, parts);
    output_text("}");
    return is_good;
}

static bool is_plain_name(oif_text name)
{
    for (size_t i = 0; i < name.bytes; i++)
        if (!(name.text[i] == '_' || (name.text[i] >= '0' && name.text[i] <= '9') ||
              (name.text[i] >= 'a' && name.text[i] <= 'z') ||
              (name.text[i] >= 'A' && name.text[i] <= 'Z')))
            return false;
    return true;
}

/* Adds a name to the columns that are excluded, unless it is the key or the list is full. */
static void imply_text(translator *by, oif_text name)
{
    char *list = by->implied.exclude, text[IMPLIED_BYTES];
    size_t bytes = strlen(list);
    if (!is_plain_name(name) || bytes + name.bytes + 2 > IMPLIED_BYTES)
        return;
    memcpy(text, name.text, name.bytes);
    text[name.bytes] = '\0';
    if (name_list_has(by->options.key, text))
        return;
    if (bytes > 0)
        list[bytes++] = ',';
    memcpy(list + bytes, text, name.bytes + 1);
}

/* Sets what the first line implies: the columns of time and key, and text columns to exclude
 * without a note. */
static void imply_roles(translator *by, const influx_line *parts)
{
    const char *at = NULL;
    oif_text name, value;
    if (by->implied.key[0] != '\0')
        return;
    snprintf(by->implied.key, IMPLIED_BYTES, "series");
    if (parts->time.bytes > 0)
        snprintf(by->implied.time, IMPLIED_BYTES, "time");
    if (by->options.key)
        imply_text(by, (oif_text){"series", strlen("series")});
    imply_text(by, (oif_text){"measurement", strlen("measurement")});
    if (!has_tags(parts))
        return;
    do {
        if (!influx_line_next_tag(parts, &at, &name, &value))
            return;
        imply_text(by, name);
    } while (at);
}

/* Translates a line. Its row is printed into memory first, as its last field may be wrong. */
static void take_line(translator *by, oif_text line)
{
    influx_line parts;
    size_t bytes;
    while (line.bytes > 0 && *line.text == ' ') {
        line.text++;
        line.bytes--;
    }
    if (line.bytes == 0 || *line.text == '#')
        return;
    output_divert();
    bool is_good = influx_line_split(line, &parts) && print_parts(by, &parts);
    char *row = output_diverted(&bytes);
    if (!is_good) {
        translator_bad_row(by);
    } else if (row) {
        translator_begin_row(by, by->line);
        output_write(row, bytes);
        translator_end_row(by);
    } else {
        translator_fail(by, by->line, "out of memory");
    }
    free(row);
    if (is_good)
        imply_roles(by, &parts);
}

bool influx_recognise(const char *text, size_t bytes)
{
    const char *newline = memchr(text, '\n', bytes), *at = NULL;
    oif_text line = {text, newline ? (size_t)(newline - text) : bytes}, name, value;
    influx_line parts;
    double number;
    if (!influx_line_split(line, &parts))
        return false;
    do {
        if (!influx_line_next_field(&parts, &at, &name, &value) ||
            influx_line_value(value, &number) == INFLUX_BAD)
            return false;
    } while (at);
    return true;
}

static void close_state(translator *by)
{
    free(((influx_state *)by->state)->room);
}

const translation format_influx = {
    .word = "influx",
    .what = "Influx's line protocol",
    .writes = OIF_FORMAT_NDJSON,
    .state_bytes = sizeof(influx_state),
    .recognise = influx_recognise,
    .line = take_line,
    .close = close_state,
    .bad_line =
        "this is not a line of Influx, such as cpu,host=a usage=12.5,n=3i 1794970649000000000"};

/* ---- Back ---- */

/* Prints a string of JSON, of which `at` is the first byte, and returns the byte after it. */
typedef void (*print_function)(const char *text, size_t bytes);

static void print_plain(const char *text, size_t bytes)
{
    output_write(text, bytes);
}

static void print_name(const char *text, size_t bytes)
{
    quoting_write_influx(text, bytes, ",= ");
}

static void print_inside_quotes(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        output_text(text[i] == '"' || text[i] == '\\' ? "\\" : "");
        output_write(text + i, 1);
    }
}

static char unescaped(char byte)
{
    return byte == 'n' ? '\n' : byte == 't' ? '\t' : byte == 'r' ? '\r' : byte;
}

/* Control characters other than these stay as JSON writes them. */
static const char *print_string(const char *at, const char *end, print_function print)
{
    for (at++; at < end && *at != '"';) {
        const char *begin = at;
        while (at < end && *at != '"' && *at != '\\')
            at++;
        print(begin, (size_t)(at - begin));
        if (at + 1 < end && *at == '\\') {
            char byte = unescaped(at[1]);
            print(byte == 'u' ? "\\u" : &byte, byte == 'u' ? 2 : 1);
            at += 2;
        }
    }
    return at < end ? at + 1 : end;
}

static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* A value, and what a blank before it says. */
static const char *print_member(const char *at, const char *end)
{
    const char *suffix = *at == ' ' ? "i" : *at == '\t' ? "u" : "";
    at += *suffix != '\0';
    if (at < end && *at == '"') {
        output_text("\"");
        at = print_string(at, end, print_inside_quotes);
        output_text("\"");
        return at;
    }
    const char *begin = at;
    while (at < end && *at != ',' && *at != '}')
        at++;
    output_write(begin, (size_t)(at - begin));
    output_text(suffix);
    return at;
}

void influx_print_line(oif_text row, oif_text *time)
{
    static const char time_name[] = "{\"time\":", series_name[] = "\"series\":";
    const char *at = row.text + 1, *end = row.text + row.bytes;
    *time = (oif_text){end, 0};
    if (text_begins(row, time_name)) {
        at = row.text + sizeof time_name - 1;
        const char *comma = memchr(at, ',', (size_t)(end - at));
        *time = (oif_text){at, comma ? (size_t)(comma - at) : 0};
        at = comma ? comma + 1 : end;
    }
    if (!text_begins((oif_text){at, (size_t)(end - at)}, series_name))
        return;
    at = print_string(at + sizeof series_name - 1, end, print_plain);
    const char *separator = " ";
    while (at + 1 < end && *at == ',') {
        const bool is_field = at[1] == ' ';
        at += is_field ? 2 : 1;
        if (!is_field) { /* the measurement or a tag, which the series has */
            at = string_end(at, end);
            at = at < end ? string_end(at + 1, end) : end;
            continue;
        }
        output_text(separator);
        separator = ",";
        at = print_string(at, end, print_name);
        output_text("=");
        at = at + 1 < end ? print_member(at + 1, end) : end;
    }
}
