#include "incidents/incidents.h"

#include <math.h>
#include <string.h>

/* ---- Members ---- */

static uint8_t copy_text(char to[OIF_INCIDENT_TEXT_BYTES], const char *text, size_t bytes)
{
    if (bytes > OIF_INCIDENT_TEXT_BYTES)
        bytes = OIF_INCIDENT_TEXT_BYTES;
    if (bytes > 0)
        memcpy(to, text, bytes);
    return (uint8_t)bytes;
}

/* Lengths are hashed, too: "ab" and "c" differ from "a" and "bc". */
static uint64_t hash_identity(const oif_incident_event *event, size_t stream_bytes)
{
    const uint64_t numbers[] = {stream_bytes, event->key ? event->key_bytes : 0, event->episode};
    unsigned char bytes[sizeof numbers];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(numbers[i / 8] >> 8 * (i % 8));
    uint64_t hash = oif_incident_hash(UINT64_C(14695981039346656037), bytes, sizeof bytes);
    hash = oif_incident_hash(hash, event->stream, stream_bytes);
    return oif_incident_hash(hash, event->key, numbers[1]);
}

oif_member oif_member_make(const oif_incident_event *event, double seconds)
{
    const size_t stream_bytes = event->stream ? strlen(event->stream) : 0;
    oif_member member = {.hash = hash_identity(event, stream_bytes),
                         .seconds = seconds,
                         .end_seconds = NAN,
                         .severity = isfinite(event->severity) ? event->severity : 0,
                         .episode = event->episode};
    member.stream_bytes = copy_text(member.stream, event->stream, stream_bytes);
    member.key_bytes = copy_text(member.key, event->key, event->key ? event->key_bytes : 0);
    member.column_bytes =
        copy_text(member.column, event->column, event->column ? strlen(event->column) : 0);
    return member;
}

oif_member *oif_member_find(const oif_incident *incident, const oif_member *like)
{
    for (uint32_t i = 0; i < incident->kept; i++) {
        oif_member *member = &incident->members[i];
        if (member->hash == like->hash && isnan(member->end_seconds) &&
            member->episode == like->episode && member->key_bytes == like->key_bytes &&
            member->stream_bytes == like->stream_bytes &&
            memcmp(member->key, like->key, like->key_bytes) == 0 &&
            memcmp(member->stream, like->stream, like->stream_bytes) == 0)
            return member;
    }
    return NULL;
}

/* ---- Incidents ---- */

/* More likely than not, or it is not worth a mention. */
static const double least_bits = 1;

void oif_incident_start(oif_incident *incident, uint64_t number)
{
    oif_member *members = incident->members;
    *incident = (oif_incident){.number = number,
                               .state = OIF_INCIDENT_OPEN,
                               .first_begin = INFINITY,
                               .last_begin = -INFINITY,
                               .last_event = -INFINITY,
                               .peak_severity = -INFINITY,
                               .members = members};
}

static bool comes_before(const oif_member *a, const oif_member *b)
{
    return a->seconds < b->seconds || (a->seconds == b->seconds && a->severity >= b->severity);
}

/* Of members that have ended, the mildest: it makes room for a new one, so an incident is not over
 * while later episodes last. The earliest quarter stays, as it shows where the incident began, and
 * so does the worst. Returns `kept` if there is none. */
static uint32_t find_dispensable(const oif_incident *incident)
{
    const uint32_t worst = oif_incident_worst(incident);
    uint32_t mildest = incident->kept;
    for (uint32_t i = 1 + incident->kept / 4; i < incident->kept; i++) {
        const oif_member *member = &incident->members[i];
        if (i != worst && !isnan(member->end_seconds) &&
            (mildest == incident->kept || member->severity < incident->members[mildest].severity))
            mildest = i;
    }
    return mildest;
}

/* Returns whether a member may be added. */
static bool make_room(oif_incident *incident, uint32_t max_members)
{
    if (incident->kept < max_members)
        return true;
    const uint32_t at = find_dispensable(incident);
    if (at == incident->kept)
        return false;
    incident->kept--;
    memmove(&incident->members[at], &incident->members[at + 1],
            (incident->kept - at) * sizeof *incident->members);
    return true;
}

void oif_incident_add(oif_incident *incident, const oif_member *member, uint32_t max_members)
{
    incident->first_begin = -oif_higher(-incident->first_begin, -member->seconds);
    incident->last_begin = oif_higher(incident->last_begin, member->seconds);
    incident->last_event = oif_higher(incident->last_event, member->seconds);
    incident->peak_severity = oif_higher(incident->peak_severity, member->severity);
    if (!make_room(incident, max_members))
        return;
    uint32_t at = incident->kept;
    while (at > 0 && !comes_before(&incident->members[at - 1], member))
        at--;
    memmove(&incident->members[at + 1], &incident->members[at],
            (incident->kept - at) * sizeof *member);
    incident->members[at] = *member;
    incident->kept++;
    incident->open++;
}

double oif_incident_density(const oif_incident *incident, const oif_delays *delays, double seconds)
{
    if (seconds < incident->first_begin)
        return oif_delays_density(delays, incident->first_begin - seconds);
    return oif_delays_density(delays, oif_higher(seconds - incident->last_begin, 0));
}

uint32_t oif_incident_worst(const oif_incident *incident)
{
    uint32_t worst = 0;
    for (uint32_t i = 1; i < incident->kept; i++)
        if (incident->members[i].severity > incident->members[worst].severity)
            worst = i;
    return worst;
}

size_t oif_incident_shared_traits(const oif_incident *incident, const oif_evidence *evidence,
                                  const oif_trait *shared[OIF_INCIDENT_TRAITS_MAX])
{
    const oif_trait_list *list = &incident->traits;
    double about[OIF_INCIDENT_TRAITS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const oif_trait *trait = &list->traits[i];
        double bits = oif_evidence_about(evidence, list, trait);
        if (!(bits >= least_bits))
            continue;
        size_t at = count++;
        for (; at > 0 && about[at - 1] < bits; at--) {
            about[at] = about[at - 1];
            shared[at] = shared[at - 1];
        }
        about[at] = bits;
        shared[at] = trait;
    }
    return count;
}

double oif_incident_due(const oif_incidents *incidents, const oif_incident *incident)
{
    return incident->last_event + (incident->open > 0 ? incidents->stale : incidents->quiet);
}
