/* The invariants of incidents: for tests, and for snapshots, whose bytes may say anything. */
#include "base/invariant.h"
#include "incidents/incidents.h"

#include <math.h>

static bool is_count(double value)
{
    return value >= 0 && value <= 1e300;
}

static oif_status check_evidence(const oif_evidence *evidence, const oif_check *check)
{
    OIF_REQUIRE(check, is_count(evidence->counted) && is_count(evidence->elapsed),
                "counted episodes and seconds are not below 0");
    OIF_REQUIRE(check, !isinf(evidence->rate_seconds) && !isinf(evidence->last_begin),
                "the times of the rate are finite");
    OIF_REQUIRE(check, is_count(evidence->share_total), "the total of the shares is not below 0");
    for (size_t i = 0; i < OIF_GAPS; i++)
        OIF_REQUIRE(check, i < evidence->gap_count ? evidence->gaps[i] > 0 : evidence->gaps[i] == 0,
                    "gaps are above 0, or not used");
    for (size_t set = 0; set < OIF_SHARE_SETS; set++)
        for (size_t way = 0; way < OIF_SHARE_WAYS; way++)
            OIF_REQUIRE(check, is_count(evidence->weights[set][way]), "a share is not below 0");
    return OIF_OK;
}

static oif_status check_traits(const oif_trait_list *list, const oif_check *check)
{
    OIF_REQUIRE(check, list->members > 0 && list->members <= UINT64_C(1) << 53,
                "it has members, and not too many");
    OIF_REQUIRE(check, list->count <= OIF_INCIDENT_TRAITS_MAX, "its traits fit the list");
    for (uint32_t i = 0; i < list->count; i++) {
        const oif_trait *trait = &list->traits[i];
        OIF_REQUIRE(check, trait->members >= 1 && trait->members <= list->members,
                    "a trait is one of some members, at most of all");
        OIF_REQUIRE(check, trait->kind <= OIF_TRAIT_STREAM && trait->bytes <= OIF_TRAIT_TEXT_BYTES,
                    "a trait has a kind and a text that fits");
    }
    return OIF_OK;
}

static oif_status check_members(const oif_incident *incident, const oif_check *check)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < incident->kept; i++) {
        const oif_member *member = &incident->members[i];
        open += isnan(member->end_seconds) ? 1 : 0;
        OIF_REQUIRE(check, isfinite(member->seconds) && isfinite(member->severity),
                    "a start and a severity are finite");
        OIF_REQUIRE(check, !(member->end_seconds < member->seconds) && !isinf(member->end_seconds),
                    "an episode ends after its start");
        OIF_REQUIRE(check, i == 0 || member[-1].seconds <= member->seconds,
                    "members are in the order of their starts");
        OIF_REQUIRE(check,
                    member->stream_bytes <= OIF_INCIDENT_TEXT_BYTES &&
                        member->key_bytes <= OIF_INCIDENT_TEXT_BYTES &&
                        member->column_bytes <= OIF_INCIDENT_TEXT_BYTES,
                    "the texts of a member fit");
    }
    OIF_REQUIRE(check, open == incident->open, "the open members are counted");
    return OIF_OK;
}

static oif_status check_incident(const oif_incidents *incidents, const oif_incident *incident,
                                 const oif_check *check)
{
    OIF_REQUIRE(check, incident->state <= OIF_INCIDENT_TAKEN, "its state is known");
    OIF_REQUIRE(check, incident->number >= 1 && incident->number <= incidents->incidents,
                "its number was given");
    OIF_REQUIRE(check, incident->kept >= 1 && incident->kept <= incidents->max_members,
                "the members kept fit");
    OIF_REQUIRE(check, incident->kept <= incident->traits.members, "no more are kept than it has");
    OIF_REQUIRE(check,
                isfinite(incident->first_begin) && isfinite(incident->last_begin) &&
                    isfinite(incident->last_event) && isfinite(incident->peak_severity),
                "its times and its severity are finite");
    OIF_REQUIRE(check,
                incident->first_begin <= incident->last_begin &&
                    incident->last_begin <= incident->last_event,
                "its times are in order");
    for (const oif_incident *i = incidents->slots; i < incident; i++)
        OIF_REQUIRE(check, i->state == OIF_INCIDENT_FREE || i->number != incident->number,
                    "its number is its own");
    oif_status status = check_traits(&incident->traits, check);
    return status == OIF_OK ? check_members(incident, check) : status;
}

oif_status oif_incidents_check(const oif_incidents *incidents, oif_error *error)
{
    oif_check check = {.error = error};
    oif_status status = check_evidence(&incidents->evidence, &check);
    OIF_REQUIRE(&check,
                incidents->incidents <= UINT64_C(1) << 53 &&
                    incidents->evidence.gap_count <= UINT64_C(1) << 53,
                "there are fewer incidents and gaps than any stream has");
    OIF_REQUIRE(&check, !isinf(incidents->now), "the time is finite");
    OIF_REQUIRE(&check, !incidents->has_seconds || !isnan(incidents->now),
                "the time is known once there are times");
    OIF_REQUIRE(&check,
                incidents->doubted > -OIF_AGREEING_TIMES && incidents->doubted < OIF_AGREEING_TIMES,
                "fewer times are in doubt than move the clock");
    OIF_REQUIRE(&check, oif_incidents_count(incidents) <= incidents->max_incidents,
                "no more incidents are open than there may be");
    for (const oif_incident *i = incidents->slots;
         i < oif_incidents_slots_end(incidents) && status == OIF_OK; i++) {
        check.what = "incident";
        check.number = (uint32_t)i->number;
        if (i->state != OIF_INCIDENT_FREE)
            status = check_incident(incidents, i, &check);
    }
    return status;
}
