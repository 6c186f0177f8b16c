/* One row of `oif score`: what happens before, while and after the pipeline processes it. */
#ifndef OIF_CLI_SCORED_ROW_H
#define OIF_CLI_SCORED_ROW_H

#include "scoring_run.h"

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

/* Writes the row if it is to be printed, and runs the command of --on-alert. Returns false once
 * stdout is closed or has failed. */
bool scored_row_write(scoring_run *scoring, const scored_row *row);

/* After the row was written. */
void scored_row_finish(scoring_run *scoring);

/* After it: saves the state if it is due or was asked for. */
void scored_row_save(scoring_run *scoring);

#endif
