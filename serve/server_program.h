/* The server as a program of its own, which `oif serve` becomes. It needs libraries that would
 * make the start of every other command ten times slower. */
#ifndef OIF_SERVE_SERVER_PROGRAM_H
#define OIF_SERVE_SERVER_PROGRAM_H

#include "../cli/output.h"

/* Runs it in place of this program, with the arguments after the command's name. Returns only if
 * that failed, and then prints why. */
exit_code server_program_run(char *const *arguments);

#endif
