#include "retry.h"

#include "front/text/clock.h"

#include <math.h>

static const double pause_seconds_max = 60;

void retry_note(retry *one, bool is_good)
{
    one->pause_seconds = is_good ? 0 : fmin(fmax(1, 2 * one->pause_seconds), pause_seconds_max);
    one->not_before = is_good ? 0 : clock_seconds() + one->pause_seconds;
}

bool retry_may(const retry *one)
{
    return clock_seconds() >= one->not_before;
}
