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

#include "front/text/name_list.h"
#include "front/text/quoting.h"

#include <math.h>
#include <stdlib.h>

typedef struct influx_state {
    char *room; /* for a text without its escapes */
    size_t room_bytes;
} influx_state;

/* ---- Parts of a line ---- */

/* The end of a part that ends with one of `ends`, which a backslash escapes. */
static const char *part_end(const char *at, const char *end, const char *ends)
{
    while (at < end && !(strchr(ends, *at) && *at != '\0'))
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at : end;
}

/* The end of a field's value: a string may hold anything. */
static const char *value_end(const char *at, const char *end)
{
    if (at == end || *at != '"')
        return part_end(at, end, ", ");
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : NULL;
}

/* NAME=VALUE at [*at, end), and what ends it is next. */
static bool next_pair(const char **at, const char *end, bool is_field, oif_text *name,
                      oif_text *value)
{
    const char *equals = part_end(*at, end, "=, ");
    if (equals == end || *equals != '=' || equals == *at)
        return false;
    const char *value_at = equals + 1,
               *stop = is_field ? value_end(value_at, end) : part_end(value_at, end, ", ");
    if (!stop || stop == value_at || (stop < end && *stop != ',' && *stop != ' '))
        return false;
    *name = (oif_text){*at, (size_t)(equals - *at)};
    *value = (oif_text){value_at, (size_t)(stop - value_at)};
    *at = stop;
    return true;
}

/* ---- JSON ---- */

/* Prints a text without its escapes as a string of JSON. */
static void print_text(translator *by, oif_text text, const char *special)
{
    influx_state *state = by->state;
    size_t bytes = 0;
    if (text.bytes > state->room_bytes) {
        free(state->room);
        state->room = malloc(2 * text.bytes);
        state->room_bytes = state->room ? 2 * text.bytes : 0;
    }
    if (text.bytes > state->room_bytes) {
        translator_fail(by, by->line, "out of memory");
        return;
    }
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.text[i] == '\\' && i + 1 < text.bytes && strchr(special, text.text[i + 1]))
            i++;
        state->room[bytes++] = text.text[i];
    }
    quoting_write_json(bytes > 0 ? state->room : "", bytes);
}

static bool is_true(oif_text text)
{
    return text_is(text, "t") || text_is(text, "T") || text_is(text, "true") ||
           text_is(text, "True") || text_is(text, "TRUE");
}

static bool is_false(oif_text text)
{
    return text_is(text, "f") || text_is(text, "F") || text_is(text, "false") ||
           text_is(text, "False") || text_is(text, "FALSE");
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

static bool print_number(oif_text text)
{
    double number;
    char last = text.text[text.bytes - 1];
    const bool is_whole = last == 'i' || last == 'u';
    text.bytes -= is_whole;
    const char *end = text.text + text.bytes;
    if (text.bytes == 0 || oif_number_parse(text.text, end, &number) != end || !isfinite(number))
        return false;
    output_text(!is_whole ? "" : last == 'i' ? " " : "\t");
    if (is_json_number(text))
        output_write(text.text, text.bytes);
    else
        output_number(number);
    return true;
}

static bool print_value(translator *by, oif_text value)
{
    if (*value.text == '"' && value.bytes >= 2)
        print_text(by, (oif_text){value.text + 1, value.bytes - 2}, "\"\\");
    else if (is_true(value) || is_false(value))
        output_text(is_true(value) ? "true" : "false");
    else
        return print_number(value);
    return true;
}

/* ---- A line ---- */

typedef struct influx_line {
    oif_text series, measurement, fields, time;
} influx_line;

static bool is_whole_number(oif_text text)
{
    for (size_t i = text.bytes > 1 && *text.text == '-'; i < text.bytes; i++)
        if (!(text.text[i] >= '0' && text.text[i] <= '9'))
            return false;
    return text.bytes > 0 && text.bytes < 20;
}

/* Where the line has its parts; the pairs are not checked. */
static bool split_line(oif_text line, influx_line *parts)
{
    const char *at = line.text, *end = line.text + line.bytes, *begin;
    oif_text name, value;
    while (end > at && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    const char *measured = part_end(at, end, ", "), *series_end = part_end(at, end, " ");
    parts->measurement = (oif_text){at, (size_t)(measured - at)};
    parts->series = (oif_text){at, (size_t)(series_end - at)};
    if (measured == at || series_end == end || memchr(at, '=', parts->measurement.bytes))
        return false;
    begin = at = series_end + 1;
    while (next_pair(&at, end, true, &name, &value) && at < end && *at == ',')
        at++;
    parts->fields = (oif_text){begin, (size_t)(at - begin)};
    parts->time = (oif_text){end, 0};
    if (at == begin || (at < end && *at != ' '))
        return false;
    if (at < end)
        parts->time = (oif_text){at + 1, (size_t)(end - at - 1)};
    return at == end || is_whole_number(parts->time);
}

static bool print_tags(translator *by, const influx_line *parts)
{
    const char *at = parts->series.text + parts->measurement.bytes,
               *end = parts->series.text + parts->series.bytes;
    oif_text name, value;
    while (at < end) {
        at++;
        if (!next_pair(&at, end, false, &name, &value))
            return false;
        output_text(",");
        print_text(by, name, ",= \\");
        output_text(":");
        print_text(by, value, ",= \\");
    }
    return true;
}

static bool print_fields(translator *by, const influx_line *parts)
{
    const char *at = parts->fields.text, *end = at + parts->fields.bytes;
    oif_text name, value;
    while (at < end) {
        if (!next_pair(&at, end, true, &name, &value))
            return false;
        output_text(", ");
        print_text(by, name, ",= \\");
        output_text(":");
        if (!print_value(by, value))
            return false;
        at++;
    }
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
    print_text(by, parts->measurement, ", \\");
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

/* Adds a name to the list of texts, unless it is the key or the list is full. */
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

/* By the first line: the time, the key, and texts that need no note. */
static void imply_roles(translator *by, const influx_line *parts)
{
    const char *at = parts->series.text + parts->measurement.bytes,
               *end = parts->series.text + parts->series.bytes;
    oif_text name, value;
    if (by->implied.key[0] != '\0')
        return;
    snprintf(by->implied.key, IMPLIED_BYTES, "series");
    if (parts->time.bytes > 0)
        snprintf(by->implied.time, IMPLIED_BYTES, "time");
    if (by->options.key)
        imply_text(by, (oif_text){"series", strlen("series")});
    imply_text(by, (oif_text){"measurement", strlen("measurement")});
    while (at < end) {
        at++;
        if (!next_pair(&at, end, false, &name, &value))
            return;
        imply_text(by, name);
    }
}

/* The row is printed elsewhere first: what is wrong may be its last field. */
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
    bool is_good = split_line(line, &parts) && print_parts(by, &parts);
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

static bool recognise(const char *text, size_t bytes)
{
    const char *newline = memchr(text, '\n', bytes), *at;
    oif_text line = {text, newline ? (size_t)(newline - text) : bytes}, name, value;
    influx_line parts;
    double number;
    if (!split_line(line, &parts))
        return false;
    at = parts.fields.text;
    while (next_pair(&at, parts.fields.text + parts.fields.bytes, true, &name, &value)) {
        const char *end = value.text + value.bytes;
        bool is_text = *value.text == '"' || is_true(value) || is_false(value);
        const char *stop = is_text ? end : oif_number_parse(value.text, end, &number);
        if (!stop || !(stop == end || (stop + 1 == end && strchr("iu", *stop))))
            return false;
        at++;
    }
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
    .recognise = recognise,
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
