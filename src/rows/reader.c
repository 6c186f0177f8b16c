/* Rows from bytes: the buffer, its lines, the columns and their selection. csv.c and ndjson.c
 * interpret a line, each behind a table of functions. */
#include "rows/reader.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { FIRST_CAPACITY_BYTES = 64 * 1024 };

/* ---- Memory and columns ---- */

enum { BLOCK_BYTES = 4096 };

/* A block of memory that is handed out in parts and freed as a whole. */
struct oif_reader_block {
    oif_reader_block *older;
    size_t used, bytes; /* counted from the start of this struct */
};

static oif_reader_block *new_block(oif_reader *reader, size_t bytes)
{
    const size_t wanted = oif_size_add(oif_size_align(sizeof(oif_reader_block)), bytes);
    const size_t block_bytes = wanted > BLOCK_BYTES ? wanted : BLOCK_BYTES;
    oif_reader_block *block = oif_memory_new(block_bytes);
    if (block) {
        *block = (oif_reader_block){reader->kept, oif_size_align(sizeof *block), block_bytes};
        reader->kept = block;
    }
    return block;
}

void *oif_reader_keep(oif_reader *reader, size_t bytes)
{
    oif_reader_block *block = reader->kept;
    const size_t aligned = oif_size_multiply(oif_size_add(bytes, 15) / 16, 16);
    if (!block || block->bytes - block->used < aligned)
        block = new_block(reader, aligned);
    if (!block)
        return NULL;
    void *memory = (char *)block + block->used;
    block->used += aligned;
    return memory;
}

static void free_blocks(oif_reader_block *block)
{
    while (block) {
        oif_reader_block *older = block->older;
        oif_memory_free(block);
        block = older;
    }
}

oif_status oif_reader_reserve_columns(oif_reader *reader, size_t count, oif_error *error)
{
    if (count <= reader->column_capacity)
        return OIF_OK;
    const size_t doubled = oif_size_multiply(reader->column_capacity, 2);
    const size_t capacity = doubled > count ? doubled : count;
    oif_reader_column *columns = oif_memory_new(oif_size_multiply(capacity, sizeof *columns));
    double *values = oif_memory_new(oif_size_multiply(capacity, sizeof *values));
    if (!columns || !values) {
        oif_memory_free(columns);
        oif_memory_free(values);
        return oif_fail(error, OIF_EMEMORY, "no memory for %zu columns", capacity);
    }
    if (reader->column_count)
        memcpy(columns, reader->columns, reader->column_count * sizeof *columns);
    if (reader->value_count) /* a line that adds columns already has values */
        memcpy(values, reader->values, reader->value_count * sizeof *values);
    oif_memory_free(reader->columns);
    oif_memory_free(reader->values);
    reader->columns = columns;
    reader->values = values;
    reader->column_capacity = capacity;
    return OIF_OK;
}

void oif_reader_push_column(oif_reader *reader, const char *name, size_t slot)
{
    assert(reader->column_count < reader->column_capacity);
    reader->columns[reader->column_count++] =
        (oif_reader_column){.name = name, .slot = slot, .text_slot = OIF_UNSELECTED};
    reader->value_count += slot != OIF_UNSELECTED;
}

size_t oif_reader_generate_name(char *name, size_t column)
{
    return (size_t)snprintf(name, OIF_GENERATED_NAME_BYTES, "x%zu", column);
}

oif_status oif_reader_need_unescaped(oif_reader *reader, oif_error *error)
{
    if (!reader->unescaped)
        reader->unescaped = oif_memory_new(reader->capacity);
    if (!reader->unescaped)
        return oif_fail(error, OIF_EMEMORY, "no memory for texts of %zu bytes", reader->capacity);
    return OIF_OK;
}

/* ---- Bytes ---- */

