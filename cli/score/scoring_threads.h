/* `oif score --key COL --threads N`: rows wait in a block, which the threads of the pipeline
 * process together. Output, messages and state are those of one thread. A block ends when it is
 * full, before the program waits for input, and when a key may have become silent, because that
 * is reported before the row that shows it. */
#ifndef OIF_CLI_SCORING_THREADS_H
#define OIF_CLI_SCORING_THREADS_H

#include "scored_row.h"

/* Starts the threads if there are to be several; a note says why they would have no effect. Prints
 * what is wrong unless it returns EXIT_OK. */
exit_code scoring_threads_start(scoring_run *scoring);

/* Lets a row wait in scoring->block, and processes the block when it is time to. False: the row is
 * too large to wait, and is to be processed by itself. */
bool scoring_threads_row(scoring_run *scoring, const session_row *row);

/* Processes and writes the rows that wait. False: the run is over. */
bool scoring_threads_flush(void *scoring);

#endif
