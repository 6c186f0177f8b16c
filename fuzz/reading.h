/* Bytes for a reader, in pieces, and a checksum of everything it returns. */
#ifndef FUZZ_READING_H
#define FUZZ_READING_H

#include "oif_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct byte_source {
    const uint8_t *bytes;
    size_t count, piece;
} byte_source;

static inline ptrdiff_t read_source(void *context, char *buffer, size_t capacity)
{
    byte_source *source = context;
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

static inline uint64_t mix(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum;
}

static inline uint64_t mix_number(uint64_t sum, uint64_t number)
{
    return mix(sum, &number, sizeof number);
}

static inline uint64_t mix_columns(uint64_t sum, const oif_reader *reader)
{
    size_t bytes;
    const char *header = oif_reader_header_text(reader, &bytes);
    sum = mix(sum, header, bytes);
    sum = mix_number(sum, (uint64_t)oif_reader_delimiter(reader));
    for (size_t i = 0; i < oif_reader_column_count(reader); i++)
        sum =
            mix(sum, oif_reader_column_name(reader, i), strlen(oif_reader_column_name(reader, i)));
    return sum;
}

static inline uint64_t mix_error(uint64_t sum, const oif_error *error)
{
    sum = mix_number(mix_number(sum, error->line), error->column);
    return mix(sum, error->message, strlen(error->message));
}

/* Touches everything returned by the reader, so sanitizers see a wrong length. */
static inline uint64_t mix_record(uint64_t sum, const oif_record *record, size_t value_count,
                                  size_t text_count)
{
    sum = mix_number(mix(sum, record->text, record->text_bytes + record->end_bytes), record->line);
    if (value_count)
        sum = mix(sum, record->values, value_count * sizeof *record->values);
    for (size_t i = 0; i < text_count; i++)
        sum = mix(mix_number(sum, record->texts[i].bytes), record->texts[i].text,
                  record->texts[i].bytes);
    return sum;
}

/* Reads to the end, whatever is wrong with the records. */
static inline uint64_t mix_records(uint64_t sum, oif_reader *reader,
                                   const oif_reader_options *options, size_t value_count,
                                   size_t text_count)
{
    oif_error error = {.message = ""};
    oif_record record;
    oif_status status;
    uint64_t last_line = 0;
    while ((status = oif_reader_next(reader, &record, &error)) != OIF_END) {
        sum = mix_number(sum, (uint64_t)status);
        if (status == OIF_OK) {
            if (record.line <= last_line || record.text_bytes > options->max_line_bytes)
                abort();
            last_line = record.line;
            sum = mix_record(sum, &record, value_count, text_count);
        } else if (status == OIF_EINPUT) {
            sum = mix_error(sum, &error);
        } else {
            abort();
        }
    }
    return sum;
}

/* Opens a reader, selects columns and returns the checksum of everything it returns. */
typedef uint64_t (*read_function)(byte_source source, const oif_reader_options *options,
                                  uint8_t choice);

/* Reads the bytes at once, in pieces of 1 byte and of 7: everything the reader returns must be the
 * same each time. */
static inline void compare_pieces(read_function read, const oif_reader_options *options,
                                  uint8_t choice, const uint8_t *bytes, size_t count)
{
    const uint64_t sum = read((byte_source){bytes, count, SIZE_MAX}, options, choice);
    if (read((byte_source){bytes, count, 1}, options, choice) != sum ||
        read((byte_source){bytes, count, 7}, options, choice) != sum) {
        fprintf(stderr, "the pieces in which the bytes arrive matter\n");
        abort();
    }
}

#endif