static oif_status grow_buffer(oif_reader *reader, oif_error *error)
{
    /* Enough to see that a line is too long; oif_reader_is_overflowing then stops reading. */
    size_t largest = oif_size_add(reader->max_line_bytes, 1 + OIF_ADDED_NEWLINE_BYTES);
    size_t doubled = oif_size_multiply(reader->capacity, 2);
    size_t capacity = doubled < largest ? doubled : largest;
    char *buffer = oif_memory_new(oif_size_add(capacity, OIF_LOAD_AHEAD_BYTES));
    char *unescaped = reader->unescaped ? oif_memory_new(capacity) : NULL;
    if (!buffer || (reader->unescaped && !unescaped)) {
        oif_memory_free(buffer);
        oif_memory_free(unescaped);
        return oif_fail_at(error, OIF_EMEMORY, reader->line, 0,
                           "no memory for a line of more than %zu bytes", reader->capacity);
    }
    memcpy(buffer, reader->buffer, reader->end);
    oif_memory_free(reader->buffer);
    oif_memory_free(reader->unescaped);
    reader->buffer = buffer;
    reader->unescaped = unescaped;
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

static oif_status fill(oif_reader *reader, oif_error *error)
{
    if (reader->ended)
        return OIF_END;
    move_to_front(reader);
    if (reader->end == reader->capacity - OIF_ADDED_NEWLINE_BYTES) {
        oif_status status = grow_buffer(reader, error);
        if (status != OIF_OK)
            return status;
    }

    size_t room = reader->capacity - OIF_ADDED_NEWLINE_BYTES - reader->end;
    ptrdiff_t count = reader->read(reader->context, reader->buffer + reader->end, room);
    if (count < 0)
        return oif_fail_at(error, OIF_EREAD, reader->line, 0,
                           "the rest of the input could not be read");
    assert((size_t)count <= room);
    reader->end += (size_t)count;
    reader->ended = count == 0;
    return OIF_OK;
}

/* ---- Lines ---- */

oif_status oif_reader_fill_lines(oif_reader *reader, oif_error *error)
{
    const size_t consumed = reader->start, known_end = reader->end;
    oif_status status = fill(reader, error);
    if (status != OIF_OK)
        return status;

    if (reader->ended && reader->end > reader->lines_end) {
        reader->buffer[reader->end++] = '\n';
        reader->newline_added = true;
    }
    for (size_t i = reader->end; i > known_end - consumed; i--)
        if (reader->buffer[i - 1] == '\n') {
            reader->lines_end = i;
            break;
        }
    memset(reader->buffer + reader->end, 0, OIF_LOAD_AHEAD_BYTES);
    return OIF_OK;
}

void oif_reader_consume_through_newline(oif_reader *reader, const char *from)
{
    const char *start = reader->buffer + reader->start, *end = reader->buffer + reader->end;
    const char *newline = memchr(from, '\n', (size_t)(end - from));
    const char *next = newline ? newline + 1 : end;
    reader->skipping = !newline;
    oif_reader_consume(reader, next, oif_count_newlines(start, next));
}

oif_status oif_reader_skip_long_line(oif_reader *reader, oif_error *error)
{
    while (reader->skipping) {
        oif_status status = oif_reader_fill_lines(reader, error);
        if (status != OIF_OK)
            return status;
        oif_reader_consume_through_newline(reader, reader->buffer + reader->start);
    }
    return OIF_OK;
}

/* Moves to the first line that is not blank; false if there is no complete one. A delimiting tab is
 * not blank. */
static bool skip_blank_lines(oif_reader *reader)
{
    while (reader->start < reader->lines_end) {
        const char *line = reader->buffer + reader->start, *at = line;
        while (*at == ' ' || (*at == '\t' && *at != reader->delimiter) || *at == '\r')
            at++;
        if (*at != '\n' || (size_t)(at - line) > reader->max_line_bytes)
            return true;
        oif_reader_consume(reader, at + 1, 1);
    }
    return false;
}

oif_status oif_reader_await_line(oif_reader *reader, oif_error *error)
{
    while (!skip_blank_lines(reader) && !oif_reader_is_overflowing(reader)) {
        oif_status status = oif_reader_fill_lines(reader, error);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}

static oif_status skip_byte_order_mark(oif_reader *reader, oif_error *error)
{
    static const char mark[3] = "\xef\xbb\xbf";
    while (reader->end < sizeof mark && !reader->ended &&
           !memcmp(reader->buffer, mark, reader->end)) {
        oif_status status = oif_reader_fill_lines(reader, error);
        if (status != OIF_OK)
            return status;
    }
    if (reader->end >= sizeof mark && !memcmp(reader->buffer, mark, sizeof mark))
        oif_reader_consume(reader, reader->buffer + sizeof mark, 0);
    return OIF_OK;
}

/* The first byte that no text has: a NUL, or the byte order mark of UTF-16; NULL if there is
 * none. */
static const char *find_binary(oif_span line)
{
    const size_t bytes = (size_t)(line.end - line.start);
    if (bytes >= 2 && (!memcmp(line.start, "\xff\xfe", 2) || !memcmp(line.start, "\xfe\xff", 2)))
        return line.start;
    return memchr(line.start, '\0', bytes);
}

oif_span oif_reader_buffered_line(const oif_reader *reader)
{
    const char *start = reader->buffer + reader->start;
    size_t buffered = reader->end - reader->start;
    size_t bytes = buffered < reader->max_line_bytes ? buffered : reader->max_line_bytes;
    const char *newline = memchr(start, '\n', bytes);
    return (oif_span){start, newline ? newline : start + bytes};
}

void oif_reader_look_for_nul(const oif_reader *reader, oif_error *error)
{
    const oif_span line = oif_reader_buffered_line(reader);
    const char *nul = memchr(line.start, '\0', (size_t)(line.end - line.start));
    if (nul)
        oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_NUL_BYTES, reader->line,
                            (uint64_t)(nul - line.start) + 1,
                            "this line has NUL bytes, as after a crash or power cut");
}

oif_status oif_reader_await_first_line(oif_reader *reader, oif_error *error)
{
    oif_status status = skip_byte_order_mark(reader, error);
    if (status == OIF_OK)
        status = oif_reader_await_line(reader, error);
    if (status == OIF_END)
        return oif_fail(error, OIF_END, "the input is empty");
    if (status != OIF_OK)
        return status;

    const oif_span line = oif_reader_buffered_line(reader);
    const char *odd = find_binary(line);
    if (odd)
        return oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_NOT_TEXT, reader->line,
                                   (uint64_t)(odd - line.start) + 1,
                                   "this looks like UTF-16/binary, not text; convert it to UTF-8");
    return OIF_OK;
}

