/* A row becomes a result: its key and its time are read, keys that are silent by then are reported,
 * the pipeline processes the row, and the result goes to a sink. */
#ifndef OIF_FRONT_ROW_SESSION_H
#define OIF_FRONT_ROW_SESSION_H

#include "front/columns/columns.h"
#include "front/input/stream_clock.h"
#include "silence_clock.h"

typedef struct session_row {
    const oif_record *record;
    oif_text key;         /* valid until the next row is read */
    double seconds;       /* NaN if unknown */
    const double *values; /* what the pipeline got: with numbers for categories */
} session_row;

/* What happens with the results. */
typedef struct row_sink {
    void *context;
    void (*silent)(void *context, const oif_silence *silence); /* a key fell silent */
    void (*scored)(void *context, const session_row *row, const oif_result *result);
} row_sink;

typedef struct row_session {
    oif_pipeline *pipeline;
    input_columns *columns;
    stream_clock *times;
    silence_clock *silence; /* NULL: silence is not reported */
    row_sink sink;
} row_session;

/* The key and the time of a record, to be processed next or not at all. */
session_row row_session_read(const row_session *session, const oif_record *record);

/* Reports the keys that are silent at a time of the stream. Returns how many. */
size_t row_session_look(const row_session *session, double seconds);

/* Processes a row. The sink gets the silent keys before it and, if it succeeds, its result. */
oif_status row_session_process(const row_session *session, session_row *row, oif_error *error);

#endif
