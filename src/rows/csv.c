/* Rows from CSV text.
 *
 * A record is parsed without searching for its end. A number is read at the start of its field.
 * Nearly always it stops at a delimiter or at the end of the line, and the field is done in one
 * pass. All other fields (quotes, trailing blanks, words, mistakes) take the slow path.
 *
 * A record whose quote is still open at lines_end is incomplete. `progress` stores how far it was
 * parsed, and parsing resumes there when more lines arrive. So the work is linear in the bytes,
 * however small the pieces in which they arrive.
 *
 * A mistake is located in the text after its record was parsed to the end. So a record without
 * mistakes costs nothing extra, and the next record always starts at the right byte. Texts are
 * extracted in a second pass too, which rows without texts do not need. */
#include "base/error.h"
#include "base/excerpt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "rows/csv_field.h"
#include "rows/reader.h"
#include "rows/separators.h"
#include "rows/value_text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Records ---- */

/* How fields are written. A compile-time constant in the parser, so each style has its own code. */
typedef enum csv_style {
    STYLE_PLAIN,
    STYLE_BLANKS,
    STYLE_COMMAS,      /* the decimal comma was detected */
    STYLE_ASKED_COMMAS /* or requested: then 1.234 has no decimals */
} csv_style;

static inline csv_style style_of(const oif_reader *reader)
{
    return reader->delimiter == ' '               ? STYLE_BLANKS
           : reader->decimal == OIF_DECIMAL_COMMA ? STYLE_ASKED_COMMAS
           : reader->has_decimal_commas           ? STYLE_COMMAS
                                                  : STYLE_PLAIN;
}

static inline const char *field_end(csv_style style, const char *field, const char *scanned,
                                    const char *end, char delimiter)
{
    return style == STYLE_BLANKS ? oif_csv_blank_field_end(field, scanned, end)
                                 : oif_csv_field_end(field, scanned, end, delimiter);
}

static inline const char *plain_field_end(csv_style style, const char *field, const char *lines_end,
                                          char delimiter, double *value)
{
    return style == STYLE_PLAIN    ? oif_csv_plain_field_end(field, lines_end, delimiter, value)
           : style == STYLE_BLANKS ? oif_csv_plain_blank_field_end(field, lines_end, value)
                                   : NULL;
}

static inline oif_csv_meaning field_meaning(csv_style style, const char *field, const char *end,
                                            char delimiter, double *value)
{
    return style >= STYLE_COMMAS
               ? oif_csv_comma_meaning(field, end, delimiter, style == STYLE_ASKED_COMMAS, value)
               : oif_csv_field_meaning(field, end, delimiter, value);
}

/* The field [field, end) without blanks and quotes. */
static oif_span bare_text(const oif_reader *reader, const char *field, const char *end)
{
    oif_span text = oif_csv_without_blanks(oif_span_without_returns(field, end), reader->delimiter);
    if (oif_csv_is_in_quotes(text))
        text = oif_csv_without_blanks((oif_span){text.start + 1, text.end - 1}, reader->delimiter);
    return text;
}

/* The meaning of a field that is not a plain number. Between semicolons a comma is decimal, which
 * may have to be found out first: see shows_decimal_comma. A separate function, so the parser stays
 * small. */
static __attribute__((noinline)) oif_csv_meaning written_meaning(oif_reader *reader,
                                                                 csv_style style, size_t index,
                                                                 const char *field, const char *end,
                                                                 double *value)
{
    static const oif_csv_meaning meanings[] = {
        [OIF_VALUE_NUMBER] = OIF_CSV_NUMBER,
        [OIF_VALUE_MISSING] = OIF_CSV_MISSING,
        [OIF_VALUE_INFINITE] = OIF_CSV_INFINITE,
        [OIF_VALUE_TEXT] = OIF_CSV_OTHER_TEXT,
    };
    const oif_span text = bare_text(reader, field, end);
    const oif_decimal decimal = style >= STYLE_COMMAS ? OIF_DECIMAL_COMMA : reader->decimal;
    oif_marked_number number;
    if (decimal == OIF_DECIMAL_AUTO && reader->delimiter == ';' &&
        oif_marked_number_read(text, decimal, &number) &&
        (number.commas == OIF_COMMA_DECIMAL || number.commas == OIF_COMMA_EITHER))
        return OIF_CSV_OTHER_TEXT;
    return meanings[oif_reader_read_value(reader, &reader->columns[index], text, decimal, value)];
}

