/* Any bytes as the snapshot of incidents, with valid checksums. Accepted ones must work with any
 * events, and stay consistent. */
#include "fuzz_input.h"
#include "repair.h"

static void live_on(oif_incidents *incidents, input events)
{
    oif_incident_info info;
    oif_incident_member member;
    oif_incident_shared shared;
    for (int i = 0; i < 60 && events.next < events.end; i++) {
        char key[4] = {(char)take_byte(&events), '/', (char)take_byte(&events), '-'};
        oif_incident_event event = {.key = key,
                                    .key_bytes = sizeof key,
                                    .column = i % 2 ? "c" : NULL,
                                    .seconds = take_number(&events),
                                    .severity = take_number(&events),
                                    .episode = take_byte(&events) % 4};
        oif_incident_place place;
        require((i % 4 ? oif_incidents_begin : oif_incidents_end)(incidents, &event, &place,
                                                                  NULL) == OIF_OK);
        require(place.incident == 0 || oif_incidents_info(incidents, place.incident, &info));
        for (size_t k = 0; oif_incidents_member(incidents, place.incident, k, &member); k++)
            require(member.key_bytes <= OIF_INCIDENT_TEXT_BYTES);
        for (size_t k = 0; oif_incidents_shared(incidents, place.incident, k, &shared); k++)
            require(shared.bytes > 0);
        require(oif_incidents_check(incidents, NULL) == OIF_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = calloc(size + 1, 1);
    oif_incidents *incidents = NULL;
    oif_error error = {.message = ""};
    require(bytes);
    if (size > 0)
        memcpy(bytes, data, size);
    repair_snapshot(bytes, size);
    oif_status status = oif_incidents_load_memory(bytes, size, &incidents, &error);
    if (status == OIF_OK)
        live_on(incidents, (input){data + size / 2, data + size});
    else
        require(error.status == status && error.message[0] != '\0');
    oif_incidents_free(incidents);
    free(bytes);
    return 0;
}
