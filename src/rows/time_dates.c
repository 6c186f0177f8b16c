/* Dates with slashes, names of months, or no separators at all. All are lenient about how many
 * digits and blanks there are, and strict about the order of the parts. */
#include "rows/time_dates.h"

/* ---- Parts ---- */

bool oif_time_parse_number(oif_cursor *c, int most, int *value)
{
    int digits = 0, number = 0;
    for (; digits < most && c->start < c->end && oif_is_digit(*c->start); digits++)
        number = number * 10 + (*c->start++ - '0');
    if (digits > 0)
        *value = number;
    return digits > 0;
}

static bool is_letter(char byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/* Takes a word in any case, of which the first three letters are enough; no letter may follow. */
static bool take_name(oif_cursor *c, const char *name)
{
    const char *at = c->start;
    size_t taken = 0;
    while (at < c->end && name[taken] && (*at | 0x20) == name[taken])
        at++, taken++;
    const bool is_whole = !name[taken] || taken == 3 || (taken == 4 && name[0] == 's');
    if (!is_whole || (at < c->end && is_letter(*at)))
        return false;
    c->start = at;
    return true;
}

bool oif_time_parse_month_name(oif_cursor *c, int *month)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    for (int i = 0; i < 12; i++) {
        if (take_name(c, names[i])) {
            *month = i + 1;
            return true;
        }
    }
    return false;
}

bool oif_time_parse_weekday(oif_cursor *c)
{
    static const char *const names[] = {"monday", "tuesday",  "wednesday", "thursday",
                                        "friday", "saturday", "sunday"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (take_name(c, names[i]))
            return true;
    return false;
}

int oif_time_full_year(int two_digits)
{
    return two_digits + (two_digits < 69 ? 2000 : 1900);
}

/* Four digits, or two if the caller allows them. */
static bool take_any_year(oif_cursor *c, bool may_be_short, int *year)
{
    const char *start = c->start;
    if (!oif_time_parse_number(c, 4, year) || (c->start < c->end && oif_is_digit(*c->start)))
        return false;
    const ptrdiff_t digits = c->start - start;
    if (digits == 2 && may_be_short)
        *year = oif_time_full_year(*year);
    return digits == 4 || (digits == 2 && may_be_short);
}

static bool take_blanks(oif_cursor *c)
{
    const char *start = c->start;
    while (oif_take(c, ' '))
        ;
    return c->start > start;
}

/* ---- The time of day ---- */

bool oif_time_parse_half_day(oif_cursor *c, bool *is_afternoon)
{
    oif_cursor at = *c;
    if (at.start == at.end)
        return false;
    const char half = *at.start++ | 0x20;
    const bool has_points = oif_take(&at, '.');
    if ((half != 'a' && half != 'p') || !(oif_take(&at, 'm') || oif_take(&at, 'M')) ||
        (has_points && !oif_take(&at, '.')))
        return false;
    *is_afternoon = half == 'p';
    *c = at;
    return true;
}

bool oif_time_apply_half_day(oif_civil_time *t, bool is_afternoon)
{
    if (t->hour < 1 || t->hour > 12)
        return false;
    t->hour = t->hour % 12 + (is_afternoon ? 12 : 0);
    return true;
}

/* 1:05, 13:05:06.25, 1:05 PM, 1 PM */
static bool take_clock(oif_cursor *c, oif_civil_time *t)
{
    bool is_afternoon;
    if (!oif_time_parse_number(c, 2, &t->hour))
        return false;
    const bool has_minutes = oif_take(c, ':');
    if (has_minutes && !oif_parse_two_digits(c, &t->minute))
        return false;
    if (has_minutes && oif_take(c, ':')) {
        if (!oif_parse_two_digits(c, &t->second) ||
            ((oif_take(c, '.') || oif_take(c, ',')) && !oif_parse_fraction(c, &t->fraction)))
            return false;
    }
    oif_cursor after = *c;
    take_blanks(&after);
    if (!oif_time_parse_half_day(&after, &is_afternoon))
        return has_minutes;
    *c = after;
    return oif_time_apply_half_day(t, is_afternoon);
}

static bool take_zone_name(oif_cursor *c, int *hours)
{
    static const struct {
        const char *name;
        int hours;
    } zones[] = {{"EST", -5}, {"EDT", -4}, {"CST", -6}, {"CDT", -5}, {"MST", -7},
                 {"MDT", -6}, {"PST", -8}, {"PDT", -7}, {"UTC", 0},  {"UT", 0}};
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        if (oif_parse_word(c, zones[i].name)) {
            *hours = zones[i].hours;
            return true;
        }
    }
    return false;
}

bool oif_time_parse_named_zone(oif_cursor *c, oif_civil_time *t)
{
    int hours = 0;
    take_blanks(c);
    if (take_zone_name(c, &hours)) {
        t->has_zone = true;
        t->zone_seconds = hours * 3600;
    } else if (!oif_parse_zone(c, t)) {
        return false;
    }
    const char *comment = c->start;
    if (take_blanks(c) && c->start < c->end && *c->start == '(' && c->end[-1] == ')')
        c->start = c->end;
    else
        c->start = comment;
    return true;
}

/* What may follow a date: nothing, or a time of day and a zone. */
static bool take_rest(oif_cursor *c, oif_civil_time *t)
{
    if (c->start == c->end)
        return true;
    const bool is_separated =
        oif_take(c, 'T') || oif_take(c, 't') || oif_take(c, ':') || oif_parse_word(c, " at ");
    if (!is_separated) {
        oif_take(c, ',');
        if (!take_blanks(c))
            return false;
    }
    return take_clock(c, t) && oif_time_parse_named_zone(c, t) && c->start == c->end;
}