/* The meaning of the field of a column. */
static inline oif_csv_meaning value_meaning(oif_reader *reader, csv_style style, size_t index,
                                            const char *field, const char *end, double *value)
{
    const oif_csv_meaning meaning = field_meaning(style, field, end, reader->delimiter, value);
    return meaning == OIF_CSV_OTHER_TEXT ? written_meaning(reader, style, index, field, end, value)
                                         : meaning;
}

/* The end of a field in any style, and its value unless it is left out. NULL if its quote is open
 * at lines_end. */
OIF_INLINE const char *read_field(oif_reader *reader, csv_style style, const char *field,
                                  size_t index, size_t slot)
{
    const char *const lines_end = reader->buffer + reader->lines_end;
    const char delimiter = reader->delimiter;
    oif_csv_progress *progress = &reader->progress;
    const char *end = slot == OIF_UNSELECTED ? NULL
                                             : plain_field_end(style, field, lines_end, delimiter,
                                                               &reader->values[slot]);
    if (end)
        return end;
    progress->quoted |= *(style == STYLE_BLANKS ? oif_csv_past_run(field) : field) == '"';
    const char *scanned = reader->buffer + reader->start + progress->scanned;
    end = field_end(style, field, scanned, lines_end, delimiter);
    if (end && slot != OIF_UNSELECTED &&
        value_meaning(reader, style, index, field, end, &reader->values[slot]) >=
            OIF_CSV_INFINITE &&
        !progress->bad_field)
        progress->bad_field = index + 1;
    return end;
}

/* The same for a field of a plain style that is not a short number; it ends at `separator` unless
 * it is quoted. A separate function, so the loop over short numbers keeps its registers. */
static __attribute__((noinline)) const char *read_other_field(oif_reader *reader, const char *field,
                                                              const char *separator, size_t index,
                                                              size_t slot)
{
    if (slot != OIF_UNSELECTED && oif_long_number_read(field, separator, &reader->values[slot]))
        return separator;
    return read_field(reader, STYLE_PLAIN, field, index, slot);
}

static inline bool is_short_number(oif_reader *reader, const char *field, const char *separator,
                                   size_t slot)
{
    return slot == OIF_UNSELECTED ? *field != '"'
                                  : oif_short_number_read(field, separator, &reader->values[slot]);
}

/* Parses the record at `start` to its end, or to a quote that is open at lines_end: then the record
 * is incomplete. */
OIF_INLINE void parse_in_style(oif_reader *reader, csv_style style)
{
    const char *const start = reader->buffer + reader->start;
    oif_csv_progress *progress = &reader->progress;
    const char *field = start + progress->field, *end;
    const size_t columns = reader->column_count;
    size_t field_count = progress->field_count;
    oif_separators separators = {0};
    if (style == STYLE_PLAIN)
        separators = oif_separators_from(field, reader->delimiter);
    for (;; field = end + 1) {
        size_t slot = field_count < columns ? reader->columns[field_count].slot : OIF_UNSELECTED;
        const char *separator = style == STYLE_PLAIN ? oif_separators_next(&separators) : NULL;
        if (style == STYLE_PLAIN && is_short_number(reader, field, separator, slot)) {
            end = separator;
        } else {
            end = style == STYLE_PLAIN
                      ? read_other_field(reader, field, separator, field_count, slot)
                      : read_field(reader, style, field, field_count, slot);
            if (!end)
                break;
            if (style == STYLE_PLAIN && end != separator)
                separators = oif_separators_from(end + 1, reader->delimiter);
        }
        field_count++;
        if (*end == '\n')
            break;
    }
    progress->field_count = field_count;
    progress->whole = end != NULL;
    if (end)
        progress->bytes = (size_t)(end - start);
    progress->field = (size_t)(field - start);
    progress->scanned = reader->lines_end - reader->start;
}

static void parse_record(oif_reader *reader)
{
    switch (style_of(reader)) {
    case STYLE_PLAIN: parse_in_style(reader, STYLE_PLAIN); break;
    case STYLE_BLANKS: parse_in_style(reader, STYLE_BLANKS); break;
    case STYLE_COMMAS: parse_in_style(reader, STYLE_COMMAS); break;
    case STYLE_ASKED_COMMAS: parse_in_style(reader, STYLE_ASKED_COMMAS); break;
    }
}

/* The delimiter or \n that ends a field of a complete record. */
static const char *whole_field_end(const oif_reader *reader, const char *field)
{
    const char *end = field_end(style_of(reader), field, field, reader->buffer + reader->lines_end,
                                reader->delimiter);
    assert(end);
    return end;
}

/* A complete record as read, without its line end. */
static oif_span record_text(const oif_reader *reader)
{
    const char *start = reader->buffer + reader->start;
    return oif_span_without_returns(start, start + reader->progress.bytes);
}

