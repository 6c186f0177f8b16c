/* The columns that a state has learned from, found again in the input by their names. A model
 * that gets one column in place of another is wrong and no one notices; so input that does not
 * match is refused.
 *
 * Columns in another order are sorted into the state's order. The lines of NDJSON may lack keys
 * and have others, so there the state's columns are taken, as if the stream had not been
 * interrupted. Rows without names, such as those that `tail` gives without their header, are
 * assumed to have the same columns. */
#ifndef OIF_CLI_KNOWN_COLUMNS_H
#define OIF_CLI_KNOWN_COLUMNS_H

#include "options.h"

/* Where columns come from, and the pipeline whose columns they have to be. */
typedef struct column_source {
    oif_reader *reader;
    oif_format format;
    const char *name; /* of the input, for messages */
    uint64_t header_line;
    const oif_pipeline *known; /* NULL: nothing was learned before */
    const char *known_path;    /* the state file that it was loaded from */
} column_source;

/* Whether the input's columns have names of their own, not x0, x1, ... */
bool column_source_has_names(const column_source *from);

/* Whether there are names on both sides. */
bool known_columns_have_names(const column_source *from);

/* NDJSON: adds columns for names that the first line lacks; prints what is wrong if it has none
 * of them. */
exit_code known_columns_find(const column_source *from);

/* NDJSON: chooses the known columns. */
void known_columns_mark(const column_source *from, bool used[]);

/* Puts the learned columns in the order of the known ones, or prints which differ, or which
 * option removes one. */
exit_code known_columns_sort(const column_source *from, const cli_settings *settings,
                             size_t learned[], size_t count);

#endif
