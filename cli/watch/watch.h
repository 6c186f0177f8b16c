/* The live view of `oif score --watch`, as large as the terminal:
 *
 *     1,204,118 rows   81,330 rows/s   12 keys   14 anomalies in 2 episodes
 *     0.74 |                    #
 *          |--------------------#-----   the threshold
 *     0.31 |###################################
 *          09:12:01             ^^      09:41:07
 *     episodes
 *       09:41:07  now, 14 rows  critical 6.4  web-1  bytes high 98%
 *     web-1, when the last one began
 *       bytes   ______________/\____   981
 *     keys, the most unusual first
 *       web-1  6.4  in an episode
 *
 * watch.c gathers, watch_view.c draws. */
#ifndef OIF_CLI_WATCH_H
#define OIF_CLI_WATCH_H

#include "watch_data.h"

/* Whether stdout is a terminal that can be drawn on. */
bool watch_is_possible(void);

void watch_start(watch_view *watch, const cli_input *input, const oif_pipeline *pipeline);
bool watch_row(watch_view *watch, const oif_record *record, const row_verdict *verdict,
               double seconds);

/* Adds a line to the episodes. */
void watch_note(watch_view *watch, const char *text);

/* Draws the view as it is now; the last time without empty lines. */
void watch_draw(watch_view *watch);
void watch_end(watch_view *watch);

#endif
