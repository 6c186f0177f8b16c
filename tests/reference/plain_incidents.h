/* Which incident an episode joins, slow and plain: every episode of the past is kept, and all
 * rates, shares and counts are added up again for each newcomer, with libm. What it lacks: limits,
 * and ends of episodes, so an incident is only over when it is stale. */
#ifndef TESTS_REFERENCE_PLAIN_INCIDENTS_H
#define TESTS_REFERENCE_PLAIN_INCIDENTS_H

#include <stdint.h>

typedef struct plain_incidents plain_incidents;

/* From that time on. */
plain_incidents *plain_incidents_new(double start);
void plain_incidents_free(plain_incidents *incidents);

/* The number of the incident, from 1; `odds` as in oif_incident_place. Times must not fall. */
uint64_t plain_incidents_begin(plain_incidents *incidents, const char *key, const char *column,
                               double seconds, double *odds);

#endif
