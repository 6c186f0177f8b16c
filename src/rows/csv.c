/* Rows from CSV text.
 *
 * Bytes are read into one buffer and taken apart where they lie; a record's text is never copied.
 *
 *     buffer |  consumed  | a whole line \n another \n | a line's beginning |   room   | 1 |
 *            0          start                     lines_end               end         capacity
 *
 * Whole lines end at `lines_end`, so the byte before it is always a \n (at the end of the input one is
 * added if it was missing; the last byte of the buffer is kept for that). This \n stops every scan: apart
 * from quoted text no loop needs to compare with an end, and a record needs no search for its end before
 * it is parsed. A number is read at the start of its field; nearly always it stops at a delimiter or at
 * the line's end, and the field is done in one pass. All else (quotes, blanks behind, words, mistakes)
 * takes the slow way.
 *
 * The source is asked only when no whole record is left in the buffer. A record whose quote is still open
 * at lines_end is not whole: `parts` keeps how far it was taken apart, and parsing goes on from there when
 * more lines have come. So the work is linear in the bytes however small the pieces in which they arrive.
 *
 * What is wrong with a record is looked up in its text after it has been parsed to its end: the mistakes
 * then cost nothing when there are none, and the next record starts at the right place in any case. */
#include "base/error.h"
#include "base/memory.h"
#include "rows/csv_field.h"
#include "rows/excerpt.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_CAPACITY_BYTES = 64 * 1024,
    DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024,
    ADDED_NEWLINE_BYTES = 1,
    GENERATED_NAME_BYTES = 24 /* "x", the digits of a size_t, a NUL */
};

static const size_t UNSELECTED = SIZE_MAX;

struct column {
    const char *name;
    size_t slot; /* which of the values it becomes, or UNSELECTED */
    bool marked; /* only while oif_reader_select looks for a column given twice */
};

/* How far the record at `start` is taken apart; offsets count from there. All zero: not begun. */
struct parts {
    size_t field_count; /* the fields that are complete */
    size_t field;       /* where the next one begins */
    size_t scanned;     /* when that is quoted: its quote is open up to here */
    size_t bytes;       /* once whole: up to the \n */
    size_t bad_field;   /* the first that should be a number and is not, from 1; 0: none */
    bool quoted;        /* some field is, so the record may span lines */
    bool whole;
};

struct oif_reader {
    oif_read_function read;
    void *context;
    size_t max_line_bytes;
    char delimiter; /* 0 until the first line has come */

    char *buffer;
    size_t capacity;
    size_t start, lines_end, end; /* start <= lines_end <= end < capacity; see the drawing */
    uint64_t line;                /* the number of the line at `start` */
    bool ended;                   /* the source has no more */
    bool skipping;                /* the rest of a line that was too long is to come; nothing is buffered */
    struct parts parts;

    double *values; /* the start of one block with the columns, the header and the names */
    struct column *columns;
    char *header;
    size_t header_bytes;
    size_t column_count;
    bool has_header;
};

/* ---- Records ------------------------------------------------------------------------------------- */

/* Takes the record at `start` apart up to its end, or to a quote that is open at lines_end: then it is not
 * whole. */
static void parse_record(oif_reader *reader)
{
    const char *const start = reader->buffer + reader->start;
    const char *const lines_end = reader->buffer + reader->lines_end;
    const char delimiter = reader->delimiter;
    struct parts *parts = &reader->parts;
    const char *field = start + parts->field, *end;
    size_t field_count = parts->field_count;

    for (;; field = end + 1) {
        size_t slot = field_count < reader->column_count ? reader->columns[field_count].slot : UNSELECTED;
        end = slot == UNSELECTED ? NULL : plain_field_end(field, lines_end, delimiter, &reader->values[slot]);
        if (!end) {
            parts->quoted |= *field == '"';
            end = field_end(field, start + parts->scanned, lines_end, delimiter);
            if (!end)
                break;
            if (slot != UNSELECTED && !parts->bad_field &&
                field_meaning(field, end, delimiter, &reader->values[slot]) >= INFINITE)
                parts->bad_field = field_count + 1;
        }
        field_count++;
        if (*end == '\n')
            break;
    }
    parts->field_count = field_count;
    parts->whole = end != NULL;
    if (end)
        parts->bytes = (size_t)(end - start);
    parts->field = (size_t)(field - start);
    parts->scanned = reader->lines_end - reader->start;
}

