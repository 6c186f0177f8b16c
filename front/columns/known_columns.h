/* The columns that a state has learned from, found again in the input by their names. A model
 * that is fed one column in place of another is wrong without a symptom, so input that does not
 * match is refused.
 *
 * Columns in another order are sorted into the state's order. The lines of NDJSON may lack keys
 * and have others, so there the state's columns are taken, as if the stream had not been
 * interrupted. Rows without names, such as those that `tail` gives without their header, are
 * assumed to have the same columns. */
#ifndef OIF_FRONT_KNOWN_COLUMNS_H
#define OIF_FRONT_KNOWN_COLUMNS_H

#include "front/input/first_rows.h"
#include "front/options/options.h"

/* What becomes of a column of the reader, and why. */
typedef enum column_use {
    COLUMN_NOT_CHOSEN, /* --columns names others */
    COLUMN_LEARNED,
    COLUMN_CHOSEN,   /* learned, and --columns has its very name */
    COLUMN_CATEGORY, /* learned, of which --category wants to know how rare its texts are */
    COLUMN_EXCLUDED,
    COLUMN_LABEL,
    COLUMN_KEY,
    COLUMN_TIME,
    COLUMN_GOES_BACK, /* times, the newest first */
    COLUMN_INDEX,     /* a row number */
    COLUMN_CALENDAR,  /* a part of the date */
    COLUMN_ADDED,     /* by another oif */
    COLUMN_IS_TEXT,   /* the first rows say so */
    COLUMN_NOT_IN_STATE
} column_use;

/* Where columns come from, and the pipeline whose columns they have to be. */
typedef struct column_source {
    oif_reader *reader;
    oif_format format;
    const char *name; /* of the input, for messages */
    uint64_t header_line;
    const oif_pipeline *known; /* NULL: nothing was learned before */
    const char *known_path;    /* the state file that it was loaded from */
    const first_rows *look;    /* at the rows that the reader will give */
    bool is_part;              /* a request: one of many parts of a stream */
} column_source;

/* Whether the input's columns have names of their own, not x0, x1, ... */
bool column_source_has_names(const column_source *from);

/* Whether there are names on both sides. */
bool known_columns_have_names(const column_source *from);

/* NDJSON: adds columns for names that the first line lacks; prints what is wrong if it has none
 * of them. */
exit_code known_columns_find(const column_source *from);

/* NDJSON: chooses the known columns. */
void known_columns_mark(const column_source *from, column_use uses[]);

/* Whether the known pipeline, if there is one, has a column of this name. */
bool known_columns_have(const oif_pipeline *known, const char *name);

/* Whether the input has all known columns; it may have more. */
bool known_columns_are_all_here(const column_source *from);

/* Puts the learned columns in the order of the known ones, or prints which differ, or which
 * option removes one. */
exit_code known_columns_sort(const column_source *from, const run_settings *settings,
                             size_t learned[], size_t count);

#endif
