/* Rows that wait to be processed together by the threads of a pipeline: copies of records, because
 * the reader reuses its memory. */
#ifndef OIF_CLI_ROW_BLOCK_H
#define OIF_CLI_ROW_BLOCK_H

#include "front/results/result_fields.h"

enum { ROW_BLOCK_ROWS = 512, ROW_BLOCK_BYTES = 1 << 20 };

/* The verdict on a row, made on the thread of its key; one allocation. */
typedef struct kept_verdict {
    result_fields fields; /* as those of the run, with room of its own for the reasons */
    row_verdict verdict;
    double numbers[]; /* the learned row; room for reasons and their order is behind it */
} kept_verdict;

typedef struct waiting_row {
    oif_record record;
    kept_verdict *kept; /* NULL: the row is not anomalous, or nothing is to be said about it */
    bool is_short;      /* of room for models, after this row */
} waiting_row;

typedef struct row_block {
    size_t count;
    size_t columns, texts; /* of a row, and texts of a record */
    char *bytes;
    size_t bytes_used;
    double *rows; /* [ROW_BLOCK_ROWS][columns]: the values of the records */
    double seconds[ROW_BLOCK_ROWS];
    const char *keys[ROW_BLOCK_ROWS];
    size_t key_bytes[ROW_BLOCK_ROWS];
    oif_result results[ROW_BLOCK_ROWS];
    waiting_row waiting[ROW_BLOCK_ROWS];
    double quiet_until; /* up to this time no key becomes silent, whatever the rows that wait do;
                           NaN: not known */
} row_block;

/* For rows without categories. NULL if out of memory. `free` accepts NULL. */
row_block *row_block_new(const input_columns *columns);
void row_block_free(row_block *block);

/* Appends a copy of a record and of its key. False: it does not fit. */
bool row_block_add(row_block *block, const oif_record *record, oif_text key, double seconds);

/* Makes the verdict on the row that the pipeline has processed last, as result_fields_judge, and
 * keeps it. NULL if out of memory. Any thread may call it for rows of its own. */
kept_verdict *kept_verdict_make(const result_fields *fields, oif_pipeline *pipeline,
                                const oif_result *result, double seconds, bool is_judged);

/* Forgets the rows. */
void row_block_empty(row_block *block);

#endif