/* A whole record as it came, without its end. */
static struct span record_text(const oif_reader *reader)
{
    const char *start = reader->buffer + reader->start;
    return without_returns(start, start + reader->parts.bytes);
}

/* Makes `next` the start of what is not consumed yet. */
static void consume(oif_reader *reader, const char *next, uint64_t newlines)
{
    reader->start = (size_t)(next - reader->buffer);
    if (reader->lines_end < reader->start)
        reader->lines_end = reader->start;
    reader->line += newlines;
    reader->parts = (struct parts){0};
}

/* Consumes up to the first \n at or behind `from`; when it has not come yet, all there is. */
static void consume_through_newline(oif_reader *reader, const char *from)
{
    const char *start = reader->buffer + reader->start, *end = reader->buffer + reader->end;
    const char *newline = memchr(from, '\n', (size_t)(end - from));
    const char *next = newline ? newline + 1 : end;

    reader->skipping = !newline;
    consume(reader, next, count_newlines(start, next));
}

static bool is_too_long(const oif_reader *reader)
{
    if (reader->parts.whole)
        return reader->parts.bytes > reader->max_line_bytes;
    /* At the end of the input the check was made before the added \n. */
    return !reader->ended && reader->end - reader->start > reader->max_line_bytes;
}

/* Goes past the record at `start`. A record too long is left at the first line's end behind the limit even
 * if a quote is open there: that quote is likely a stray one, and the result depends on no piece's size. */
static void consume_record(oif_reader *reader)
{
    const char *start = reader->buffer + reader->start, *end = reader->buffer + reader->end;
    const char *next = reader->parts.whole ? start + reader->parts.bytes + 1 : end;

    if (is_too_long(reader))
        consume_through_newline(reader, start + reader->max_line_bytes);
    else
        consume(reader, next, reader->parts.quoted ? count_newlines(start, next) : 1);
}

/* ---- Messages ------------------------------------------------------------------------------------ */

struct place {
    uint64_t line, column;
};

static struct place place_of(const oif_reader *reader, const char *at)
{
    const char *start = reader->buffer + reader->start, *line_start = at;
    while (line_start > start && line_start[-1] != '\n')
        line_start--;
    return (struct place){reader->line + count_newlines(start, line_start), (uint64_t)(at - line_start) + 1};
}

/* Where the field with this index begins in the record at `start`. */
static const char *find_field(const oif_reader *reader, size_t index)
{
    const char *field = reader->buffer + reader->start, *lines_end = reader->buffer + reader->lines_end;

    while (index-- > 0)
        field = field_end(field, field, lines_end, reader->delimiter) + 1;
    return field;
}

static oif_status fail_too_long(oif_reader *reader, oif_error *error)
{
    char *start = reader->buffer + reader->start, *limit = start + reader->max_line_bytes;
    const char *field = start, *end, last = *limit;

    *limit = '\n'; /* stops the scan; nothing behind it may influence the message */
    while ((end = field_end(field, start, limit + 1, reader->delimiter)) != NULL && *end != '\n')
        field = end + 1;
    *limit = last;

    const struct place place = place_of(reader, end ? start : field);
    return oif_fail_at(error, OIF_EINPUT, place.line, place.column, "this line is longer than %zu bytes%s",
                       reader->max_line_bytes,
                       end ? "" : ": the quote that opens here is not closed by then");
}

static oif_status fail_open_quote(const oif_reader *reader, oif_error *error)
{
    struct place place = place_of(reader, find_field(reader, reader->parts.field_count));
    return oif_fail_at(error, OIF_EINPUT, place.line, place.column,
                       "the quote that opens here is never closed; close it or take it away");
}

static oif_status fail_ragged(const oif_reader *reader, oif_error *error)
{
    size_t count = reader->parts.field_count, expected = reader->column_count;
    const char *at = count > expected ? find_field(reader, expected) : record_text(reader).end;
    struct place place = place_of(reader, at);

    return oif_fail_at(error, OIF_EINPUT, place.line, place.column,
                       "this row has %zu field%s, the first line has %zu", count, count == 1 ? "" : "s",
                       expected);
}

