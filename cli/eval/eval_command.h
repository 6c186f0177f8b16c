/* oif eval: how many known anomalies are found. */
#ifndef OIF_CLI_EVAL_COMMAND_H
#define OIF_CLI_EVAL_COMMAND_H

#include "front/options/options.h"

extern const cli_command eval_command;
exit_code eval_command_run(const cli_settings *asked);

#endif
