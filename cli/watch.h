/* The live view of `oif score --watch`: a few lines of the terminal that are redrawn in
 * place.
 *
 *     1,204,118 rows   81,330 rows/s   12 keys   3 anomalies in 2 episodes
 *     score ▁▁▂▁▁▁▁▃▁▁▁▁▁▇█▁▁▁   0.31 to 0.74
 *                        ▲▲
 *     last alerts
 *       web-1  09:41:07  row 1,203,950  critical 6.4  score 0.742  p 0.00021  bytes high 98%
 */
#ifndef OIF_CLI_WATCH_H
#define OIF_CLI_WATCH_H

#include "input.h"
#include "result_fields.h"

enum { WATCH_BINS = 60, WATCH_ALERTS = 8, WATCH_ALERT_BYTES = 256 };

typedef struct watch_view {
    const cli_input *input;
    const oif_pipeline *pipeline;
    uint64_t rows, anomalies, episodes;
    double started, next_draw; /* seconds */
    size_t lines_drawn;        /* which the next drawing replaces */

    /* The highest score of each tenth of a second with rows, the latest at newest_bin. */
    struct {
        double highest; /* NaN: no row yet */
        bool is_marked;
    } bins[WATCH_BINS];
    size_t newest_bin;
    double bin_started;

    char alerts[WATCH_ALERTS][WATCH_ALERT_BYTES]; /* a ring */
    uint64_t alert_count;

    bool is_ready;                      /* the last row could have been an alert */
    double first_seconds, last_seconds; /* times of rows; NaN: unknown */
} watch_view;

/* Whether stdout is a terminal that can be drawn on. */
bool watch_is_possible(void);

void watch_start(watch_view *watch, const cli_input *input, const oif_pipeline *pipeline);
bool watch_row(watch_view *watch, const oif_record *record, const row_verdict *verdict,
               double seconds);

/* Adds a line to the alerts. */
void watch_note(watch_view *watch, const char *text);

/* Draws the view as it is now. */
void watch_draw(watch_view *watch);

#endif