static oif_status fail_bad_field(const oif_reader *reader, oif_error *error)
{
    const size_t column = reader->parts.bad_field - 1;
    const char *name = reader->columns[column].name;
    const char *field = find_field(reader, column), *end = find_field(reader, column + 1) - 1;
    const struct span text = without_blanks(without_returns(field, end), reader->delimiter);
    const struct place place = place_of(reader, field);
    double value;
    bool infinite = field_meaning(field, end, reader->delimiter, &value) == INFINITE;

    return oif_fail_at(error, OIF_EINPUT, place.line, place.column, "'%s' is %s in column \"%s\"; %s",
                       excerpt_of(text.start, text.end).text, infinite ? "infinite" : "not a number",
                       excerpt_of(name, name + strlen(name)).text,
                       infinite ? "make it a finite number or empty"
                                : "leave the column out or make it empty");
}

static oif_status check_record(oif_reader *reader, oif_error *error)
{
    if (is_too_long(reader))
        return fail_too_long(reader, error);
    if (!reader->parts.whole)
        return fail_open_quote(reader, error);
    if (reader->parts.field_count != reader->column_count)
        return fail_ragged(reader, error);
    if (reader->parts.bad_field)
        return fail_bad_field(reader, error);
    return OIF_OK;
}

/* ---- The buffer ---------------------------------------------------------------------------------- */

static oif_status grow_buffer(oif_reader *reader, oif_error *error)
{
    /* Enough to see that a line is too long; is_too_long stops the reading then. */
    size_t largest = oif_size_add(reader->max_line_bytes, 1 + ADDED_NEWLINE_BYTES);
    size_t doubled = oif_size_multiply(reader->capacity, 2);
    size_t capacity = doubled < largest ? doubled : largest;
    char *buffer = oif_memory_new(capacity);

    if (!buffer)
        return oif_fail_at(error, OIF_EMEMORY, reader->line, 0, "no memory for a line of more than %zu bytes",
                           reader->capacity);
    memcpy(buffer, reader->buffer, reader->end);
    oif_memory_free(reader->buffer);
    reader->buffer = buffer;
    reader->capacity = capacity;
    return OIF_OK;
}

static void move_to_front(oif_reader *reader)
{
    if (reader->start == 0)
        return;
    memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->lines_end -= reader->start;
    reader->start = 0;
}

/* Asks the source once, for as much as there is room for; OIF_END once it has said that it has no more. */
static oif_status fill(oif_reader *reader, oif_error *error)
{
    if (reader->ended)
        return OIF_END;
    move_to_front(reader);
    if (reader->end == reader->capacity - ADDED_NEWLINE_BYTES) {
        oif_status status = grow_buffer(reader, error);
        if (status != OIF_OK)
            return status;
    }

    size_t room = reader->capacity - ADDED_NEWLINE_BYTES - reader->end;
    ptrdiff_t count = reader->read(reader->context, reader->buffer + reader->end, room);
    if (count < 0)
        return oif_fail_at(error, OIF_EREAD, reader->line, 0, "the input could not be read any further");
    assert((size_t)count <= room);

    size_t unseen = reader->end;
    reader->end += (size_t)count;
    reader->ended = count == 0;
    if (reader->ended && reader->end > reader->lines_end)
        reader->buffer[reader->end++] = '\n';
    for (size_t i = reader->end; i > unseen; i--)
        if (reader->buffer[i - 1] == '\n') {
            reader->lines_end = i;
            break;
        }
    return OIF_OK;
}

static oif_status skip_long_line(oif_reader *reader, oif_error *error)
{
    while (reader->skipping) {
        oif_status status = fill(reader, error);
        if (status != OIF_OK)
            return status;
        consume_through_newline(reader, reader->buffer + reader->start);
    }
    return OIF_OK;
}

/* Goes to the first line that is not blank; false when no such line is whole. */
static bool skip_blank_lines(oif_reader *reader)
{
    while (reader->start < reader->lines_end) {
        const char *line = reader->buffer + reader->start, *at = line;
        while (is_blank(*at, reader->delimiter) || *at == '\r')
            at++;
        if (*at != '\n' || (size_t)(at - line) > reader->max_line_bytes)
            return true;
        consume(reader, at + 1, 1);
    }
    return false;
}