static bool is_too_long(const oif_reader *reader)
{
    if (reader->progress.whole)
        return reader->progress.bytes > reader->max_line_bytes;
    return oif_reader_is_overflowing(reader);
}

/* Moves past the record at `start`. A record that is too long ends at the first line end behind the
 * limit, even inside a quote: that quote is probably stray, and the result must not depend on the
 * size of the pieces. */
static void consume_record(oif_reader *reader)
{
    const char *start = reader->buffer + reader->start, *end = reader->buffer + reader->end;
    const char *next = reader->progress.whole ? start + reader->progress.bytes + 1 : end;
    if (is_too_long(reader))
        oif_reader_consume_through_newline(reader, start + reader->max_line_bytes);
    else
        oif_reader_consume(reader, next,
                           reader->progress.quoted ? oif_count_newlines(start, next) : 1);
    reader->progress = (oif_csv_progress){0};
}

/* ---- Messages ---- */

typedef struct position {
    uint64_t line, column;
} position;

static position position_of(const oif_reader *reader, const char *at)
{
    const char *start = reader->buffer + reader->start, *line_start = at;
    while (line_start > start && line_start[-1] != '\n')
        line_start--;
    return (position){reader->line + oif_count_newlines(start, line_start),
                      (uint64_t)(at - line_start) + 1};
}

/* Where the field with this index begins in the record at `start`. */
static const char *find_field(const oif_reader *reader, size_t index)
{
    const char *field = reader->buffer + reader->start;
    while (index-- > 0)
        field = whole_field_end(reader, field) + 1;
    return field;
}

static oif_status fail_too_long(oif_reader *reader, oif_error *error)
{
    char *start = reader->buffer + reader->start, *limit = start + reader->max_line_bytes;
    const char *field = start, *end, last = *limit;
    *limit = '\n'; /* stops the scan; the message must not depend on what follows */
    while ((end = oif_csv_field_end(field, start, limit + 1, reader->delimiter)) != NULL &&
           *end != '\n')
        field = end + 1;
    *limit = last;

    const position where = position_of(reader, end ? start : field);
    return oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_LINE_TOO_LONG, where.line, where.column,
                               "this line is longer than %zu bytes%s", reader->max_line_bytes,
                               end ? "" : ": the quote that opens here is not closed by then");
}

static oif_status fail_open_quote(const oif_reader *reader, oif_error *error)
{
    position where = position_of(reader, find_field(reader, reader->progress.field_count));
    return oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_OPEN_QUOTE, where.line, where.column,
                               "the quote that opens here is never closed; close it or remove it");
}

static const char if_comment[] = "; if it is a comment, name its beginning";

static bool is_like_a_comment(const oif_reader *reader)
{
    return !reader->comment && reader->buffer[reader->start] == '#';
}

static oif_status fail_ragged(const oif_reader *reader, oif_error *error)
{
    size_t count = reader->progress.field_count, expected = reader->column_count;
    const char *end = record_text(reader).end,
               *at = count > expected ? find_field(reader, expected) : end;
    position where = position_of(reader, at);
    const oif_cause cause = is_like_a_comment(reader)            ? OIF_CAUSE_COMMENT
                            : count == expected + 1 && at == end ? OIF_CAUSE_TRAILING_DELIMITER
                            : count > expected                   ? OIF_CAUSE_TOO_MANY_FIELDS
                                                                 : OIF_CAUSE_TOO_FEW_FIELDS;
    return oif_fail_because_at(error, OIF_EINPUT, cause, where.line, where.column,
                               "this row has %zu field%s, the first line has %zu%s", count,
                               count == 1 ? "" : "s", expected,
                               cause == OIF_CAUSE_COMMENT ? if_comment
                               : cause == OIF_CAUSE_TRAILING_DELIMITER
                                   ? ", and a delimiter ends the row"
                                   : "");
}

static bool is_refused(oif_reader *reader, size_t column, const char *field, const char *end)
{
    double value;
    if (reader->columns[column].slot == OIF_UNSELECTED)
        return false;
    oif_csv_meaning meaning = value_meaning(reader, style_of(reader), column, field, end, &value);
    return meaning == OIF_CSV_INFINITE ||
           (meaning > OIF_CSV_INFINITE && !reader->columns[column].may_have_text);
}

/* The bad field to report. */
static size_t find_bad_field(oif_reader *reader)
{
    const size_t first = reader->progress.bad_field - 1;
    const char *field = find_field(reader, first), *end;
    for (size_t i = first; i < reader->column_count; i++, field = end + 1) {
        end = whole_field_end(reader, field);
        if (is_refused(reader, i, field, end))
            return i;
    }
    return first; /* only text where it is allowed */
}