/* ---- Slashes ---- */

static oif_day_order order_shown(const oif_civil_time *t, char separator)
{
    if (separator == '.')
        return OIF_DAY_FIRST;
    return t->day > 12 && t->month <= 12   ? OIF_DAY_FIRST
           : t->month > 12 && t->day <= 12 ? OIF_MONTH_FIRST
                                           : OIF_DAY_ORDER_AUTO;
}

bool oif_time_is_slashed(oif_cursor c, oif_civil_time *t)
{
    const char *start = c.start;
    int first;
    if (!oif_time_parse_number(&c, 4, &first) || c.start == c.end || !strchr("/-.", *c.start))
        return false;
    const ptrdiff_t digits = c.start - start;
    const char separator = *c.start++;
    if (!oif_time_parse_number(&c, 2, &t->month) || !oif_take(&c, separator))
        return false;
    if (digits == 4) { /* 2026/1/31; with two digits each it is ISO 8601 */
        t->year = first;
        return separator == '/' && oif_time_parse_number(&c, 2, &t->day) && take_rest(&c, t);
    }
    t->day = first;
    t->is_in_order_of_day = true;
    t->order = order_shown(t, separator);
    return digits <= 2 && take_any_year(&c, separator != '-', &t->year) && take_rest(&c, t);
}

/* ---- Names ---- */

/* Between the parts of a date: -, /, a blank or two, a point or a comma and a blank. */
static bool take_gap(oif_cursor *c)
{
    const char *start = c->start;
    while (c->start < c->end && c->start - start < 2 && strchr(" -/.,", *c->start))
        c->start++;
    return c->start > start;
}

static bool is_day_month_year(oif_cursor c, oif_civil_time *t)
{
    const bool is_read = oif_time_parse_number(&c, 2, &t->day) && take_gap(&c) &&
                         oif_time_parse_month_name(&c, &t->month) && take_gap(&c);
    const bool has_dash = is_read && c.start[-1] != ' ';
    return is_read && take_any_year(&c, has_dash, &t->year) && take_rest(&c, t);
}

static bool is_month_day_year(oif_cursor c, oif_civil_time *t)
{
    return oif_time_parse_month_name(&c, &t->month) && take_gap(&c) &&
           oif_time_parse_number(&c, 2, &t->day) && take_gap(&c) &&
           take_any_year(&c, false, &t->year) && take_rest(&c, t);
}

static bool is_year_month_day(oif_cursor c, oif_civil_time *t)
{
    return oif_parse_year(&c, &t->year) && take_gap(&c) &&
           oif_time_parse_month_name(&c, &t->month) && take_gap(&c) &&
           oif_time_parse_number(&c, 2, &t->day) && take_rest(&c, t);
}

/* Jan 31 13:05:06 2026, and with a zone before the year. */
static bool is_ctime(oif_cursor c, oif_civil_time *t)
{
    if (!oif_time_parse_month_name(&c, &t->month) || !take_blanks(&c) ||
        !oif_time_parse_number(&c, 2, &t->day) || !take_blanks(&c) || !take_clock(&c, t) ||
        !take_blanks(&c) || c.end - c.start < 4)
        return false;
    oif_cursor year = {c.end - 4, c.end}, zone = {c.start, c.end - 4};
    while (zone.start < zone.end && zone.end[-1] == ' ')
        zone.end--;
    return oif_parse_year(&year, &t->year) && oif_time_parse_named_zone(&zone, t) &&
           zone.start == zone.end;
}

bool oif_time_is_named(oif_cursor c, oif_civil_time *t)
{
    typedef bool layout(oif_cursor, oif_civil_time *);
    static layout *const layouts[] = {is_day_month_year, is_month_day_year, is_year_month_day,
                                      is_ctime};
    if (oif_time_parse_weekday(&c) && !take_gap(&c))
        return false;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        *t = (oif_civil_time){0};
        if (layouts[i](c, t))
            return true;
    }
    return false;
}

/* ---- No separators ---- */

/* Whether numbers without separators are a time, and not just a number. */
static bool is_likely(const oif_civil_time *t)
{
    return t->year >= 1900 && t->year < 2200 && t->month >= 1 && t->month <= 12 && t->day >= 1 &&
           t->day <= 31 && t->hour <= 23 && t->minute <= 59 && t->second <= 59;
}

bool oif_time_is_compact(oif_cursor c, oif_civil_time *t)
{
    if (!oif_parse_year(&c, &t->year) || !oif_parse_two_digits(&c, &t->month) ||
        !oif_parse_two_digits(&c, &t->day))
        return false;
    if (oif_take(&c, ' ')) {
        const bool has_colons = c.end - c.start > 2 && c.start[2] == ':';
        return oif_parse_clock(&c, has_colons, t) && oif_parse_zone(&c, t) && c.start == c.end &&
               is_likely(t);
    }
    if (c.start < c.end &&
        (!oif_parse_two_digits(&c, &t->hour) || !oif_parse_two_digits(&c, &t->minute)))
        return false;
    if (c.start < c.end && !oif_parse_two_digits(&c, &t->second))
        return false;
    const bool has_point = oif_take(&c, '.');
    const bool has_fraction = c.start < c.end;
    if ((has_point && !has_fraction) || (has_fraction && !has_point && c.end - c.start != 3))
        return false;
    return (!has_fraction || oif_parse_fraction(&c, &t->fraction)) && c.start == c.end &&
           is_likely(t);
}
