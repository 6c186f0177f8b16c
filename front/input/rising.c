#include "rising.h"

#include <math.h>
#include <string.h>
#include <strings.h>

void rising_add(rising_column *column, double value)
{
    if (isnan(value))
        return;
    double step = value - column->last;
    if (column->count++ == 0) {
        column->first = column->last = value;
        return;
    }
    column->last = value;
    column->falls += step < 0;
    if (!(step > 0))
        return;
    if (column->rises++ == 0)
        column->smallest_step = column->largest_step = step;
    column->smallest_step = fmin(column->smallest_step, step);
    column->largest_step = fmax(column->largest_step, step);
}

bool rising_is_epoch(double value)
{
    const double year_2000 = 946684800, year_2100 = 4102444800;
    for (double unit = 1; unit <= 1e9; unit *= 1000)
        if (value >= year_2000 * unit && value < year_2100 * unit)
            return true;
    return false;
}

/* ---- Names ---- */

static bool ends_with(const char *name, const char *ending)
{
    size_t bytes = strlen(name), ending_bytes = strlen(ending);
    return bytes >= ending_bytes && strcasecmp(name + bytes - ending_bytes, ending) == 0;
}

bool rising_says_time(const char *name)
{
    static const char *const names[] = {"at", "ts", "t", "when", "epoch"};
    static const char *const endings[] = {"time", "timestamp", "date", "_ts", "_at", "_epoch"};
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(last, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(last, endings[i]))
            return true;
    return false;
}

static bool says_counter(const char *name)
{
    static const char *const endings[] = {"_total", "_count", "_sum", "bytes", "packets", "errors"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(name, endings[i]))
            return true;
    return false;
}

/* ---- Judging ---- */

rising_kind rising_judge(const rising_column *column, const char *name)
{
    if (column->count < RISING_ROWS || column->falls > 0 || column->rises < column->count / 4)
        return RISING_NOT;
    bool is_even = column->largest_step <= 2 * column->smallest_step;
    bool is_epoch = rising_is_epoch(column->first) && rising_is_epoch(column->last);
    if (says_counter(name))
        return RISING_COUNTER;
    if (is_epoch && (is_even || rising_says_time(name)))
        return RISING_TIME;
    return is_even && column->rises + 1 == column->count ? RISING_EVENLY : RISING_COUNTER;
}
