/* Reports keys that fall silent, by the times of rows and, while no row comes, by the clock of
 * the machine. The clock counts only if the times of the stream are near it. */
#ifndef OIF_CLI_SILENCE_MONITOR_H
#define OIF_CLI_SILENCE_MONITOR_H

#include "cli/watch/watch.h"
#include "front/results/row_writer.h"
#include "front/session/row_session.h"
#include "incident_lines.h"
#include "on_alert.h"

typedef struct silence_monitor {
    bool is_wanted;  /* alerts are asked for or acted on, and rows have times */
    bool is_shown;   /* alerts are asked for */
    bool is_counted; /* for the exit status, so a reader has to know */
    on_alert *actions;
    incident_lines *incidents; /* that report silences instead; NULL: none */
    const row_writer *writer;
    watch_view *watch; /* NULL: there is none */
    const char *key;   /* the name of its column; NULL: none */

    silence_clock clock;
    double idle_since; /* by the clock of the machine; 0: rows are coming */
    uint64_t silences;
} silence_monitor;

silence_monitor silence_monitor_start(const run_settings *settings, const row_writer *writer,
                                      watch_view *watch, on_alert *actions,
                                      incident_lines *incidents);

/* Reports that a key fell silent. */
void silence_monitor_begins(silence_monitor *monitor, const oif_silence *silence);

/* Before a row: it may end a pause of the input. */
void silence_monitor_arrive(silence_monitor *monitor);

/* After it: reports the end of the silence of its key. */
void silence_monitor_result(silence_monitor *monitor, oif_text key, double seconds,
                            const oif_result *result);

/* While no row comes. Returns the milliseconds after which it wants to be called again; -1: it
 * does not. */
int silence_monitor_idle(silence_monitor *monitor, const row_session *session);

#endif
