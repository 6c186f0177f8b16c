#include "silence_clock.h"

#include <math.h>

enum { ARRIVALS_KNOWN = 4 };

static const double near_the_clock = 86400; /* seconds: the time zone may be unknown */

bool silence_clock_row(silence_clock *clock, double seconds)
{
    if (isnan(seconds) || seconds <= clock->latest)
        return false;
    clock->latest = seconds;
    return true;
}

void silence_clock_arrive(silence_clock *clock, double idle_seconds)
{
    clock->arrivals++;
    if (idle_seconds > clock->longest_idle)
        clock->longest_idle = idle_seconds;
}

bool silence_clock_is_live(const silence_clock *clock, double now)
{
    return fabs(now - clock->latest) < near_the_clock;
}

/* --silence TIME: then pauses of the input count, too. */
static bool has_fixed_limit(const oif_pipeline *pipeline)
{
    double fixed = 0;
    oif_status status = oif_params_get(oif_pipeline_options(pipeline), "silence", &fixed, NULL);
    return status == OIF_OK && fixed > 0;
}

/* Rows that arrive in batches cause pauses of the input, not of the stream, so pauses up to twice
 * the longest so far are ignored. */
double silence_clock_now(const silence_clock *clock, const oif_pipeline *pipeline, double now,
                         double idle_seconds)
{
    const bool is_fixed = has_fixed_limit(pipeline);
    if (!silence_clock_is_live(clock, now) || (!is_fixed && clock->arrivals < ARRIVALS_KNOWN))
        return NAN;
    const double ignored = is_fixed ? 0 : 2 * clock->longest_idle;
    return clock->latest + fmax(idle_seconds - ignored, 0);
}
