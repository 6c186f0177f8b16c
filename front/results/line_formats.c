#include "line_formats.h"

#include "front/text/quoting.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool write_text(const char *text)
{
    return output_write(text, strlen(text));
}

static bool write_number(double number)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    return output_write(text, oif_number_format(number, text));
}

/* ---- logfmt ---- */

static void write_logfmt_added(const row_verdict *verdict, const char **separator)
{
    const result_fields *fields = verdict->fields;
    for (size_t i = 0; i < fields->count; i++) {
        field_value value;
        result_fields_value(verdict, fields->chosen[i], &value);
        if (value.kind == VALUE_ABSENT)
            continue;
        write_text(*separator);
        *separator = " ";
        result_fields_write_name(fields, fields->chosen[i]);
        write_text("=");
        switch (value.kind) {
        case VALUE_ABSENT: break;
        case VALUE_NUMBER: write_number(value.number); break;
        case VALUE_COUNT: output_print("%" PRIu64, value.count); break;
        case VALUE_TRUTH: write_text(value.truth ? "true" : "false"); break;
        case VALUE_TEXT: quoting_write_logfmt(value.text, strlen(value.text)); break;
        }
    }
}

bool logfmt_write(const row_cells *cells, const oif_record *record, const row_verdict *verdict)
{
    const oif_reader *reader = cells->input->reader;
    const char *separator = "";
    for (size_t i = 0; i < cells->count; i++) {
        row_cell cell = row_cells_get(cells, record, i);
        if (cell.kind == CELL_MISSING)
            continue;
        write_text(separator);
        separator = " ";
        quoting_write_logfmt_name(oif_reader_column_name(reader, i));
        write_text("=");
        if (cell.text.bytes > 0)
            quoting_write_logfmt(cell.text.text, cell.text.bytes);
        else
            write_number(cell.number);
    }
    write_logfmt_added(verdict, &separator);
    return write_text("\n");
}

/* ---- Influx ---- */

/* What may come before the next field: the start of the line is written with the first one. */
typedef struct influx_line {
    const row_cells *cells;
    const char *measurement;
    const oif_record *record;
    bool has_fields;
} influx_line;

/* Without backslashes at the end: they would escape what follows, and cannot be escaped. */
static size_t bytes_of_text(const char *text, size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] == '\\')
        bytes--;
    return bytes;
}

static void write_influx_name(const char *name, const char *special)
{
    size_t bytes = bytes_of_text(name, strlen(name));
    quoting_write_influx(bytes > 0 ? name : "_", bytes > 0 ? bytes : 1, special);
}

/* A part of the key. */
static void write_tag(const char *name, oif_text value)
{
    value.bytes = bytes_of_text(value.text, value.bytes);
    if (value.bytes == 0)
        return;
    write_text(",");
    write_influx_name(name, ",= ");
    write_text("=");
    quoting_write_influx(value.text, value.bytes, ",= ");
}

static void write_series(const influx_line *line)
{
    const cli_columns *columns = &line->cells->input->columns;
    write_influx_name(line->measurement, ", ");
    for (size_t i = 0; i < columns->key.count; i++)
        write_tag(oif_reader_column_name(line->cells->input->reader, columns->key.columns[i]),
                  line->record->texts[columns->key.texts[i]]);
}

static void begin_field(influx_line *line)
{
    if (!line->has_fields)
        write_series(line);
    write_text(line->has_fields ? "," : " ");
    line->has_fields = true;
}

static bool is_field(const cli_columns *columns, size_t column)
{
    return !(key_columns_have(&columns->key, column)) &&
           !(columns->has_time && columns->time_text == column);
}

static void write_columns(influx_line *line)
{
    const cli_input *input = line->cells->input;
    for (size_t i = 0; i < line->cells->count; i++) {
        row_cell cell = row_cells_get(line->cells, line->record, i);
        const char *name = oif_reader_column_name(input->reader, i);
        if (!is_field(&input->columns, i) || cell.kind == CELL_MISSING ||
            (cell.kind == CELL_NUMBER && !isfinite(cell.number)))
            continue;
        begin_field(line);
        write_influx_name(name, ",= ");
        write_text("=");
        if (cell.kind == CELL_NUMBER)
            write_number(cell.number);
        else
            quoting_write_influx_string(cell.text.text, cell.text.bytes);
    }
}

static void write_added(influx_line *line, const row_verdict *verdict)
{
    const result_fields *fields = verdict->fields;
    for (size_t i = 0; i < fields->count; i++) {
        field_value value;
        result_fields_value(verdict, fields->chosen[i], &value);
        if (value.kind == VALUE_ABSENT)
            continue;
        begin_field(line);
        result_fields_write_name(fields, fields->chosen[i]);
        write_text("=");
        switch (value.kind) {
        case VALUE_ABSENT: break;
        case VALUE_NUMBER: write_number(value.number); break;
        case VALUE_COUNT: output_print("%" PRIu64 "i", value.count); break;
        case VALUE_TRUTH: write_text(value.truth ? "true" : "false"); break;
        case VALUE_TEXT: quoting_write_influx_string(value.text, strlen(value.text)); break;
        }
    }
}

bool influx_write(const row_cells *cells, const char *measurement, const oif_record *record,
                  const row_verdict *verdict)
{
    influx_line line = {.cells = cells, .measurement = measurement, .record = record};
    write_columns(&line);
    write_added(&line, verdict);
    if (!line.has_fields)
        return output_is_open();
    /* A time is known to the microsecond; more digits would be an accident of doubles. */
    if (fabs(verdict->seconds) < 9e9)
        output_print(" %.0f000", round(verdict->seconds * 1e6));
    return write_text("\n");
}
