/* Rows on their way out: as they came with fields added, or written anew in another format.
 *
 *     CSV      9,0.5           ->   9,0.5,0.71,0.001,1
 *     NDJSON   {"load": 0.5 }  ->   {"load": 0.5 ,"oif":{"score":0.71,"p":0.001,"anomaly":true}}
 */
#ifndef OIF_CLI_ROWS_H
#define OIF_CLI_ROWS_H

#include "fields.h"

struct rows {
    const struct input *input;
    enum output_format format; /* not OUTPUT_AS_INPUT */
    char delimiter;            /* of CSV */
};

struct rows rows_start(const struct input *input, enum output_format asked);

/* False once stdout takes no more. */
bool rows_write_header(const struct rows *rows, const struct fields *fields);
bool rows_write(const struct rows *rows, const oif_record *record, const struct verdict *verdict);

#endif