/* "1,234.5", 1'234 or a number with the minus of Unicode. */
static bool is_number_spelled_otherwise(oif_span text)
{
    static const char minus[3] = "\xe2\x88\x92";
    size_t digits = 0, others = 0;
    for (const char *at = text.start; at < text.end; at++) {
        const bool is_minus = text.end - at >= 3 && memcmp(at, minus, sizeof minus) == 0;
        if (!is_minus && (!*at || !strchr("0123456789.+-\",'", *at)))
            return false;
        digits += *at >= '0' && *at <= '9';
        others += is_minus || strchr(",'", *at) != NULL;
        at += is_minus ? sizeof minus - 1 : 0;
    }
    return digits > 0 && others > 0;
}

static const char *remedy_for_text(const oif_reader *reader, oif_span text)
{
    if (is_like_a_comment(reader))
        return if_comment;
    return !reader->has_decimal_commas && is_number_spelled_otherwise(text)
               ? "; write it as in -1234.5, or leave the column out"
               : "; leave the column out or make it empty";
}

static oif_status fail_other_decimal(const oif_reader *reader, oif_span text, const char *name,
                                     position where, oif_error *error)
{
    const oif_excerpt field = oif_excerpt_of(text.start, text.end),
                      column = oif_excerpt_of(name, name + strlen(name));
    if (reader->point_line > 0)
        return oif_fail_because_at(
            error, OIF_EINPUT, OIF_CAUSE_DECIMAL_COMMA, where.line, where.column,
            "'%s' in column \"%s\" has a decimal comma, but the decimal sign has been "
            "the point since line %" PRIu64 "; choose the decimal comma",
            field.text, column.text, reader->point_line);
    if (reader->has_decimal_commas)
        return oif_fail_because_at(
            error, OIF_EINPUT, OIF_CAUSE_DECIMAL_POINT, where.line, where.column,
            "'%s' in column \"%s\" has a decimal point, but the decimal sign is the comma",
            field.text, column.text);
    return oif_fail_because_at(
        error, OIF_EINPUT, OIF_CAUSE_DECIMAL_COMMA, where.line, where.column,
        "'%s' in column \"%s\" has a decimal comma, but the decimal sign is the point; choose "
        "the decimal comma",
        field.text, column.text);
}

static oif_status fail_bad_field(oif_reader *reader, oif_error *error)
{
    const size_t column = reader->refused_column = find_bad_field(reader);
    const char *name = reader->columns[column].name;
    const char *field = find_field(reader, column), *end = find_field(reader, column + 1) - 1;
    if (reader->delimiter == ' ')
        field = oif_csv_past_run(field);
    const oif_span text =
        oif_csv_without_blanks(oif_span_without_returns(field, end), reader->delimiter);
    const position where = position_of(reader, field);
    double value;
    bool infinite =
        value_meaning(reader, style_of(reader), column, field, end, &value) == OIF_CSV_INFINITE;
    bool is_other_decimal =
        !infinite &&
        (reader->has_decimal_commas
             ? oif_number_parse(text.start, text.end, &value) == text.end
             : reader->delimiter != ',' && oif_csv_parse_comma_number(text, false, &value));
    if (is_other_decimal)
        return fail_other_decimal(reader, text, name, where, error);
    if (!infinite && oif_reader_contradicts(reader, column, bare_text(reader, field, end),
                                            where.line, where.column, error))
        return OIF_EINPUT;
    const oif_cause cause = infinite                    ? OIF_CAUSE_INFINITE_VALUE
                            : is_like_a_comment(reader) ? OIF_CAUSE_COMMENT
                                                        : OIF_CAUSE_NOT_A_NUMBER;
    return oif_fail_because_at(
        error, OIF_EINPUT, cause, where.line, where.column, "'%s' is %s in column \"%s\"%s",
        oif_excerpt_of(text.start, text.end).text, infinite ? "infinite" : "not a number",
        oif_excerpt_of(name, name + strlen(name)).text,
        infinite ? "; make it a finite number or empty" : remedy_for_text(reader, text));
}

static oif_status check_whole(oif_reader *reader, oif_error *error)
{
    if (is_too_long(reader))
        return fail_too_long(reader, error);
    return reader->progress.whole ? OIF_OK : fail_open_quote(reader, error);
}

static oif_status check_shape(oif_reader *reader, oif_error *error)
{
    oif_status status = check_whole(reader, error);
    if (status == OIF_OK && reader->progress.field_count != reader->column_count)
        return fail_ragged(reader, error);
    return status;
}

