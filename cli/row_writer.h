/* Rows on their way out: as they came with fields added, or rewritten in another format.
 *
 *     CSV      9,0.5           ->   9,0.5,0.71,0.001,1
 *     NDJSON   {"load": 0.5 }  ->   {"load": 0.5 ,"oif":{"score":0.71,"p":0.001,"anomaly":true}}
 */
#ifndef OIF_CLI_ROW_WRITER_H
#define OIF_CLI_ROW_WRITER_H

#include "input.h"
#include "result_fields.h"

typedef struct row_writer {
    const cli_input *input;
    output_format format; /* not OUTPUT_AS_INPUT */
    char delimiter;       /* of CSV */
    size_t *value_of;     /* which of a record's values a column is; NOT_A_VALUE: none */
} row_writer;

/* Prints what is wrong unless it returns EXIT_OK. To be closed in any case. */
exit_code row_writer_start(row_writer *writer, const cli_input *input, output_format asked);
void row_writer_close(row_writer *writer);

/* False once stdout takes no more. */
bool row_writer_header(const row_writer *writer, const result_fields *fields);
bool row_writer_row(const row_writer *writer, const oif_record *record, const row_verdict *verdict);

#endif
