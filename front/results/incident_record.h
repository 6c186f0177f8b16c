/* The record of an incident as JSON: a line of --rows incidents, the input of --on-alert, and what
 * the service answers and sends.
 *
 *     {"incident":"ends","id":3,"start":"2026-11-15T19:05:01Z","end":"2026-11-15T19:41:07Z",
 *      "members":12,"open":0,"grade":"critical","peak":5.2,"reason":"latency high 100%",
 *      "shared":[{"column":"latency"},{"part":"rack-2"}],
 *      "worst":{"key":"rack-2/host-17","column":"latency","start":"...","end":"...",
 *               "grade":"critical","peak":5.2},
 *      "order":[{...},...],"text":"..."}
 *
 * It is headed by its worst open member, or by its worst if all have ended: grade, peak, reason and
 * worst are those of this member. All members share what is in `shared`. `order` has the members in
 * the order in which they were reported. Without times `start` and `end` are numbers of rows.
 * Members of a named stream have "stream" and "episode", its number. */
#ifndef OIF_FRONT_INCIDENT_RECORD_H
#define OIF_FRONT_INCIDENT_RECORD_H

#include "result_fields.h"

/* What happens to it. */
typedef enum incident_phase {
    INCIDENT_BEGINS,
    INCIDENT_GROWS,
    INCIDENT_LASTS,
    INCIDENT_ENDS
} incident_phase;

typedef struct incident_view {
    incident_phase phase;
    bool has_times; /* numbers are times, not rows */
    bool is_brief;  /* without order */
} incident_view;

/* Writes the record, without a line end. Writes nothing if there is no such incident. */
void incident_record_write(const oif_incidents *incidents, uint64_t number,
                           const incident_view *view);

/* The grade of a severity. */
oif_grade incident_record_grade(double severity);

#endif
