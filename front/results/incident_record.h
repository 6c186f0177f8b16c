/* The record of an incident as JSON: a line of --incidents, and the input of --on-alert.
 *
 *     {"incident":"ends","id":3,"start":"2026-11-15T19:05:01Z","end":"2026-11-15T19:41:07Z",
 *      "members":12,"open":0,"grade":"critical","peak":5.2,
 *      "shared":[{"part":"rack-2","members":12},{"column":"latency","members":9}],
 *      "first":{"key":"rack-2/host-17","column":"latency","start":"...","end":"...","peak":4.7},
 *      "worst":{...},"order":[{...},...],"text":"..."}
 *
 * `order` has the members in the order of their begins. Without times `start` and `end` are numbers
 * of rows. */
#ifndef OIF_FRONT_INCIDENT_RECORD_H
#define OIF_FRONT_INCIDENT_RECORD_H

#include "result_fields.h"

/* What happens to it. */
typedef enum incident_phase { INCIDENT_BEGINS, INCIDENT_LASTS, INCIDENT_ENDS } incident_phase;

/* Writes the record, a line. `has_times`: numbers are times, not rows. `reason`: of the first
 * episode, when it begins. Writes nothing if there is no such incident. */
void incident_record_write(const oif_incidents *incidents, uint64_t number, incident_phase phase,
                           bool has_times, const char *reason);

/* The grade of its worst member. */
oif_grade incident_record_grade(double severity);

#endif
