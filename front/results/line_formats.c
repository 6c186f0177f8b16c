#include "line_formats.h"

#include "front/formats/influx.h"
#include "front/text/quoting.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A field that is added: its name and its value, with `count_end` after a count. */
static void write_field(int field, const field_value *value, const char *count_end,
                        bool (*write_string)(const char *, size_t))
{
    output_text(added_field_names[field]);
    output_text("=");
    switch (value->kind) {
    case VALUE_ABSENT: break;
    case VALUE_NUMBER: output_number(value->number); break;
    case VALUE_COUNT: output_print("%" PRIu64 "%s", value->count, count_end); break;
    case VALUE_TRUTH: output_text(value->truth ? "true" : "false"); break;
    case VALUE_TEXT: write_string(value->text, strlen(value->text)); break;
    }
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
        output_text(*separator);
        *separator = " ";
        write_field(fields->chosen[i], &value, "", quoting_write_logfmt);
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
        output_text(separator);
        separator = " ";
        quoting_write_logfmt_name(oif_reader_column_name(reader, i));
        output_text("=");
        if (cell.text.bytes > 0)
            quoting_write_logfmt(cell.text.text, cell.text.bytes);
        else
            output_number(cell.number);
    }
    write_logfmt_added(verdict, &separator);
    return output_text("\n");
}

/* ---- Influx ---- */

/* What may come before the next field: the start of the line is written with the first one. */
typedef struct influx_line {
    const row_cells *cells;
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
    output_text(",");
    write_influx_name(name, ",= ");
    output_text("=");
    quoting_write_influx(value.text, value.bytes, ",= ");
}

static void write_series(const influx_line *line)
{
    const input_columns *columns = &line->cells->input->columns;
    output_text("oif");
    for (size_t i = 0; i < columns->key.count; i++)
        write_tag(oif_reader_column_name(line->cells->input->reader, columns->key.columns[i]),
                  line->record->texts[columns->key.texts[i]]);
}

static void begin_field(influx_line *line)
{
    if (!line->has_fields)
        write_series(line);
    output_text(line->has_fields ? "," : " ");
    line->has_fields = true;
}

static bool is_field(const input_columns *columns, size_t column)
{
    return !(key_columns_have(&columns->key, column)) &&
           !(columns->has_time && columns->time_text == column) &&
           !(columns->has_clock && columns->clock_text == column);
}

static void write_columns(influx_line *line)
{
    const run_input *input = line->cells->input;
    for (size_t i = 0; i < line->cells->count; i++) {
        row_cell cell = row_cells_get(line->cells, line->record, i);
        const char *name = oif_reader_column_name(input->reader, i);
        if (!is_field(&input->columns, i) || cell.kind == CELL_MISSING ||
            (cell.kind == CELL_NUMBER && !isfinite(cell.number)))
            continue;
        begin_field(line);
        write_influx_name(name, ",= ");
        output_text("=");
        if (cell.kind == CELL_NUMBER)
            output_number(cell.number);
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
        write_field(fields->chosen[i], &value, "i", quoting_write_influx_string);
    }
}

/* A row that was a line of Influx is the same line with fields added. */
static bool extend_line(influx_line *line, const row_verdict *verdict)
{
    oif_text time;
    influx_print_line((oif_text){line->record->text, line->record->text_bytes}, &time);
    line->has_fields = true;
    write_added(line, verdict);
    output_text(time.bytes > 0 ? " " : "");
    return output_write(time.text, time.bytes) && output_text("\n");
}

bool influx_write(const row_cells *cells, const oif_record *record, const row_verdict *verdict)
{
    influx_line line = {.cells = cells, .record = record};
    const translator *by = cells->input->translator;
    if (by && by->format == &format_influx)
        return extend_line(&line, verdict);
    write_columns(&line);
    write_added(&line, verdict);
    if (!line.has_fields)
        return output_is_open();
    /* A time is known to the microsecond; more digits would be an accident of doubles. */
    if (fabs(verdict->seconds) < 9e9)
        output_print(" %.0f000", round(verdict->seconds * 1e6));
    return output_text("\n");
}
