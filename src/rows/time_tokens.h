/* The parts of a time as text: digits, names of months, a clock, a zone. Each function takes one
 * part from the start of what is left and returns whether it was there. Inline, because every row
 * has a time. */
#ifndef OIF_ROWS_TIME_TOKENS_H
#define OIF_ROWS_TIME_TOKENS_H

#include "base/number_text.h"
#include "rows/reader.h"

/* A time as written; nothing is checked yet. */
typedef struct oif_civil_time {
    int year, month, day, hour, minute, second;
    double fraction;
    bool has_zone;
    int zone_seconds; /* east of UTC */
    /* A date such as 01/02/2026: whether `day` and `month` may have to be exchanged, and the order
     * that the numbers themselves show. */
    bool is_in_order_of_day;
    oif_day_order order;
} oif_civil_time;

typedef oif_span oif_cursor; /* what is left to read */

static inline bool oif_take(oif_cursor *c, char byte)
{
    bool is_there = c->start < c->end && *c->start == byte;
    c->start += is_there;
    return is_there;
}

static inline bool oif_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static inline bool oif_parse_two_digits(oif_cursor *c, int *value)
{
    if (c->end - c->start < 2 || !oif_is_digit(c->start[0]) || !oif_is_digit(c->start[1]))
        return false;
    *value = (c->start[0] - '0') * 10 + c->start[1] - '0';
    c->start += 2;
    return true;
}

static inline bool oif_parse_year(oif_cursor *c, int *year)
{
    int century, rest;
    if (!oif_parse_two_digits(c, &century) || !oif_parse_two_digits(c, &rest))
        return false;
    *year = century * 100 + rest;
    return true;
}

static inline bool oif_parse_word(oif_cursor *c, const char *word)
{
    size_t bytes = strlen(word);
    if ((size_t)(c->end - c->start) < bytes || memcmp(c->start, word, bytes) != 0)
        return false;
    c->start += bytes;
    return true;
}

/* A month such as Nov, in any case. */
static inline bool oif_parse_month(oif_cursor *c, int *month)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    if (c->end - c->start < 3)
        return false;
    const char letters[] = {(char)(c->start[0] | 0x20), (char)(c->start[1] | 0x20),
                            (char)(c->start[2] | 0x20)};
    for (int i = 0; i < 12; i++) {
        if (memcmp(letters, names + (ptrdiff_t)3 * i, 3) == 0) {
            *month = i + 1;
            c->start += 3;
            return true;
        }
    }
    return false;
}

/* Ignores digits beyond the ninth, which exceed the precision of a double. */
static inline bool oif_parse_fraction(oif_cursor *c, double *fraction)
{
    uint64_t digits = 0;
    int count = 0;
    if (c->start == c->end || !oif_is_digit(*c->start))
        return false;
    for (; c->start < c->end && oif_is_digit(*c->start); c->start++) {
        if (count == 9)
            continue;
        digits = digits * 10 + (uint64_t)(*c->start - '0');
        count++;
    }
    *fraction = (double)digits / (double)POWER_OF_TEN[count];
    return true;
}

/* 19:05, 19:05:01, 19:05:01.25; without colons 1905, 190501, 190501.25. */
static inline bool oif_parse_clock(oif_cursor *c, bool has_colons, oif_civil_time *t)
{
    if (!oif_parse_two_digits(c, &t->hour) || (has_colons && !oif_take(c, ':')) ||
        !oif_parse_two_digits(c, &t->minute))
        return false;
    bool has_second = has_colons ? oif_take(c, ':') : c->start < c->end && oif_is_digit(*c->start);
    if (!has_second)
        return true;
    if (!oif_parse_two_digits(c, &t->second))
        return false;
    return !(oif_take(c, '.') || oif_take(c, ',')) || oif_parse_fraction(c, &t->fraction);
}

/* Z, UTC, GMT, +hh:mm, +hhmm, +hh, or nothing. */
static inline bool oif_parse_zone(oif_cursor *c, oif_civil_time *t)
{
    int hours, minutes = 0;
    if (c->start == c->end)
        return true;
    oif_take(c, ' ');
    t->has_zone = true;
    if (oif_take(c, 'Z') || oif_take(c, 'z') || oif_parse_word(c, "UTC") ||
        oif_parse_word(c, "GMT"))
        return true;
    bool is_west = oif_take(c, '-');
    if (!is_west && !oif_take(c, '+'))
        return false;
    if (!oif_parse_two_digits(c, &hours) || hours > 23)
        return false;
    bool has_minutes = oif_take(c, ':') || (c->start < c->end && oif_is_digit(*c->start));
    if (has_minutes && (!oif_parse_two_digits(c, &minutes) || minutes > 59))
        return false;
    t->zone_seconds = (hours * 3600 + minutes * 60) * (is_west ? -1 : 1);
    return true;
}

#endif
