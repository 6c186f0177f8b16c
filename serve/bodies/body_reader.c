#include "body_reader.h"

#include "front/input/other_formats.h"
#include "front/text/cut.h"
#include "front/text/quoting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char body_name[] = "body";

/* ---- Bodies ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

oif_text body_text(const char *bytes, size_t count)
{
    const bool has_mark = count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0;
    return has_mark ? (oif_text){bytes + 3, count - 3} : (oif_text){bytes, count}; /* also NULL */
}

static size_t blanks_of(oif_text body)
{
    size_t blanks = 0;
    while (blanks < body.bytes && is_blank(body.text[blanks]))
        blanks++;
    return blanks;
}

bool body_is_blank(oif_text body)
{
    return blanks_of(body) == body.bytes;
}

oif_format body_format(oif_text body)
{
    size_t blanks = blanks_of(body);
    return blanks < body.bytes && body.text[blanks] == '{' ? OIF_FORMAT_NDJSON : OIF_FORMAT_CSV;
}

static uint64_t count_lines(oif_text body)
{
    const char *at = body.text, *end = at + body.bytes;
    uint64_t lines = body.bytes > 0 && end[-1] != '\n';
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

void body_take_complaint(const complaint *about, problem *why)
{
    snprintf(why->message, sizeof why->message, "%s", about->text);
    why->cause = about->cause;
    snprintf(why->remedy, sizeof why->remedy, "%s", about->remedy);
    if (about->is_conversion)
        why->status = 400;
}

/* Whether the decimal sign is still unknown. */
static bool is_decimal_open(const body_request *request)
{
    return request->format == OIF_FORMAT_CSV && request->settings->decimal == OIF_DECIMAL_AUTO &&
           !request->shape->has_decimal_commas && !request->shape->has_decimal_points;
}

/* An open quote would extend into the next body, so the reader ends after such a body. It also ends
 * while it may know a decimal sign that the shape does not: the next body must not depend on
 * refused bodies. */
static bool may_reach_further(const body_request *request)
{
    return request->format == OIF_FORMAT_CSV &&
           ((request->shape->delimiter == ';' && is_decimal_open(request)) ||
            memchr(request->body.text, '"', request->body.bytes) != NULL);
}

/* ---- The input before the first body ---- */

/* {"net":{"in":null}} for the column net.in; in a name, \ escapes a dot and itself. */
static void write_path(const char *name)
{
    size_t levels = 1;
    char *part = malloc(strlen(name) + 1);
    size_t bytes = 0;
    output_write("{", 1);
    for (const char *at = name; part; at++) {
        bool is_dot = *at == '.', is_end = *at == '\0';
        if (!is_dot && !is_end) {
            at += *at == '\\' && at[1] != '\0';
            part[bytes++] = *at;
            continue;
        }
        quoting_write_json(part, bytes);
        bytes = 0;
        output_print(is_dot ? ":{" : ":null");
        levels += is_dot;
        if (is_end)
            break;
    }
    free(part);
    while (levels-- > 0)
        output_write("}", 1);
}

/* A row of CSV with that many fields. */
static void write_fields(size_t count, char delimiter)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            output_write(&delimiter, 1);
        output_write("0", 1);
    }
}

/* NULL: out of memory, or nothing is known. */
static char *make_prefix(const body_request *request, const char *header)
{
    const body_shape *shape = request->shape;
    size_t bytes;
    output_divert();
    if (request->format == OIF_FORMAT_NDJSON)
        write_path(oif_pipeline_column_name(request->known, 0));
    else if (header)
        output_print("%s", header);
    else
        write_fields(shape->fields, shape->delimiter);
    output_write(shape->has_crlf ? "\r\n" : "\n", shape->has_crlf ? 2 : 1);
    output_write("", 1);
    return output_diverted(&bytes);
}