/* ---- Opening ---- */

static const oif_row_format *find_format(oif_format format)
{
    switch (format) {
    case OIF_FORMAT_CSV: return &oif_csv_format;
    case OIF_FORMAT_NDJSON: return &oif_ndjson_format;
    }
    return NULL;
}

oif_status oif_reader_open(const oif_reader_options *options, oif_read_function read, void *context,
                           oif_reader **reader, oif_error *error)
{
    const oif_row_format *format = find_format(options->format);
    if (!format)
        return oif_fail(error, OIF_EPARAM, "there is no format %d", (int)options->format);
    for (size_t i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++)
        if (options->reserved[i] != 0)
            return oif_fail(error, OIF_EPARAM, "set the options to 0 before use");

    oif_reader *opened = oif_memory_new(sizeof *opened);
    char *buffer = oif_memory_new(FIRST_CAPACITY_BYTES + OIF_LOAD_AHEAD_BYTES);
    if (!opened || !buffer) {
        oif_memory_free(opened);
        oif_memory_free(buffer);
        return oif_fail(error, OIF_EMEMORY, "no memory for a reader of %d bytes",
                        FIRST_CAPACITY_BYTES);
    }
    *opened = (oif_reader){
        .format = format,
        .read = read,
        .context = context,
        .max_line_bytes =
            options->max_line_bytes ? options->max_line_bytes : OIF_LINE_BYTES_INITIAL,
        .buffer = buffer,
        .capacity = FIRST_CAPACITY_BYTES,
        .line = 1,
        .header = "",
    };

    oif_status status = format->open(opened, options, error);
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
    free_blocks(reader->kept);
    oif_memory_free(reader->unescaped);
    oif_memory_free(reader->texts);
    oif_memory_free(reader->values);
    oif_memory_free(reader->columns);
    oif_memory_free(reader->buffer);
    oif_memory_free(reader);
}

/* ---- Columns ---- */

size_t oif_reader_column_count(const oif_reader *reader)
{
    return reader->column_count;
}

const char *oif_reader_column_name(const oif_reader *reader, size_t column)
{
    assert(column < reader->column_count);
    return reader->columns[column].name;
}

oif_status oif_reader_find_column(oif_reader *reader, const char *name, size_t *column,
                                  oif_error *error)
{
    size_t found = reader->column_count;
    for (size_t i = 0; i < reader->column_count; i++) {
        if (strcmp(reader->columns[i].name, name) != 0)
            continue;
        if (found < reader->column_count)
            return oif_fail(error, OIF_EPARAM,
                            "several columns are called '%s'; give each its own name",
                            oif_excerpt_of(name, name + strlen(name)).text);
        found = i;
    }
    if (found == reader->column_count) {
        if (!reader->format->add_column)
            return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_UNKNOWN_COLUMN,
                                    "there is no column '%s'",
                                    oif_excerpt_of(name, name + strlen(name)).text);
        oif_status status = reader->format->add_column(reader, name, error);
        if (status != OIF_OK)
            return status;
    }
    *column = found;
    return OIF_OK;
}

void oif_reader_collect_columns(oif_reader *reader, size_t count)
{
    reader->new_keys_left = count;
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

uint64_t oif_reader_header_line(const oif_reader *reader)
{
    return reader->header_line;
}

bool oif_reader_has_decimal_commas(const oif_reader *reader)
{
    return reader->has_decimal_commas;
}

/* Marks the columns; returns the position of the first that does not exist or is already marked, or
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

static oif_status check_selection(oif_reader *reader, const size_t *columns, size_t count,
                                  oif_error *error)
{
    size_t good = mark_columns(reader, columns, count);
    for (size_t i = 0; i < good; i++)
        reader->columns[columns[i]].marked = false;
    if (good < count && columns[good] >= reader->column_count)
        return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_UNKNOWN_COLUMN,
                                "there is no column %zu: the %zu columns count from 0",
                                columns[good], reader->column_count);
    if (good < count)
        return oif_fail(error, OIF_EPARAM, "column %zu is selected twice", columns[good]);
    return OIF_OK;
}

oif_status oif_reader_select(oif_reader *reader, const size_t *columns, size_t count,
                             oif_error *error)
{
    oif_status status = check_selection(reader, columns, count, error);
    if (status != OIF_OK)
        return status;
    for (size_t i = 0; i < reader->column_count; i++)
        reader->columns[i].slot = OIF_UNSELECTED;
    for (size_t i = 0; i < count; i++)
        reader->columns[columns[i]].slot = i;
    reader->value_count = count;
    reader->progress = (oif_csv_progress){0}; /* parse a partly read record again */
    return OIF_OK;
}

