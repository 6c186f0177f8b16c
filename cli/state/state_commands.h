/* oif state, oif state inspect and oif state feedback: what a state file holds. */
#ifndef OIF_CLI_STATE_COMMANDS_H
#define OIF_CLI_STATE_COMMANDS_H

#include "front/options/options.h"

extern const command_entry state_command, inspect_command, feedback_command;
exit_code state_run(const run_settings *settings);
exit_code inspect_run(const run_settings *settings);
exit_code feedback_run(const run_settings *settings);

/* What is done with the pipeline of a state file. */
typedef exit_code (*pipeline_function)(const run_settings *settings, oif_pipeline *pipeline);

/* Reads the state file that the settings name, which another program may hold. Prints what is wrong
 * unless it returns EXIT_OK. */
exit_code state_read(const run_settings *settings, pipeline_function show);

/* The same with the file locked. It is replaced once `make` returns EXIT_OK. */
exit_code state_change(const run_settings *settings, pipeline_function make);

#endif