/* The settings, plus what earlier bodies have shown. */
static run_settings settings_of(const body_request *request)
{
    const body_shape *shape = request->shape;
    run_settings settings = *request->settings;
    settings.files = NULL;
    settings.file_count = 0;
    settings.format = 1 + (int)request->format;
    if (request->format == OIF_FORMAT_CSV && shape->delimiter)
        settings.delimiter = shape->delimiter;
    if (request->format == OIF_FORMAT_CSV && shape->has_decimal_commas)
        settings.decimal = OIF_DECIMAL_COMMA;
    else if (request->format == OIF_FORMAT_CSV && shape->has_decimal_points)
        settings.decimal = OIF_DECIMAL_POINT;
    if (request->format == OIF_FORMAT_CSV && shape->fields > 0)
        settings.header = OIF_HEADER_NO;
    return settings;
}

/* ---- Opening ---- */

/* Many columns make a large model, whatever they contain. */
static exit_code check_count(const body_request *request, size_t count)
{
    if (request->max_columns == 0 || count <= request->max_columns)
        return EXIT_OK;
    problem_set(request->why, 413,
                "Leave columns out of the rows, or raise max-columns in the configuration.",
                "the rows have %zu columns or more; up to %zu are allowed", count,
                request->max_columns);
    return EXIT_FAILED;
}

/* A column that the stream has learned is missing. Others may be new, but some of them may just as
 * well have been there from the beginning, without being learned. */
static exit_code refuse_missing(const oif_reader *rows, const char *name,
                                const body_request *request)
{
    names_text here = {.count = 0};
    for (size_t i = 0; i < oif_reader_column_count(rows); i++)
        names_text_add(&here, oif_reader_column_name(rows, i));
    problem_set(request->why, 409, "Send the columns of the stream, or use another stream.",
                "body: there is no column '%s', which the stream has learned (there are %s)",
                cut_name(name).text, names_text_read(&here));
    request->why->cause = OIF_CAUSE_UNKNOWN_COLUMN;
    return EXIT_FAILED;
}

static exit_code check_known(const body_reader *reader, const body_request *request)
{
    const oif_reader *rows = reader->input.reader;
    if (reader->input.format != OIF_FORMAT_CSV || !oif_reader_has_header(rows))
        return EXIT_OK;
    for (size_t i = 0; i < oif_pipeline_columns(request->known); i++) {
        const char *name = oif_pipeline_column_name(request->known, i);
        size_t at = 0;
        while (name && at < oif_reader_column_count(rows) &&
               strcmp(oif_reader_column_name(rows, at), name) != 0)
            at++;
        if (name && at == oif_reader_column_count(rows))
            return refuse_missing(rows, name, request);
    }
    return EXIT_OK;
}

static exit_code check_columns(const body_reader *reader, const body_request *request)
{
    return check_count(request, oif_reader_column_count(reader->input.reader));
}

/* Counts the columns of the first rows of NDJSON, up to a row with more than allowed. Examining
 * these rows later searches for each column among all, which takes minutes if there are many. An
 * object is put before the rows, because a reader cannot start with a bad row. */
static size_t count_keys(const body_request *request)
{
    static const char object[] = "{\"a\":0}\n";
    const oif_text first = {object, sizeof object - 1};
    const file_start start = {.comment = request->settings->comment};
    const oif_reader_options options = {.format = OIF_FORMAT_NDJSON,
                                        .comment = request->settings->comment};
    byte_memory memory = {.pieces = {first, request->body}, .last = '\n'};
    byte_source source;
    oif_reader *reader = NULL;
    oif_record record;
    size_t count = 0;
    byte_source_open_memory(&source, body_name, &memory, &start);
    oif_status status = oif_reader_open(&options, byte_source_read, &source, &reader, NULL);
    if (status == OIF_OK)
        oif_reader_collect_columns(reader, OIF_JSON_FIRST_LINE_KEYS_MAX);
    for (int rows = 0; reader && rows < 2 * FIRST_ROWS_MAX && count <= request->max_columns + 1 &&
                       (status == OIF_OK || status == OIF_EINPUT);
         rows++) {
        status = oif_reader_next(reader, &record, NULL);
        count = oif_reader_column_count(reader);
    }
    oif_reader_close(reader);
    byte_source_close(&source);
    return count > 0 ? count - 1 : 0;
}

