/* Columns that a pipeline does not know yet, and learns from now on: --new-columns N. They are new
 * in a file after the state was made, or keys that a later line of NDJSON brings. */
#ifndef OIF_FRONT_NEW_COLUMNS_H
#define OIF_FRONT_NEW_COLUMNS_H

#include "columns.h"

/* How many columns may still be added to this number of them. */
size_t new_columns_room(const cli_settings *settings, size_t count);

/* Marks columns of the input that the known pipeline does not have as new, as far as there is room
 * and they have numbers worth learning, and reports them. */
void new_columns_mark(cli_columns *columns, const cli_settings *settings);

/* Appends columns of the reader, which it has got since, to those that are learned, from its next
 * row on. Prints what is wrong unless it returns EXIT_OK. */
exit_code new_columns_append(cli_columns *columns, const size_t added[], size_t count);

/* Adds the columns that a pipeline lacks: their names, and what the settings derive from them.
 * Prints what is wrong unless it returns EXIT_OK. */
exit_code new_columns_grow(oif_pipeline *pipeline, const cli_settings *settings,
                           const cli_columns *columns);

#endif