/* Reads until a line that is not blank is whole, or is too long. */
static oif_status await_line(oif_reader *reader, oif_error *error)
{
    while (!skip_blank_lines(reader) && !is_too_long(reader)) {
        oif_status status = fill(reader, error);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}

/* Takes the record that starts with this line apart, reading more lines as long as a quote is open. */
static oif_status await_record(oif_reader *reader, oif_error *error)
{
    for (;;) {
        if (reader->start < reader->lines_end)
            parse_record(reader);
        if (reader->parts.whole || reader->ended || is_too_long(reader))
            return OIF_OK;
        oif_status status = fill(reader, error);
        if (status != OIF_OK)
            return status;
    }
}

/* ---- Opening ------------------------------------------------------------------------------------- */

static oif_status check_delimiter(char delimiter, oif_error *error)
{
    if (!delimiter || can_delimit(delimiter))
        return OIF_OK;
    return oif_fail(error, OIF_EPARAM, "'%s' cannot be a delimiter: numbers, quotes or lines are made of it",
                    excerpt_of(&delimiter, &delimiter + 1).text);
}

static oif_status skip_byte_order_mark(oif_reader *reader, oif_error *error)
{
    static const char mark[3] = "\xef\xbb\xbf";

    while (reader->end < sizeof mark && !reader->ended && !memcmp(reader->buffer, mark, reader->end)) {
        oif_status status = fill(reader, error);
        if (status != OIF_OK)
            return status;
    }
    if (reader->end >= sizeof mark && !memcmp(reader->buffer, mark, sizeof mark))
        consume(reader, reader->buffer + sizeof mark, 0);
    return OIF_OK;
}

/* The first line as far as it is whole and not too long. */
static struct span first_line(const oif_reader *reader)
{
    const char *start = reader->buffer + reader->start;
    size_t buffered = reader->end - reader->start;
    size_t bytes = buffered < reader->max_line_bytes ? buffered : reader->max_line_bytes;
    const char *newline = memchr(start, '\n', bytes);

    return (struct span){start, newline ? newline : start + bytes};
}

static bool has_a_number(const oif_reader *reader)
{
    const char *field = reader->buffer + reader->start, *lines_end = reader->buffer + reader->lines_end;
    double value;

    for (size_t i = 0; i < reader->parts.field_count; i++) {
        const char *end = field_end(field, field, lines_end, reader->delimiter);
        enum meaning meaning = field_meaning(field, end, reader->delimiter, &value);
        if (meaning == A_NUMBER || meaning == INFINITE)
            return true;
        field = end + 1;
    }
    return false;
}

static void name_columns(oif_reader *reader, char *name)
{
    const char *field = reader->buffer + reader->start, *lines_end = reader->buffer + reader->lines_end;

    for (size_t i = 0; i < reader->column_count; i++) {
        const char *end = field_end(field, field, lines_end, reader->delimiter);
        struct span text = without_blanks(without_returns(field, end), reader->delimiter);
        char *name_end = reader->has_header ? write_name(text, name) : name;
        if (name_end == name)
            name_end += snprintf(name, GENERATED_NAME_BYTES, "x%zu", i);
        reader->columns[i] = (struct column){.name = name, .slot = i};
        name = name_end + 1;
        field = end + 1;
    }
}

/* Makes the columns of the first record; a header is then consumed, a row stays to be read. */
static oif_status make_columns(oif_reader *reader, oif_header header, oif_error *error)
{
    const struct span text = record_text(reader);
    const size_t count = reader->column_count, text_bytes = (size_t)(text.end - text.start);
    const size_t column_bytes = sizeof *reader->values + sizeof *reader->columns + GENERATED_NAME_BYTES;
    const size_t header_bytes = oif_size_multiply(text_bytes, 2); /* as it came, and as names */

    reader->values = oif_memory_new(oif_size_add(oif_size_multiply(count, column_bytes), header_bytes));
    if (!reader->values)
        return oif_fail(error, OIF_EMEMORY, "no memory for %zu columns", count);
    reader->columns = (struct column *)(reader->values + count);
    reader->header = (char *)(reader->columns + count);
    reader->has_header = header == OIF_HEADER_AUTO ? !has_a_number(reader) : header == OIF_HEADER_YES;
    name_columns(reader, reader->header + text_bytes);

    if (reader->has_header) {
        reader->header_bytes = text_bytes;
        memcpy(reader->header, text.start, text_bytes);
        consume_record(reader);
    }
    reader->parts = (struct parts){0};
    return OIF_OK;
}

static oif_status read_first_line(oif_reader *reader, const oif_reader_options *options, oif_error *error)
{
    oif_status status = skip_byte_order_mark(reader, error);

    if (status == OIF_OK)
        status = await_line(reader, error);
    if (status == OIF_END)
        return oif_fail(error, OIF_END, "the input is empty");
    if (status != OIF_OK)
        return status;

    const struct span line = first_line(reader);
    const char *odd = find_binary(line);
    if (odd)
        return oif_fail_at(error, OIF_EINPUT, reader->line, (uint64_t)(odd - line.start) + 1,
                           "this looks like UTF-16/binary, not text; convert it to UTF-8");
    reader->delimiter = options->delimiter ? options->delimiter : most_frequent_delimiter(line);
    status = await_record(reader, error);
    reader->column_count = reader->parts.field_count;
    if (status == OIF_OK)
        status = check_record(reader, error);
    return status == OIF_OK ? make_columns(reader, options->header, error) : status;
}

oif_status oif_reader_open(const oif_reader_options *options, oif_read_function read, void *context,
                           oif_reader **reader, oif_error *error)
{
    oif_status status = check_delimiter(options->delimiter, error);
    if (status != OIF_OK)
        return status;

    oif_reader *opened = oif_memory_new(sizeof *opened);
    char *buffer = oif_memory_new(FIRST_CAPACITY_BYTES);
    if (!opened || !buffer) {
        oif_memory_free(opened);
        oif_memory_free(buffer);
        return oif_fail(error, OIF_EMEMORY, "no memory for a reader of %d bytes", FIRST_CAPACITY_BYTES);
    }
    *opened = (oif_reader){
        .read = read,
        .context = context,
        .max_line_bytes = options->max_line_bytes ? options->max_line_bytes : DEFAULT_MAX_LINE_BYTES,
        .buffer = buffer,
        .capacity = FIRST_CAPACITY_BYTES,
        .line = 1,
    };

    status = read_first_line(opened, options, error);
    if (status == OIF_OK)
        *reader = opened;
    else
        oif_reader_close(opened);
    return status;
}

void oif_reader_close(oif_reader *reader)
{
    if (!reader)
        return;
    oif_memory_free(reader->values);
    oif_memory_free(reader->buffer);
    oif_memory_free(reader);
}

/* ---- Using --------------------------------------------------------------------------------------- */

size_t oif_reader_column_count(const oif_reader *reader)
{
    return reader->column_count;
}

const char *oif_reader_column_name(const oif_reader *reader, size_t column)
{
    assert(column < reader->column_count);
    return reader->columns[column].name;
}

bool oif_reader_has_header(const oif_reader *reader)
{
    return reader->has_header;
}

const char *oif_reader_header_text(const oif_reader *reader, size_t *bytes)
{
    *bytes = reader->header_bytes;
    return reader->header;
}

char oif_reader_delimiter(const oif_reader *reader)
{
    return reader->delimiter;
}

/* Marks the columns; returns the position of the first that does not exist or is marked already, or
 * `count`. */
static size_t mark_columns(oif_reader *reader, const size_t *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i] >= reader->column_count || reader->columns[columns[i]].marked)
            return i;
        reader->columns[columns[i]].marked = true;
    }
    return count;
}

