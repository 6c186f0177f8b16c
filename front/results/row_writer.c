#include "row_writer.h"

#include "front/text/quoting.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

exit_code row_writer_start(row_writer *writer, const run_input *input,
                           const score_settings *settings)
{
    *writer = (row_writer){.input = input,
                           .format = output_format_for(settings->output, input->format),
                           .delimiter = oif_reader_delimiter(input->reader)};
    if (writer->delimiter == '\0')
        writer->delimiter = ',';
    return row_cells_open(&writer->cells, input);
}

void row_writer_close(row_writer *writer)
{
    row_cells_close(&writer->cells);
}

static bool write_line_end(const row_writer *writer, const oif_record *record)
{
    if (record && record->end_bytes > 0)
        return output_write(record->text + record->text_bytes, record->end_bytes);
    return output_write(writer->input->source.line_end, strlen(writer->input->source.line_end));
}

/* ---- Fields of a row in another format ---- */

static bool write_csv_cell(const row_writer *writer, const oif_record *record, size_t column)
{
    return quoting_write_csv(record->texts[column].text, record->texts[column].bytes,
                             writer->delimiter);
}

/* 1.234 is 1234 where the comma is the decimal sign. */
static bool has_grouping_point(const row_writer *writer, oif_text text)
{
    return oif_reader_has_decimal_commas(writer->input->reader) &&
           memchr(text.text, '.', text.bytes) != NULL;
}

static bool write_json_cell(const row_writer *writer, const oif_record *record, size_t column)
{
    row_cell cell = row_cells_get(&writer->cells, record, column);
    if (cell.kind == CELL_MISSING || (cell.kind == CELL_NUMBER && !isfinite(cell.number)))
        return output_text("null");
    if (quoting_is_json_number(cell.text.text, cell.text.bytes) &&
        !has_grouping_point(writer, cell.text))
        return output_write(cell.text.text, cell.text.bytes);
    return cell.kind == CELL_NUMBER ? output_number(cell.number)
                                    : quoting_write_json(cell.text.text, cell.text.bytes);
}

/* ---- CSV ---- */

static bool write_new_header(const row_writer *writer)
{
    for (size_t i = 0; i < writer->cells.count; i++) {
        const char *name = oif_reader_column_name(writer->input->reader, i);
        if (i > 0)
            output_write(&writer->delimiter, 1);
        quoting_write_csv(name, strlen(name), writer->delimiter);
    }
    return output_is_open();
}

static bool write_csv_header(const row_writer *writer, const result_fields *fields)
{
    const run_input *input = writer->input;
    size_t header_bytes;
    const char *header = oif_reader_header_text(input->reader, &header_bytes);
    if (input->source.byte_order_mark_bytes == 3 &&
        !output_write("\xEF\xBB\xBF", 3)) /* in JSON it would be an error */
        return false;
    if (input->format != OIF_FORMAT_CSV)
        return write_new_header(writer) && result_fields_write_names(fields, writer->delimiter) &&
               write_line_end(writer, NULL);
    return !oif_reader_has_header(input->reader) ||
           (output_write(header, header_bytes) &&
            result_fields_write_names(fields, writer->delimiter) && write_line_end(writer, NULL));
}

static bool write_csv(const row_writer *writer, const oif_record *record,
                      const row_verdict *verdict)
{
    if (writer->input->format == OIF_FORMAT_CSV) {
        output_write(record->text, record->text_bytes);
    } else {
        for (size_t i = 0; i < writer->cells.count; i++) {
            if (i > 0)
                output_write(&writer->delimiter, 1);
            write_csv_cell(writer, record, i);
        }
    }
    /* numbers are written as in the rest of the row, so a program reads both */
    const char decimal = input_has_decimal_commas(writer->input, record) ? ',' : '.';
    return result_fields_write_csv(verdict, writer->delimiter, decimal) &&
           write_line_end(writer, record);
}

/* ---- NDJSON ---- */

