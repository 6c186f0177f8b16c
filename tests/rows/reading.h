/* Input bytes for a reader, and expectations shared by the tests of all formats. Include cmocka.h
 * first. */
#ifndef TESTS_ROWS_READING_H
#define TESTS_ROWS_READING_H

#include "oif_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes that arrive in pieces of at most `piece` bytes (0: all that fit), of random size if `seed`
 * is not 0. */
typedef struct byte_source {
    const char *bytes;
    size_t count, at, piece;
    uint64_t seed;
    size_t reads, failing_read; /* the failing read counts from 1 */
} byte_source;

static inline uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static inline ptrdiff_t read_source(void *context, char *buffer, size_t capacity)
{
    byte_source *source = context;
    size_t count = source->count - source->at, piece = source->piece;

    assert_true(capacity > 0);
    if (++source->reads == source->failing_read)
        return -1;
    if (source->seed)
        piece = 1 + next_random(&source->seed) % 9;
    if (piece && count > piece)
        count = piece;
    if (count > capacity)
        count = capacity;
    memcpy(buffer, source->bytes + source->at, count);
    source->at += count;
    return (ptrdiff_t)count;
}

static inline byte_source source_of(const char *text)
{
    return (byte_source){.bytes = text, .count = strlen(text)};
}

static inline oif_reader *open_source(byte_source *source, oif_reader_options options)
{
    oif_reader *reader = NULL;
    oif_error error = {.message = ""};
    oif_status status = oif_reader_open(&options, read_source, source, &reader, &error);
    if (status != OIF_OK)
        fail_msg("open: %s: %s", oif_status_text(status), error.message);
    return reader;
}

static inline oif_record next_row(oif_reader *reader)
{
    oif_record record = {0};
    oif_error error = {.message = ""};
    oif_status status = oif_reader_next(reader, &record, &error);
    if (status != OIF_OK)
        fail_msg("next: %s: line %llu: %s", oif_status_text(status), (unsigned long long)error.line,
                 error.message);
    return record;
}

/* The next row has these values (NAN for missing) and is on this line. */
static inline void expect_row(oif_reader *reader, uint64_t line, size_t count, const double *values)
{
    oif_record record = next_row(reader);
    assert_int_equal(record.line, line);
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i]) ? !isnan(record.values[i]) : record.values[i] != values[i])
            fail_msg("line %llu, value %zu: %g instead of %g", (unsigned long long)line, i,
                     record.values[i], values[i]);
}

#define EXPECT_ROW(reader, line, ...)                                                              \
    expect_row(reader, line, sizeof((double[]){__VA_ARGS__}) / sizeof(double),                     \
               (double[]){__VA_ARGS__})

static inline void expect_end(oif_reader *reader)
{
    oif_record record;
    for (int i = 0; i < 2; i++)
        assert_int_equal(oif_reader_next(reader, &record, NULL), OIF_END);
}

static inline void expect_failure(const oif_error *error, uint64_t line, uint64_t column,
                                  const char *message)
{
    if (error->status != OIF_EINPUT || error->line != line || error->column != column ||
        strcmp(error->message, message))
        fail_msg("%s at %llu:%llu: %s\n   instead of %llu:%llu: %s", oif_status_text(error->status),
                 (unsigned long long)error->line, (unsigned long long)error->column, error->message,
                 (unsigned long long)line, (unsigned long long)column, message);
}

static inline void expect_bad_row(oif_reader *reader, uint64_t line, uint64_t column,
                                  const char *message)
{
    oif_record record;
    oif_error error = {.message = ""};
    assert_int_equal(oif_reader_next(reader, &record, &error), OIF_EINPUT);
    expect_failure(&error, line, column, message);
}

static inline void expect_text(oif_record record, const char *text)
{
    assert_int_equal(record.text_bytes, strlen(text));
    assert_memory_equal(record.text, text, record.text_bytes);
}

static inline void expect_texts(oif_record record, size_t count, const char *const *texts)
{
    for (size_t i = 0; i < count; i++)
        if (record.texts[i].bytes != strlen(texts[i]) ||
            memcmp(record.texts[i].text, texts[i], record.texts[i].bytes) != 0)
            fail_msg("line %llu, text %zu: '%.*s' instead of '%s'", (unsigned long long)record.line,
                     i, (int)record.texts[i].bytes, record.texts[i].text, texts[i]);
}

#define EXPECT_TEXTS(record, ...)                                                                  \
    expect_texts(record, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                   \
                 (const char *[]){__VA_ARGS__})

/* Everything that a reader returns about its input, as one text. */
typedef struct row_transcript {
    char text[65536];
    size_t length;
} row_transcript;

static inline void note(row_transcript *transcript, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof transcript->text - transcript->length;

    va_start(arguments, format);
    int count = vsnprintf(transcript->text + transcript->length, room, format, arguments);
    va_end(arguments);
    assert_true(count >= 0 && (size_t)count < room);
    transcript->length += (size_t)count;
}

#endif
