/* NDJSON keys that appear after the look at the first rows. The columns are fixed by then: with
 * --new-columns such a key is learned from the next row on, else it is reported. */
#ifndef OIF_FRONT_LATE_KEYS_H
#define OIF_FRONT_LATE_KEYS_H

#include "columns.h"

enum { LATE_KEYS_MAX = 64 }; /* objects and arrays included; with --new-columns 4096 */

typedef struct late_keys {
    bool is_watching;
    size_t columns;  /* of the reader so far */
    size_t reported; /* keys */
    /* Columns of the reader to learn: the caller appends them before the next row. */
    size_t added[LATE_KEYS_MAX];
    size_t added_count;
} late_keys;

void late_keys_start(late_keys *late, const cli_columns *columns, const cli_settings *settings);

/* After a record was read; only while late->is_watching. With --strict a new number that is not
 * learned is an error. */
exit_code late_keys_row(late_keys *late, const cli_columns *columns, const cli_settings *settings,
                        const oif_record *record);

#endif
