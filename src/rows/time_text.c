/* Times from text. Every form is first split into numbers (year, month, ...). Then one function
 * checks that such a time exists, and converts it. Nothing here depends on the clock, time zone or
 * locale of the machine. */
#include "base/calendar.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "rows/csv_field.h"
#include "rows/time_dates.h"

#include <stdio.h>

/* The starts of the years 1 and 10000. */
static const double earliest = -62135596800.0, after_latest = 253402300800.0;
static const char bad_year[] = "the year must be 1 to 9999";

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
static const char *why_no_date(const oif_civil_time *t)
{
    if (t->year < 1)
        return bad_year;
    if (t->month < 1 || t->month > 12)
        return "the month must be 1 to 12";
    if (t->day < 1 || t->day > days_of_month(t->year, t->month))
        return "the month has no such day";
    return NULL;
}

static const char *why_no_clock(const oif_civil_time *t)
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

static const char *seconds_of(const oif_civil_time *t, double *seconds)
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
    return *seconds >= earliest && *seconds < after_latest ? NULL : bad_year;
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
static inline bool take_usual(oif_cursor *c, oif_civil_time *t)
{
    uint64_t date, clock;
    if (c->end - c->start < 19 || !fits_pattern(c->start, "0000-00-", &date) ||
        !fits_pattern(c->start + 11, "00:00:00", &clock))
        return false;
    const char *day = c->start + 8;
    if (!oif_is_digit(day[0]) || !oif_is_digit(day[1]) || (day[2] != 'T' && day[2] != ' '))
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

static bool is_iso(oif_cursor c, oif_civil_time *t)
{
    if (take_usual(&c, t))
        return (!(oif_take(&c, '.') || oif_take(&c, ',')) ||
                oif_parse_fraction(&c, &t->fraction)) &&
               oif_parse_zone(&c, t) && c.start == c.end;
    if (!oif_parse_year(&c, &t->year) || c.start == c.end)
        return false;
    char separator = *c.start;
    bool is_separated = separator == '-' || separator == '/';
    c.start += is_separated;
    if (!oif_parse_two_digits(&c, &t->month))
        return false;
    if (separator == '-' && c.start == c.end) { /* 2026-11 */
        t->day = 1;
        return true;
    }
    if ((is_separated && !oif_take(&c, separator)) || !oif_parse_two_digits(&c, &t->day))
        return false;
    if (c.start == c.end)
        return is_separated; /* eight digits are a number */
    if (!oif_take(&c, 'T') && !oif_take(&c, 't') && !(is_separated && oif_take(&c, ' ')))
        return false;
    return oif_parse_clock(&c, is_separated, t) && oif_parse_zone(&c, t) && c.start == c.end;
}

/* 15.11.2026, 15.11.2026 19:05:01 */
static bool is_dotted(oif_cursor c, oif_civil_time *t)
{
    if (!oif_parse_two_digits(&c, &t->day) || !oif_take(&c, '.') ||
        !oif_parse_two_digits(&c, &t->month) || !oif_take(&c, '.') || !oif_parse_year(&c, &t->year))
        return false;
    if (c.start == c.end)
        return true;
    return (oif_take(&c, ' ') || oif_take(&c, 'T') || oif_take(&c, 't')) &&
           oif_parse_clock(&c, true, t) && oif_parse_zone(&c, t) && c.start == c.end;
}

static bool is_common_log(oif_cursor c, oif_civil_time *t)
{
    oif_take(&c, '[');
    if (c.end > c.start && c.end[-1] == ']')
        c.end--;
    return oif_parse_two_digits(&c, &t->day) && oif_take(&c, '/') &&
           oif_parse_month(&c, &t->month) && oif_take(&c, '/') && oif_parse_year(&c, &t->year) &&
           oif_take(&c, ':') && oif_parse_clock(&c, true, t) && oif_parse_zone(&c, t) &&
           c.start == c.end;
}

/* The day has one or two digits; a single digit may follow a second blank or a zero. */
static bool is_syslog(oif_cursor c, oif_civil_time *t)
{
    if (!oif_parse_month(&c, &t->month) || !oif_take(&c, ' '))
        return false;
    oif_take(&c, ' ');
    if (!oif_parse_two_digits(&c, &t->day)) {
        if (c.start == c.end || !oif_is_digit(*c.start))
            return false;
        t->day = *c.start++ - '0';
    }
    return oif_take(&c, ' ') && oif_parse_clock(&c, true, t) && c.start == c.end;
}

/* ---- Syslog: the year ---- */

/* The year after that of the last time if the month would otherwise be far in the past, the year
 * before if it would be nearly a year ahead. */
static int year_of_next(const oif_time_format *format, oif_civil_time t)
{
    enum { FIRST_LEAP_YEAR = 1972, FAR_BACK_DAYS = 183, NEARLY_A_YEAR_DAYS = 330 };
    int year = format->year != 0 ? format->year : FIRST_LEAP_YEAR;
    if (format->form != OIF_TIME_FORM_SYSLOG)
        return year;
    int64_t last = (int64_t)(format->last_seconds / OIF_DAY_SECONDS);
    int64_t ahead = oif_days_since_1970(year, t.month, t.day) - last;
    return ahead < -FAR_BACK_DAYS ? year + 1 : ahead > NEARLY_A_YEAR_DAYS ? year - 1 : year;
}

static const char *syslog_seconds(const oif_time_format *format, oif_civil_time *t, double *seconds)
{
    t->year = year_of_next(format, *t);
    return t->year > 9999 ? bad_year : seconds_of(t, seconds);
}

/* ---- Numbers ---- */

/* The units per second that put a time between 1973 and 5138, or near 1970; 0 if none does. */
static double units_of(double number)
{
    double size = number < 0 ? -number : number;
    return size < 1e11 ? 1 : size < 1e14 ? 1e3 : size < 1e17 ? 1e6 : size < 1e20 ? 1e9 : 0;
}

/* A whole number of nanoseconds has more digits than a double, so it is divided as an integer. */
static double divide_digits(oif_cursor c, double number, double units)
{
    const bool is_negative = oif_take(&c, '-');
    uint64_t digits = 0;
    if (fabs(number) < 0x1p53 || c.end - c.start > 19)
        return number / units;
    for (; c.start < c.end; c.start++) {
        if (!oif_is_digit(*c.start))
            return number / units;
        digits = digits * 10 + (uint64_t)(*c.start - '0');
    }
    const uint64_t divisor = (uint64_t)units;
    double seconds = (double)(digits / divisor) + (double)(digits % divisor) / units;
    return is_negative ? -seconds : seconds;
}

static const char *epoch_seconds(oif_time_format *format, oif_cursor c, double number,
                                 double *seconds)
{
    const double year_1990 = 631152000, year_2100 = 4102444800;
    double units = format->per_second != 0 ? format->per_second : units_of(number);
    if (units == 0)
        return "no unit of time makes it a year up to 9999";
    double found = divide_digits(c, number, units);
    if (!(found >= earliest && found < after_latest))
        return "in the unit of earlier times, it is not between the years 1 and 9999";
    *seconds = found;
    format->form = OIF_TIME_FORM_EPOCH;
    if (format->per_second == 0 && number != 0) {
        format->per_second = units;
        format->is_uncertain = found < year_1990 || found > year_2100;
    }
    return NULL;
}

/* ---- Any form ---- */

static oif_cursor without_blanks(const char *text, size_t bytes)
{
    oif_cursor c = {text, text + bytes};
    while (c.start < c.end && (*c.start == ' ' || *c.start == '\t'))
        c.start++;
    while (c.start < c.end && (c.end[-1] == ' ' || c.end[-1] == '\t'))
        c.end--;
    return c;
}

static bool is_form(oif_time_form form, oif_cursor c, oif_civil_time *t)
{
    *t = (oif_civil_time){0};
    switch (form) {
    case OIF_TIME_FORM_ISO: return is_iso(c, t) || is_dotted(c, t);
    case OIF_TIME_FORM_SYSLOG: return is_syslog(c, t);
    case OIF_TIME_FORM_COMMON_LOG: return is_common_log(c, t);
    case OIF_TIME_FORM_SLASHED: return oif_time_is_slashed(c, t);
    case OIF_TIME_FORM_NAMED: return oif_time_is_named(c, t);
    case OIF_TIME_FORM_COMPACT: return oif_time_is_compact(c, t);
    case OIF_TIME_FORM_NONE:
    case OIF_TIME_FORM_EPOCH:
    case OIF_TIME_FORM_PATTERN: break;
    }
    return false;
}

/* The form of a text with a date; OIF_TIME_FORM_NONE if it has none. */
static oif_time_form find_form(oif_cursor c, oif_civil_time *t)
{
    static const oif_time_form forms[] = {OIF_TIME_FORM_ISO,     OIF_TIME_FORM_COMMON_LOG,
                                          OIF_TIME_FORM_SYSLOG,  OIF_TIME_FORM_SLASHED,
                                          OIF_TIME_FORM_COMPACT, OIF_TIME_FORM_NAMED};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (is_form(forms[i], c, t))
            return forms[i];
    return OIF_TIME_FORM_NONE;
}

static oif_status refuse(oif_cursor c, const char *why, oif_error *error)
{
    return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_NOT_A_TIME, "'%s' is not a time: %s",
                            oif_excerpt_of(c.start, c.end).text, why);
}

