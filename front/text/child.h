/* A command of the user that runs beside the program. */
#ifndef OIF_FRONT_CHILD_H
#define OIF_FRONT_CHILD_H

#include <sys/types.h>

/* Starts a command, which is searched for in PATH. Its input is the file `input`. Its output goes
 * to stderr, because stdout may be data. It has its own process group: what it starts ends with it,
 * and Ctrl-C does not reach it. Returns 0 or an errno. */
int child_start(char *const *arguments, char *const *variables, int input, pid_t *process);

#endif
