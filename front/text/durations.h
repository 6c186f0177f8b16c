/* Times of the command line and of alerts as text: "10m", "5/day", "2026-11-15T19:05:01Z". */
#ifndef OIF_FRONT_DURATIONS_H
#define OIF_FRONT_DURATIONS_H

#include <stdbool.h>

/* "30s", "10m", "1.5h", "1d", "2w"; a plain number is seconds. */
bool duration_parse(const char *text, double *seconds);

/* "5/day", "1/hour", "2/week"; a plain number is per day. */
bool per_day_parse(const char *text, double *per_day);

/* "90 s", "10 min", "1.5 h", "2 d" */
enum { DURATION_TEXT_BYTES = 32 };
const char *duration_text(double seconds, char text[DURATION_TEXT_BYTES]);

/* Seconds since 1970 as ISO 8601 in UTC; the bare number where it is beyond the year 9999. */
enum { MOMENT_TEXT_BYTES = 48 };
const char *moment_text(double seconds, char text[MOMENT_TEXT_BYTES]);

#endif
