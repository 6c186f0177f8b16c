/* Times from text. Every form is first split into numbers (year, month, ...). Then one function
 * checks that such a time exists, and converts it. Nothing here depends on the clock, time zone or
 * locale of the machine. */
#include "base/calendar.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "rows/csv_field.h"

#include <stdio.h>

/* The starts of the years 1 and 10000. */
static const double earliest = -62135596800.0, after_latest = 253402300800.0;

/* A time as written; nothing is checked yet. */
typedef struct civil_time {
    int year, month, day, hour, minute, second;
    double fraction;
    bool has_zone;
    int zone_seconds; /* east of UTC */
} civil_time;

/* ---- Conversion ---- */

static bool is_leap_year(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_of_month(int year, int month)
{
    static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap_year(year) ? 29 : days[month - 1];
}

/* Why there is no such time; NULL if there is one. */
static const char *why_no_date(const civil_time *t)
{
    if (t->year < 1)
        return "the year must be 1 to 9999";
    if (t->month < 1 || t->month > 12)
        return "the month must be 1 to 12";
    if (t->day < 1 || t->day > days_of_month(t->year, t->month))
        return "the month has no such day";
    return NULL;
}

static const char *why_no_clock(const civil_time *t)
{
    bool ends_day = t->hour == 24 && t->minute == 0 && t->second == 0 && t->fraction == 0;
    if (t->hour > 23 && !ends_day)
        return "the hour must be 0 to 23";
    if (t->minute > 59)
        return "the minute must be 0 to 59";
    if (t->second > 60)
        return "the second must be 0 to 59";
    return NULL;
}

static const char *seconds_of(const civil_time *t, double *seconds)
{
    const int quarter_hour = 900; /* zones differ by multiples of this */
    const char *why = why_no_date(t);
    if (!why)
        why = why_no_clock(t);
    if (why)
        return why;
    int64_t whole = oif_days_since_1970(t->year, t->month, t->day) * OIF_DAY_SECONDS +
                    (int64_t)t->hour * 3600 + t->minute * 60 + t->second - t->zone_seconds;
    if (t->second == 60 && whole % quarter_hour != 0)
        return "there is no leap second at that time";
    *seconds = (double)whole + t->fraction;
    return *seconds >= earliest && *seconds < after_latest ? NULL : "the year must be 1 to 9999";
}

/* ---- Tokens ---- */

typedef oif_span cursor; /* what is left to read */

static inline bool take(cursor *c, char byte)
{
    bool is_there = c->start < c->end && *c->start == byte;
    c->start += is_there;
    return is_there;
}

static inline bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static inline bool take_two_digits(cursor *c, int *value)
{
    if (c->end - c->start < 2 || !is_digit(c->start[0]) || !is_digit(c->start[1]))
        return false;
    *value = (c->start[0] - '0') * 10 + c->start[1] - '0';
    c->start += 2;
    return true;
}

static inline bool take_year(cursor *c, int *year)
{
    int century, rest;
    if (!take_two_digits(c, &century) || !take_two_digits(c, &rest))
        return false;
    *year = century * 100 + rest;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t bytes = strlen(word);
    if ((size_t)(c->end - c->start) < bytes || memcmp(c->start, word, bytes) != 0)
        return false;
    c->start += bytes;
    return true;
}

/* A month such as Nov, in any case. */
static bool take_month(cursor *c, int *month)
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
static bool take_fraction(cursor *c, double *fraction)
{
    uint64_t digits = 0;
    int count = 0;
    if (c->start == c->end || !is_digit(*c->start))
        return false;
    for (; c->start < c->end && is_digit(*c->start); c->start++) {
        if (count == 9)
            continue;
        digits = digits * 10 + (uint64_t)(*c->start - '0');
        count++;
    }
    *fraction = (double)digits / (double)POWER_OF_TEN[count];
    return true;
}

/* 19:05, 19:05:01, 19:05:01.25; without colons 1905, 190501, 190501.25. */
static inline bool take_clock(cursor *c, bool has_colons, civil_time *t)
{
    if (!take_two_digits(c, &t->hour) || (has_colons && !take(c, ':')) ||
        !take_two_digits(c, &t->minute))
        return false;
    bool has_second = has_colons ? take(c, ':') : c->start < c->end && is_digit(*c->start);
    if (!has_second)
        return true;
    if (!take_two_digits(c, &t->second))
        return false;
    return !(take(c, '.') || take(c, ',')) || take_fraction(c, &t->fraction);
}

/* Z, UTC, GMT, +hh:mm, +hhmm, +hh, or nothing. */
static inline bool take_zone(cursor *c, civil_time *t)
{
    int hours, minutes = 0;
    if (c->start == c->end)
        return true;
    take(c, ' ');
    t->has_zone = true;
    if (take(c, 'Z') || take(c, 'z') || take_word(c, "UTC") || take_word(c, "GMT"))
        return true;
    bool is_west = take(c, '-');
    if (!is_west && !take(c, '+'))
        return false;
    if (!take_two_digits(c, &hours) || hours > 23)
        return false;
    bool has_minutes = take(c, ':') || (c->start < c->end && is_digit(*c->start));
    if (has_minutes && (!take_two_digits(c, &minutes) || minutes > 59))
        return false;
    t->zone_seconds = (hours * 3600 + minutes * 60) * (is_west ? -1 : 1);
    return true;
}

/* ---- The forms ---- */

/* Whether eight bytes match the pattern, where a 0 stands for any digit. *word then has the digits
 * as numbers. */
static inline bool fits_pattern(const char *text, const char pattern[8], uint64_t *word)
{
    const uint64_t wanted = load_eight(pattern), digits = load_eight(text) ^ wanted;
    const uint64_t is_zero = wanted ^ EVERY_BYTE * '0'; /* 0 where a digit is wanted */
    const uint64_t separators =
        ((is_zero & EVERY_BYTE * 0x7f) + EVERY_BYTE * 0x7f) & EVERY_BYTE * 0x80;
    const uint64_t most = EVERY_BYTE * (0x7f - 9) + (separators >> 7) * 9;
    *word = digits;
    return (((digits & EVERY_BYTE * 0x7f) + most) & EVERY_BYTE * 0x80) == 0 &&
           (digits & EVERY_BYTE * 0x80) == 0;
}

static inline int two_digits(uint64_t word, int first)
{
    return (int)(word >> 8 * first & 0xff) * 10 + (int)(word >> 8 * (first + 1) & 0xff);
}

/* Takes 2026-11-15T19:05:01, the start of most times, eight bytes at a time: a third of the
 * instructions of the general code in is_iso. Takes nothing else. */
static inline bool take_usual(cursor *c, civil_time *t)
{
    uint64_t date, clock;
    if (c->end - c->start < 19 || !fits_pattern(c->start, "0000-00-", &date) ||
        !fits_pattern(c->start + 11, "00:00:00", &clock))
        return false;
    const char *day = c->start + 8;
    if (!is_digit(day[0]) || !is_digit(day[1]) || (day[2] != 'T' && day[2] != ' '))
        return false;
    t->year = two_digits(date, 0) * 100 + two_digits(date, 2);
    t->month = two_digits(date, 5);
    t->day = (day[0] - '0') * 10 + day[1] - '0';
    t->hour = two_digits(clock, 0);
    t->minute = two_digits(clock, 3);
    t->second = two_digits(clock, 6);
    c->start += 19;
    return true;
}

static bool is_iso(cursor c, civil_time *t)
{
    if (take_usual(&c, t))
        return (!(take(&c, '.') || take(&c, ',')) || take_fraction(&c, &t->fraction)) &&
               take_zone(&c, t) && c.start == c.end;
    if (!take_year(&c, &t->year) || c.start == c.end)
        return false;
    char separator = *c.start;
    bool is_separated = separator == '-' || separator == '/';
    c.start += is_separated;
    if (!take_two_digits(&c, &t->month))
        return false;
    if (separator == '-' && c.start == c.end) { /* 2026-11 */
        t->day = 1;
        return true;
    }
    if ((is_separated && !take(&c, separator)) || !take_two_digits(&c, &t->day))
        return false;
    if (c.start == c.end)
        return is_separated; /* eight digits are a number */
    if (!take(&c, 'T') && !take(&c, 't') && !(is_separated && take(&c, ' ')))
        return false;
    return take_clock(&c, is_separated, t) && take_zone(&c, t) && c.start == c.end;
}

/* 15.11.2026, 15.11.2026 19:05:01 */
static bool is_dotted(cursor c, civil_time *t)
{
    if (!take_two_digits(&c, &t->day) || !take(&c, '.') || !take_two_digits(&c, &t->month) ||
        !take(&c, '.') || !take_year(&c, &t->year))
        return false;
    if (c.start == c.end)
        return true;
    return (take(&c, ' ') || take(&c, 'T') || take(&c, 't')) && take_clock(&c, true, t) &&
           take_zone(&c, t) && c.start == c.end;
}

static bool is_common_log(cursor c, civil_time *t)
{
    take(&c, '[');
    if (c.end > c.start && c.end[-1] == ']')
        c.end--;
    return take_two_digits(&c, &t->day) && take(&c, '/') && take_month(&c, &t->month) &&
           take(&c, '/') && take_year(&c, &t->year) && take(&c, ':') && take_clock(&c, true, t) &&
           take_zone(&c, t) && c.start == c.end;
}

/* The day has one or two digits; a single digit may follow a second blank or a zero. */
static bool is_syslog(cursor c, civil_time *t)
{
    if (!take_month(&c, &t->month) || !take(&c, ' '))
        return false;
    take(&c, ' ');
    if (!take_two_digits(&c, &t->day)) {
        if (c.start == c.end || !is_digit(*c.start))
            return false;
        t->day = *c.start++ - '0';
    }
    return take(&c, ' ') && take_clock(&c, true, t) && c.start == c.end;
}

/* ---- Syslog: the year ---- */

/* The year after that of the last time if the month would otherwise be far in the past, the year
 * before if it would be nearly a year ahead. */
static int year_of_next(const oif_time_format *format, civil_time t)
{
    enum { FIRST_LEAP_YEAR = 1972, FAR_BACK_DAYS = 183, NEARLY_A_YEAR_DAYS = 330 };
    int year = format->year != 0 ? format->year : FIRST_LEAP_YEAR;
    if (format->form != OIF_TIME_FORM_SYSLOG)
        return year;
    int64_t last = (int64_t)(format->last_seconds / OIF_DAY_SECONDS);
    int64_t ahead = oif_days_since_1970(year, t.month, t.day) - last;
    return ahead < -FAR_BACK_DAYS ? year + 1 : ahead > NEARLY_A_YEAR_DAYS ? year - 1 : year;
}

static const char *syslog_seconds(const oif_time_format *format, civil_time *t, double *seconds)
{
    t->year = year_of_next(format, *t);
    return t->year > 9999 ? "the year must be 1 to 9999" : seconds_of(t, seconds);
}

/* ---- Numbers ---- */

/* The units per second that put a time between 1973 and 5138, or near 1970; 0 if none does. */
static double units_of(double number)
{
    double size = number < 0 ? -number : number;
    return size < 1e11 ? 1 : size < 1e14 ? 1e3 : size < 1e17 ? 1e6 : size < 1e20 ? 1e9 : 0;
}

/* A whole number of nanoseconds has more digits than a double, so it is divided as an integer. */
static double divide_digits(cursor c, double number, double units)
{
    const bool is_negative = take(&c, '-');
    uint64_t digits = 0;
    if (fabs(number) < 0x1p53 || c.end - c.start > 19)
        return number / units;
    for (; c.start < c.end; c.start++) {
        if (!is_digit(*c.start))
            return number / units;
        digits = digits * 10 + (uint64_t)(*c.start - '0');
    }
    const uint64_t divisor = (uint64_t)units;
    double seconds = (double)(digits / divisor) + (double)(digits % divisor) / units;
    return is_negative ? -seconds : seconds;
}

static const char *epoch_seconds(oif_time_format *format, cursor c, double number, double *seconds)
{
    const double year_1990 = 631152000, year_2100 = 4102444800;
    double units = format->per_second != 0 ? format->per_second : units_of(number);
    if (units == 0)
        return "no unit of time makes it a year up to 9999";
    double found = divide_digits(c, number, units);
    if (!(found >= earliest && found < after_latest))
        return "in the unit of the times before it, it is not between the years 1 and 9999";
    *seconds = found;
    format->form = OIF_TIME_FORM_EPOCH;
    if (format->per_second == 0 && number != 0) {
        format->per_second = units;
        format->is_uncertain = found < year_1990 || found > year_2100;
    }
    return NULL;
}

/* ---- Any form ---- */

static cursor without_blanks(const char *text, size_t bytes)
{
    cursor c = {text, text + bytes};
    while (c.start < c.end && (*c.start == ' ' || *c.start == '\t'))
        c.start++;
    while (c.start < c.end && (c.end[-1] == ' ' || c.end[-1] == '\t'))
        c.end--;
    return c;
}

static bool is_form(oif_time_form form, cursor c, civil_time *t)
{
    *t = (civil_time){0};
    switch (form) {
    case OIF_TIME_FORM_ISO: return is_iso(c, t) || is_dotted(c, t);
    case OIF_TIME_FORM_SYSLOG: return is_syslog(c, t);
    case OIF_TIME_FORM_COMMON_LOG: return is_common_log(c, t);
    case OIF_TIME_FORM_NONE:
    case OIF_TIME_FORM_EPOCH: break;
    }
    return false;
}

/* The form of a text with a date; OIF_TIME_FORM_NONE if it has none. */
static oif_time_form find_form(cursor c, civil_time *t)
{
    static const oif_time_form forms[] = {OIF_TIME_FORM_ISO, OIF_TIME_FORM_COMMON_LOG,
                                          OIF_TIME_FORM_SYSLOG};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (is_form(forms[i], c, t))
            return forms[i];
    return OIF_TIME_FORM_NONE;
}

static oif_status refuse(cursor c, const char *why, oif_error *error)
{
    return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_NOT_A_TIME, "'%s' is not a time: %s",
                            oif_excerpt_of(c.start, c.end).text, why);
}

