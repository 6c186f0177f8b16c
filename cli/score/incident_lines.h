/* --rows incidents: instead of rows, a line when an incident begins and one when it is over.
 *
 * Episodes that begin together are one incident. --on-alert then runs its command once per
 * incident instead of once per episode. At the end of the input, incidents that are not over
 * have a last line, too: "lasts". With --state the next run resumes them. */
#ifndef OIF_CLI_INCIDENT_LINES_H
#define OIF_CLI_INCIDENT_LINES_H

#include "cli/state/state.h"
#include "front/results/result_fields.h"
#include "on_alert.h"

typedef struct incident_lines {
    oif_incidents *incidents; /* of the state; NULL: not asked for */
    on_alert *actions;
    uint64_t rows; /* the time of rows without times */
    bool has_times;
} incident_lines;

/* Options that contradict --rows incidents. */
exit_code incident_lines_check(const score_settings *settings);

/* The state has its pipeline. Prints what is wrong unless it returns EXIT_OK. */
exit_code incident_lines_start(incident_lines *lines, const score_settings *settings,
                               kept_state *state, on_alert *actions);

/* The time of a row, before its verdict; and a row that begins or ends an episode. */
void incident_lines_time(incident_lines *lines, double seconds);
void incident_lines_row(incident_lines *lines, oif_text key, const row_verdict *verdict);

/* A key that falls silent at this time, and one that is no longer. A silence is like an episode of
 * a column "silence". */
void incident_lines_silence_begins(incident_lines *lines, oif_text key, double seconds,
                                   double pause);
void incident_lines_silence_ends(incident_lines *lines, oif_text key, double seconds);

/* After the last row. */
void incident_lines_finish(incident_lines *lines);

#endif
