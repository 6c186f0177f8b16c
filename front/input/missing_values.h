/* The values that --missing names: -200 in all columns, or no2=-200 in those of a name or
 * pattern. */
#ifndef OIF_FRONT_MISSING_VALUES_H
#define OIF_FRONT_MISSING_VALUES_H

#include "oif_rows.h"

/* Gives a reader the values of a list such as -200,unknown,"no2=-999"; NULL: none. An item with =
 * is for the columns before it, if there are any; otherwise it is a value. Names may be paths. */
oif_status missing_values_set(oif_reader *reader, const char *list, bool has_paths,
                              oif_error *error);

/* Whether a list names a text of a column. */
bool missing_values_have(const char *list, const char *column, oif_text text, bool has_paths);

#endif
