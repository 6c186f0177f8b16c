/* Shared by all row formats: a buffer of bytes, its lines, the columns.
 *
 *     buffer |  consumed  | a whole line \n another \n | a line's beginning |   free   | 1 | 64 |
 *            0          start                     lines_end               end         capacity
 *
 * Bytes are read into one buffer and parsed in place; the text of a record is never copied.
 * Complete lines end at `lines_end`, so the byte before it is always a \n. (At the end of the input
 * one is added if it is missing; the last byte of the capacity is reserved for it.) This \n stops
 * every scan: except in quoted text, no loop compares with an end. The 64 bytes behind the capacity
 * let words and vectors be loaded past the last line.
 *
 * The source is read only when the buffer has no complete record. */
#ifndef OIF_ROWS_READER_H
#define OIF_ROWS_READER_H

#include "oif_rows.h"

#include <string.h>

enum { OIF_ADDED_NEWLINE_BYTES = 1, OIF_LOAD_AHEAD_BYTES = 64, OIF_WORD_BYTES = 8 };

#define OIF_UNSELECTED SIZE_MAX

typedef struct oif_json_path oif_json_path;         /* json_paths.h */
typedef struct oif_json_paths oif_json_paths;       /* json_paths.h */
typedef struct oif_reader_block oif_reader_block;   /* reader.c */
typedef struct oif_missing_value oif_missing_value; /* value_text.c */

typedef struct oif_span {
    const char *start, *end;
} oif_span;

typedef struct oif_reader_column {
    const char *name;
    size_t slot;         /* index of its value in a row, or OIF_UNSELECTED */
    size_t text_slot;    /* index of its text in a row, or OIF_UNSELECTED */
    bool marked;         /* only while checking a selection for duplicates */
    bool may_have_text;  /* see oif_reader_allow_text */
    const char *unit;    /* see oif_reader_unit; NULL: none yet */
    oif_json_path *path; /* NDJSON: its position in an object */
} oif_reader_column;

/* How far the CSV record at `start` is parsed; offsets count from there. All zero: not started. */
typedef struct oif_csv_progress {
    size_t field_count; /* complete fields */
    size_t field;       /* where the next field begins */
    size_t scanned;     /* if that field is quoted: its quote is open up to here */
    size_t bytes;       /* once complete: up to the \n */
    size_t bad_field;   /* the first that should be a number and is not, from 1; 0: none */
    bool quoted;        /* some field is quoted, so the record may span lines */
    bool whole;
} oif_csv_progress;

/* A format of rows: the parts of the public functions that differ between formats. */
typedef struct oif_row_format {
    /* Examines the beginning of the input and creates the columns. */
    oif_status (*open)(oif_reader *reader, const oif_reader_options *options, oif_error *error);

    oif_status (*next)(oif_reader *reader, oif_record *record, oif_error *error);

    /* Creates a column for a name that no column has. NULL: all columns exist from the start. */
    oif_status (*add_column)(oif_reader *reader, const char *name, oif_error *error);
} oif_row_format;

struct oif_reader {
    const oif_row_format *format;
    oif_read_function read;
    void *context;
    size_t max_line_bytes;

    char *buffer;
    size_t capacity;
    size_t start, lines_end, end; /* start <= lines_end <= end < capacity; see the drawing */
    uint64_t line;                /* the number of the line at `start` */
    bool ended;                   /* the source has no more */
    bool newline_added;           /* the byte before lines_end did not come from the source */
    /* the rest of an overlong line is still to come; nothing is buffered */
    bool skipping;

    oif_reader_column *columns;
    size_t column_count, column_capacity;
    double *values; /* space for all columns */
    size_t value_count;
    oif_text *texts;
    size_t text_count;
    oif_record refused; /* see oif_reader_refused; its values are NULL if there is none */
    /* as large as the buffer: texts that differ from the input, such as unescaped ones; or NULL */
    size_t refused_column;
    char *unescaped;
    oif_reader_block *kept; /* see oif_reader_keep */

    char delimiter;      /* CSV; 0 until the first line is read */
    const char *comment; /* CSV: see oif_reader_options; NULL: none */
    size_t comment_bytes;
    oif_decimal decimal; /* CSV: as requested */
    bool has_decimal_commas;
    /* where commas in marked numbers were first decimal, and where they grouped digits; 0: not */
    uint64_t comma_line, grouped_line;
    oif_missing_value *missing; /* see oif_reader_add_missing */
    uint64_t point_line; /* where a decimal point was read while the sign was unknown; 0: none */
    bool has_header;
    uint64_t header_line;
    const char *header;
    size_t header_bytes;
    oif_csv_progress progress;
    oif_json_paths *paths; /* NDJSON */
    size_t new_keys_left;  /* NDJSON: how many new keys of later lines may become columns */
    size_t late_names_bytes;
};

