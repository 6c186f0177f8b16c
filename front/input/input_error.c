#include "input_error.h"

#include <inttypes.h>

const char *input_error_text(const char *name, const oif_error *error,
                             char text[INPUT_ERROR_TEXT_BYTES])
{
    char position[48] = "";
    if (error->column > 0)
        snprintf(position, sizeof position, "%" PRIu64 ":%" PRIu64 ": ", error->line,
                 error->column);
    else if (error->line > 0)
        snprintf(position, sizeof position, "%" PRIu64 ": ", error->line);
    snprintf(text, INPUT_ERROR_TEXT_BYTES, "%s:%s%s%s", name, *position ? "" : " ", position,
             error->message);
    return text;
}

static bool is_delimiter(char byte, char delimiter)
{
    return byte == delimiter || (delimiter == ' ' && byte == '\t');
}

static size_t past_run(const oif_record *record, size_t at)
{
    while (at < record->text_bytes && is_delimiter(record->text[at], ' '))
        at++;
    return at;
}

/* Where a field starts in a record's text. Inside quotes a delimiter is text, and a doubled
 * quote closes and opens them again. */
static size_t field_start(const oif_record *record, char delimiter, size_t field)
{
    bool quoted = false;
    size_t at = delimiter == ' ' ? past_run(record, 0) : 0;
    for (; field > 0 && at < record->text_bytes; at++) {
        if (record->text[at] == '"')
            quoted = !quoted;
        else if (is_delimiter(record->text[at], delimiter) && !quoted) {
            field--;
            if (delimiter == ' ')
                at = past_run(record, at) - 1;
        }
    }
    return at;
}

void input_error_place(const oif_reader *reader, const oif_record *record, size_t column,
                       oif_error *error)
{
    char delimiter = oif_reader_delimiter(reader);
    size_t start = delimiter ? field_start(record, delimiter, column) : 0;
    error->line = record->line;
    error->column = 1;
    for (size_t i = 0; i < start; i++) {
        bool line_ends = record->text[i] == '\n'; /* inside quotes */
        error->line += line_ends;
        error->column = line_ends ? 1 : error->column + 1;
    }
}

const complaint_reason unknown_column = {.cause = OIF_CAUSE_UNKNOWN_COLUMN};

static exit_code complain_at(const complaint_reason *reason, const char *name,
                             const oif_reader *reader, const oif_record *record, size_t column,
                             const char *message)
{
    char text[INPUT_ERROR_TEXT_BYTES];
    oif_error error = {.status = OIF_EINPUT};
    input_error_place(reader, record, column, &error);
    return complain_because(reason, EXIT_FAILED, "%s%s", input_error_text(name, &error, text),
                            message);
}

exit_code input_error_in_field(const char *name, const oif_reader *reader, const oif_record *record,
                               size_t column, const char *message)
{
    return complain_at(&(complaint_reason){.cause = OIF_CAUSE_NONE}, name, reader, record, column,
                       message);
}

exit_code input_error_in_header(const complaint_reason *reason, const char *name,
                                const oif_reader *reader, uint64_t header_line, size_t column,
                                const char *message)
{
    oif_record header = {.line = header_line};
    header.text = oif_reader_header_text(reader, &header.text_bytes);
    return complain_at(reason, name, reader, &header, column, message);
}
