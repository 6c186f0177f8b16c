/* A command line: what its arguments mean, and what is printed about those that are wrong. */
#ifndef OIF_FRONT_COMMAND_H
#define OIF_FRONT_COMMAND_H

#include "help.h"

/* What the arguments after a command's name mean; the array ends with NULL. The settings point into
 * them, and are to be closed in any case. Arguments behind one that asks for help are not read. */
exit_code command_parse(const command_entry *command, char **arguments, run_settings *settings,
                        help_kind *help);

/* The same on top of settings that have been started, and that may have values already. */
exit_code command_take(const command_entry *command, char **arguments, run_settings *settings,
                       help_kind *help);

/* A detector by its name, with initial parameters. Says which name may have been meant unless
 * it returns EXIT_OK. */
exit_code params_choose(oif_params *params, const char *name, size_t name_bytes);

/* Runs a command, or prints its help: calls `run` with what the arguments mean. */
exit_code command_run(const command_entry *command, exit_code (*run)(const run_settings *settings),
                      char **arguments);

#endif
