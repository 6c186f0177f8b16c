/* Any bytes as CSV. The first two bytes choose the options; the rest is read in pieces of 1 byte, of 7
 * bytes and at once, and whatever the reader says must be the same each time. Text that lies in the buffer
 * is touched, so that the sanitizers see a wrong length. */
#include "oif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
    const uint8_t *bytes;
    size_t count, piece;
};

static ptrdiff_t read_source(void *context, char *buffer, size_t capacity)
{
    struct source *source = context;
    size_t count = source->count;

    if (count > source->piece)
        count = source->piece;
    if (count > capacity)
        count = capacity;
    if (count)
        memcpy(buffer, source->bytes, count);
    source->bytes += count;
    source->count -= count;
    return (ptrdiff_t)count;
}

/* A checksum of everything a reader has said. */
static uint64_t mix(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum;
}

static uint64_t mix_number(uint64_t sum, uint64_t number)
{
    return mix(sum, &number, sizeof number);
}

static uint64_t mix_columns(uint64_t sum, const oif_reader *reader)
{
    size_t bytes;
    const char *header = oif_reader_header_text(reader, &bytes);

    sum = mix(sum, header, bytes);
    sum = mix_number(sum, (uint64_t)oif_reader_delimiter(reader));
    for (size_t i = 0; i < oif_reader_column_count(reader); i++)
        sum = mix(sum, oif_reader_column_name(reader, i), strlen(oif_reader_column_name(reader, i)));
    return sum;
}

static uint64_t mix_error(uint64_t sum, const oif_error *error)
{
    sum = mix_number(mix_number(sum, error->line), error->column);
    return mix(sum, error->message, strlen(error->message));
}

static uint64_t read_all(struct source source, const oif_reader_options *options, bool only_last_column)
{
    oif_reader *reader = NULL;
    oif_error error = {.message = ""};
    oif_record record;
    oif_status status = oif_reader_open(options, read_source, &source, &reader, &error);
    uint64_t sum = mix_number(0xcbf29ce484222325u, (uint64_t)status), last_line = 0;

    if (status != OIF_OK)
        return mix_error(sum, &error);
    sum = mix_columns(sum, reader);
    size_t value_count = oif_reader_column_count(reader), last = value_count - 1;
    if (only_last_column && oif_reader_select(reader, &last, value_count = 1, &error) != OIF_OK)
        abort();
    while ((status = oif_reader_next(reader, &record, &error)) != OIF_END) {
        sum = mix_number(sum, (uint64_t)status);
        if (status == OIF_OK) {
            if (record.line <= last_line || record.text_bytes > options->max_line_bytes)
                abort();
            last_line = record.line;
            sum = mix_number(mix(sum, record.text, record.text_bytes), record.line);
            sum = mix(sum, record.values, value_count * sizeof *record.values);
        } else if (status == OIF_EINPUT) {
            sum = mix_error(sum, &error);
        } else {
            abort();
        }
    }
    oif_reader_close(reader);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = {0, 0, 0, ',', ';', ' ', '\t', ':'};

    if (size < 2)
        return 0;
    const oif_reader_options options = {
        .header = (oif_header)(data[0] % 3),
        .delimiter = delimiters[data[0] / 4 % 8],
        .max_line_bytes = data[1] < 128 ? 1u + data[1] : 1u << 20,
    };
    const bool only_last_column = data[0] >= 128;
    const struct source bytewise = {data + 2, size - 2, 1}, by_seven = {data + 2, size - 2, 7},
                        at_once = {data + 2, size - 2, SIZE_MAX};
    const uint64_t sum = read_all(at_once, &options, only_last_column);

    if (read_all(bytewise, &options, only_last_column) != sum ||
        read_all(by_seven, &options, only_last_column) != sum) {
        fprintf(stderr, "the pieces in which the bytes arrive matter\n");
        abort();
    }
    return 0;
}
