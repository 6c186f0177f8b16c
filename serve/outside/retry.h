/* When to try again: pauses of 1 s, 2 s, 4 s, ... up to a minute after failures. */
#ifndef OIF_SERVE_RETRY_H
#define OIF_SERVE_RETRY_H

#include <stdbool.h>

typedef struct retry {
    double not_before; /* by clock_seconds() */
    double pause_seconds;
} retry;

/* What the attempt was: the next one may follow at once, or after a longer pause than the last. */
void retry_note(retry *one, bool is_good);

/* Whether the pause is over. */
bool retry_may(const retry *one);

#endif
