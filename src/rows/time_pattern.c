/* Times by a pattern of the caller, with the most used conversions of strptime. A conversion that
 * stands for several is replaced by them. */
#include "base/error.h"
#include "base/excerpt.h"
#include "rows/time_dates.h"

#include <math.h>

/* ---- Conversions ---- */

typedef enum conversion_kind {
    CONVERSION_NUMBER, /* digits of a field */
    CONVERSION_SHORT_YEAR,
    CONVERSION_MONTH_NAME,
    CONVERSION_WEEKDAY,
    CONVERSION_FRACTION,
    CONVERSION_HALF_DAY,
    CONVERSION_ZONE,
    CONVERSION_EPOCH,
    CONVERSION_BLANKS,
    CONVERSION_PERCENT,
    CONVERSION_SEVERAL
} conversion_kind;

/* What of a time a conversion gives. */
enum { GIVES_YEAR = 1, GIVES_MONTH = 2, GIVES_DAY = 4, GIVES_ALL = 7 };

typedef struct conversion {
    char letter;
    conversion_kind kind;
    int gives;
    int digits;
    size_t field;
    const char *several;
} conversion;

#define FIELD(name) offsetof(oif_civil_time, name)

static const conversion conversions[] = {
    {'Y', CONVERSION_NUMBER, GIVES_YEAR, 4, FIELD(year), NULL},
    {'m', CONVERSION_NUMBER, GIVES_MONTH, 2, FIELD(month), NULL},
    {'d', CONVERSION_NUMBER, GIVES_DAY, 2, FIELD(day), NULL},
    {'e', CONVERSION_NUMBER, GIVES_DAY, 2, FIELD(day), NULL},
    {'H', CONVERSION_NUMBER, 0, 2, FIELD(hour), NULL},
    {'k', CONVERSION_NUMBER, 0, 2, FIELD(hour), NULL},
    {'I', CONVERSION_NUMBER, 0, 2, FIELD(hour), NULL},
    {'l', CONVERSION_NUMBER, 0, 2, FIELD(hour), NULL},
    {'M', CONVERSION_NUMBER, 0, 2, FIELD(minute), NULL},
    {'S', CONVERSION_NUMBER, 0, 2, FIELD(second), NULL},
    {'y', CONVERSION_SHORT_YEAR, GIVES_YEAR, 2, FIELD(year), NULL},
    {'b', CONVERSION_MONTH_NAME, GIVES_MONTH, 0, 0, NULL},
    {'B', CONVERSION_MONTH_NAME, GIVES_MONTH, 0, 0, NULL},
    {'h', CONVERSION_MONTH_NAME, GIVES_MONTH, 0, 0, NULL},
    {'a', CONVERSION_WEEKDAY, 0, 0, 0, NULL},
    {'A', CONVERSION_WEEKDAY, 0, 0, 0, NULL},
    {'f', CONVERSION_FRACTION, 0, 0, 0, NULL},
    {'p', CONVERSION_HALF_DAY, 0, 0, 0, NULL},
    {'z', CONVERSION_ZONE, 0, 0, 0, NULL},
    {'Z', CONVERSION_ZONE, 0, 0, 0, NULL},
    {'s', CONVERSION_EPOCH, GIVES_ALL, 0, 0, NULL},
    {'n', CONVERSION_BLANKS, 0, 0, 0, NULL},
    {'t', CONVERSION_BLANKS, 0, 0, 0, NULL},
    {'%', CONVERSION_PERCENT, 0, 0, 0, NULL},
    {'T', CONVERSION_SEVERAL, 0, 0, 0, "%H:%M:%S"},
    {'R', CONVERSION_SEVERAL, 0, 0, 0, "%H:%M"},
    {'F', CONVERSION_SEVERAL, GIVES_ALL, 0, 0, "%Y-%m-%d"},
    {'D', CONVERSION_SEVERAL, GIVES_ALL, 0, 0, "%m/%d/%y"},
};

static const conversion *find_conversion(char letter)
{
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (conversions[i].letter == letter)
            return &conversions[i];
    return NULL;
}

