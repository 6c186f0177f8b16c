/* Rows that could not be read and did not end the run: how many, and where the first are. */
#ifndef OIF_CLI_BAD_ROWS_H
#define OIF_CLI_BAD_ROWS_H

#include "oif.h"

enum { BAD_PLACES_MAX = 3 };

typedef struct bad_rows {
    uint64_t skipped, mended;
    oif_error first[BAD_PLACES_MAX];
} bad_rows;

void bad_rows_add(bad_rows *bad, const oif_error *error, bool is_mended);

/* At the end, on stderr; nothing when all rows were good. `name` is the input's. */
void bad_rows_report(const bad_rows *bad, const char *name);

#endif
