/* Reads the bodies of a stream. The first body is read as `oif score` reads a file: its first rows
 * determine the columns. All later bodies have the columns of the pipeline, by name, and are read
 * as if they followed each other in one file. So a reader stays open from body to body, and a body
 * of one row costs no more than a row.
 *
 *     "a,b" | body | body | ...          the header that the reader was opened with, or of NDJSON
 *     {"a":null} | body | body | ...     an object with a known column, and then the bodies
 */
#ifndef OIF_SERVE_BODY_READER_H
#define OIF_SERVE_BODY_READER_H

#include "body_shape.h"
#include "front/columns/row_source.h"
#include "front/results/row_writer.h"
#include "serve/base/problem.h"

typedef struct body_reader {
    bool is_open;
    bool is_started; /* fields and writer are ready; they need a pipeline */
    bool is_at_end;  /* the body was read completely: the next one may follow */
    run_input input;
    byte_memory memory;
    char *prefix; /* the input before the first body; NULL: none */
    char *header; /* of CSV, if it differs from the shape's; NULL: the shape's */
    result_fields fields;
    row_writer writer;
    size_t columns;      /* of the input so far; more: a row has brought new keys */
    uint64_t lines;      /* before the current body */
    uint64_t body_lines; /* in the current body */
    uint64_t used;       /* when, to find the least recently used */
} body_reader;

/* How to read a body. */
typedef struct body_request {
    const run_settings *settings;
    const body_shape *shape;
    const oif_pipeline *known; /* NULL: it is the first */
    oif_text body;             /* without its byte order mark */
    bool has_mark;             /* write the mark before the header of the answer */
    oif_format format;
    bool is_guessed; /* the format: neither the request nor the settings name it */
    bad_rows *bad;
    size_t max_columns; /* allowed in the body; 0: any number */
    problem *why;       /* the problem, unless it was already reported */
} body_request;

/* "{" after blanks: NDJSON. */
oif_format body_format(oif_text body);

/* The body without its byte order mark, and whether it is blank. */
oif_text body_text(const char *bytes, size_t count);
bool body_is_blank(oif_text body);

/* Turns the complaint about a body into a problem. */
void body_take_complaint(const complaint *about, problem *why);

/* Begins a body with one of `count` readers, and opens one if none fits. NULL: it cannot be read,
 * and that was reported or is in request->why. */
body_reader *body_readers_begin(body_reader *readers, size_t count, const body_request *request);

/* Once there is a pipeline: sets the fields added to rows, and how they are written. */
exit_code body_reader_start(body_reader *reader, oif_pipeline *pipeline,
                            const run_settings *settings);

/* The next row; OIF_END after the last row of the body. Errors have the line in the body. */
oif_status body_reader_next(body_reader *reader, on_bad_row policy, bad_rows *bad,
                            oif_record *record, oif_error *error);

/* Adds the new keys of a row of NDJSON to `late`, if they have numbers and are not excluded; and to
 * the shape, so other readers know them. */
void body_reader_note_late(body_reader *reader, const run_settings *settings,
                           const oif_record *record, body_shape *shape, names_text *late);

/* Whether the decimal sign of the rows is still unknown. */
bool body_reader_seeks_decimal(const body_reader *reader, const body_request *request);

/* Call it after a body. Closes a reader that has not reached the end: it holds part of the body,
 * and would take that for the start of the next one. */
void body_reader_end(body_reader *reader);

void body_reader_close(body_reader *reader);

#endif
