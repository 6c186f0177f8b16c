/* --skip-seen: which rows of the input a state has seen already.
 *
 * A state keeps the hashes of its last rows. Where the input has the same rows one after the other,
 * the next row is the first new one: in a file that is read again from its start, and in one that
 * begins with the end of an older file.
 *
 *     state    ... a b c d
 *     input    x a b c d | e f         e is new
 *
 * Until that place is found, a row is new only if its time is later than all times of its key, or
 * as late as the last and not among the last rows. So a file that has only newer rows is read
 * whole. Without times, an input that does not have the last row is refused: its rows may be new.
 *
 * Rows that repeat themselves, such as constants without times, do not show a place: then the
 * number of rows decides, as long as the row there is the right one. */
#ifndef OIF_CLI_SEEN_ROWS_H
#define OIF_CLI_SEEN_ROWS_H

#include "front/session/row_session.h"
#include "front/text/byte_table.h"

enum { LAST_ROWS = 64 };

/* The last rows of a stream, in a ring. */
typedef struct last_rows {
    uint64_t count; /* of all rows */
    uint64_t hashes[LAST_ROWS];
    double seconds[LAST_ROWS];
} last_rows;

typedef enum seen_phase {
    SEEN_NONE,  /* every row is new */
    SEEN_SKIPS, /* rows may have been seen */
    SEEN_LOST   /* the input lacks the last row that was seen */
} seen_phase;

typedef struct seen_rows {
    last_rows last; /* of the state: every row that is processed is added */
    seen_phase phase;
    last_rows known;  /* that the state had when it was loaded */
    last_rows read;   /* of the input */
    uint64_t rows;    /* that the state had seen */
    uint64_t skipped; /* of the input */
    bool has_times;   /* the state and the input have */
    double latest;    /* of all times of the state */
    bool is_distinct; /* the known ones show a place */
    byte_table keys;  /* the last time of each key when the state was loaded */
} seen_rows;

/* The last rows that a state holds; a damaged or missing part counts as none. */
void seen_rows_load(seen_rows *seen, const oif_pipeline *pipeline);

/* The part of a state after `rows` rows, in at most SEEN_PART_BYTES. Rows that were added but are
 * not processed yet are left out. */
enum { SEEN_PART_BYTES = 16 * LAST_ROWS };
#define SEEN_PART "SEEN"
size_t seen_rows_write(const seen_rows *seen, uint64_t rows, unsigned char part[SEEN_PART_BYTES]);

/* From now on rows are compared. False: out of memory. */
bool seen_rows_start(seen_rows *seen, const oif_pipeline *pipeline, bool has_times);
void seen_rows_close(seen_rows *seen);

/* Whether a row of the input was seen; a new one is added to the last rows. */
bool seen_rows_skip(seen_rows *seen, const session_row *row);

/* At the end of the input: whether rows may have been skipped that were new. */
bool seen_rows_are_lost(const seen_rows *seen);

#endif
