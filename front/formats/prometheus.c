/* Prometheus's text exposition and OpenMetrics. One scrape is one row, a sample with its labels one
 * column:
 *
 *     # TYPE http_requests_total counter
 *     http_requests_total{code="200"} 1027     {"http_requests_total{code=\"200\"}":1027,
 *     process_open_fds 7                        "process_open_fds":7}
 *     # EOF
 *
 * The row ends with # EOF, with a sample that comes again, or with a later timestamp. With --key
 * instance the label is the key: each instance has a row, and its columns lack the label. */
#include "formats.h"
#include "metric_sample.h"
#include "wide_rows.h"

#include "front/text/name_list.h"
#include "front/text/quoting.h"

#include <math.h>
#include <stdlib.h>

typedef struct prometheus_state {
    wide_rows rows;
    char *text; /* room for a key and a name */
    size_t text_bytes;
} prometheus_state;

/* Whether a label is one of --key. */
static bool is_key(const char *key, oif_text name)
{
    char label[256];
    if (!key || name.bytes >= sizeof label)
        return false;
    memcpy(label, name.text, name.bytes);
    label[name.bytes] = '\0';
    return name_list_has(key, label);
}

/* Prints the key's labels as members of JSON. */
static void print_key(const char *key, oif_text labels)
{
    const char *at = labels.text, *end = labels.text + labels.bytes;
    oif_text whole, name, value;
    while (metric_sample_next_label(&at, end, &whole, &name, &value)) {
        if (!is_key(key, name))
            continue;
        quoting_write_json(name.text, name.bytes);
        output_text(":");
        quoting_write_json(value.text, value.bytes);
        output_text(",");
    }
}

/* Prints the sample without the key's label. */
static void print_column(const char *key, const metric_sample *sample)
{
    const char *at = sample->labels.text, *end = at + sample->labels.bytes, *before = "{";
    oif_text whole, name, value;
    output_write(sample->name.text, sample->name.bytes);
    while (metric_sample_next_label(&at, end, &whole, &name, &value)) {
        if (is_key(key, name))
            continue;
        output_text(before);
        output_write(whole.text, whole.bytes);
        before = ",";
    }
    output_text(*before == ',' ? "}" : "");
}

/* ---- Lines ---- */

/* Makes the texts of key and column, one after the other. */
static bool make_texts(translator *by, const metric_sample *sample, oif_text *key, oif_text *column)
{
    prometheus_state *state = by->state;
    size_t key_bytes;
    output_divert();
    print_key(by->options.key, sample->labels);
    char *key_text = output_diverted(&key_bytes);
    output_divert();
    if (key_text)
        output_write(key_text, key_bytes);
    free(key_text);
    print_column(by->options.key, sample);
    free(state->text);
    state->text = output_diverted(&state->text_bytes);
    *key = (oif_text){state->text, key_bytes};
    *column = (oif_text){state->text + key_bytes, state->text_bytes - key_bytes};
    return state->text != NULL;
}

static void take_sample(translator *by, const metric_sample *sample)
{
    prometheus_state *state = by->state;
    oif_time_format format = {.per_second = 1000};
    wide_value added = {.seconds = NAN, .time = sample->time};
    const char *end = sample->value.text + sample->value.bytes;
    if (oif_number_parse(sample->value.text, end, &added.value) != end ||
        (sample->time.bytes > 0 && oif_time_parse(&format, sample->time.text, sample->time.bytes,
                                                  &added.seconds, NULL) != OIF_OK)) {
        translator_bad_row(by);
        return;
    }
    if (!isfinite(added.value))
        added.value = NAN;
    if (sample->time.bytes > 0) {
        snprintf(by->implied.time, sizeof by->implied.time, "time");
        snprintf(state->rows.time_before, sizeof state->rows.time_before, "\"time\":");
    }
    if (!make_texts(by, sample, &added.key, &added.column) ||
        !wide_rows_add(&state->rows, by, &added))
        translator_fail(by, by->line, "out of memory");
}

static void take_line(translator *by, oif_text line)
{
    prometheus_state *state = by->state;
    metric_sample sample;
    while (line.bytes > 0 && (*line.text == ' ' || *line.text == '\t')) {
        line.text++;
        line.bytes--;
    }
    if (text_begins(line, "# EOF"))
        wide_rows_print_all(&state->rows, by);
    if (line.bytes == 0 || *line.text == '#')
        return;
    if (metric_sample_split(line, &sample))
        take_sample(by, &sample);
    else
        translator_bad_row(by);
}

static void take_end(translator *by)
{
    prometheus_state *state = by->state;
    wide_rows_end(&state->rows, by, "samples replaced by a later one with the same timestamp");
}

static void close_state(translator *by)
{
    prometheus_state *state = by->state;
    wide_rows_close(&state->rows);
    free(state->text);
}

/* # HELP NAME ... or # TYPE NAME ... */
static bool recognise(const char *text, size_t bytes)
{
    const char *end = text + bytes, *at = text + 7;
    oif_text start = {text, bytes};
    if (!text_begins(start, "# HELP ") && !text_begins(start, "# TYPE "))
        return false;
    while (at < end && metric_name_byte(*at))
        at++;
    return at > text + 7 && at < end && *at == ' ';
}

const translation format_prometheus = {
    .word = "prometheus",
    .what = "Prometheus's text",
    .writes = OIF_FORMAT_NDJSON,
    .state_bytes = sizeof(prometheus_state),
    .recognise = recognise,
    .line = take_line,
    .end = take_end,
    .close = close_state,
    .bad_line = "this is not a sample of Prometheus, such as name{label=\"a\"} 1.5"};