/* Inserts the fields before the closing brace; everything else stays byte for byte. */
static bool extend_object(const oif_record *record, const row_verdict *verdict)
{
    const char *text = record->text, *end = text + record->text_bytes, *brace = end - 1, *last;
    while (*brace != '}')
        brace--;
    last = brace - 1;
    while (strchr(" \t\r", *last))
        last--;
    return output_write(text, (size_t)(brace - text)) && (*last == '{' || output_write(",", 1)) &&
           result_fields_write_json(verdict) && output_write(brace, (size_t)(end - brace));
}

/* The object without its closing brace. */
static bool write_members(const row_writer *writer, const oif_record *record)
{
    for (size_t i = 0; i < writer->cells.count; i++) {
        const char *name = oif_reader_column_name(writer->input->reader, i);
        output_write(i > 0 ? "," : "{", 1);
        quoting_write_json(name, strlen(name));
        output_write(":", 1);
        write_json_cell(writer, record, i);
    }
    return output_is_open();
}

static bool write_ndjson(const row_writer *writer, const oif_record *record,
                         const row_verdict *verdict)
{
    bool is_written = writer->input->format == OIF_FORMAT_NDJSON
                          ? extend_object(record, verdict)
                          : write_members(writer, record) && output_text(",") &&
                                result_fields_write_json(verdict) && output_text("}");
    return is_written && write_line_end(writer, record);
}

bool row_writer_object(const row_writer *writer, const oif_record *record)
{
    if (writer->input->format == OIF_FORMAT_NDJSON)
        return output_write(record->text, record->text_bytes);
    return write_members(writer, record) && output_write("}", 1);
}

/* ---- logfmt ---- */

/* A field that is added: its name and its value. */
static void write_logfmt_field(int field, const field_value *value)
{
    output_text(added_field_names[field]);
    output_text("=");
    switch (value->kind) {
    case VALUE_ABSENT: break;
    case VALUE_NUMBER: output_number(value->number); break;
    case VALUE_COUNT: output_print("%" PRIu64, value->count); break;
    case VALUE_TRUTH: output_text(value->truth ? "true" : "false"); break;
    case VALUE_TEXT: quoting_write_logfmt(value->text, strlen(value->text)); break;
    }
}

static void write_logfmt_added(const row_verdict *verdict, const char **separator)
{
    const result_fields *fields = verdict->fields;
    for (size_t i = 0; i < fields->count; i++) {
        field_value value;
        result_fields_value(verdict, fields->chosen[i], &value);
        if (value.kind == VALUE_ABSENT)
            continue;
        output_text(*separator);
        *separator = " ";
        write_logfmt_field(fields->chosen[i], &value);
    }
}

/* host=web-1 load=0.5 note="two words" score=0.71 anomaly=true: what is missing is left out. */
static bool write_logfmt(const row_writer *writer, const oif_record *record,
                         const row_verdict *verdict)
{
    const char *separator = "";
    for (size_t i = 0; i < writer->cells.count; i++) {
        row_cell cell = row_cells_get(&writer->cells, record, i);
        if (cell.kind == CELL_MISSING)
            continue;
        output_text(separator);
        separator = " ";
        quoting_write_logfmt_name(oif_reader_column_name(writer->input->reader, i));
        output_text("=");
        if (cell.text.bytes > 0)
            quoting_write_logfmt(cell.text.text, cell.text.bytes);
        else
            output_number(cell.number);
    }
    write_logfmt_added(verdict, &separator);
    return output_text("\n");
}

/* ---- All formats ---- */

static const struct row_format {
    bool (*write_row)(const row_writer *writer, const oif_record *record,
                      const row_verdict *verdict);
    bool (*write_header)(const row_writer *writer, const result_fields *fields); /* NULL: none */
} formats[] = {[OUTPUT_CSV] = {write_csv, write_csv_header},
               [OUTPUT_NDJSON] = {write_ndjson, NULL},
               [OUTPUT_LOGFMT] = {write_logfmt, NULL}};

bool row_writer_has_header(const row_writer *writer)
{
    return formats[writer->format].write_header != NULL;
}

bool row_writer_header(const row_writer *writer, const result_fields *fields)
{
    return !row_writer_has_header(writer) || formats[writer->format].write_header(writer, fields);
}

bool row_writer_row(const row_writer *writer, const oif_record *record, const row_verdict *verdict)
{
    return formats[writer->format].write_row(writer, record, verdict);
}
