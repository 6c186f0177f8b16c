/* The fields of a row one by one, for output formats that differ from the input's. */
#ifndef OIF_FRONT_ROW_CELLS_H
#define OIF_FRONT_ROW_CELLS_H

#include "front/columns/input.h"

typedef enum cell_kind {
    CELL_MISSING,
    CELL_NUMBER, /* it was learned */
    CELL_TEXT
} cell_kind;

typedef struct row_cell {
    cell_kind kind;
    double number; /* of CELL_NUMBER */
    oif_text text; /* as it came */
} row_cell;

typedef struct row_cells {
    const run_input *input;
    size_t *value_of; /* which of a record's values a column is */
    size_t count;     /* of the columns that it was made for */
} row_cells;

/* Prints what is wrong unless it returns EXIT_OK. To be closed in any case. */
exit_code row_cells_open(row_cells *cells, const run_input *input);
void row_cells_close(row_cells *cells);

/* The field of a column. Texts of all columns have to be selected. */
row_cell row_cells_get(const row_cells *cells, const oif_record *record, size_t column);

#endif