/* Complains about a JSON array, which would be read as CSV or line by line. Where bad rows are
 * skipped, it may be the rest of a row. */
static exit_code check_array(const body_request *request)
{
    const size_t blanks = blanks_of(request->body);
    const oif_text text = {request->body.text + blanks, request->body.bytes - blanks};
    const bool is_csv = request->format == OIF_FORMAT_CSV && !request->is_guessed,
               may_skip = request->known && request->settings->score.on_bad_row != BAD_ROW_FAILS;
    if (is_csv || may_skip || text.bytes == 0 || *text.text != '[')
        return EXIT_OK;
    return other_formats_check_json(body_name, text.text, text.bytes);
}

static exit_code open_reader(body_reader *reader, const body_request *request, bool is_known)
{
    run_settings settings = settings_of(request);
    exit_code code = input_open_memory(&reader->input, &settings, request->known, request->bad,
                                       body_name, &reader->memory);
    if (code != EXIT_OK)
        return code;
    if (check_columns(reader, request) != EXIT_OK ||
        (request->known && check_known(reader, request) != EXIT_OK)) {
        input_close(&reader->input);
        return EXIT_FAILED;
    }
    code = is_known ? input_choose_known_columns(&reader->input, &settings, request->known)
                    : input_choose_columns(&reader->input, &settings, LABEL_IGNORED, request->known,
                                           (first_rows_wait){NULL, NULL});
    reader->is_open = code == EXIT_OK;
    return code;
}

/* For a stream whose columns have no names: what matters is how many there are. */
static exit_code check_learned(const body_reader *reader, const body_request *request)
{
    const size_t count = reader->input.columns.count,
                 known = request->known ? oif_pipeline_columns(request->known) : count;
    if (count == known)
        return EXIT_OK;
    problem_set(request->why, 409, "Send rows with the same columns, or use another stream.",
                "the stream has learned %zu column%s, but the rows have %zu", known,
                known == 1 ? "" : "s", count);
    return EXIT_FAILED;
}

/* Opens the very first body, or one that must describe itself; a header may have come alone in an
 * earlier one. */
static exit_code open_first(body_reader *reader, const body_request *request)
{
    oif_text line;
    bool needs_header = request->format == OIF_FORMAT_CSV && request->shape->header &&
                        body_shape_judge(request->shape, request->settings->comment, request->body,
                                         &line) == START_IS_ROW;
    if (request->format == OIF_FORMAT_NDJSON && request->max_columns > 0 &&
        check_count(request, count_keys(request)) != EXIT_OK)
        return EXIT_FAILED;
    reader->memory = (byte_memory){.pieces = {request->body}, .last = '\n'};
    if (needs_header) {
        reader->prefix = make_prefix(request, request->shape->header);
        if (!reader->prefix)
            return complain(EXIT_FAILED, "out of memory");
        reader->memory.pieces[0] = (oif_text){reader->prefix, strlen(reader->prefix)};
        reader->memory.pieces[1] = request->body;
        reader->lines = 1;
    }
    exit_code code = open_reader(reader, request, false);
    if (code == EXIT_OK)
        code = check_columns(reader, request); /* of later rows of NDJSON */
    return code == EXIT_OK ? check_learned(reader, request) : code;
}

/* Skips the row that the reader was opened with; it is not a row of the stream. */
static exit_code skip_prefix(body_reader *reader)
{
    oif_record record;
    oif_error error;
    bool is_row =
        reader->input.format == OIF_FORMAT_NDJSON || !oif_reader_has_header(reader->input.reader);
    if (!is_row || oif_reader_next(reader->input.reader, &record, &error) == OIF_OK)
        return EXIT_OK;
    return complain_because(&(complaint_reason){.cause = error.cause}, EXIT_FAILED, "%s: %s",
                            body_name, error.message);
}

