#include "durations.h"

#include "oif_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct named_span {
    const char *name;
    double seconds;
} named_span;

static const named_span units[] = {{"", 1},     {"ms", 0.001}, {"s", 1},     {"m", 60},
                                   {"min", 60}, {"h", 3600},   {"d", 86400}, {"w", 604800}};

static const named_span periods[] = {{"", 86400},     {"/day", 86400}, {"/d", 86400},
                                     {"/hour", 3600}, {"/h", 3600},    {"/week", 604800},
                                     {"/w", 604800}};

/* A number and one of the names; `span` becomes what that is in seconds. */
static bool parse(const char *text, const named_span *names, size_t count, double *number,
                  double *span)
{
    const char *name = oif_number_parse(text, text + strlen(text), number);
    if (!name)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].name, name) == 0) {
            *span = names[i].seconds;
            return true;
        }
    return false;
}

bool duration_parse(const char *text, double *seconds)
{
    double number, unit;
    if (!parse(text, units, sizeof units / sizeof *units, &number, &unit))
        return false;
    *seconds = number * unit;
    return true;
}

bool per_day_parse(const char *text, double *per_day)
{
    double number, period;
    if (!parse(text, periods, sizeof periods / sizeof *periods, &number, &period))
        return false;
    *per_day = number * (86400 / period);
    return true;
}

const char *duration_text(double seconds, char text[DURATION_TEXT_BYTES])
{
    static const named_span shown[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
    size_t i = 0;
    while (i < 3 && seconds < 2 * shown[i].seconds)
        i++;
    snprintf(text, DURATION_TEXT_BYTES, "%.3g %s", seconds / shown[i].seconds, shown[i].name);
    return text;
}

/* The date of a day since 1970: eras of 400 years, years from March on. */
static void date_of(int64_t day, int *year, int *month, int *of_month)
{
    int64_t days = day + 719468, era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t of_era = days - era * 146097;
    int64_t of_era_year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * of_era_year + of_era_year / 4 - of_era_year / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    *of_month = (int)(of_year - (153 * from_march + 2) / 5 + 1);
    *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    *year = (int)(of_era_year + era * 400 + (*month <= 2));
}

const char *moment_text(double seconds, char text[MOMENT_TEXT_BYTES])
{
    const double earliest = -62135596800., latest = 253402300799.; /* years 1 to 9999 */
    if (!(seconds >= earliest && seconds < latest)) {
        text[oif_number_format(seconds, text)] = '\0';
        return text;
    }
    int64_t milliseconds = (int64_t)floor(seconds * 1000 + 0.5), day = 86400000;
    int64_t number = milliseconds / day - (milliseconds % day < 0);
    int of_day = (int)(milliseconds - number * day), year, month, of_month;
    date_of(number, &year, &month, &of_month);
    int length = snprintf(text, MOMENT_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d", year, month,
                          of_month, of_day / 3600000, of_day / 60000 % 60, of_day / 1000 % 60);
    snprintf(text + length, (size_t)(MOMENT_TEXT_BYTES - length),
             of_day % 1000 > 0 ? ".%03dZ" : "Z", of_day % 1000);
    return text;
}