static bool is_number(cursor c, double *number)
{
    return oif_number_parse(c.start, c.end, number) == c.end && fabs(*number) <= DBL_MAX;
}

/* Parses a text without a date: a number, or a missing time. */
static oif_status parse_other(oif_time_format *format, cursor c, double *seconds, oif_error *error)
{
    const bool were_dates =
        format->form != OIF_TIME_FORM_NONE && format->form != OIF_TIME_FORM_EPOCH;
    double number;
    if (!is_number(c, &number)) {
        if (!oif_csv_is_missing(c))
            return refuse(c,
                          "write it as 2026-11-15T19:05:01Z, 15.11.2026 19:05, 1794769501, "
                          "Nov 15 19:05:01 or 15/Nov/2026:19:05:01 +0000",
                          error);
        *seconds = NAN;
        return OIF_OK;
    }
    const char *why = were_dates ? "it is a number, and the times before it were dates"
                                 : epoch_seconds(format, c, number, seconds);
    return why ? refuse(c, why, error) : OIF_OK;
}

oif_status oif_time_parse(oif_time_format *format, const char *text, size_t bytes, double *seconds,
                          oif_error *error)
{
    cursor c = without_blanks(text, bytes);
    civil_time t;
    oif_time_form form = format->form;
    double number;
    /* Most times have the form of the previous one. */
    if (form == OIF_TIME_FORM_EPOCH && is_number(c, &number))
        form = OIF_TIME_FORM_NONE;
    else if (!is_form(form, c, &t))
        form = find_form(c, &t);
    if (form == OIF_TIME_FORM_NONE)
        return parse_other(format, c, seconds, error);
    double found = NAN;
    const char *why =
        form == OIF_TIME_FORM_SYSLOG ? syslog_seconds(format, &t, &found) : seconds_of(&t, &found);
    if (why)
        return refuse(c, why, error);
    format->form = form;
    if (form == OIF_TIME_FORM_SYSLOG) {
        format->is_uncertain |= format->year == 0;
        format->year = t.year;
        format->last_seconds = found;
    } else {
        format->has_zone |= t.has_zone;
        format->lacks_zone |= !t.has_zone;
    }
    *seconds = found;
    return OIF_OK;
}