static oif_status check_record(oif_reader *reader, oif_error *error)
{
    oif_status status = check_shape(reader, error);
    if (status == OIF_OK && reader->progress.bad_field)
        status = fail_bad_field(reader, error);
    if (status != OIF_OK)
        oif_reader_look_for_nul(reader, error);
    return status;
}

/* ---- Awaiting ---- */

/* Parses the record that starts with this line, reading more lines while a quote is open. */
static oif_status await_record(oif_reader *reader, oif_error *error)
{
    for (;;) {
        if (reader->start < reader->lines_end)
            parse_record(reader);
        if (reader->progress.whole || reader->ended || is_too_long(reader))
            return OIF_OK;
        oif_status status = oif_reader_fill_lines(reader, error);
        if (status != OIF_OK)
            return status;
    }
}

/* ---- Texts ---- */

/* The text of a field: in the buffer or, if it contains quotes, unquoted at `*next`, which moves
 * past it. */
static oif_text text_of_field(oif_span field, char **next)
{
    const bool quoted = oif_csv_is_in_quotes(field);
    const char *start = field.start + quoted, *end = field.end - quoted;
    if (!quoted || !memchr(start, '"', (size_t)(end - start)))
        return (oif_text){start, (size_t)(end - start)};
    char *text = *next;
    *next = oif_csv_write_unquoted(field, text);
    return (oif_text){text, (size_t)(*next - text)};
}

static void take_texts(oif_reader *reader)
{
    const char *field = reader->buffer + reader->start;
    char *next = reader->unescaped;
    size_t missing = reader->text_count;
    for (size_t i = 0; missing > 0; i++) {
        const char *end = whole_field_end(reader, field);
        if (reader->columns[i].text_slot != OIF_UNSELECTED) {
            oif_span text =
                oif_csv_without_blanks(oif_span_without_returns(field, end), reader->delimiter);
            reader->texts[reader->columns[i].text_slot] = text_of_field(text, &next);
            missing--;
        }
        field = end + 1;
    }
}

/* ---- Opening ---- */

static oif_status check_delimiter(char delimiter, oif_error *error)
{
    if (!delimiter || oif_csv_can_delimit(delimiter))
        return OIF_OK;
    return oif_fail(error, OIF_EPARAM,
                    "'%s' cannot be a delimiter: it occurs in numbers, quotes or line ends",
                    oif_excerpt_of(&delimiter, &delimiter + 1).text);
}

/* Between semicolons, a comma may be the decimal sign. */
static bool may_have_decimal_commas(const oif_reader *reader)
{
    return reader->has_decimal_commas ||
           (reader->delimiter == ';' && reader->decimal == OIF_DECIMAL_AUTO);
}

static bool has_a_number(const oif_reader *reader)
{
    const csv_style style = may_have_decimal_commas(reader) ? STYLE_COMMAS : STYLE_PLAIN;
    const char *field = reader->buffer + reader->start;
    double value;
    for (size_t i = 0; i < reader->progress.field_count; i++) {
        const char *end = whole_field_end(reader, field);
        oif_csv_meaning meaning = field_meaning(style, field, end, reader->delimiter, &value);
        if (meaning == OIF_CSV_OTHER_TEXT && style == STYLE_COMMAS)
            meaning = oif_csv_field_meaning(field, end, reader->delimiter, &value);
        if (meaning == OIF_CSV_NUMBER || meaning == OIF_CSV_INFINITE)
            return true;
        field = end + 1;
    }
    return false;
}

static void name_columns(oif_reader *reader, char *name)
{
    const char *field = reader->buffer + reader->start;
    const size_t count = reader->progress.field_count;
    for (size_t i = 0; i < count; i++) {
        const char *end = whole_field_end(reader, field);
        oif_span text =
            oif_csv_without_blanks(oif_span_without_returns(field, end), reader->delimiter);
        char *name_end = reader->has_header ? oif_csv_write_unquoted(text, name) : name;
        if (name_end == name)
            name_end += oif_reader_generate_name(name, i);
        *name_end = '\0';
        oif_reader_push_column(reader, name, i);
        name = name_end + 1;
        field = end + 1;
    }
}

