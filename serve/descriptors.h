/* Open files, of which a process may have a limited number: streams and connections share them, so
 * that neither takes all of them from the other. */
#ifndef OIF_SERVE_DESCRIPTORS_H
#define OIF_SERVE_DESCRIPTORS_H

#include "problem.h"

#include <stddef.h>

/* The soft limit is 1024 on most machines; the hard one, which it becomes, is larger. */
void descriptors_raise_limit(void);

/* How many of the wanted connections there can be. */
unsigned descriptors_for_connections(unsigned wanted);

/* Whether there can be that many streams with a folder; else, 503, how to have more. */
bool descriptors_allow(size_t streams, problem *why);

/* What helps after `reason`, an errno: this if there are too many open files, else `usual`. */
const char *descriptors_remedy(int reason, const char *usual);

#endif