static exit_code open_known(body_reader *reader, const body_request *request, const char *header)
{
    reader->prefix = make_prefix(request, header ? header : request->shape->header);
    if (!reader->prefix)
        return complain(EXIT_FAILED, "out of memory");
    reader->lines = 1;
    for (const char *c = header ? header : request->shape->header; c && *c; c++)
        reader->lines += *c == '\n' && request->format == OIF_FORMAT_CSV;
    reader->memory =
        (byte_memory){.pieces = {{reader->prefix, strlen(reader->prefix)}, request->body},
                      .last = '\n',
                      .is_open = !may_reach_further(request)};
    body_request limited = *request;
    if (!header) /* the columns of the stream */
        limited.max_columns = 0;
    exit_code code = open_reader(reader, &limited, true);
    if (code == EXIT_OK && !body_shape_mark_undecided(request->shape, &reader->input.columns))
        code = complain(EXIT_FAILED, "out of memory");
    if (code == EXIT_OK)
        code = skip_prefix(reader);
    return code;
}

/* ---- Late keys ---- */

/* At most this many new keys are looked at, and noted. */
enum { NEW_KEYS_MAX = 64 };

/* Keys of NDJSON that are not known yet become columns of the reader, which are not learned. */
static void watch_keys(body_reader *reader, const body_request *request)
{
    const shape_names *known = &request->shape->left_out;
    oif_reader *rows = reader->input.reader;
    size_t column;
    bool has_names = !request->known || oif_pipeline_column_name(request->known, 0);
    if (reader->input.format == OIF_FORMAT_NDJSON && has_names && !request->settings->columns) {
        for (size_t i = 0; i < known->count; i++)
            (void)!oif_reader_find_column(rows, known->list[i], &column, NULL);
        oif_reader_collect_columns(rows, NEW_KEYS_MAX);
    }
    reader->columns = oif_reader_column_count(rows);
}

static bool is_new_key(const body_reader *reader, const char *name)
{
    const oif_reader *rows = reader->input.reader;
    for (size_t i = reader->columns; i < oif_reader_column_count(rows); i++)
        if (strcmp(oif_reader_column_name(rows, i), name) == 0)
            return true;
    return false;
}

void body_reader_note_late(body_reader *reader, const run_settings *settings,
                           const oif_record *record, body_shape *shape, names_text *late)
{
    const size_t count = oif_reader_column_count(reader->input.reader);
    first_rows look;
    if (count == reader->columns)
        return;
    bool is_seen = first_rows_look_at_record(&look, record);
    for (size_t i = 0; is_seen && i < look.column_count && late->count < NEW_KEYS_MAX; i++) {
        const char *name = oif_reader_column_name(look.reader, i);
        bool is_late = look.columns[i].numbers > 0 && is_new_key(reader, name) &&
                       !name_list_covers(settings->exclude, name, true);
        if (is_late && strlen(name) < NAMES_TEXT_BYTES && body_shape_leave_out(shape, name))
            names_text_add(late, name);
    }
    first_rows_close(&look);
    reader->columns = count;
}

/* ---- Many readers ---- */

static bool fits(const body_reader *reader, const body_request *request, const char *header)
{
    if (!reader->is_open || reader->input.format != request->format)
        return false;
    if (request->format == OIF_FORMAT_NDJSON)
        return true;
    return header ? reader->header && strcmp(reader->header, header) == 0 : !reader->header;
}

static body_reader *least_used(body_reader *readers, size_t count)
{
    body_reader *least = readers;
    for (size_t i = 0; i < count; i++)
        if (!readers[i].is_open || readers[i].used < least->used)
            least = &readers[i];
    return least;
}

static uint64_t latest_use(const body_reader *readers, size_t count)
{
    uint64_t latest = 0;
    for (size_t i = 0; i < count; i++)
        latest = readers[i].used > latest ? readers[i].used : latest;
    return latest;
}

static void feed(body_reader *reader, const body_request *request)
{
    reader->lines += reader->body_lines;
    reader->is_at_end = false;
    reader->memory = (byte_memory){
        .pieces = {request->body}, .last = '\n', .is_open = !may_reach_further(request)};
}