/* Creates the columns from the first record. Consumes a header, but leaves a row to be read. */
static oif_status make_columns(oif_reader *reader, oif_header header, oif_error *error)
{
    const oif_span text = record_text(reader);
    const size_t count = reader->progress.field_count, text_bytes = (size_t)(text.end - text.start);
    /* Twice: the header as read, and as names. */
    const size_t bytes = oif_size_add(oif_size_multiply(text_bytes, 2),
                                      oif_size_multiply(count, OIF_GENERATED_NAME_BYTES));
    char *kept = oif_reader_keep(reader, bytes);
    if (!kept)
        return oif_fail(error, OIF_EMEMORY, "no memory for the names of %zu columns", count);
    oif_status status = oif_reader_reserve_columns(reader, count, error);
    if (status != OIF_OK)
        return status;

    reader->has_header =
        header == OIF_HEADER_AUTO ? !has_a_number(reader) : header == OIF_HEADER_YES;
    name_columns(reader, kept + text_bytes);
    if (reader->has_header) {
        memcpy(kept, text.start, text_bytes);
        reader->header_line = reader->line;
        reader->header = kept;
        reader->header_bytes = text_bytes;
        consume_record(reader);
    }
    reader->progress = (oif_csv_progress){0};
    return OIF_OK;
}

static oif_status check_options(const oif_reader_options *options, oif_error *error)
{
    if ((unsigned)options->decimal > OIF_DECIMAL_COMMA)
        return oif_fail(error, OIF_EPARAM, "there is no decimal sign %d", (int)options->decimal);
    if (options->decimal == OIF_DECIMAL_COMMA && options->delimiter == ',')
        return oif_fail(error, OIF_EPARAM,
                        "the comma cannot be both the delimiter and the decimal sign");
    if (options->comment && (!*options->comment || strpbrk(options->comment, "\r\n")))
        return oif_fail(error, OIF_EPARAM, "comments need a text that they begin with");
    return check_delimiter(options->delimiter, error);
}

/* Whether semicolons separate numbers with commas: 1,5;2,7 */
static bool has_decimal_commas_between_semicolons(oif_span line)
{
    size_t commas = 0, fields = 0;
    for (const char *field = line.start; field <= line.end; fields++) {
        const char *end = memchr(field, ';', (size_t)(line.end - field));
        if (!end)
            end = line.end;
        double value;
        oif_span text = oif_csv_without_blanks((oif_span){field, end}, ';');
        while (text.end > text.start && text.end[-1] == '\r')
            text.end--;
        if (!oif_csv_is_missing(text) && !oif_csv_parse_comma_number(text, false, &value))
            return false;
        commas += memchr(text.start, ',', (size_t)(text.end - text.start)) != NULL;
        field = end + 1;
    }
    return commas > 0 && fields > 1;
}

/* Whether commas must separate fields although they are decimal too, so these are in quotes: there
 * are no semicolons, and the line is not one number. */
static bool separates_names(oif_span line)
{
    const size_t bytes = (size_t)(line.end - line.start);
    double value;
    while (line.end > line.start && line.end[-1] == '\r')
        line.end--;
    return memchr(line.start, ',', bytes) && !memchr(line.start, ';', bytes) &&
           !oif_csv_parse_comma_number(line, true, &value);
}

static char choose_delimiter(oif_span line, const oif_reader_options *options)
{
    char delimiter =
        options->delimiter ? options->delimiter : oif_csv_most_frequent_delimiter(line);
    bool may_be_semicolons =
        !options->delimiter && delimiter == ',' && options->decimal != OIF_DECIMAL_POINT;
    if (may_be_semicolons && ((options->decimal == OIF_DECIMAL_COMMA && !separates_names(line)) ||
                              has_decimal_commas_between_semicolons(line)))
        return ';';
    return delimiter;
}

/* ---- The delimiter in the first line ---- */

/* The delimiter that a line such as sep=; names; 0 if the line is another one. */
static char named_delimiter(oif_span line)
{
    while (line.end > line.start && line.end[-1] == '\r')
        line.end--;
    const bool quoted = oif_csv_is_in_quotes(line);
    const char *text = line.start + quoted, *end = line.end - quoted;
    return end - text == 5 && memcmp(text, "sep=", 4) == 0 && oif_csv_can_delimit(text[4]) ? text[4]
                                                                                           : 0;
}

/* Skips a first line that names the delimiter, as Excel reads it. A requested one counts more. */
static oif_status skip_named_delimiter(oif_reader *reader, oif_reader_options *options,
                                       oif_error *error)
{
    const char named = named_delimiter(oif_reader_buffered_line(reader));
    if (!named)
        return OIF_OK;
    if (!options->delimiter)
        options->delimiter = named;
    oif_reader_consume_through_newline(reader, reader->buffer + reader->start);
    oif_status status = oif_reader_await_next_line(reader, error);
    return status == OIF_OK ? check_options(options, error) : status;
}

/* ---- Comments ---- */

static bool is_at_comment(const oif_reader *reader)
{
    return reader->end - reader->start >= reader->comment_bytes &&
           memcmp(reader->buffer + reader->start, reader->comment, reader->comment_bytes) == 0;
}

