/* Which parts of an object its last rows have certainly not changed, so they need not be compared
 * to find what has changed. Objects reserve space for all that they can ever learn, and a row
 * changes little of it:
 *
 *     object    | head | ring of rows          | trees                     | groups of scores |
 *                            the last one, the rest is blank or older
 *     lines       1 1    0 0 0 0 1 0 0 0 0 0 0   0 0 0 1 1 1 0 0 0 0 0 0 0   0 0 0 0 0 0 0 0
 *
 * An object may report less than it could, never more. */
#ifndef OIF_BASE_UNCHANGED_H
#define OIF_BASE_UNCHANGED_H

#include "base/memory.h"

#include <stdint.h>

typedef struct oif_unchanged {
    const unsigned char *block; /* that the object is in, aligned to a line */
    uint64_t *lines;            /* a bit for each line of the block; 0: not changed */
    uint64_t rows;              /* that count as the last ones; some may not have been learned */
} oif_unchanged;

/* As `rows`: all since the object was new. What is reported is then blank. */
#define OIF_ALL_ROWS UINT64_MAX

/* As `rows`, where nothing is to be reported: the object was read from a snapshot, and it was not
 * checked that what should be blank is. */
#define OIF_UNKNOWN_ROWS (UINT64_MAX - 1)

/* Reports a part. Lines that are only partly in it still count as changed. */
void oif_unchanged_add(const oif_unchanged *unchanged, const void *start, size_t bytes);

#endif
