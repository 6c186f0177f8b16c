/* Rows that could not be read and did not end the run: how many there are, and where the first
 * ones are. */
#ifndef OIF_FRONT_BAD_ROWS_H
#define OIF_FRONT_BAD_ROWS_H

#include "byte_source.h"

#include "oif.h"

enum { BAD_PLACES_MAX = 3 };

typedef struct bad_rows {
    uint64_t skipped, mended;
    oif_error first[BAD_PLACES_MAX];
    const char *files[BAD_PLACES_MAX]; /* in which they are */
} bad_rows;

void bad_rows_add(bad_rows *bad, const byte_source *source, const oif_error *error, bool is_mended);

/* At the end, on stderr; nothing when all rows were good. `source` is not closed yet. */
void bad_rows_report(const bad_rows *bad, const byte_source *source);

#endif
