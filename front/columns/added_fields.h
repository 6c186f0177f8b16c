/* The names of the fields that `oif score` adds to rows, and how to recognise them in rows that
 * another oif has written: what one detector says about a row is not a measurement for the
 * next. */
#ifndef OIF_FRONT_ADDED_FIELDS_H
#define OIF_FRONT_ADDED_FIELDS_H

#include "known_columns.h"

/* Positions in added_field_names. */
typedef enum result_field {
    FIELD_SCORE,
    FIELD_SEVERITY,
    FIELD_THRESHOLD,
    FIELD_ANOMALY,
    FIELD_GRADE,
    FIELD_READY,
    FIELD_EPISODE,
    FIELD_EPISODE_ID,
    FIELD_WHY,
    FIELD_EXPECTED, /* of the first reason's column */
    FIELDS_MAX
} result_field;

extern const char *const added_field_names[FIELDS_MAX];

/* The field of this name; FIELDS_MAX: there is none. */
int added_field_find(const char *name, size_t name_bytes);

/* Leaves out the columns that another oif has added, with a note:
 *
 *     CSV      the last columns of the header: score,severity,anomaly
 *     NDJSON   a member of the object with such fields only: {"oif":{"score":0.5,...}}
 *
 * A single name proves nothing, so it is kept, and so are columns that a state has learned
 * from. */
void added_fields_leave_out(const column_source *from, column_use uses[]);

#endif
