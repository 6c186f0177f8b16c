/* Writes rows: unchanged with fields added, or converted to another format.
 *
 *     CSV      9,0.5           ->   9,0.5,0.71,1.2,0
 *     NDJSON   {"load": 0.5 }  ->   {"load": 0.5 ,"oif":{"score":0.71,"severity":1.2,...}}
 */
#ifndef OIF_FRONT_ROW_WRITER_H
#define OIF_FRONT_ROW_WRITER_H

#include "front/columns/input.h"
#include "result_fields.h"
#include "row_cells.h"

typedef struct row_writer {
    const run_input *input;
    output_format format; /* not OUTPUT_AS_INPUT */
    char delimiter;       /* of CSV */
    row_cells cells;
} row_writer;

/* Prints what is wrong unless it returns EXIT_OK. To be closed in any case. */
exit_code row_writer_start(row_writer *writer, const run_input *input,
                           const score_settings *settings);
void row_writer_close(row_writer *writer);

/* Whether the format has one. */
bool row_writer_has_header(const row_writer *writer);

/* False once stdout is closed or has failed. */
bool row_writer_header(const row_writer *writer, const result_fields *fields);
bool row_writer_row(const row_writer *writer, const oif_record *record, const row_verdict *verdict);

/* The row as a JSON object, with nothing added. */
bool row_writer_object(const row_writer *writer, const oif_record *record);

#endif
