/* The server as a separate program, which `oif serve` executes. Its libraries would make the start
 * of every other command ten times slower. */
#ifndef OIF_CLI_SERVER_PROGRAM_H
#define OIF_CLI_SERVER_PROGRAM_H

#include "front/options/options.h"

/* Executes it with the arguments after the command's name. Returns only on failure, after printing
 * the cause. */
exit_code server_program_run(const cli_settings *settings);

#endif
