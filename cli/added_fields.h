/* The names of the fields that `oif score` adds to rows, and how they are found again in rows that
 * another oif has written: what one detector says about a row is not a measurement for the
 * next. */
#ifndef OIF_CLI_ADDED_FIELDS_H
#define OIF_CLI_ADDED_FIELDS_H

#include "known_columns.h"

enum { FIELDS_MAX = 15 };
extern const char *const added_field_names[FIELDS_MAX];

/* The field of this name; FIELDS_MAX: there is none. */
int added_field_find(const char *name, size_t name_bytes);

/* Takes the columns that another oif has added out of those that are used, with a note:
 *
 *     CSV      the last columns of the header: score,p,anomaly or first_score,first_p,...
 *     NDJSON   a member of the object with such fields only: {"oif":{"score":0.5,...}}
 *
 * One name alone proves nothing, so it is left as it is; so is what a state has learned from. */
void added_fields_leave_out(const column_source *from, column_use uses[]);

#endif
