/* Which columns of the input are learned from, and which are the label, the key and the time. */
#ifndef OIF_FRONT_COLUMNS_H
#define OIF_FRONT_COLUMNS_H

#include "categories.h"
#include "front/input/first_rows.h"
#include "front/input/key_columns.h"
#include "front/text/name_list.h"
#include "known_columns.h"

/* Whether the label is read, or only left out of learning. It is one of a record's texts. */
typedef enum label_use { LABEL_IGNORED, LABEL_READ } label_use;

typedef struct input_columns {
    column_source from;
    column_use *uses; /* of each of the reader's columns */
    size_t use_count;
    /* NULL: none. Of each of the reader's columns: whether it is learned although no looked-at row
     * has a value in it. */
    struct undecided_column {
        bool is_undecided, is_told;
    } * undecided;
    size_t *learned;             /* the reader's columns, in the order of a row */
    size_t count;                /* of the learned ones */
    category_columns categories; /* those of the learned ones that are texts */
    size_t label;
    /* Which of a record's texts is what. */
    bool has_key, has_time;
    key_columns key;
    size_t time_text;
    bool has_clock; /* the time of day is in a column of its own: --time Date+Time */
    size_t clock_text;
    char time_joined[96];        /* of the two, for a record */
    char *time_pair;             /* "Date+Time", if that was found; or NULL */
    oif_time_format time_format; /* what is known about the times before the first one */
    size_t text_count;           /* of a record */
    size_t label_text;           /* where the label is read as a text */
    const char *time_name;       /* of --time, or the column that was found to be it; NULL: none */
    double row_seconds;          /* from row to row in the look at the first rows; 0: not known */
    bool is_rising_judged; /* enough rows were looked at to see which columns only ever rise */
} input_columns;

/* Decides the use of each column by the settings, or by the known pipeline. Prints what is
 * wrong unless it returns EXIT_OK; to be closed in any case. */
exit_code columns_mark(input_columns *columns, const column_source *from,
                       const run_settings *settings);

/* Whether a column of the reader is learned from. */
bool columns_is_learned(const input_columns *columns, size_t column);

/* Selects the columns in the reader by their uses. */
exit_code columns_select(input_columns *columns, const run_settings *settings, label_use use);
void columns_close(input_columns *columns);

/* The name of the column that the number `position` of a row is from; where the input has
 * no names, the one in the known pipeline. */
const char *columns_name(const input_columns *columns, size_t position);

/* The time of a record as text; valid until the next call. */
oif_text columns_time(input_columns *columns, const oif_record *record);

/* The columns of --time: one, or two in A+B. Both are those of the reader; returns false if there
 * are none. */
bool columns_find_pair(const oif_reader *reader, const char *name, size_t pair[2]);

/* Adds the name of a column of the reader to a list for a message, and a value to show unless it
 * is "". Options cannot name one of several columns with the same name, so of these NEW_NAME is
 * pasted. */
void columns_list(names_text *names, const oif_reader *reader, size_t column, const char *value);
bool columns_have_same_name(const oif_reader *reader, size_t column);

/* Puts the names of the columns into a pipeline, unless it has some or the input has none. Prints
 * what is wrong unless it returns EXIT_OK. */
exit_code columns_name_pipeline(const input_columns *columns, oif_pipeline *pipeline);

/* Whether the settings or the known pipeline fix the columns, so a new NDJSON key does not
 * matter. */
bool columns_are_fixed(const column_source *from, const run_settings *settings);

#endif
