/* Models that depart: another key replaced them, or they could not be kept. The program is called
 * for each at once, so nothing is stored and no memory is needed. The model is still in its place
 * then; so the program must not use the pipeline, and a call that would change it is refused. */
#include "base/error.h"
#include "pipeline/pipeline.h"

void oif_pipeline_on_departure(oif_pipeline *pipeline, oif_departure_function function,
                               void *context)
{
    oif_departures *departures = &pipeline->departures;
    departures->report = function; /* is_reporting stays: the function may be the caller */
    departures->context = context;
}

static oif_departure departure_of(const oif_evicted_models *evicted, uint64_t lost)
{
    if (evicted->lost > lost)
        return OIF_DEPARTURE_LOST;
    return evicted->is_kept ? OIF_DEPARTURE_KEPT : OIF_DEPARTURE_FORGOTTEN;
}

void oif_pipeline_report_departure(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                   uint64_t lost)
{
    oif_departures *to = &pipeline->departures;
    const oif_departure departure = departure_of(&pipeline->evicted, lost);
    if (!to->report)
        return;
    to->is_reporting = true;
    to->report(to->context, key_bytes > 0 ? key : NULL, key_bytes, departure,
               departure == OIF_DEPARTURE_LOST ? pipeline->evicted.why_lost : "");
    to->is_reporting = false;
}

oif_status oif_pipeline_fail_reentry(oif_error *error)
{
    return oif_fail(error, OIF_EPARAM,
                    "the function of oif_pipeline_on_departure must not use the pipeline; note the "
                    "key and use it after the row");
}
