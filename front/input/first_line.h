/* Finds the first line when bad lines do not end the run. The reader takes its columns from
 * that line, so a torn or unrelated one would make all others bad. */
#ifndef OIF_FRONT_FIRST_LINE_H
#define OIF_FRONT_FIRST_LINE_H

#include "byte_source.h"

#include "oif_rows.h"

/* After this many lines that cannot be the first, the file is of another kind. */
enum { BAD_START_MAX = 1000 };

/* Whether the first line that the source holds can be it; OIF_EINPUT and why not.
 *
 * CSV: one of the two lines after it has as many fields, and a number among them unless all are
 * missing; nothing may follow as well. So the first line waits for the second. A line without
 * header has to be such a row itself.
 *
 * NDJSON: an object with a number in it, unless all its values are null; with `any_object` it
 * needs none, for the columns are known. */
oif_status first_line_try(byte_source *source, const oif_reader_options *options, bool any_object,
                          oif_error *error);

#endif
