/* oif state and oif inspect: what a state file holds. */
#ifndef OIF_CLI_STATE_COMMANDS_H
#define OIF_CLI_STATE_COMMANDS_H

#include "front/options/options.h"

extern const cli_command state_command, inspect_command;
exit_code state_run(const cli_settings *settings);
exit_code inspect_run(const cli_settings *settings);

#endif
