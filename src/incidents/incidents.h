/* Incidents: which episodes begin together (evidence.h has the rule).
 *
 *     oif_incidents
 *       slots[2 max_incidents]   open ones, and those that are over but were not taken yet
 *         members[max_members]   in the order of their starts; further ones take the place of those
 *                                that have ended, or are only counted
 *         traits                 and how many members have each
 *       evidence                 how often episodes begin by chance, and where
 *
 * All of it is one block of memory. A begin costs a look at each open incident within the window,
 * an end a look at each member; both are rare compared with rows. */
#ifndef OIF_INCIDENTS_INCIDENTS_H
#define OIF_INCIDENTS_INCIDENTS_H

#include "incidents/evidence.h"

enum { OIF_AGREEING_TIMES = 16 }; /* far from the clock, in one direction, that move it */

typedef enum oif_incident_state {
    OIF_INCIDENT_FREE, /* the slot is not used */
    OIF_INCIDENT_OPEN,
    OIF_INCIDENT_OVER, /* to be taken */
    OIF_INCIDENT_TAKEN /* free after the next event */
} oif_incident_state;

typedef struct oif_member {
    uint64_t hash;                         /* of stream, key and number, all of their bytes */
    double seconds, end_seconds, severity; /* end_seconds is NaN until it has ended */
    uint64_t episode;
    uint8_t stream_bytes, key_bytes, column_bytes;
    char stream[OIF_INCIDENT_TEXT_BYTES], key[OIF_INCIDENT_TEXT_BYTES],
        column[OIF_INCIDENT_TEXT_BYTES];
} oif_member;

typedef struct oif_incident {
    uint64_t number;
    uint32_t state, kept, open; /* open: of those kept */
    double first_begin, last_begin, last_event;
    double peak_severity;
    oif_trait_list traits;
    oif_member *members;
} oif_incident;

struct oif_incidents {
    oif_params options;
    uint32_t max_incidents, max_members;
    double window, quiet, stale, least_odds;
    bool has_seconds; /* an event had a time */
    double now;       /* NaN: no event yet */
    int32_t doubted;  /* times in a row too far ahead of it to be trusted; below 0: behind it */
    double next_due;  /* no incident is over before that time */
    uint64_t incidents;
    oif_evidence evidence;
    oif_incident *slots; /* 2 max_incidents */
};

/* Without libm, whose fmax is a call. */
static inline double oif_higher(double a, double b)
{
    return a > b ? a : b;
}

static inline oif_incident *oif_incidents_slots_end(const oif_incidents *incidents)
{
    return incidents->slots + 2 * (size_t)incidents->max_incidents;
}

/* ---- Members of one incident (members.c) ---- */

oif_member oif_member_make(const oif_incident_event *event, double seconds);

/* The member with the identity of another that has not ended; NULL: there is none. */
oif_member *oif_member_find(const oif_incident *incident, const oif_member *like);

/* Begins an incident, or adds to it. */
void oif_incident_start(oif_incident *incident, uint64_t number);
void oif_incident_add(oif_incident *incident, const oif_member *member, uint32_t max_members);

/* The density of delays at a time: after its last begin, or before its first, for what comes
 * late. */
double oif_incident_density(const oif_incident *incident, const oif_delays *delays, double seconds);

/* The index of the worst member. */
uint32_t oif_incident_worst(const oif_incident *incident);

/* Fills in the traits that members share, the one that explains most first; returns how many. */
size_t oif_incident_shared_traits(const oif_incident *incident, const oif_evidence *evidence,
                                  const oif_trait *shared[OIF_INCIDENT_TRAITS_MAX]);

/* The time at which it is over if nothing happens until then. */
double oif_incident_due(const oif_incidents *incidents, const oif_incident *incident);

/* ---- For snapshots ---- */

oif_status oif_incidents_options_named(oif_params *options, const char *name, oif_error *error);

#endif
