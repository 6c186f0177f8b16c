/* Options about alerts that contradict each other, or that need the times of rows. */
#ifndef OIF_CLI_ALERT_OPTIONS_H
#define OIF_CLI_ALERT_OPTIONS_H

#include "options.h"

/* Prints the contradiction unless it returns EXIT_OK. */
exit_code alert_options_check(const cli_settings *settings);

/* Notes what has no effect beside the other options, or beside those of a state, `held`, which may
 * be NULL. */
void alert_options_note_useless(const cli_settings *settings, const oif_pipeline *held);

/* Says which options do nothing, if there are such. */
void alert_options_note_idle(const cli_settings *settings);

/* Whether anything is made from times. */
bool alert_options_need_times(const cli_settings *settings);

#endif
