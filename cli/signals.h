/* Ending in order on SIGTERM and Ctrl-C: the row at hand is finished, the state is saved. A
 * second signal ends at once. */
#ifndef OIF_CLI_SIGNALS_H
#define OIF_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on signals only ask. A signal that is ignored stays so: that is how shells start
 * background jobs. */
void signals_catch(void);

bool signals_stop_requested(void);

/* Becomes readable with the first signal, so a wait for input sees one that comes just
 * before it. -1 while signals are not caught. */
int signals_descriptor(void);

/* After an orderly end: dies of Ctrl-C all the same, or a shell would continue with the next
 * command of its script. */
void signals_pass_on(void);

#endif