/* ---- Messages ---- */

static const char *zone_words(const oif_time_format *format)
{
    return !format->lacks_zone ? ""
           : format->has_zone  ? ", taken as UTC where there is no zone"
                               : " without a zone, taken as UTC";
}

static const char *unit_words(double per_second)
{
    return per_second == 1e9   ? "nanoseconds"
           : per_second == 1e6 ? "microseconds"
           : per_second == 1e3 ? "milliseconds"
                               : "seconds";
}

void oif_time_describe(const oif_time_format *format, char text[OIF_TIME_TEXT_BYTES])
{
    const size_t room = OIF_TIME_TEXT_BYTES;
    switch (format->form) {
    case OIF_TIME_FORM_NONE: snprintf(text, room, "unknown"); break;
    case OIF_TIME_FORM_ISO: snprintf(text, room, "ISO 8601%s", zone_words(format)); break;
    case OIF_TIME_FORM_EPOCH:
        snprintf(text, room, "%s since 1970", unit_words(format->per_second));
        break;
    case OIF_TIME_FORM_SYSLOG:
        snprintf(text, room, "syslog without a year, here %d", (int)format->year);
        break;
    case OIF_TIME_FORM_COMMON_LOG: snprintf(text, room, "common log%s", zone_words(format)); break;
    }
}