static bool is_number(oif_cursor c, double *number)
{
    return oif_number_parse(c.start, c.end, number) == c.end && fabs(*number) <= DBL_MAX;
}

/* Parses a text without a date: a number, or a missing time. */
static oif_status parse_other(oif_time_format *format, oif_cursor c, double *seconds,
                              oif_error *error)
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
    const char *why = were_dates ? "it is a number, and earlier times were dates"
                                 : epoch_seconds(format, c, number, seconds);
    return why ? refuse(c, why, error) : OIF_OK;
}

/* ---- The order of day and month ---- */

/* Exchanges day and month where the month is first. The first date decides for the stream: where
 * it shows no order, as 01/02/2026, that is a guess. NULL, or why the date contradicts. */
static const char *put_in_order(const oif_time_format *format, oif_civil_time *t)
{
    if (!t->is_in_order_of_day)
        return NULL;
    const oif_day_order order = format->day_order != OIF_DAY_ORDER_AUTO ? format->day_order
                                : t->order != OIF_DAY_ORDER_AUTO        ? t->order
                                                                        : OIF_MONTH_FIRST;
    if (t->order != OIF_DAY_ORDER_AUTO && t->order != order)
        return order == OIF_MONTH_FIRST
                   ? "its day comes first, and earlier times were read with the month first"
                   : "its month comes first, and earlier times were read with the day first";
    if (order == OIF_MONTH_FIRST) {
        const int month = t->day;
        t->day = t->month;
        t->month = month;
    }
    return NULL;
}

