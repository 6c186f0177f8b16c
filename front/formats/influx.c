/* Influx's line protocol:
 *
 *     cpu,host=a usage=12.5,procs=3i 1794970649000000000
 *
 * becomes a row in which the series is the key, unless --key says otherwise:
 *
 *     {"time":1794970649000000000,"series":"cpu,host=a","measurement":"cpu","host":"a",
 *      "usage":12.5,"procs":3} */
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

/* Prints a number as JSON; `text` is how the line has it. */
static void print_number(oif_text text, double number)
{
    const char last = text.text[text.bytes - 1];
    text.bytes -= last == 'i' || last == 'u';
    if (quoting_is_json_number(text.text, text.bytes))
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
        output_text(",");
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
