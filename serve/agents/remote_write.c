/* Prometheus remote write 1.0; https://prometheus.io/docs/specs/prw describes it.
 *
 *     WriteRequest  1: TimeSeries  1: Label  1: name  2: value
 *                                  2: Sample  1: value  2: milliseconds
 *                                  4: Histogram, which is left out
 *                   3: metadata, which is skipped */
#include "sample_reading.h"
#include "wire.h"

#include <string.h>

/* One series. */
typedef struct write_series {
    sample_label labels[SAMPLE_LABELS_MAX];
    size_t count;
    oif_text name;
    bool has_bound; /* the label le: it is a bucket */
    bool is_bad;
} write_series;

static bool is_word(oif_text text, const char *word)
{
    return text.bytes == strlen(word) && memcmp(text.text, word, text.bytes) == 0;
}

/* ---- Labels ---- */

static void take_label(write_series *series, oif_text name, oif_text value)
{
    if (is_word(name, "__name__")) {
        series->name = value;
        return;
    }
    series->has_bound |= is_word(name, "le");
    if (series->count < SAMPLE_LABELS_MAX)
        series->labels[series->count] = (sample_label){name, value, false};
    series->count++;
}

static bool read_label(write_series *series, oif_text bytes)
{
    wire_message label = wire_open(bytes);
    wire_field field;
    oif_text name = {"", 0}, value = {"", 0};
    while (wire_next(&label, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES))
            name = field.bytes;
        else if (wire_is(&field, 2, WIRE_BYTES))
            value = field.bytes;
    }
    take_label(series, name, value);
    return !label.is_bad;
}

/* What the samples of a series have in common may come behind them. */
static void read_series(oif_text bytes, write_series *series)
{
    wire_message message = wire_open(bytes);
    wire_field field;
    series->count = 0;
    series->name = (oif_text){"", 0};
    series->has_bound = series->is_bad = false;
    while (wire_next(&message, &field))
        if (wire_is(&field, 1, WIRE_BYTES))
            series->is_bad |= !read_label(series, field.bytes);
    series->is_bad |= message.is_bad || series->name.bytes == 0;
}

/* ---- Samples ---- */

/* A NaN with these bits says that the series has ended. */
static bool is_stale(uint64_t bits)
{
    return bits == 0x7ff0000000000002u;
}

static bool take_sample(sample_reading *reading, const write_series *series, oif_text bytes,
                        sample_kind kind)
{
    wire_message message = wire_open(bytes);
    wire_field field;
    uint64_t bits = 0;
    sample one = {.name = series->name, .kind = kind};
    while (wire_next(&message, &field)) {
        if (wire_is(&field, 1, WIRE_64)) {
            one.value = wire_double(&field);
            bits = field.value;
        } else if (wire_is(&field, 2, WIRE_VARINT))
            one.seconds = (double)wire_signed(&field) / 1000;
    }
    if (message.is_bad)
        return sample_reading_skip(reading, 0, "a sample is malformed");
    if (!is_stale(bits))
        return samples_add(reading->all, &one);
    samples_leave_out(reading->all, LEFT_STALE, 1);
    return true;
}

/* ---- The request ---- */

static bool take_series(sample_reading *reading, oif_text bytes)
{
    wire_message message = wire_open(bytes);
    wire_field field;
    write_series series;
    read_series(bytes, &series);
    if (series.is_bad)
        return sample_reading_skip(reading, 0, "a series is malformed, or has no label __name__");
    const sample_kind kind = sample_kind_by_name(series.name, series.has_bound);
    if (!samples_begin(reading->all, (oif_text){"", 0}, series.labels, series.count))
        return false;
    while (wire_next(&message, &field)) {
        if (wire_is(&field, 2, WIRE_BYTES) && !take_sample(reading, &series, field.bytes, kind))
            return false;
        if (wire_is(&field, 4, WIRE_BYTES)) /* a native histogram */
            samples_leave_out(reading->all, LEFT_UNKNOWN, 1);
    }
    return true;
}

bool remote_write_read(sample_reading *reading, oif_text body, problem *why)
{
    wire_message message = wire_open(body);
    wire_field field;
    while (wire_next(&message, &field))
        if (wire_is(&field, 1, WIRE_BYTES) && !take_series(reading, field.bytes))
            return samples_refuse(reading->all, why);
    return !message.is_bad ||
           problem_set(why, 400, "Send the protobuf message that the specification has.",
                       "the body is not a request of Prometheus remote write");
}
