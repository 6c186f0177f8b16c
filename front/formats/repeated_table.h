/* A table between blanks whose header comes again and again, as programs that watch a machine print
 * it. It becomes CSV with one header. */
#ifndef OIF_FRONT_REPEATED_TABLE_H
#define OIF_FRONT_REPEATED_TABLE_H

#include "translator.h"

enum { TABLE_COLUMNS_MAX = 256, TABLE_HEADER_BYTES = 4096 };

/* All zero: no header was read yet. */
typedef struct repeated_table {
    char header[TABLE_HEADER_BYTES]; /* its words, joined by blanks */
    size_t header_bytes, columns;
    bool is_first; /* the header was the first one */
    bool is_other; /* the lines below the last header are of another table */
} repeated_table;

/* Remembers the first header, and compares a later one with it. Returns false, and the run has
 * failed, if it is too long. */
bool table_take_header(repeated_table *table, translator *by, const oif_text *words, size_t count);

/* Whether the first header has this column. */
bool table_has_column(const repeated_table *table, const char *name);

/* The cells of a row; decimal commas become points. */
void table_print_cells(const oif_text *words, size_t count);

#endif