oif_status oif_reader_select_texts(oif_reader *reader, const size_t *columns, size_t count,
                                   oif_error *error)
{
    oif_status status = check_selection(reader, columns, count, error);
    if (status != OIF_OK)
        return status;
    oif_text *texts = count ? oif_memory_new(oif_size_multiply(count, sizeof *texts)) : NULL;
    if (count && !texts)
        return oif_fail(error, OIF_EMEMORY, "no memory for %zu texts", count);
    if (count)
        status = oif_reader_need_unescaped(reader, error);
    if (status != OIF_OK) {
        oif_memory_free(texts);
        return status;
    }

    oif_memory_free(reader->texts);
    reader->texts = texts;
    reader->text_count = count;
    for (size_t i = 0; i < reader->column_count; i++)
        reader->columns[i].text_slot = OIF_UNSELECTED;
    for (size_t i = 0; i < count; i++)
        reader->columns[columns[i]].text_slot = i;
    return OIF_OK;
}

const char *oif_reader_unit(const oif_reader *reader, size_t column)
{
    assert(column < reader->column_count);
    return reader->columns[column].unit ? reader->columns[column].unit : "";
}

void oif_reader_allow_text(oif_reader *reader, size_t column)
{
    assert(column < reader->column_count);
    reader->columns[column].may_have_text = true;
}

/* ---- Values that mean missing ---- */

/* One that the caller has named, for one column or for all. */
struct oif_missing_value {
    oif_missing_value *next;
    size_t column; /* OIF_ALL_COLUMNS: every one */
    double number; /* NaN if it is a word */
    size_t bytes;  /* of the word */
    char word[];
};

oif_status oif_reader_add_missing(oif_reader *reader, size_t column, const char *text,
                                  oif_error *error)
{
    const size_t bytes = strlen(text);
    oif_missing_value *added =
        oif_reader_keep(reader, oif_size_add(sizeof *added, oif_size_add(bytes, 1)));
    if (!added)
        return oif_fail(error, OIF_EMEMORY, "no memory for a value that means missing");
    *added = (oif_missing_value){.next = reader->missing, .column = column, .bytes = bytes};
    memcpy(added->word, text, bytes);
    if (oif_value_parse(text, bytes, OIF_DECIMAL_AUTO, &added->number, NULL) != OIF_VALUE_NUMBER)
        added->number = NAN;
    reader->missing = added;
    return OIF_OK;
}

static bool is_for(const oif_missing_value *value, size_t column)
{
    return value->column == OIF_ALL_COLUMNS || value->column == column;
}

bool oif_reader_is_missing_word(const oif_reader *reader, const oif_reader_column *column,
                                oif_span text)
{
    for (const oif_missing_value *value = reader->missing; value; value = value->next)
        if (is_for(value, (size_t)(column - reader->columns)) &&
            value->bytes == (size_t)(text.end - text.start) &&
            memcmp(value->word, text.start, value->bytes) == 0)
            return true;
    return false;
}

static void forget_missing(oif_reader *reader)
{
    for (const oif_missing_value *value = reader->missing; value; value = value->next)
        for (size_t i = 0; i < reader->column_count; i++) {
            const size_t slot = reader->columns[i].slot;
            if (slot != OIF_UNSELECTED && is_for(value, i) && reader->values[slot] == value->number)
                reader->values[slot] = NAN;
        }
}

/* ---- Rows ---- */

oif_status oif_reader_next(oif_reader *reader, oif_record *record, oif_error *error)
{
    reader->refused.values = NULL;
    oif_status status = reader->format->next(reader, record, error);
    if (reader->missing)
        forget_missing(reader);
    return status;
}

bool oif_reader_refused(oif_reader *reader, oif_record *record)
{
    if (!reader->refused.values)
        return false;
    for (size_t i = 0; i < reader->value_count; i++)
        if (isinf(reader->values[i]))
            reader->values[i] = NAN;
    *record = reader->refused;
    return true;
}

size_t oif_reader_refused_column(const oif_reader *reader)
{
    return reader->refused.values ? reader->refused_column : reader->column_count;
}
