/* The state file of `oif score --state FILE`: where it resumes, and when it saves.
 *
 * The state is never ahead of the output: what it has learned was written out before. So after
 * a crash the rows after the last save can be replayed, and get the scores that they would have
 * had. */
#ifndef OIF_CLI_STATE_H
#define OIF_CLI_STATE_H

#include "front/columns/columns.h"
#include "seen_rows.h"

typedef struct kept_state {
    oif_pipeline *pipeline;
    oif_incidents *incidents; /* attached to the pipeline when it is saved; NULL: not followed */
    const char *path;     /* NULL: nothing is kept, and all calls but the first two do nothing */
    oif_state_file *file; /* NULL where the path is */
    uint64_t rows_between_saves;
    double seconds_between_saves, next_save; /* 0: not by the clock */
    uint64_t rows_unsaved;
    bool is_saved;           /* the file holds the pipeline as it is */
    bool is_ahead;           /* of the output, so it is not to be saved */
    bool is_frozen;          /* with --freeze the file stays as it is */
    bool is_resumed;         /* the file held a detector, which is now part of a pipeline */
    bool has_terminal;       /* the output went to one when the run began */
    seen_rows seen;          /* by the pipeline that was loaded */
    bool is_skip_noted;      /* that rows were skipped */
    bool is_failing;         /* the last try to save has failed, and this was reported */
    size_t times_to_compare; /* rows whose times may be older than what was loaded */
    uint64_t lost;           /* models, before this run */
    bool is_loss_reported;   /* that more are lost now */
} kept_state;

/* What to do about a file that could not be loaded, to follow the message; "": nothing is known. */
const char *state_advice(oif_status status, const oif_error *error);

/* Locks the file and loads it if it exists. Prints what is wrong unless it returns EXIT_OK. */
exit_code state_open(kept_state *state, const run_settings *settings);

/* Makes the pipeline unless one was loaded, which has to have as many columns. Prints
 * where it resumes. */
exit_code state_start(kept_state *state, const run_settings *settings,
                      const input_columns *columns);

/* Loads the incidents that the pipeline holds, or makes new ones. Prints what is wrong unless it
 * returns EXIT_OK. */
exit_code state_start_incidents(kept_state *state);

/* Before a row of a run that resumes: reports once where its time is older than the last one of its
 * key, as then the input may have restarted. */
void state_compare_time(kept_state *state, const char *input, oif_text key, double seconds);

/* Whether a row is skipped as one that the state has seen (--skip-seen). */
bool state_skips_row(kept_state *state, const char *input, const session_row *row);

/* At the end of the input: prints what was skipped, and fails if that may be new rows. */
exit_code state_report_skipped(const kept_state *state, const char *input);

/* When the new pipeline cannot be used: nothing is saved, as if it had not been made. */
void state_give_up(kept_state *state);

/* When rows that were processed cannot be written: nothing is saved any more, because the state
 * must not be ahead of the output. */
void state_discard(kept_state *state);

/* After each row. */
void state_row(kept_state *state);

/* Whether it is time to save; and how many milliseconds are left until then, -1 for never. */
bool state_is_due(const kept_state *state);
int state_milliseconds_left(const kept_state *state);

/* A failure is reported once; the next try is when it is due again. */
void state_save(kept_state *state);

/* Because a signal asks for it: the outcome is reported each time. */
void state_save_now(kept_state *state);

/* Whether evicted models were lost that should have been kept; the first is reported, and
 * the others are counted at the end. */
bool state_has_lost(const kept_state *state);
void state_report_lost(kept_state *state);

/* Saves a last time if rows were learned since, and frees everything. Returns `code`, or
 * EXIT_FAILED when what was learned could not be saved or kept. */
exit_code state_close(kept_state *state, exit_code code);

#endif
