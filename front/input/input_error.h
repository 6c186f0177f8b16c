/* Messages with a position in the input: "file:line:column: message". */
#ifndef OIF_FRONT_INPUT_ERROR_H
#define OIF_FRONT_INPUT_ERROR_H

#include "front/text/output.h"

#include "oif_rows.h"

/* "name:line:column: message", as complaints have it. */
enum { INPUT_ERROR_TEXT_BYTES = 4608 };
const char *input_error_text(const char *name, const oif_error *error,
                             char text[INPUT_ERROR_TEXT_BYTES]);

/* Where a field of a record starts: puts its line and column into the error. */
void input_error_place(const oif_reader *reader, const oif_record *record, size_t column,
                       oif_error *error);

/* A name that no column has. */
extern const complaint_reason unknown_column;

/* Complains about one field of a record, or about an unknown column of the header, which is on line
 * `header_line`. */
exit_code input_error_in_field(const char *name, const oif_reader *reader, const oif_record *record,
                               size_t column, const char *message);
exit_code input_error_in_header(const complaint_reason *reason, const char *name,
                                const oif_reader *reader, uint64_t header_line, size_t column,
                                const char *message);

#endif
