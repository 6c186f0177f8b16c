#include "pipeline/rules/zone.h"

#include "base/calendar.h"

#include <stdio.h>
#include <string.h>

enum { MINUTE = 60, HOUR = 3600, DAY = OIF_DAY_SECONDS, MOST_HOURS = 167 /* POSIX */ };

/* ---- Text ---- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take_char(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_number(cursor *c, int32_t most, int32_t *number)
{
    const char *start = c->at;
    for (*number = 0; c->at < c->end && is_digit(*c->at) && *number <= most; c->at++)
        *number = 10 * *number + (*c->at - '0');
    return c->at > start && *number <= most;
}

/* hh[:mm[:ss]], with a sign. */
static bool take_time(cursor *c, int32_t *seconds)
{
    const bool is_negative = take_char(c, '-');
    int32_t hours, minutes = 0, rest = 0;
    if (!is_negative)
        take_char(c, '+');
    if (!take_number(c, MOST_HOURS, &hours) ||
        (take_char(c, ':') &&
         (!take_number(c, 59, &minutes) || (take_char(c, ':') && !take_number(c, 59, &rest)))))
        return false;
    *seconds = (hours * HOUR + minutes * MINUTE + rest) * (is_negative ? -1 : 1);
    return true;
}

/* CET, or <+03>. */
static bool take_name(cursor *c)
{
    const char *start = c->at;
    if (take_char(c, '<')) {
        while (c->at < c->end && *c->at != '>')
            c->at++;
        return take_char(c, '>');
    }
    while (c->at < c->end && ((*c->at | 32) >= 'a' && (*c->at | 32) <= 'z'))
        c->at++;
    return c->at - start >= 3;
}

/* ,Mm.w.d[/time] */
static bool take_change(cursor *c, oif_zone_change *change)
{
    change->seconds = 2 * HOUR;
    return take_char(c, ',') && take_char(c, 'M') && take_number(c, 12, &change->month) &&
           take_char(c, '.') && take_number(c, 5, &change->week) && take_char(c, '.') &&
           take_number(c, 6, &change->day) && change->month > 0 && change->week > 0 &&
           (!take_char(c, '/') || take_time(c, &change->seconds));
}

/* The offsets of POSIX are west of UTC. */
static bool take_posix(cursor *c, oif_zone *zone)
{
    int32_t west;
    if (!take_name(c) || !take_time(c, &west))
        return false;
    zone->offset = -west;
    zone->summer_offset = zone->offset + HOUR;
    if (c->at == c->end)
        return true;
    zone->has_summer = 1;
    if (!take_name(c))
        return false;
    if (c->at < c->end && *c->at != ',') {
        if (!take_time(c, &west))
            return false;
        zone->summer_offset = -west;
    }
    return take_change(c, &zone->begin) && take_change(c, &zone->end) && c->at == c->end;
}

bool oif_zone_parse(oif_zone *zone, const char *text, size_t bytes)
{
    cursor c = {text, text + bytes};
    *zone = (oif_zone){.offset = 0};
    if ((bytes == 1 && *text == 'Z') || (bytes == 3 && memcmp(text, "UTC", 3) == 0))
        return true;
    if (bytes > 0 && (*text == '+' || *text == '-')) /* as in times: east of UTC */
        return take_time(&c, &zone->offset) && c.at == c.end;
    return take_posix(&c, zone);
}

/* ---- Zone files ---- */

/* Europe/Berlin: no way out of the folder. */
static bool is_zone_name(const char *name, size_t bytes)
{
    if (bytes == 0 || bytes > 48)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        const char c = name[i], lower = (char)(c | 32);
        if (!((lower >= 'a' && lower <= 'z') || is_digit(c) || c == '_' || c == '+' || c == '-' ||
              (c == '/' && i > 0)))
            return false;
    }
    return true;
}

#ifdef OIF_WITHOUT_FILES
bool oif_zone_find(const char *name, size_t bytes, char text[OIF_ZONE_TEXT_BYTES])
{
    (void)name, (void)bytes, (void)text;
    return false;
}
#else
/* The last line of the file is the POSIX text. */
bool oif_zone_find(const char *name, size_t bytes, char text[OIF_ZONE_TEXT_BYTES])
{
    char path[128], tail[OIF_ZONE_TEXT_BYTES + 2];
    oif_zone zone;
    if (!is_zone_name(name, bytes))
        return false;
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%.*s", (int)bytes, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    char magic[4] = "";
    bool is_read = fread(magic, 1, sizeof magic, file) == sizeof magic &&
                   memcmp(magic, "TZif", sizeof magic) == 0 &&
                   fseek(file, -(long)sizeof tail, SEEK_END) == 0 &&
                   fread(tail, 1, sizeof tail, file) == sizeof tail;
    fclose(file);
    if (!is_read || tail[sizeof tail - 1] != '\n')
        return false;
    const char *end = tail + sizeof tail - 1, *start = end;
    while (start > tail && start[-1] != '\n')
        start--;
    if (start == tail || !oif_zone_parse(&zone, start, (size_t)(end - start)))
        return false;
    snprintf(text, OIF_ZONE_TEXT_BYTES, "%.*s", (int)(end - start), start);
    return true;
}
#endif

/* ---- Clocks ---- */

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int year_of(int64_t days)
{
    int year = (int)(1970 + floor_divide(days * 400, 146097));
    while (oif_days_since_1970(year + 1, 1, 1) <= days)
        year++;
    while (oif_days_since_1970(year, 1, 1) > days)
        year--;
    return year;
}

/* 0: Monday; day 0 of 1970 was a Thursday. */
static int32_t weekday_of(int64_t days)
{
    return (int32_t)(((days + 3) % 7 + 7) % 7);
}

/* The local second, since 1970, of a change in a year. */
static int64_t change_at(const oif_zone_change *change, int year)
{
    const int next = change->month % 12 + 1;
    const int64_t first = oif_days_since_1970(year, change->month, 1),
                  after = oif_days_since_1970(year + (next == 1), next, 1);
    const int32_t wanted = (change->day + 6) % 7; /* 0: Monday */
    int64_t day = first + (wanted - weekday_of(first) + 7) % 7 + 7 * (change->week - 1);
    while (day >= after)
        day -= 7;
    return day * DAY + change->seconds;
}

static bool is_summer(const oif_zone *zone, int64_t seconds)
{
    if (!zone->has_summer)
        return false;
    const int year = year_of(floor_divide(seconds + zone->offset, DAY));
    const int64_t begin = change_at(&zone->begin, year) - zone->offset,
                  end = change_at(&zone->end, year) - zone->summer_offset;
    return begin < end ? seconds >= begin && seconds < end : seconds >= begin || seconds < end;
}

oif_zone_clock oif_zone_clock_at(const oif_zone *zone, double seconds)
{
    const int64_t towards_0 = (int64_t)seconds, whole = towards_0 - ((double)towards_0 > seconds),
                  local = whole + (is_summer(zone, whole) ? zone->summer_offset : zone->offset),
                  days = floor_divide(local, DAY);
    return (oif_zone_clock){weekday_of(days), (int32_t)(local - days * DAY)};
}
