#include "arrival_gaps.h"

#include <math.h>
#include <string.h>

enum { ARRIVALS_KNOWN = 8, OUTAGES = 2 };

static const double memory_seconds = 28 * 86400.0;
static const double times_usual = 3, least_seconds = 30;
static const double feed_seconds = 120, feed_seconds_without_times = 600;

/* The longest come first, so the last one makes room. */
static void insert(arrival_gaps *gaps, const arrival_gap *gap)
{
    uint64_t at = gaps->kept;
    while (at > 0 && gaps->longest[at - 1].seconds < gap->seconds)
        at--;
    if (at == ARRIVAL_GAPS_KEPT)
        return;
    if (gaps->kept < ARRIVAL_GAPS_KEPT)
        gaps->kept++;
    memmove(&gaps->longest[at + 1], &gaps->longest[at],
            (size_t)(gaps->kept - 1 - at) * sizeof *gap);
    gaps->longest[at] = *gap;
}

static bool is_old(const arrival_gap *gap, double now)
{
    return !(now - gap->at < memory_seconds);
}

static void forget_old(arrival_gaps *gaps, double now)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < gaps->kept; i++)
        if (!is_old(&gaps->longest[i], now))
            gaps->longest[kept++] = gaps->longest[i];
    gaps->kept = kept;
}

void arrival_gaps_add(arrival_gaps *gaps, double seconds, double now)
{
    if (gaps->arrivals++ == 0)
        gaps->began = now;
    gaps->last = now;
    if (!(seconds >= 0)) /* the clock was set back */
        return;
    forget_old(gaps, now);
    insert(gaps, &(arrival_gap){seconds, now});
}

double arrival_gaps_limit(const arrival_gaps *gaps, double now, bool is_live)
{
    uint64_t longer = 0;
    if (gaps->arrivals < ARRIVALS_KNOWN ||
        gaps->last - gaps->began < (is_live ? feed_seconds : feed_seconds_without_times))
        return INFINITY;
    for (uint64_t i = 0; i < gaps->kept; i++)
        if (!is_old(&gaps->longest[i], now) && longer++ == OUTAGES)
            return fmax(times_usual * gaps->longest[i].seconds, least_seconds);
    return INFINITY;
}
