/* Finds the role of columns that no option names. A look at the first rows finds those that
 * hold text, which are left out; the time of the rows; and numbers that only ever rise. Each
 * decision is printed with the options that change it. With --strict it is refused instead. */
#ifndef OIF_FRONT_ROLES_H
#define OIF_FRONT_ROLES_H

#include "columns.h"
#include "front/input/rising.h"

/* Decides about the columns to be learned so far. Prints what is wrong unless it returns
 * EXIT_OK. */
exit_code roles_find(input_columns *columns, const run_settings *settings);

/* Prints which learned columns only ever rise, if enough rows were looked at; with --strict that
 * is an error. */
exit_code roles_report_rising(input_columns *columns, const run_settings *settings);

/* The same for a live stream, which has no first rows to look at: watches while it is scored. */
typedef struct rising_watch {
    rising_column *columns; /* of the learned ones; NULL: there is nothing left to watch */
    uint64_t rows_left;
    char *key; /* only rows of the first key count */
    size_t key_bytes;
} rising_watch;

void rising_watch_start(rising_watch *watch, const input_columns *columns);
void rising_watch_end(rising_watch *watch);

/* After a row; only while watch->columns is not NULL. */
exit_code rising_watch_row(rising_watch *watch, const input_columns *columns,
                           const run_settings *settings, const oif_record *record);

#endif
