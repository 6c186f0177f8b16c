#include "time_of_day.h"

#include <stdio.h>
#include <string.h>

/* 18.00.00, but not 18:00:00.25 */
static bool has_points(oif_text clock)
{
    size_t points = 0;
    for (size_t i = 0; i < clock.bytes; i++)
        points += clock.text[i] == '.';
    return points == 2 && !memchr(clock.text, ':', clock.bytes);
}

int time_of_day_join(const char *date, size_t date_bytes, oif_text clock, char *joined, size_t room)
{
    if (date_bytes + clock.bytes + 2 > room)
        return 0;
    const int bytes = snprintf(joined, room, "%.*s%s%.*s", (int)date_bytes, date,
                               clock.bytes > 0 ? " " : "", (int)clock.bytes, clock.text);
    for (int i = (int)date_bytes; has_points(clock) && i < bytes; i++)
        if (joined[i] == '.')
            joined[i] = ':';
    return bytes;
}
