#include "influx_line.h"

#include "translator.h"

#include <math.h>

/* The end of a part that ends with one of three bytes, which a backslash escapes. */
static const char *part_end(const char *at, const char *end, const char ends[3])
{
    const char a = ends[0], b = ends[1], c = ends[2];
    while (at < end && *at != a && *at != b && *at != c)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at : end;
}

static const char after_series[3] = "   ", after_measurement[3] = ",  ", after_name[3] = "=, ",
                  after_value[3] = ",  ";

/* The end of a field's value: a string may hold anything. */
static const char *value_end(const char *at, const char *end)
{
    if (at == end || *at != '"')
        return part_end(at, end, after_value);
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : NULL;
}

/* NAME=VALUE at [*at, end), and what ends it is next. */
static bool next_pair(const char **at, const char *end, bool is_field, oif_text *name,
                      oif_text *value)
{
    const char *equals = part_end(*at, end, after_name);
    if (equals == end || *equals != '=' || equals == *at)
        return false;
    const char *value_at = equals + 1,
               *stop = is_field ? value_end(value_at, end) : part_end(value_at, end, after_value);
    if (!stop || stop == value_at || (stop < end && *stop != ',' && *stop != ' '))
        return false;
    *name = (oif_text){*at, (size_t)(equals - *at)};
    *value = (oif_text){value_at, (size_t)(stop - value_at)};
    *at = stop;
    return true;
}

static bool is_whole_number(oif_text text)
{
    for (size_t i = text.bytes > 1 && *text.text == '-'; i < text.bytes; i++)
        if (!(text.text[i] >= '0' && text.text[i] <= '9'))
            return false;
    return text.bytes > 0 && text.bytes < 20;
}

bool influx_line_split(oif_text line, influx_line *parts)
{
    const char *at = line.text, *end = line.text + line.bytes, *begin;
    oif_text name, value;
    while (end > at && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    const char *measured = part_end(at, end, after_measurement),
               *series_end = part_end(measured, end, after_series);
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

/* ---- Pairs ---- */

static bool next_in(oif_text list, const char **at, bool is_field, oif_text *name, oif_text *value)
{
    const char *end = list.text + list.bytes;
    if (!next_pair(at, end, is_field, name, value))
        return false;
    *at = *at < end ? *at + 1 : NULL;
    return true;
}

bool influx_line_next_tag(const influx_line *parts, const char **at, oif_text *name,
                          oif_text *value)
{
    const size_t before = parts->measurement.bytes + 1; /* and the comma */
    if (!*at)
        *at = parts->series.text + before;
    return next_in(parts->series, at, false, name, value);
}

bool influx_line_next_field(const influx_line *parts, const char **at, oif_text *name,
                            oif_text *value)
{
    if (!*at)
        *at = parts->fields.text;
    return next_in(parts->fields, at, true, name, value);
}

/* ---- Values ---- */

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

influx_kind influx_line_value(oif_text value, double *number)
{
    if (*value.text == '"')
        return value.bytes >= 2 ? INFLUX_STRING : INFLUX_BAD;
    const char last = value.text[value.bytes - 1];
    const char *end = value.text + value.bytes - (last == 'i' || last == 'u');
    if (end > value.text && oif_number_parse(value.text, end, number) == end)
        return isfinite(*number) ? INFLUX_NUMBER : INFLUX_BAD;
    *number = is_true(value);
    return *number == 1 || is_false(value) ? INFLUX_BOOLEAN : INFLUX_BAD;
}

size_t influx_line_unescape(oif_text text, const char *escaped, char *room)
{
    size_t bytes = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.text[i] == '\\' && i + 1 < text.bytes && strchr(escaped, text.text[i + 1]))
            i++;
        room[bytes++] = text.text[i];
    }
    return bytes;
}
