/* The limit on open files, divided between streams and connections so that neither starves the
 * other. */
#ifndef OIF_SERVE_DESCRIPTORS_H
#define OIF_SERVE_DESCRIPTORS_H

#include "problem.h"

#include <stddef.h>

/* Raises the soft limit, 1024 on most machines, to the hard limit. */
void descriptors_raise_limit(void);

/* How many of the wanted connections are possible. */
unsigned descriptors_for_connections(unsigned wanted);

/* Whether that many streams with a folder are possible; else 503 and how to allow more. */
bool descriptors_allow(size_t streams, problem *why);

/* The remedy for `reason`, an errno: about open files if there are too many, else `usual`. */
const char *descriptors_remedy(int reason, const char *usual);

#endif