/* A stream that began as NDJSON has no CSV shape; a CSV body must then describe itself. */
static bool has_shape(const body_request *request)
{
    if (request->format == OIF_FORMAT_NDJSON)
        return oif_pipeline_column_name(request->known, 0) != NULL;
    return request->shape->header || request->shape->fields > 0;
}

static body_reader *open_one(body_reader *reader, const body_request *request, char *header)
{
    body_reader_close(reader);
    reader->header = header;
    exit_code code = !request->known || !(header || has_shape(request))
                         ? open_first(reader, request)
                         : open_known(reader, request, header);
    if (code == EXIT_OK) {
        watch_keys(reader, request);
        return reader;
    }
    body_reader_close(reader);
    return NULL;
}

/* Finds a header line that differs from that of the shape; the caller frees it. NULL: it does
 * not. */
static bool find_other_header(const body_request *request, char **header)
{
    oif_text line;
    *header = NULL;
    if (!request->known || request->format != OIF_FORMAT_CSV || !request->shape->header ||
        body_shape_judge(request->shape, request->settings->comment, request->body, &line) !=
            START_IS_OTHER_TEXT)
        return true;
    *header = strndup(line.text, line.bytes);
    return *header != NULL;
}

body_reader *body_readers_begin(body_reader *readers, size_t count, const body_request *request)
{
    char *header;
    body_reader *reader = NULL;
    if (check_array(request) != EXIT_OK)
        return NULL;
    if (!find_other_header(request, &header)) {
        complain(EXIT_FAILED, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count && !reader && request->known; i++)
        if (fits(&readers[i], request, header))
            reader = &readers[i];
    uint64_t now = latest_use(readers, count) + 1;
    if (reader) {
        free(header);
        feed(reader, request);
    } else {
        reader = open_one(least_used(readers, count), request, header);
    }
    if (!reader)
        return NULL;
    reader->used = now;
    reader->input.source.byte_order_mark_bytes = request->has_mark ? 3 : 0;
    reader->body_lines = count_lines(request->body);
    return reader;
}

exit_code body_reader_start(body_reader *reader, oif_pipeline *pipeline,
                            const run_settings *settings)
{
    if (reader->is_started)
        return EXIT_OK;
    reader->is_started = true;
    exit_code code = result_fields_open(&reader->fields, settings);
    if (reader->fields.top == 0) /* for alerts, whatever is added to rows */
        reader->fields.top = REASONS_MAX;
    reader->fields.follows_episodes = true;
    if (code == EXIT_OK)
        code = result_fields_start(&reader->fields, pipeline, &reader->input.columns);
    if (code == EXIT_OK)
        code = row_writer_start(&reader->writer, &reader->input, &settings->score);
    return code;
}

void body_reader_close(body_reader *reader)
{
    if (reader->is_started) {
        row_writer_close(&reader->writer);
        result_fields_close(&reader->fields);
    }
    if (reader->is_open)
        input_close(&reader->input);
    free(reader->prefix);
    free(reader->header);
    *reader = (body_reader){.is_open = false};
}

/* ---- Rows ---- */

oif_status body_reader_next(body_reader *reader, on_bad_row policy, bad_rows *bad,
                            oif_record *record, oif_error *error)
{
    oif_status status = row_source_next(&reader->input, policy, bad, record, error);
    if (status == OIF_OK)
        return status;
    reader->is_at_end = status == OIF_EREAD && reader->memory.piece == 2;
    if (reader->is_at_end)
        return OIF_END; /* until the next body */
    error->line -= error->line > reader->lines ? reader->lines : 0;
    return status;
}

bool body_reader_seeks_decimal(const body_reader *reader, const body_request *request)
{
    return is_decimal_open(request) && oif_reader_delimiter(reader->input.reader) == ';';
}

void body_reader_end(body_reader *reader)
{
    if (!reader->is_at_end)
        body_reader_close(reader);
    else
        reader->memory.pieces[0] = reader->memory.pieces[1] = (oif_text){NULL, 0};
}
