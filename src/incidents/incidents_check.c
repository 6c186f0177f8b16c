/* The invariants of incidents: for tests, and for snapshots, whose bytes may say anything. */
#include "base/invariant.h"
#include "incidents/incidents.h"

#include <math.h>

static oif_status check_member(const oif_incidents *incidents, const oif_member *member,
                               const oif_check *check)
{
    OIF_REQUIRE(check, member->incident >= 1 && member->incident <= incidents->incidents,
                "the number of an incident was given");
    OIF_REQUIRE(check, isfinite(member->seconds) && isfinite(member->severity),
                "a start and a severity are finite");
    OIF_REQUIRE(check, !(member->end_seconds < member->seconds) && !isinf(member->end_seconds),
                "an episode ends after its start");
    OIF_REQUIRE(check,
                member->stream_bytes <= OIF_INCIDENT_TEXT_BYTES &&
                    member->key_bytes <= OIF_INCIDENT_TEXT_BYTES &&
                    member->column_bytes <= OIF_INCIDENT_TEXT_BYTES &&
                    member->reason_bytes <= OIF_INCIDENT_REASON_BYTES,
                "the texts of a member fit");
    return OIF_OK;
}

oif_status oif_incidents_check(const oif_incidents *incidents, oif_error *error)
{
    oif_check check = {.error = error};
    oif_status status = OIF_OK;
    uint64_t newest = 0;
    oif_incident_info info;
    OIF_REQUIRE(&check, incidents->count <= incidents->max_members, "the members fit");
    OIF_REQUIRE(&check, isfinite(incidents->now), "the time of the last event is finite");
    for (uint32_t i = 0; i < incidents->count && status == OIF_OK; i++) {
        const oif_member *member = &incidents->members[i];
        status = check_member(incidents, member, &check);
        if (member->incident <= newest)
            continue;
        newest = member->incident;
        oif_incidents_info(incidents, newest, &info);
        OIF_REQUIRE(&check, info.is_over == (newest == incidents->over),
                    "an incident is open, or ended with the last event");
    }
    return status;
}
