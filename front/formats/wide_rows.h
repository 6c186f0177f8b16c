/* Single values that become rows. Values of the same key and time are one row; a value of a later
 * time prints it. Values without times are one row until one comes again:
 *
 *     10:00 web-1 cpu 5        {"time":"10:00","host":"web-1","cpu":5,"mem":70}
 *     10:00 web-1 mem 70
 *     10:01 web-1 cpu 6
 *
 * At most WIDE_COLUMNS_MAX names become columns, and WIDE_KEYS_MAX rows are open at a time. */
#ifndef OIF_FRONT_WIDE_ROWS_H
#define OIF_FRONT_WIDE_ROWS_H

#include "front/text/byte_table.h"
#include "translator.h"

enum { WIDE_COLUMNS_MAX = 4096, WIDE_KEYS_MAX = 1024, WIDE_TIME_BYTES = 64 };

typedef struct wide_column wide_column;

/* All zero is empty. */
typedef struct wide_rows {
    byte_table columns, rows;
    wide_column *ordered[WIDE_COLUMNS_MAX]; /* as they first came */
    char time_before[512], time_after[32];  /* of JSON, around a time: "time": and nothing */
    uint64_t swept_line;                    /* where rows without new values were looked for */
    uint64_t late, repeated, left_out;      /* values that are not in a row */
} wide_rows;

typedef struct wide_value {
    oif_text key;    /* as members of JSON, "host":"a", with the comma; none: no bytes */
    oif_text time;   /* as it is printed; no bytes: none */
    double seconds;  /* NaN: no time */
    oif_text column; /* its name */
    double value;    /* NaN: missing */
} wide_value;

/* Adds one, from the translator's line. Returns false if out of memory. */
bool wide_rows_add(wide_rows *rows, translator *by, const wide_value *value);

/* Prints all rows that are open. */
void wide_rows_print_all(wide_rows *rows, translator *by);

/* At the end: prints them, and says which values were left out; `repeated` is what to do about a
 * name that came twice. */
void wide_rows_end(wide_rows *rows, translator *by, const char *repeated);
void wide_rows_close(wide_rows *rows);

#endif
