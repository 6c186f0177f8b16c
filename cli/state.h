/* The state file of `oif score --state FILE`: where it goes on from, and when it saves.
 *
 * The state is never ahead of the output: what it has learned was written out before. So after
 * a crash the rows that follow the saved ones can be given again, and get the scores that they
 * would have had. */
#ifndef OIF_CLI_STATE_H
#define OIF_CLI_STATE_H

#include "options.h"

struct state {
    oif_pipeline *pipeline;
    const char *path;     /* NULL: nothing is kept, and all calls but the first two do nothing */
    oif_state_file *file; /* NULL where the path is */
    uint64_t rows_between_saves;
    double seconds_between_saves, next_save; /* 0: not by the clock */
    uint64_t rows_unsaved;
    bool is_saved;      /* the file holds the pipeline as it is */
    uint64_t rows_seen; /* by the pipeline that was loaded, and still to be skipped in the input */
    bool is_failing;    /* the last try to save has failed, and this was told */
    uint64_t lost;      /* models, before this run */
    bool is_loss_told;  /* that more are lost now */
};

/* Takes hold of the file and loads what it holds, if it exists. Prints what is wrong unless it
 * returns EXIT_OK. */
exit_code state_open(struct state *state, const struct settings *settings);

/* Makes the pipeline unless one was loaded, which has to be for rows of so many numbers. Says
 * where it goes on. */
exit_code state_start(struct state *state, const struct settings *settings, size_t columns);

/* When the pipeline that was made cannot be used: nothing is saved, as if it had not been made. */
void state_give_up(struct state *state);

/* After each row. */
void state_row(struct state *state);

/* Whether it is time to save, and for how long it is not yet: milliseconds, -1 for ever. */
bool state_is_due(const struct state *state);
int state_milliseconds_left(const struct state *state);

/* A failure is told once; the next try is when it is due again. */
void state_save(struct state *state);

/* Whether evicted models were lost that should have been kept; the first is told, and the
 * others are counted at the end. */
bool state_has_lost(const struct state *state);
void state_tell_lost(struct state *state);

/* Saves a last time if rows were learned since, and frees everything. Returns `code`, or
 * EXIT_FAILED when what was learned could not be saved or kept. */
exit_code state_close(struct state *state, exit_code code);

#endif
