/* Prometheus's text exposition and OpenMetrics, as an exporter prints them. */
#include "sample_reading.h"

#include "front/formats/metric_sample.h"
#include "text_buffer.h"

#include <math.h>

/* The value of a label without its escapes; there is room for it. */
static oif_text plain_text(text_buffer *room, oif_text value)
{
    if (!memchr(value.text, '\\', value.bytes))
        return value;
    char *copy = room->bytes + room->count;
    size_t bytes = 0;
    for (size_t i = 0; i < value.bytes; i++) {
        const bool is_escaped = value.text[i] == '\\' && i + 1 < value.bytes;
        i += is_escaped;
        copy[bytes++] = is_escaped && value.text[i] == 'n' ? '\n' : value.text[i];
    }
    room->count += bytes;
    return (oif_text){copy, bytes};
}

static bool take_labels(text_buffer *room, oif_text text, sample_label *labels, size_t *count,
                        bool *has_bound)
{
    const char *at = text.text, *end = at + text.bytes;
    oif_text whole, name, value;
    *count = 0;
    *has_bound = false;
    room->count = 0;
    if (!text_buffer_reserve(room, text.bytes))
        return false;
    while (metric_sample_next_label(&at, end, &whole, &name, &value)) {
        *has_bound |= name.bytes == 2 && memcmp(name.text, "le", 2) == 0;
        if (*count < SAMPLE_LABELS_MAX)
            labels[*count] = (sample_label){name, plain_text(room, value), false};
        ++*count;
    }
    return true;
}

static bool parse_number(oif_text text, double *number)
{
    const char *end = text.text + text.bytes;
    return oif_number_parse(text.text, end, number) == end;
}

/* Of a time in seconds, milliseconds, microseconds or nanoseconds since 1970, by its size. */
static double seconds_of(double number)
{
    const double size = fabs(number);
    return size < 1e11   ? number
           : size < 1e14 ? number / 1e3
           : size < 1e17 ? number / 1e6
                         : number / 1e9;
}

static bool take_line(sample_reading *reading, oif_text line, uint64_t number, text_buffer *room)
{
    static const char expected[] =
        "this is not a sample of Prometheus, such as name{label=\"a\"} 1";
    metric_sample parts;
    sample_label labels[SAMPLE_LABELS_MAX];
    size_t count;
    bool has_bound;
    double time;
    sample one = {.seconds = reading->now_seconds};
    if (!metric_sample_split(line, &parts) || !parse_number(parts.value, &one.value) ||
        (parts.time.bytes > 0 && !(parse_number(parts.time, &time) && isfinite(time))))
        return sample_reading_skip(reading, number, expected);
    reading->uses_now |= parts.time.bytes == 0;
    if (parts.time.bytes > 0)
        one.seconds = seconds_of(time);
    one.name = parts.name;
    if (!take_labels(room, parts.labels, labels, &count, &has_bound))
        return false;
    one.kind = sample_kind_by_name(parts.name, has_bound);
    return samples_begin(reading->all, (oif_text){"", 0}, labels, count) &&
           samples_add(reading->all, &one);
}

bool prometheus_samples_read(sample_reading *reading, oif_text body, problem *why)
{
    text_buffer room = {.bytes = NULL};
    uint64_t number = 0;
    bool is_good = true;
    for (const char *at = body.text, *end = at + body.bytes; at < end && is_good;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end,
                   *next = newline ? newline + 1 : end;
        while (at < stop && (*at == ' ' || *at == '\t'))
            at++;
        while (stop > at && stop[-1] == '\r')
            stop--;
        number++;
        if (at < stop && *at != '#')
            is_good = take_line(reading, (oif_text){at, (size_t)(stop - at)}, number, &room);
        at = next;
    }
    text_buffer_free(&room);
    return is_good || samples_refuse(reading->all, why);
}