static void remember_order(oif_time_format *format, const oif_civil_time *t)
{
    if (!t->is_in_order_of_day)
        return;
    if (format->day_order == OIF_DAY_ORDER_AUTO) {
        format->is_uncertain = t->order == OIF_DAY_ORDER_AUTO;
        format->day_order = t->order == OIF_DAY_FIRST ? OIF_DAY_FIRST : OIF_MONTH_FIRST;
    } else if (t->order != OIF_DAY_ORDER_AUTO) {
        format->is_uncertain = false;
    }
}

/* ---- Parsing ---- */

static void remember(oif_time_format *format, oif_time_form form, const oif_civil_time *t,
                     double found)
{
    format->form = form;
    if (form == OIF_TIME_FORM_SYSLOG) {
        format->is_uncertain |= format->year == 0;
        format->year = t->year;
        format->last_seconds = found;
    } else {
        format->has_zone |= t->has_zone;
        format->lacks_zone |= !t->has_zone;
        remember_order(format, t);
    }
}

/* Parses a text by the pattern of the caller, or a missing time. */
static oif_status parse_by_pattern(oif_time_format *format, oif_cursor c, double *seconds,
                                   oif_error *error)
{
    oif_civil_time t;
    double found;
    if (!oif_time_fits_pattern(c, format->pattern, &t, &found)) {
        if (!oif_csv_is_missing(c))
            return refuse(c, "it does not fit the format that was given", error);
        *seconds = NAN;
        return OIF_OK;
    }
    const bool is_epoch = !isnan(found);
    const char *why = !is_epoch                                   ? seconds_of(&t, &found)
                      : found >= earliest && found < after_latest ? NULL
                                                                  : bad_year;
    if (why)
        return refuse(c, why, error);
    t.has_zone |= is_epoch;
    remember(format, OIF_TIME_FORM_PATTERN, &t, found);
    *seconds = found;
    return OIF_OK;
}

oif_status oif_time_parse(oif_time_format *format, const char *text, size_t bytes, double *seconds,
                          oif_error *error)
{
    oif_cursor c = without_blanks(text, bytes);
    oif_civil_time t;
    oif_time_form form = format->form;
    double number;
    if (format->pattern)
        return parse_by_pattern(format, c, seconds, error);
    /* Most times have the form of the previous one. */
    if (form == OIF_TIME_FORM_EPOCH && is_number(c, &number))
        form = OIF_TIME_FORM_NONE;
    else if (!is_form(form, c, &t))
        form = find_form(c, &t);
    if (form == OIF_TIME_FORM_NONE)
        return parse_other(format, c, seconds, error);
    double found = NAN;
    const char *why = put_in_order(format, &t);
    if (why)
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_DAY_ORDER, "'%s': %s",
                                oif_excerpt_of(c.start, c.end).text, why);
    why =
        form == OIF_TIME_FORM_SYSLOG ? syslog_seconds(format, &t, &found) : seconds_of(&t, &found);
    if (why)
        return refuse(c, why, error);
    remember(format, form, &t, found);
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
    case OIF_TIME_FORM_SLASHED:
        snprintf(text, room, "dates with the %s first%s",
                 format->day_order == OIF_DAY_FIRST     ? "day"
                 : format->day_order == OIF_MONTH_FIRST ? "month"
                                                        : "year",
                 zone_words(format));
        break;
    case OIF_TIME_FORM_NAMED:
        snprintf(text, room, "dates with the name of the month%s", zone_words(format));
        break;
    case OIF_TIME_FORM_COMPACT:
        snprintf(text, room, "dates such as 20260131%s", zone_words(format));
        break;
    case OIF_TIME_FORM_PATTERN:
        snprintf(text, room, "the given format%s", zone_words(format));
        break;
    }
}