oif_status oif_reader_select(oif_reader *reader, const size_t *columns, size_t count, oif_error *error)
{
    size_t good = mark_columns(reader, columns, count);
    for (size_t i = 0; i < good; i++)
        reader->columns[columns[i]].marked = false;
    if (good < count && columns[good] >= reader->column_count)
        return oif_fail(error, OIF_EPARAM, "there is no column %zu: the %zu columns count from 0",
                        columns[good], reader->column_count);
    if (good < count)
        return oif_fail(error, OIF_EPARAM, "column %zu is selected twice", columns[good]);

    for (size_t i = 0; i < reader->column_count; i++)
        reader->columns[i].slot = UNSELECTED;
    for (size_t i = 0; i < count; i++)
        reader->columns[columns[i]].slot = i;
    reader->parts = (struct parts){0}; /* a record half read is read again */
    return OIF_OK;
}

oif_status oif_reader_next(oif_reader *reader, oif_record *record, oif_error *error)
{
    oif_status status = skip_long_line(reader, error);

    if (status == OIF_OK)
        status = await_line(reader, error);
    if (status == OIF_OK)
        status = await_record(reader, error);
    if (status != OIF_OK)
        return status;

    status = check_record(reader, error);
    if (status == OIF_OK) {
        struct span text = record_text(reader);
        *record = (oif_record){reader->values, text.start, (size_t)(text.end - text.start), reader->line};
    }
    consume_record(reader);
    return status;
}
