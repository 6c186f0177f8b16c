/* NDJSON keys that appear after the look at the first rows. The columns are fixed by then, so such
 * a key is reported. */
#ifndef OIF_FRONT_LATE_KEYS_H
#define OIF_FRONT_LATE_KEYS_H

#include "columns.h"

enum { LATE_KEYS_MAX = 64 }; /* objects and arrays included */

typedef struct late_keys {
    bool is_watching;
    size_t columns;  /* of the reader so far */
    size_t reported; /* keys */
} late_keys;

void late_keys_start(late_keys *late, const input_columns *columns, const run_settings *settings);

/* After a record was read; only while late->is_watching. With --strict a new number is an error. */
exit_code late_keys_row(late_keys *late, const input_columns *columns, const run_settings *settings,
                        const oif_record *record);

#endif
