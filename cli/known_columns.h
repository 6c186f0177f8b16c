/* The columns that a state has learned from, found again in the input by their names. A model
 * that is given one column for another is wrong and nobody sees it; so what cannot be matched
 * is refused.
 *
 * Columns in another order are put in the state's. The lines of NDJSON may lack keys and have
 * others, so there the state's columns are taken, as if the stream had not been interrupted.
 * Rows without names, such as those that `tail` gives without their header, are believed to be
 * the same ones. */
#ifndef OIF_CLI_KNOWN_COLUMNS_H
#define OIF_CLI_KNOWN_COLUMNS_H

#include "input.h"

/* Whether there are names on both sides. */
bool known_columns_have_names(const struct input *input);

/* NDJSON: makes columns of names that the first line lacks; prints what is wrong if it has none
 * of them. */
exit_code known_columns_find(const struct input *input);

/* NDJSON: chooses the known columns. */
void known_columns_mark(const struct input *input, bool used[]);

/* Puts the features in the order of the known columns, or prints which are others, or which
 * option takes one away. */
exit_code known_columns_sort(struct input *input, const struct settings *settings);

#endif
