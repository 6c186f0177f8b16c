/* Prometheus remote write, of both versions; https://prometheus.io/docs/specs/prw describes them.
 *
 *     1.0   WriteRequest  1: TimeSeries  1: Label  1: name  2: value
 *                                        2: Sample  1: value  2: milliseconds
 *                                        4: Histogram
 *                         3: metadata, which is skipped
 *     2.0   Request  4: symbols, texts that labels and names refer to
 *                    5: TimeSeries  1: references, name and value in turn
 *                                   2: Sample    3: Histogram    5: Metadata  1: type
 *
 * Of a native histogram the count and the sum are samples. */
#include "sample_reading.h"
#include "text_buffer.h"
#include "wire.h"

enum { SYMBOLS_MAX = 1 << 20 };

/* What differs between the versions: the numbers of fields. */
typedef struct write_layout {
    uint32_t series, histograms;
    bool has_symbols;
} write_layout;

static const write_layout first_layout = {.series = 1, .histograms = 4},
                          second_layout = {.series = 5, .histograms = 3, .has_symbols = true};

typedef struct write_request {
    sample_reading *reading;
    const write_layout *layout;
    oif_text *symbols;
    size_t symbol_count;
    text_buffer name; /* of a part of a histogram */
} write_request;

/* One series. */
typedef struct write_series {
    sample_label labels[SAMPLE_LABELS_MAX];
    size_t count;
    oif_text name;
    bool has_bound; /* the label le: it is a bucket */
    uint64_t type;  /* of 2.0; 0: unknown */
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

/* References to symbols: varints one after the other, of a name and its value in turn. */
static bool read_references(const write_request *request, write_series *series, oif_text bytes)
{
    const unsigned char *at = (const unsigned char *)bytes.text, *end = at + bytes.bytes;
    oif_text pair[2];
    size_t have = 0;
    while (at < end) {
        uint64_t reference = 0;
        unsigned shift = 0;
        for (; at < end && *at >= 0x80 && shift < 28; shift += 7)
            reference |= (uint64_t)(*at++ & 0x7f) << shift;
        if (at == end)
            return false;
        reference |= (uint64_t)*at++ << shift;
        if (reference >= request->symbol_count)
            return false;
        pair[have++] = request->symbols[reference];
        if (have == 2)
            take_label(series, pair[0], pair[1]);
        have %= 2;
    }
    return have == 0;
}

static uint64_t read_type(oif_text bytes)
{
    wire_message metadata = wire_open(bytes);
    wire_field field;
    uint64_t type = 0;
    while (wire_next(&metadata, &field))
        if (wire_is(&field, 1, WIRE_VARINT))
            type = field.value;
    return type;
}

/* What the samples of a series have in common may come behind them. */
static void read_series(const write_request *request, oif_text bytes, write_series *series)
{
    wire_message message = wire_open(bytes);
    wire_field field;
    series->count = 0;
    series->name = (oif_text){"", 0};
    series->has_bound = series->is_bad = false;
    series->type = 0;
    while (wire_next(&message, &field)) {
        const bool has_symbols = request->layout->has_symbols;
        if (wire_is(&field, 1, WIRE_BYTES))
            series->is_bad |= has_symbols ? !read_references(request, series, field.bytes)
                                          : !read_label(series, field.bytes);
        else if (has_symbols && wire_is(&field, 5, WIRE_BYTES))
            series->type = read_type(field.bytes);
    }
    series->is_bad |= message.is_bad || series->name.bytes == 0;
}

/* ---- Samples ---- */

/* The type is certain of counters and gauges; parts of histograms and summaries have their own
 * names. */
static sample_kind kind_of(const write_series *series)
{
    enum { TYPE_COUNTER = 1, TYPE_GAUGE = 2, TYPE_INFO = 6, TYPE_STATESET = 7 };
    if (series->type == TYPE_COUNTER)
        return SAMPLE_COUNTER;
    if (series->type == TYPE_GAUGE || series->type == TYPE_INFO || series->type == TYPE_STATESET)
        return SAMPLE_GAUGE;
    return sample_kind_by_name(series->name, series->has_bound);
}

/* A NaN with these bits says that the series has ended. */
static bool is_stale(uint64_t bits)
{
    return bits == 0x7ff0000000000002u;
}

static bool take_sample(write_request *request, const write_series *series, oif_text bytes,
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
        return sample_reading_skip(request->reading, 0, "a sample is malformed");
    request->reading->values++;
    if (!is_stale(bits))
        return samples_add(request->reading->all, &one);
    samples_leave_out(request->reading->all, LEFT_STALE, 1);
    return true;
}

/* ---- Native histograms ---- */

typedef struct write_histogram {
    double count, sum, seconds;
    uint64_t sum_bits;
    bool is_gauge;
} write_histogram;

static bool read_histogram(oif_text bytes, write_histogram *histogram)
{
    enum { RESET_HINT_GAUGE = 3 };
    wire_message message = wire_open(bytes);
    wire_field field;
    *histogram = (write_histogram){.count = 0};
    while (wire_next(&message, &field)) {
        if (wire_is(&field, 1, WIRE_VARINT))
            histogram->count = (double)field.value;
        else if (wire_is(&field, 2, WIRE_64))
            histogram->count = wire_double(&field);
        else if (wire_is(&field, 3, WIRE_64)) {
            histogram->sum = wire_double(&field);
            histogram->sum_bits = field.value;
        } else if (wire_is(&field, 14, WIRE_VARINT))
            histogram->is_gauge = field.value == RESET_HINT_GAUGE;
        else if (wire_is(&field, 15, WIRE_VARINT))
            histogram->seconds = (double)wire_signed(&field) / 1000;
    }
    return !message.is_bad;
}

static bool add_part(write_request *request, const write_series *series, const char *ending,
                     const write_histogram *histogram, double value)
{
    request->name.count = 0;
    text_buffer_add(&request->name, series->name.text, series->name.bytes);
    text_buffer_add(&request->name, ending, strlen(ending));
    const sample one = {.name = {request->name.bytes, request->name.count},
                        .kind = histogram->is_gauge ? SAMPLE_GAUGE : SAMPLE_COUNTER,
                        .seconds = histogram->seconds,
                        .value = value};
    return !request->name.is_failed && samples_add(request->reading->all, &one);
}

static bool take_histogram(write_request *request, const write_series *series, oif_text bytes)
{
    write_histogram histogram;
    if (!read_histogram(bytes, &histogram))
        return sample_reading_skip(request->reading, 0, "a histogram is malformed");
    request->reading->histograms++;
    if (is_stale(histogram.sum_bits)) {
        samples_leave_out(request->reading->all, LEFT_STALE, 1);
        return true;
    }
    return add_part(request, series, "_count", &histogram, histogram.count) &&
           add_part(request, series, "_sum", &histogram, histogram.sum);
}

/* ---- The request ---- */

static bool take_series(write_request *request, oif_text bytes)
{
    wire_message message = wire_open(bytes);
    wire_field field;
    write_series series;
    read_series(request, bytes, &series);
    if (series.is_bad)
        return sample_reading_skip(request->reading, 0,
                                   "a series is malformed, or has no label __name__");
    const sample_kind kind = kind_of(&series);
    if (!samples_begin(request->reading->all, (oif_text){"", 0}, series.labels, series.count))
        return false;
    while (wire_next(&message, &field)) {
        if (wire_is(&field, 2, WIRE_BYTES) && !take_sample(request, &series, field.bytes, kind))
            return false;
        if (wire_is(&field, request->layout->histograms, WIRE_BYTES) &&
            !take_histogram(request, &series, field.bytes))
            return false;
    }
    return true;
}

static bool take_symbols(write_request *request, oif_text body)
{
    wire_message message = wire_open(body);
    wire_field field;
    size_t capacity = 0;
    while (wire_next(&message, &field)) {
        if (!wire_is(&field, 4, WIRE_BYTES))
            continue;
        if (request->symbol_count == capacity) {
            capacity = 2 * capacity + 256;
            oif_text *larger = capacity <= 2 * SYMBOLS_MAX
                                   ? realloc(request->symbols, capacity * sizeof *larger)
                                   : NULL;
            if (!larger)
                return false;
            request->symbols = larger;
        }
        request->symbols[request->symbol_count++] = field.bytes;
    }
    return true;
}

static bool take_all(write_request *request, oif_text body, problem *why)
{
    wire_message message = wire_open(body);
    wire_field field;
    if (request->layout->has_symbols && !take_symbols(request, body))
        return problem_set(why, 413, "Send smaller batches.",
                           "the request has more than %d symbols", SYMBOLS_MAX);
    while (wire_next(&message, &field))
        if (wire_is(&field, request->layout->series, WIRE_BYTES) &&
            !take_series(request, field.bytes))
            return samples_refuse(request->reading->all, why);
    return !message.is_bad ||
           problem_set(why, 400, "Send the protobuf message that the specification has.",
                       "the body is not a request of Prometheus remote write");
}

static bool read_by(sample_reading *reading, const write_layout *layout, oif_text body,
                    problem *why)
{
    write_request request = {.reading = reading, .layout = layout};
    bool is_good = take_all(&request, body, why);
    free(request.symbols);
    text_buffer_free(&request.name);
    return is_good;
}

bool remote_write_read(sample_reading *reading, oif_text body, problem *why)
{
    return read_by(reading, &first_layout, body, why);
}

bool remote_write_2_read(sample_reading *reading, oif_text body, problem *why)
{
    return read_by(reading, &second_layout, body, why);
}
