/* Reports keys that fall silent, by the times of rows and, while no row comes, by the clock of
 * the machine. The clock counts only if the times of the stream are near it. */
#ifndef OIF_CLI_SILENCE_MONITOR_H
#define OIF_CLI_SILENCE_MONITOR_H

#include "cli/watch/watch.h"
#include "front/results/row_writer.h"
#include "on_alert.h"

typedef struct silence_monitor {
    bool is_wanted;  /* alerts are asked for or acted on, and rows have times */
    bool is_shown;   /* alerts are asked for */
    bool is_counted; /* for the exit status, so a reader has to know */
    bool is_fixed;   /* with --silence TIME */
    on_alert *actions;
    const row_writer *writer;
    watch_view *watch;  /* NULL: there is none */
    const char *key;    /* the name of its column; NULL: none */
    const char *member; /* of NDJSON that holds what is added */

    double latest;       /* time of a row; NaN before the first */
    double idle_since;   /* by the clock; 0: rows are coming */
    double longest_idle; /* before rows came again */
    uint64_t arrivals;   /* how many times they did */
    uint64_t silences;
} silence_monitor;

silence_monitor silence_monitor_start(const cli_settings *settings, const oif_pipeline *pipeline,
                                      const row_writer *writer, watch_view *watch,
                                      on_alert *actions);

/* Before a row is processed: reports the keys that are silent by its time. In two steps: takes the
 * time, and returns whether it is later than all before it; then looks for keys that are silent. */
void silence_monitor_row(silence_monitor *monitor, oif_pipeline *pipeline, double seconds);
bool silence_monitor_advance(silence_monitor *monitor, double seconds);
void silence_monitor_look(silence_monitor *monitor, oif_pipeline *pipeline);

/* After it: reports the end of the silence of its key. */
void silence_monitor_result(silence_monitor *monitor, oif_text key, double seconds,
                            const oif_result *result);

/* While no row comes. Returns the milliseconds after which it wants to be called again; -1: it
 * does not. */
int silence_monitor_idle(silence_monitor *monitor, oif_pipeline *pipeline);

#endif