extern const oif_row_format oif_csv_format, oif_ndjson_format;

/* ---- Memory and columns ---- */

/* Memory that lives as long as the reader; NULL if there is none. */
void *oif_reader_keep(oif_reader *reader, size_t bytes);

/* Allocates space for `count` columns and their values. */
oif_status oif_reader_reserve_columns(oif_reader *reader, size_t count, oif_error *error);

/* Adds a column within the reserved space. It is selected as the next value unless `slot` is
 * OIF_UNSELECTED. */
void oif_reader_push_column(oif_reader *reader, const char *name, size_t slot);

enum { OIF_GENERATED_NAME_BYTES = 24 }; /* "x", the digits of a size_t, a NUL */

/* Writes x0, x1, ...; returns the length. */
size_t oif_reader_generate_name(char *name, size_t column);

/* Allocates `unescaped`, which from then on grows with the buffer. */
oif_status oif_reader_need_unescaped(oif_reader *reader, oif_error *error);

/* Whether the caller has named this text as one that means missing. */
bool oif_reader_is_missing_word(const oif_reader *reader, const oif_reader_column *column,
                                oif_span text);

/* ---- Bytes and lines ---- */

/* Reads from the source once, as much as fits, then finds the complete lines. OIF_END after the end
 * of the source. */
oif_status oif_reader_fill_lines(oif_reader *reader, oif_error *error);

/* Reads until a line that is not blank is complete, or too long. */
oif_status oif_reader_await_line(oif_reader *reader, oif_error *error);

/* The line at `start`, as far as it is read and not too long, without its \n. */
oif_span oif_reader_buffered_line(const oif_reader *reader);

/* Explains a bad line at `start` by its NUL bytes, if it has any. */
void oif_reader_look_for_nul(const oif_reader *reader, oif_error *error);

/* Skips a byte order mark and blank lines; rejects binary data. OIF_END if nothing follows. */
oif_status oif_reader_await_first_line(oif_reader *reader, oif_error *error);

/* Reads and discards the rest of an overlong line. */
oif_status oif_reader_skip_long_line(oif_reader *reader, oif_error *error);

/* Consumes up to the first \n at or after `from`; everything if it is not read yet. */
void oif_reader_consume_through_newline(oif_reader *reader, const char *from);

/* Moves the start of unconsumed bytes to `next`. */
static inline void oif_reader_consume(oif_reader *reader, const char *next, uint64_t newlines)
{
    reader->start = (size_t)(next - reader->buffer);
    if (reader->lines_end < reader->start)
        reader->lines_end = reader->start;
    reader->line += newlines;
}

/* Moves to the next line that is not blank. Nearly always it is already there: checking that first
 * saves two calls, 15% of a short row's instructions. While an overlong line is skipped, nothing is
 * buffered. */
static inline oif_status oif_reader_await_next_line(oif_reader *reader, oif_error *error)
{
    if (reader->start < reader->lines_end && (unsigned char)reader->buffer[reader->start] > ' ')
        return OIF_OK;
    oif_status status = oif_reader_skip_long_line(reader, error);
    return status == OIF_OK ? oif_reader_await_line(reader, error) : status;
}

/* Whether an incomplete line is already too long. At the end of the input, the check was made
 * before the \n was added. */
static inline bool oif_reader_is_overflowing(const oif_reader *reader)
{
    return !reader->ended && reader->end - reader->start > reader->max_line_bytes;
}

/* [start, end) without the \r of a line end, if it ends there. */
static inline oif_span oif_span_without_returns(const char *start, const char *end)
{
    if (*end == '\n')
        while (end > start && end[-1] == '\r')
            end--;
    return (oif_span){start, end};
}

/* The record with this text and newline. */
static inline oif_record oif_reader_record(const oif_reader *reader, oif_span text,
                                           const char *newline)
{
    bool came = !reader->newline_added || newline + 1 < reader->buffer + reader->lines_end;
    return (oif_record){
        .values = reader->values,
        .texts = reader->texts,
        .text = text.start,
        .text_bytes = (size_t)(text.end - text.start),
        .end_bytes = (size_t)(newline - text.end) + came,
        .line = reader->line,
    };
}

static inline uint64_t oif_count_newlines(const char *at, const char *end)
{
    uint64_t count = 0;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        count++;
        at++;
    }
    return count;
}

#endif
