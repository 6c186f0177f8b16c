/* Rows that could not be read and did not end the run: how many, and where the first of them
 * stand. */
#ifndef OIF_CLI_BAD_ROWS_H
#define OIF_CLI_BAD_ROWS_H

#include "input.h"

enum { BAD_PLACES_MAX = 3 };

struct bad_rows {
    uint64_t skipped, mended;
    oif_error first[BAD_PLACES_MAX];
};

void bad_rows_add(struct bad_rows *bad, const oif_error *error, bool is_mended);

/* At the end, on stderr; nothing when all was well. */
void bad_rows_tell(const struct bad_rows *bad, const struct input *input);

#endif
