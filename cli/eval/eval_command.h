/* oif eval: how many known anomalies are found. */
#ifndef OIF_CLI_EVAL_COMMAND_H
#define OIF_CLI_EVAL_COMMAND_H

#include "front/options/options.h"

extern const command_entry eval_command;
exit_code eval_command_run(const run_settings *asked);

#endif
