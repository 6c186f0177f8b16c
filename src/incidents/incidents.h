/* Incidents: which episodes begin together.
 *
 *     members   [ 1: dc1/web-17 cpu ] [ 2: dc2/db-3 disk ] [ 1: dc1/web-18 cpu ] ...
 *
 * An incident is nothing but the members with its number, in the order in which they were reported.
 * It is over with the end of its last open member, and its members leave with the next event. An
 * episode joins the newest incident with a begin less than the window away, if it shares a part of
 * its key, or its column, with all members.
 *
 * All of it is one block of memory. An event costs some looks at each member; events are rare
 * compared with rows. */
#ifndef OIF_INCIDENTS_INCIDENTS_H
#define OIF_INCIDENTS_INCIDENTS_H

#include "oif.h"

typedef struct oif_member {
    uint64_t incident, episode;
    uint64_t hash;               /* of stream and key, all of their bytes */
    double seconds, end_seconds; /* end_seconds is NaN until it has ended */
    double severity;
    uint8_t stream_bytes, key_bytes, column_bytes, reason_bytes;
    char stream[OIF_INCIDENT_TEXT_BYTES], key[OIF_INCIDENT_TEXT_BYTES],
        column[OIF_INCIDENT_TEXT_BYTES], reason[OIF_INCIDENT_REASON_BYTES];
} oif_member;

struct oif_incidents {
    oif_params options;
    uint32_t max_members, count;
    double window;
    double now;         /* the time of the last event; 0: none yet */
    uint64_t incidents; /* that began */
    uint64_t over;      /* the one that ended with the last event; 0: none */
    oif_member *members;
};

oif_status oif_incidents_options_named(oif_params *options, const char *name, oif_error *error);

#endif
