/* Rows of float64 numbers, little-endian, with nothing between them, as numpy's tofile writes them:
 * as NDJSON with the columns x0, x1, ... NaN is missing. */
#ifndef OIF_SERVE_FLOAT64_ROWS_H
#define OIF_SERVE_FLOAT64_ROWS_H

#include "serve/base/problem.h"

#include "oif_rows.h"

/* Writes the rows to the output; `columns` is at least 1. */
bool float64_rows_write(oif_text body, size_t columns, problem *why);

#endif
