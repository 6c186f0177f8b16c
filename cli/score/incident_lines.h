/* --incidents: instead of rows, a line when an incident begins and one when it is over.
 *
 * Episodes that begin together are one incident. --on-alert then runs its command once per
 * incident instead of once per episode. At the end of the input, incidents that are not over
 * have a last line, too: "lasts". */
#ifndef OIF_CLI_INCIDENT_LINES_H
#define OIF_CLI_INCIDENT_LINES_H

#include "front/results/result_fields.h"
#include "on_alert.h"

typedef struct incident_lines {
    oif_incidents *incidents; /* NULL: not asked for */
    on_alert *actions;
    uint64_t rows; /* the time of rows without times */
    bool has_times;
} incident_lines;

/* Options that contradict --incidents. */
exit_code incident_lines_check(const score_settings *settings);

/* Prints what is wrong unless it returns EXIT_OK. To be closed in any case. */
exit_code incident_lines_open(incident_lines *lines, const score_settings *settings,
                              on_alert *actions);
void incident_lines_close(incident_lines *lines);

/* The time of a row, before its verdict; and a row that begins or ends an episode. */
void incident_lines_time(incident_lines *lines, double seconds);
void incident_lines_row(incident_lines *lines, oif_text key, const row_verdict *verdict);

/* After the last row. */
void incident_lines_finish(incident_lines *lines);

#endif
