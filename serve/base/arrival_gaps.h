/* The pauses between the arrivals of rows, by the wall clock, and how long a pause may be before
 * the feed counts as dead.
 *
 *     rows  ||| ||| |||      ||| ||| |||      |||        .
 *                       ^ a long pause            ^ limit: no data
 *
 * The limit is three times the third longest pause of the last four weeks, and at least 30 seconds.
 * So two outages do not make the next one harder to see, and a pause that comes back, such as every
 * night, is an alert twice and usual from then on.
 *
 * A batch that is loaded once is not a feed: there is no limit before eight arrivals that took two
 * minutes, or ten where the times of the rows do not say that they are of today. */
#ifndef OIF_SERVE_ARRIVAL_GAPS_H
#define OIF_SERVE_ARRIVAL_GAPS_H

#include <stdbool.h>
#include <stdint.h>

enum { ARRIVAL_GAPS_KEPT = 8 };

typedef struct arrival_gap {
    double seconds, at; /* how long, and when it ended */
} arrival_gap;

typedef struct arrival_gaps {
    double began, last; /* the first arrival, and the latest */
    uint64_t arrivals;  /* 0: none yet */
    uint64_t kept;
    arrival_gap longest[ARRIVAL_GAPS_KEPT]; /* the longest first */
} arrival_gaps;

/* Rows arrive at `now`, after that many seconds in which they could have; NaN: they are the
 * first. */
void arrival_gaps_add(arrival_gaps *gaps, double seconds, double now);

/* The longest pause that is usual, in seconds; infinity: not known. `is_live`: the times of the
 * rows are near the clock. */
double arrival_gaps_limit(const arrival_gaps *gaps, double now, bool is_live);

#endif
