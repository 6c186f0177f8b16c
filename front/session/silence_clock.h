/* When to look for keys that fell silent: as the times of rows advance and, while no row comes, as
 * the wall clock does. The wall clock counts only if the times of the stream are near it, and
 * pauses between the arrivals of rows are not silence. */
#ifndef OIF_FRONT_SILENCE_CLOCK_H
#define OIF_FRONT_SILENCE_CLOCK_H

#include "oif.h"

#include <stdbool.h>

typedef struct silence_clock {
    double latest;       /* time of a row; NaN before the first */
    double longest_idle; /* seconds without rows, before rows arrived again */
    uint64_t arrivals;   /* how many times they did */
} silence_clock;

/* Takes the time of a row. Returns whether it is later than all before it. */
bool silence_clock_row(silence_clock *clock, double seconds);

/* Rows arrive after that many seconds without any. */
void silence_clock_arrive(silence_clock *clock, double idle_seconds);

/* The present time of the stream after that many seconds without rows, `now` by the wall clock; NaN
 * if it is unknown. */
double silence_clock_now(const silence_clock *clock, const oif_pipeline *pipeline, double now,
                         double idle_seconds);

/* Whether the times of the stream are near the wall clock. */
bool silence_clock_is_live(const silence_clock *clock, double now);

#endif