oif_status oif_time_check_pattern(const char *pattern, oif_error *error)
{
    int gives = 0;
    for (const char *at = pattern; *at; at++) {
        if (*at != '%')
            continue;
        const conversion *found = find_conversion(*++at);
        if (!found)
            return oif_fail(error, OIF_EPARAM,
                            "'%%%s' is not a part of a time; there are %%Y %%y %%m %%d %%e %%b %%B "
                            "%%H %%I %%M %%S %%f %%p %%z %%a %%s %%F %%T %%R %%D and %%%%",
                            oif_excerpt_of(at, at + (*at != '\0')).text);
        gives |= found->gives;
    }
    return gives == GIVES_ALL ? OIF_OK
                              : oif_fail(error, OIF_EPARAM,
                                         "'%s' has no year, month or day; name all three, as in "
                                         "%%d.%%m.%%Y %%H:%%M",
                                         oif_excerpt_of(pattern, pattern + strlen(pattern)).text);
}

/* ---- Reading ---- */

/* A text that is read by a pattern. */
typedef struct pattern_reading {
    oif_cursor left;
    oif_civil_time *time;
    double epoch_seconds;
    bool has_half_day, is_afternoon;
} pattern_reading;

static void skip_blanks(oif_cursor *c)
{
    while (oif_take(c, ' ') || oif_take(c, '\t'))
        ;
}

static bool take_short_year(oif_cursor *c, int *year)
{
    const bool is_there = oif_parse_two_digits(c, year);
    if (is_there)
        *year = oif_time_full_year(*year);
    return is_there;
}

/* A zone that must be there. */
static bool take_zone(oif_cursor *c, oif_civil_time *t)
{
    const char *start = c->start;
    return oif_time_parse_named_zone(c, t) && c->start > start;
}

static bool take_epoch(oif_cursor *c, double *seconds)
{
    const char *end = c->start;
    while (end < c->end && (oif_is_digit(*end) || (end == c->start && *end == '-')))
        end++;
    const bool is_number = oif_number_parse(c->start, end, seconds) == end;
    c->start = end;
    return is_number;
}

static bool take_fields(pattern_reading *reading, const char *pattern);

static bool take_conversion(pattern_reading *reading, const conversion *part)
{
    oif_cursor *c = &reading->left;
    oif_civil_time *t = reading->time;
    if (!part)
        return false; /* oif_time_check_pattern refuses such a pattern */
    int *field = (int *)(void *)((char *)t + part->field);
    switch (part->kind) {
    case CONVERSION_NUMBER: skip_blanks(c); return oif_time_parse_number(c, part->digits, field);
    case CONVERSION_SHORT_YEAR: return take_short_year(c, field);
    case CONVERSION_MONTH_NAME: return oif_time_parse_month_name(c, &t->month);
    case CONVERSION_WEEKDAY: return oif_time_parse_weekday(c);
    case CONVERSION_FRACTION: return oif_parse_fraction(c, &t->fraction);
    case CONVERSION_HALF_DAY:
        reading->has_half_day = true;
        return oif_time_parse_half_day(c, &reading->is_afternoon);
    case CONVERSION_ZONE: return take_zone(c, t);
    case CONVERSION_EPOCH: return take_epoch(c, &reading->epoch_seconds);
    case CONVERSION_BLANKS: skip_blanks(c); return true;
    case CONVERSION_PERCENT: return oif_take(c, '%');
    case CONVERSION_SEVERAL: return take_fields(reading, part->several);
    }
    return false;
}

static bool take_fields(pattern_reading *reading, const char *pattern)
{
    for (const char *at = pattern; *at; at++) {
        if (*at == ' ')
            skip_blanks(&reading->left);
        else if (*at != '%' ? !oif_take(&reading->left, *at)
                            : !take_conversion(reading, find_conversion(*++at)))
            return false;
    }
    return true;
}

bool oif_time_fits_pattern(oif_cursor c, const char *pattern, oif_civil_time *t,
                           double *epoch_seconds)
{
    pattern_reading reading = {.left = c, .time = t, .epoch_seconds = NAN};
    *t = (oif_civil_time){0};
    if (!take_fields(&reading, pattern) || reading.left.start != reading.left.end ||
        (reading.has_half_day && !oif_time_apply_half_day(t, reading.is_afternoon)))
        return false;
    *epoch_seconds = reading.epoch_seconds;
    return true;
}
