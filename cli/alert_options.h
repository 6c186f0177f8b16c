/* Options about alerts that contradict each other, or that need the times of rows. */
#ifndef OIF_CLI_ALERT_OPTIONS_H
#define OIF_CLI_ALERT_OPTIONS_H

#include "options.h"

/* Prints the contradiction unless it returns EXIT_OK. */
exit_code alert_options_check(const cli_settings *settings);

/* Prints which options have no effect next to the others, or next to those of a state, `held`,
 * which may be NULL. */
void alert_options_note_useless(const cli_settings *settings, const oif_pipeline *held);

/* Prints which options have no effect, if any. */
void alert_options_note_idle(const cli_settings *settings);

/* Whether any option needs times. */
bool alert_options_need_times(const cli_settings *settings);

#endif
