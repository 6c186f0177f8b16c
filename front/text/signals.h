/* Orderly exit on SIGTERM, Ctrl-C and SIGHUP: the current row is finished and the state is
 * saved. A second signal ends the program at once. SIGUSR1 asks for a save. */
#ifndef OIF_FRONT_SIGNALS_H
#define OIF_FRONT_SIGNALS_H

#include <stdbool.h>

/* From now on signals only set a request. Ignored signals stay ignored: shells start background
 * jobs that way. */
void signals_catch(void);

/* From now on SIGHUP asks for files to be read again, and does not end the program. */
void signals_catch_reload(void);

/* From now on a terminal that changes its size ends a wait for input. */
void signals_catch_resize(void);

bool signals_stop_requested(void);

/* Whether the terminal that the program was started from is gone. */
bool signals_hangup_requested(void);

/* Whether a save was asked for since the last call that returned true. */
bool signals_take_save_request(void);

/* Whether that was asked for since the last call that returned true. */
bool signals_take_reload_request(void);

/* Becomes readable with each signal, so a wait for input sees one that comes just before it. -1
 * while signals are not caught. */
int signals_descriptor(void);

/* Reads what signals wrote there, unless they ask the program to end. */
void signals_heed(void);

/* After an orderly exit caused by Ctrl-C: dies of the signal after all, or a shell would
 * continue with the next command of its script. */
void signals_pass_on(void);

#endif
