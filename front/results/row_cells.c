#include "row_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOT_A_VALUE SIZE_MAX

exit_code row_cells_open(row_cells *cells, const run_input *input)
{
    const input_columns *columns = &input->columns;
    size_t count = oif_reader_column_count(input->reader);
    *cells = (row_cells){.input = input, .value_of = malloc(count * sizeof *cells->value_of)};
    if (!cells->value_of)
        return complain(EXIT_FAILED, "out of memory");
    cells->count = count;
    for (size_t i = 0; i < count; i++)
        cells->value_of[i] = NOT_A_VALUE;
    for (size_t i = 0, value = 0; i < columns->count; i++)
        if (!categories_contain(&columns->categories, i))
            cells->value_of[columns->learned[i]] = value++;
    return EXIT_OK;
}

void row_cells_close(row_cells *cells)
{
    free(cells->value_of);
}

static bool is_null(const row_cells *cells, const oif_record *record, oif_text text)
{
    return text.bytes == 0 ||
           (cells->input->format == OIF_FORMAT_NDJSON && text_is_json_null(record, &text));
}

row_cell row_cells_get(const row_cells *cells, const oif_record *record, size_t column)
{
    size_t position = column < cells->count ? cells->value_of[column] : NOT_A_VALUE;
    oif_text text = record->texts[column];
    double number = position == NOT_A_VALUE ? NAN : record->values[position];
    if (is_null(cells, record, text) || (position != NOT_A_VALUE && isnan(number)))
        return (row_cell){CELL_MISSING, NAN, text};
    return (row_cell){position == NOT_A_VALUE ? CELL_TEXT : CELL_NUMBER, number, text};
}
