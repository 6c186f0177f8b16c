/* JSON whose rows are not lines: the elements of an array, or objects over several lines, as
 * NDJSON. A row is on the line where its object begins, so errors name lines of the body. */
#ifndef OIF_SERVE_JSON_ROWS_H
#define OIF_SERVE_JSON_ROWS_H

#include "serve/base/problem.h"

#include "oif_rows.h"

/* Whether the first line of a body is one whole object: then the lines are NDJSON already. */
bool json_rows_are_lines(oif_text body);

/* Writes the rows to the output. What is between brackets is checked by the reader of the rows. */
bool json_rows_write(oif_text body, problem *why);

#endif
