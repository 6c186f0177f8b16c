/* Which incident an episode joins, slow and plain: lists of text parts, compared one by one. It has
 * no limits, no ends of episodes and no streams. */
#ifndef TESTS_REFERENCE_PLAIN_INCIDENTS_H
#define TESTS_REFERENCE_PLAIN_INCIDENTS_H

#include <stdint.h>

typedef struct plain_incidents plain_incidents;

plain_incidents *plain_incidents_new(double window);
void plain_incidents_free(plain_incidents *incidents);

/* The number of the incident, from 1. */
uint64_t plain_incidents_begin(plain_incidents *incidents, const char *key, const char *column,
                               double seconds);

#endif
