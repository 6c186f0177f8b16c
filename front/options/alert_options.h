/* Options about alerts that contradict each other, or that need the times of rows. */
#ifndef OIF_FRONT_ALERT_OPTIONS_H
#define OIF_FRONT_ALERT_OPTIONS_H

#include "front/input/stream_clock.h"
#include "options.h"

/* Whether alerts is beside alert_rate, which it adjusts. */
bool alert_options_clash(const run_settings *settings);

/* Prints the contradiction unless it returns EXIT_OK. */
exit_code alert_options_check(const run_settings *settings);

/* Prints which options have no effect next to the others, or next to those of a state, `held`,
 * which may be NULL. */
void alert_options_note_useless(const run_settings *settings, const oif_pipeline *held);

/* Prints which options have no effect, if any. */
void alert_options_note_idle(const run_settings *settings);

/* Gives the clock what options make from times. */
void alert_options_set_clock(const run_settings *settings, stream_clock *clock);

#endif
