/* Rows of numbers on disk for later: an unnamed file, which disappears when the program ends in
 * any way. */
#ifndef OIF_CLI_ROW_SPOOL_H
#define OIF_CLI_ROW_SPOOL_H

#include "front/text/output.h"

typedef struct row_spool {
    FILE *file; /* NULL: there is none */
    char *path; /* beside which it was made, for messages */
    size_t column_count, row_count;
} row_spool;

/* Makes it in the folder of `path`. Prints what is wrong unless it returns EXIT_OK; so do the
 * others. */
exit_code row_spool_open(row_spool *spool, const char *path, size_t column_count);
exit_code row_spool_add(row_spool *spool, const double *values);
exit_code row_spool_read(row_spool *spool, size_t row, double *values);
void row_spool_close(row_spool *spool);

#endif
