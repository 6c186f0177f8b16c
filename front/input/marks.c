#include "marks.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- Extreme values ---- */

void extremes_add(extreme_values *extremes, double value)
{
    if (extremes->count++ == 0)
        *extremes = (extreme_values){
            .count = 1, .low = value, .next_low = HUGE_VAL, .high = value, .next_high = -HUGE_VAL};
    if (value < extremes->low) {
        extremes->next_low = extremes->low;
        extremes->low = value;
        extremes->low_count = 0;
    } else if (value > extremes->low) {
        extremes->next_low = fmin(extremes->next_low, value);
    }
    if (value > extremes->high) {
        extremes->next_high = extremes->high;
        extremes->high = value;
        extremes->high_count = 0;
    } else if (value < extremes->high) {
        extremes->next_high = fmax(extremes->next_high, value);
    }
    extremes->low_count += value == extremes->low;
    extremes->high_count += value == extremes->high;
}

/* Half the range of the others, or more, lies between. */
static bool is_apart(double mark, double next, double last)
{
    return isfinite(next) && fabs(next - mark) > fabs(last - next) / 2;
}

bool extremes_have_mark(const extreme_values *extremes, double *mark)
{
    enum { REPEATED = 3 };
    const bool is_low = extremes->low_count >= REPEATED && extremes->low < 0 &&
                        is_apart(extremes->low, extremes->next_low, extremes->high);
    const bool is_high = extremes->high_count >= REPEATED && extremes->high > 0 &&
                         is_apart(extremes->high, extremes->next_high, extremes->low);
    *mark = is_low ? extremes->low : extremes->high;
    return (is_low || is_high) && *mark == trunc(*mark);
}

bool mark_is_usual(double mark)
{
    static const double usual[] = {200, 99, 999, 9999, 99999, 999999, 32767, 32768, 65535};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (fabs(mark) == usual[i])
            return true;
    return false;
}

/* ---- Row numbers ---- */

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

bool name_says_index(const char *name)
{
    static const char *const names[] = {
        "id",      "index",      "idx",    "row", "rowid", "no",      "no.",
        "nr",      "nr.",        "#",      "seq", "x0",    "instant", "lineid",
        "line_id", "row_number", "rownum", "n",   "num",   "line",    "record"};
    static const char *const endings[] = {"_id", "_idx", "_index", "_no", "_seq"};
    const size_t bytes = strlen(name);
    if (is_one_of(name, names, sizeof names / sizeof *names) || strncmp(name, "Unnamed:", 8) == 0)
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (bytes > strlen(endings[i]) &&
            strcasecmp(name + bytes - strlen(endings[i]), endings[i]) == 0)
            return true;
    return bytes > 2 && strcmp(name + bytes - 2, "Id") == 0;
}

/* ---- Parts of the date ---- */

/* A step is regular if it repeats the one before it or begins again from the lowest value. */
void calendar_steps_add(calendar_steps *steps, double value)
{
    const double step = value - steps->last;
    steps->fractions += value != trunc(value);
    if (steps->count++ == 0) {
        *steps = (calendar_steps){.count = 1,
                                  .fractions = steps->fractions,
                                  .last = value,
                                  .lowest = value,
                                  .highest = value};
        return;
    }
    steps->lowest = fmin(steps->lowest, value);
    steps->highest = fmax(steps->highest, value);
    steps->jumps += (step > 1 && step != steps->last_step) || (step < 0 && value > 1);
    if (step > 0)
        steps->last_step = step;
    steps->last = value;
}

static const struct calendar_part {
    const char *name;
    double lowest, highest;
} calendar_parts[] = {
    {"year", 1900, 2199},    {"yr", 0, 2199},       {"month", 0, 12},  {"mnth", 0, 12},
    {"quarter", 1, 4},       {"week", 0, 53},       {"weekday", 0, 7}, {"wday", 0, 7},
    {"dow", 0, 7},           {"dayofweek", 0, 7},   {"day", 0, 31},    {"mday", 1, 31},
    {"day_of_week", 0, 7},   {"hour", 0, 24},       {"hr", 0, 24},     {"doy", 0, 366},
    {"day_of_month", 1, 31}, {"dayofmonth", 1, 31}, {"yday", 0, 366},  {"minute", 0, 59},
    {"day_of_year", 0, 366}, {"dayofyear", 0, 366}, {"second", 0, 60}, {"hour_of_day", 0, 24},
};

bool calendar_steps_are(const calendar_steps *steps, const char *name)
{
    enum { ROWS = 10 };
    if (steps->count < ROWS || steps->fractions > 0 || steps->jumps > steps->count / 10)
        return false;
    for (size_t i = 0; i < sizeof calendar_parts / sizeof *calendar_parts; i++)
        if (strcasecmp(name, calendar_parts[i].name) == 0)
            return steps->lowest >= calendar_parts[i].lowest &&
                   steps->highest <= calendar_parts[i].highest;
    return false;
}