/* Moves past comments to the next line that is not blank. */
static oif_status skip_comments(oif_reader *reader, oif_error *error)
{
    oif_status status = OIF_OK;
    while (status == OIF_OK && is_at_comment(reader)) {
        oif_reader_consume_through_newline(reader, reader->buffer + reader->start);
        status = oif_reader_await_next_line(reader, error);
    }
    return status;
}

/* The start of the line after the one at `start`, ignoring blank lines; NULL if there is none. The
 * line must end within the longest line allowed, so the size of the pieces does not matter. */
static const char *find_second_line(const oif_reader *reader)
{
    const char *start = reader->buffer + reader->start, *end = reader->buffer + reader->lines_end;
    const char *at = memchr(start, '\n', reader->lines_end - reader->start);
    while (at && ++at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *text = at;
        if (!newline || (size_t)(newline - start) > reader->max_line_bytes)
            return NULL;
        while (*text == ' ' || *text == '\t' || *text == '\r')
            text++;
        if (text != newline)
            return at;
        at = newline;
    }
    return NULL;
}

static oif_status await_second_line(oif_reader *reader, const char **second, oif_error *error)
{
    while (!(*second = find_second_line(reader)) && !reader->ended &&
           !oif_reader_is_overflowing(reader)) {
        oif_status status = oif_reader_fill_lines(reader, error);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}

/* Counts the fields of a line in the buffer; 0 if a quote is open at its end: whether the line that
 * closes it is there depends on the size of the pieces. */
static size_t count_fields(const oif_reader *reader, const char *line, char delimiter,
                           bool *has_number)
{
    const csv_style style = delimiter == ' ' ? STYLE_BLANKS : STYLE_PLAIN;
    const char *end = line, *lines_end = reader->buffer + reader->lines_end;
    const char *newline = memchr(line, '\n', (size_t)(lines_end - line));
    const char *line_end = newline ? newline + 1 : lines_end;
    double value;
    *has_number = false;
    for (size_t count = 1;; count++, line = end + 1) {
        end = field_end(style, line, line, line_end, delimiter);
        if (!end)
            return 0;
        *has_number |= field_meaning(delimiter == ';' ? STYLE_COMMAS : style, line, end, delimiter,
                                     &value) == OIF_CSV_NUMBER;
        if (*end == '\n')
            return count;
    }
}

/* Whether the line with # at `start` has the column names of the row below. */
static bool is_header_with_hash(const oif_reader *reader, const char *row,
                                const oif_reader_options *options)
{
    const oif_span line = oif_reader_buffered_line(reader);
    const char delimiter = choose_delimiter(line, options);
    bool has_number, row_has_number;
    size_t names = count_fields(reader, line.start, delimiter, &has_number);
    size_t fields = count_fields(reader, row, delimiter, &row_has_number);
    bool is_one_word = !memchr(line.start, ' ', (size_t)(line.end - line.start));
    return *row != '#' && row_has_number && names == fields && (names > 1 || is_one_word);
}

/* Skips comments before the header, if no option says otherwise. */
static oif_status skip_hash_lines(oif_reader *reader, const oif_reader_options *options,
                                  oif_error *error)
{
    const char *second;
    oif_status status = OIF_OK;
    while (status == OIF_OK && reader->start < reader->lines_end &&
           reader->buffer[reader->start] == '#') {
        status = await_second_line(reader, &second, error);
        if (status != OIF_OK || !second || is_header_with_hash(reader, second, options))
            return status;
        oif_reader_consume_through_newline(reader, reader->buffer + reader->start);
        status = oif_reader_await_next_line(reader, error);
    }
    return status;
}

/* Moves to the first line with fields. */
static oif_status await_fields(oif_reader *reader, oif_reader_options *options, oif_error *error)
{
    oif_status status = oif_reader_await_first_line(reader, error);
    if (status == OIF_OK)
        status = skip_named_delimiter(reader, options, error);
    if (status == OIF_OK)
        status = reader->comment ? skip_comments(reader, error)
                                 : skip_hash_lines(reader, options, error);
    return status == OIF_END ? oif_fail(error, OIF_END, "the input is empty") : status;
}

static oif_status csv_open(oif_reader *reader, const oif_reader_options *asked, oif_error *error)
{
    oif_reader_options options = *asked;
    oif_status status = check_options(&options, error);
    reader->comment = options.comment;
    reader->comment_bytes = options.comment ? strlen(options.comment) : 0;
    if (status == OIF_OK)
        status = await_fields(reader, &options, error);
    if (status != OIF_OK)
        return status;
    reader->delimiter = choose_delimiter(oif_reader_buffered_line(reader), &options);
    reader->decimal = options.decimal;
    reader->has_decimal_commas = options.decimal == OIF_DECIMAL_COMMA;
    status = await_record(reader, error);
    if (status == OIF_OK)
        status = check_whole(reader, error);
    return status == OIF_OK ? make_columns(reader, options.header, error) : status;
}

/* ---- Rows ---- */

/* Whether the record repeats the header, as in concatenated files. A record whose numbers can be
 * read is a row. */
static bool is_header_again(oif_reader *reader)
{
    if (!reader->progress.bad_field || !reader->has_header || check_shape(reader, NULL) != OIF_OK)
        return false;
    oif_span text = record_text(reader);
    if (text.end - text.start >= 3 && memcmp(text.start, "\xef\xbb\xbf", 3) == 0)
        text.start += 3;
    return (size_t)(text.end - text.start) == reader->header_bytes &&
           memcmp(text.start, reader->header, reader->header_bytes) == 0;
}

/* The first rows decide on the decimal sign. */
enum { DECIMAL_LINES_MAX = 1000 };

static bool has_decimal_point(const char *field, const char *end, char delimiter)
{
    double value;
    return memchr(field, '.', (size_t)(end - field)) &&
           oif_csv_field_meaning(field, end, delimiter, &value) == OIF_CSV_NUMBER;
}

/* Stores the first row with a number that was read with a decimal point. From there on a decimal
 * comma is a contradiction, not a discovery, because all rows must have the same scale. */
static void look_for_points(oif_reader *reader)
{
    const char *field = reader->buffer + reader->start;
    if (reader->has_decimal_commas || reader->decimal != OIF_DECIMAL_AUTO ||
        !memchr(field, '.', reader->progress.bytes))
        return;
    for (size_t i = 0; i < reader->column_count; i++) {
        const char *end = whole_field_end(reader, field);
        if (reader->columns[i].slot != OIF_UNSELECTED &&
            has_decimal_point(field, end, reader->delimiter))
            reader->point_line = reader->line;
        field = end + 1;
    }
}

/* Whether the bad field of the record shows that the decimal sign is the comma. A record of the
 * wrong shape shows nothing: it is refused, and of one that is too long there may be only a
 * part. */
static bool shows_decimal_comma(oif_reader *reader)
{
    double value;
    if (!may_have_decimal_commas(reader) || reader->has_decimal_commas || reader->point_line > 0 ||
        reader->line > DECIMAL_LINES_MAX || check_shape(reader, NULL) != OIF_OK)
        return false;
    const size_t column = reader->progress.bad_field - 1;
    const char *field = find_field(reader, column), *end = find_field(reader, column + 1) - 1;
    oif_marked_number number;
    return oif_csv_comma_meaning(field, end, reader->delimiter, false, &value) == OIF_CSV_NUMBER ||
           (oif_marked_number_read(bare_text(reader, field, end), OIF_DECIMAL_AUTO, &number) &&
            number.commas != OIF_COMMA_ABSENT);
}

static oif_status await_row(oif_reader *reader, oif_error *error)
{
    for (;;) {
        oif_status status = oif_reader_await_next_line(reader, error);
        if (status == OIF_OK && reader->comment)
            status = skip_comments(reader, error);
        if (status == OIF_OK)
            status = await_record(reader, error);
        if (status != OIF_OK || !reader->progress.bad_field)
            return status;
        if (shows_decimal_comma(reader)) {
            reader->has_decimal_commas = true;
            reader->progress = (oif_csv_progress){0};
            parse_record(reader);
        }
        if (!is_header_again(reader))
            return status;
        consume_record(reader);
    }
}

static oif_status csv_next(oif_reader *reader, oif_record *record, oif_error *error)
{
    oif_status status = await_row(reader, error);
    if (status != OIF_OK)
        return status;

    status = check_record(reader, error);
    const bool is_mendable = status != OIF_OK && check_shape(reader, NULL) == OIF_OK;
    if (status == OIF_OK || is_mendable) {
        if (reader->text_count)
            take_texts(reader);
        *(is_mendable ? &reader->refused : record) = oif_reader_record(
            reader, record_text(reader), reader->buffer + reader->start + reader->progress.bytes);
    }
    if (reader->delimiter == ';' && status == OIF_OK && reader->point_line == 0 &&
        reader->line <= DECIMAL_LINES_MAX)
        look_for_points(reader);
    consume_record(reader);
    return status;
}

const oif_row_format oif_csv_format = {.open = csv_open, .next = csv_next};
