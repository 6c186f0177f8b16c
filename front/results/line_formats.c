#include "line_formats.h"

#include "front/text/quoting.h"

#include <inttypes.h>
#include <string.h>

/* A field that is added: its name and its value. */
static void write_field(int field, const field_value *value)
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
        write_field(fields->chosen[i], &value);
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
