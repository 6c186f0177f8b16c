/* Any lines as values. The first byte chooses the decimal sign. A value has one meaning, whatever
 * follows it in memory; a number in quotes is the same in CSV and in JSON. */
#include "fuzz_input.h"

#include "oif_rows.h"

static bool is_plain_text(const uint8_t *line, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (line[i] < ' ' || line[i] >= 0x80 || line[i] == '"' || line[i] == '\\')
            return false;
    return bytes > 0 && bytes < 200;
}

typedef struct text_source {
    char text[256];
    size_t bytes, at;
} text_source;

static ptrdiff_t read_text(void *context, char *buffer, size_t capacity)
{
    text_source *source = context;
    size_t left = source->bytes - source->at, count = left < capacity ? left : capacity;
    memcpy(buffer, source->text + source->at, count);
    source->at += count;
    return (ptrdiff_t)count;
}

/* The value of the only row; NaN if it is refused. */
static double read_row(oif_format format, const char *layout, const uint8_t *line, size_t bytes)
{
    text_source source = {.at = 0};
    oif_reader_options options = {.format = format, .header = OIF_HEADER_YES, .delimiter = ','};
    oif_reader *reader = NULL;
    oif_record record = {.values = NULL};
    double value = NAN;
    source.bytes =
        (size_t)snprintf(source.text, sizeof source.text, layout, (int)bytes, (const char *)line);
    require(oif_reader_open(&options, read_text, &source, &reader, NULL) == OIF_OK);
    if (oif_reader_next(reader, &record, NULL) == OIF_OK)
        value = record.values[0];
    oif_reader_close(reader);
    return value;
}

/* The line is copied, so a sanitizer sees reads past its end. */
static void read_line(oif_decimal decimal, const uint8_t *line, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1);
    require(copy);
    memcpy(copy, line, bytes);
    double value = -1;
    const char *unit = NULL;
    const oif_value_kind kind = oif_value_parse(copy, bytes, decimal, &value, &unit);
    require(unit && strlen(unit) < 8);
    require(isnan(value) == (kind == OIF_VALUE_MISSING || kind == OIF_VALUE_TEXT));
    require(isinf(value) == (kind == OIF_VALUE_INFINITE));
    if (decimal == OIF_DECIMAL_AUTO && is_plain_text(line, bytes)) {
        const double expected = kind == OIF_VALUE_NUMBER ? value : NAN;
        const double csv = read_row(OIF_FORMAT_CSV, "a\n\"%.*s\"\n", line, bytes),
                     json = read_row(OIF_FORMAT_NDJSON, "{\"a\":\"%.*s\"}\n", line, bytes);
        require(csv == expected || (isnan(csv) && isnan(expected)));
        require(json == expected || (isnan(json) && isnan(expected)));
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const oif_decimal decimal = (oif_decimal)(data[0] % 3);
    const uint8_t *line = data + 1, *end = data + size;
    while (line < end) {
        const uint8_t *newline = memchr(line, '\n', (size_t)(end - line));
        const uint8_t *line_end = newline ? newline : end;
        read_line(decimal, line, (size_t)(line_end - line));
        line = line_end + 1;
    }
    return 0;
}
