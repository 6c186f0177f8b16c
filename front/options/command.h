/* Runs a command, or prints its help. */
#ifndef OIF_FRONT_COMMAND_H
#define OIF_FRONT_COMMAND_H

#include "options.h"

/* Calls `run` with what the arguments after the command's name mean; the array ends with NULL. */
exit_code command_run(const cli_command *command, exit_code (*run)(const cli_settings *settings),
                      char **arguments);

#endif
