/* One run of `oif score`, from the first row to the last: what its parts share. */
#ifndef OIF_CLI_SCORING_RUN_H
#define OIF_CLI_SCORING_RUN_H

#include "cli/state/state.h"
#include "cli/watch/watch.h"
#include "front/columns/late_keys.h"
#include "front/columns/roles.h"
#include "front/columns/short_input.h"
#include "front/options/key_room.h"
#include "front/results/row_writer.h"
#include "front/session/row_session.h"
#include "front/text/progress.h"
#include "incident_lines.h"
#include "on_alert.h"
#include "open_episodes.h"
#include "row_block.h"
#include "run_summary.h"
#include "silence_monitor.h"

#include <stdatomic.h>

typedef struct held_rows held_rows;

typedef struct scoring_run {
    const score_settings *settings;
    const run_settings *all_settings;
    run_input *input;
    kept_state *state;
    result_fields fields;
    row_writer writer;
    watch_view watch;
    bool is_watched;
    bad_rows bad;
    stream_clock times;
    silence_monitor silence;
    row_session session;
    key_room room;
    progress_line progress;
    on_alert *actions;
    incident_lines incidents;
    bool has_rows;                 /* the output consists of rows */
    bool acts_on_episodes;         /* a command or incidents follow their begins and ends */
    uint64_t rows_until_attention; /* to commands that run */
    run_summary summary;
    bool has_value; /* a number came that is not missing */
    rising_watch rising;
    late_keys late;
    row_block *block; /* NULL: rows are processed one by one */
    held_rows *held;  /* NULL: rows are judged as they come */
    open_episodes episodes_open;
    oif_status block_status; /* of rows that waited */
    oif_error block_error;   /* of that status */
    bool is_over;            /* nothing is to be read any more */
    atomic_bool is_memory_short;
    bool is_header_written;
    uint64_t early;   /* rows that came too early to be judged */
    uint64_t keyless; /* rows whose key is empty */
    uint64_t anomalies, episodes;
    uint64_t graded[OIF_GRADE_CRITICAL + 1]; /* rows of each grade */
} scoring_run;

/* ---- scored_row.c: what happens before, while and after the pipeline processes a row ---- */

/* A row that was processed. */
typedef struct scored_row {
    const oif_record *record;
    oif_text key; /* NULL for an empty one */
    double seconds;
    const oif_result *result;
    const kept_verdict *kept; /* made when it was processed; NULL: the pipeline is asked */
    bool is_in_block;         /* then the pipeline is not asked */
} scored_row;

/* The key of a row; NULL for an empty one. */
oif_text scored_row_key(scoring_run *scoring, const session_row *row);

/* Whether a verdict is needed for a result: to print the row, and to act on it. */
bool scored_row_is_wanted(const scoring_run *scoring, const oif_result *result);
bool scored_row_is_acted_on(const scoring_run *scoring, const oif_result *result);

/* The result of a row that was processed alone: the sink of a session. */
void scored_row_take(void *context, const session_row *row, const oif_result *result);

/* Messages about a row that was processed, to be printed before the row itself. */
void scored_row_note(scoring_run *scoring, const scored_row *row, bool is_short);

/* Processes a row. Returns false if it was the last one, because of `status` or because stdout is
 * closed. */
bool scored_row_process(scoring_run *scoring, session_row row, oif_status *status,
                        oif_error *error);

/* Writes the row if it is to be printed, and runs the command of --on-alert. Returns false once
 * stdout is closed or has failed. */
bool scored_row_write(scoring_run *scoring, const scored_row *row);

/* After the row was written. */
void scored_row_finish(scoring_run *scoring);

/* After it: saves the state if it is due or was asked for. */
void scored_row_save(scoring_run *scoring);

/* ---- scoring_threads.c: with keys, as many threads as processors ----
 *
 * Rows wait in a block, which the threads of the pipeline process together. Output, messages and
 * state are those of one thread. A block ends when it is full, before the program waits for input,
 * and when a key may have become silent, because that is reported before the row that shows it. */

/* Starts the threads where keys can be divided among several. Prints what is wrong unless it
 * returns EXIT_OK. */
exit_code scoring_threads_start(scoring_run *scoring);

/* Lets a row wait in scoring->block, and processes the block when it is time to. False: the row is
 * too large to wait, and is to be processed by itself. */
bool scoring_threads_row(scoring_run *scoring, const session_row *row);

/* Processes and writes the rows that wait. False: the run is over. */
bool scoring_threads_flush(void *scoring);

/* ---- held_rows.c: the rows of an input that may be short (short_input.h) ----
 *
 * Of a file they are held until they are more than a short one has, of a pipe for at most a
 * second. */

/* Decides whether the input may be short. Prints what is wrong unless it returns EXIT_OK. */
exit_code held_rows_start(scoring_run *scoring);

/* Holds a row back; returns false if it is to be processed now. That is so for all rows after the
 * limit; the rows that were held are then processed first, as a stream. */
bool held_rows_row(scoring_run *scoring, const session_row *row, oif_status *status,
                   oif_error *error);

/* While there is no input: processes the rows of a pipe that were held for too long. Returns the
 * milliseconds until the next call, -1 for never. */
int held_rows_idle(scoring_run *scoring);

/* After the last row: judges those that were held. */
void held_rows_finish(scoring_run *scoring, oif_status *status, oif_error *error);
void held_rows_close(scoring_run *scoring);

#endif
