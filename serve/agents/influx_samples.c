/* Influx's line protocol: a field with a number is a sample, tags are its labels. Strings are left
 * out, booleans are 1 and 0. */
#include "sample_reading.h"

#include "front/formats/influx_line.h"
#include "text_buffer.h"

/* Texts without their escapes, as long as one line is read. */
typedef struct line_room {
    text_buffer text;
    size_t used;
} line_room;

/* The text itself if it has no escapes; else a copy, for which there is room. */
static oif_text plain_text(line_room *room, oif_text text, const char *escapes)
{
    if (!memchr(text.text, '\\', text.bytes))
        return text;
    char *copy = room->text.bytes + room->used;
    const size_t bytes = influx_line_unescape(text, escapes, copy);
    room->used += bytes;
    return (oif_text){copy, bytes};
}

/* False: the tags are malformed. */
static bool take_tags(const influx_line *parts, line_room *room, sample_label *labels,
                      size_t *count)
{
    const char *at = NULL;
    *count = 0;
    if (parts->series.bytes == parts->measurement.bytes)
        return true;
    do {
        oif_text name, value;
        if (!influx_line_next_tag(parts, &at, &name, &value))
            return false;
        if (*count < SAMPLE_LABELS_MAX)
            labels[*count] = (sample_label){plain_text(room, name, INFLUX_TAG_ESCAPES),
                                            plain_text(room, value, INFLUX_TAG_ESCAPES), false};
        ++*count;
    } while (at);
    return true;
}

/* Whether all fields are well-formed: a line is taken as a whole. */
static bool check_fields(const influx_line *parts)
{
    const char *at = NULL;
    double number;
    do {
        oif_text name, value;
        if (!influx_line_next_field(parts, &at, &name, &value) ||
            influx_line_value(value, &number) == INFLUX_BAD)
            return false;
    } while (at);
    return true;
}

static double seconds_of(sample_reading *reading, const influx_line *parts)
{
    double number;
    const char *end = parts->time.text + parts->time.bytes;
    reading->uses_now |= parts->time.bytes == 0;
    return parts->time.bytes > 0 && oif_number_parse(parts->time.text, end, &number) == end
               ? number / reading->per_second
               : reading->now_seconds;
}

static bool take_fields(sample_reading *reading, const influx_line *parts, line_room *room)
{
    const char *at = NULL;
    sample one = {.kind = SAMPLE_GAUGE, .seconds = seconds_of(reading, parts)};
    do {
        oif_text name, value;
        if (!influx_line_next_field(parts, &at, &name, &value))
            return true;
        if (influx_line_value(value, &one.value) == INFLUX_STRING) {
            samples_leave_out(reading->all, LEFT_TEXT, 1);
            continue;
        }
        const size_t used = room->used;
        one.name = plain_text(room, name, INFLUX_TAG_ESCAPES);
        if (!samples_add(reading->all, &one))
            return false;
        room->used = used;
    } while (at);
    return true;
}

static bool take_line(sample_reading *reading, oif_text line, uint64_t number, line_room *room)
{
    static const char expected[] =
        "this is not a line of Influx, such as cpu,host=a usage=12.5,n=3i 1794970649000000000";
    influx_line parts;
    sample_label labels[SAMPLE_LABELS_MAX];
    size_t count;
    room->used = 0;
    if (line.bytes > room->text.capacity && !text_buffer_reserve(&room->text, line.bytes))
        return false;
    if (!influx_line_split(line, &parts) || !take_tags(&parts, room, labels, &count) ||
        !check_fields(&parts))
        return sample_reading_skip(reading, number, expected);
    const oif_text measurement = plain_text(room, parts.measurement, INFLUX_MEASUREMENT_ESCAPES);
    return samples_begin(reading->all, measurement, labels, count) &&
           take_fields(reading, &parts, room);
}

bool influx_samples_read(sample_reading *reading, oif_text body, problem *why)
{
    line_room room = {.used = 0};
    uint64_t number = 0;
    bool is_good = true;
    for (const char *at = body.text, *end = at + body.bytes; at < end && is_good;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        while (at < stop && (*at == ' ' || *at == '\t' || *at == '\r'))
            at++;
        number++;
        if (at < stop && *at != '#')
            is_good = take_line(reading, (oif_text){at, (size_t)(stop - at)}, number, &room);
        at = newline ? newline + 1 : end;
    }
    text_buffer_free(&room.text);
    return is_good || samples_refuse(reading->all, why);
}
