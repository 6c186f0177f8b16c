/* Time zones, for windows of the day and the week. A zone is written as POSIX does: its offset and
 * the rule of its summer time, so it means the same on every machine and in every snapshot:
 *
 *     UTC    +02:00    CET-1CEST,M3.5.0,M10.5.0/3
 *
 * Names such as Europe/Berlin are looked up in the zone files of the machine; what is kept is the
 * POSIX text at the end of such a file. It has the rule of today: a year with another rule is off
 * by an hour for some weeks.
 */
#ifndef OIF_PIPELINE_RULES_ZONE_H
#define OIF_PIPELINE_RULES_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OIF_ZONE_TEXT_BYTES = 64 };

/* When summer time begins or ends: Mm.w.d/time, in the local time before. */
typedef struct oif_zone_change {
    int32_t month, week, day; /* day: 0 is Sunday; week 5: the last one */
    int32_t seconds;          /* of that day */
} oif_zone_change;

typedef struct oif_zone {
    int32_t offset, summer_offset; /* seconds east of UTC */
    int32_t has_summer;
    oif_zone_change begin, end;
} oif_zone;

/* Returns false if the text is not a zone. */
bool oif_zone_parse(oif_zone *zone, const char *text, size_t bytes);

/* The POSIX text of a named zone of this machine. Returns false if there is none. */
bool oif_zone_find(const char *name, size_t bytes, char text[OIF_ZONE_TEXT_BYTES]);

/* A time of day and week in a zone. */
typedef struct oif_zone_clock {
    int32_t weekday; /* 0: Monday */
    int32_t second;  /* of the day */
} oif_zone_clock;

/* `seconds` since 1970, from year 1 to 9999. */
oif_zone_clock oif_zone_clock_at(const oif_zone *zone, double seconds);

#endif
