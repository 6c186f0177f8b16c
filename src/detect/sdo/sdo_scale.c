/* The scales of the columns, in which distances are measured.
 *
 * A scale is a standard deviation that forgets, with two changes. A value farther away than `reach`
 * deviations is clamped to that, so a few outliers hardly change the scale. While the values after
 * it are clamped too, reach doubles each time: a column that has really become wider gets its new
 * scale within some ten rows. The first rows have no scale to be clamped by; theirs is the median
 * deviation of the observers.
 */
#include "detect/sdo/sdo.h"

#include "base/stable_math.h"
#include "base/vector.h"

#include <math.h>

/* ---- One number ---- */

double oif_sdo_inverse_of(const oif_sdo_column *column)
{
    /* a constant column has no deviation: rounding errors must not count */
    const double least = fabs(column->center) * 0x1p-30 + OIF_SDO_LEAST_DEVIATION;
    const double deviation = oif_sqrt(column->variance);
    return 1 / (deviation > least ? deviation : least);
}

static double within(double number, double limit)
{
    number = number > limit ? limit : number;
    return number < -limit ? -limit : number;
}

static void learn_number(oif_sdo_column *column, double number, bool cuts, uint64_t window_size)
{
    number = within(number, OIF_SDO_FURTHEST_VALUE);
    column->known += column->known < window_size;
    if (column->known == 1 && column->variance == 0)
        column->center = number;
    double apart = number - column->center;
    /* a column that never changed has no scale: its first change sets it */
    double limit = cuts && column->variance > 0 ? column->reach / column->inverse : HUGE_VAL;
    bool cut = fabs(apart) > limit;
    double wider = column->reach < OIF_SDO_GREATEST_REACH ? 2 * column->reach : column->reach;
    column->reach = cut ? wider : OIF_SDO_FIRST_REACH;
    apart = within(apart, limit);
    const double rate = 1 / (double)column->known;
    column->center += rate * apart;
    column->variance += rate * (apart * apart - column->variance);
    column->inverse = oif_sdo_inverse_of(column);
}

/* ---- The first rows ---- */

static void sort(double *numbers, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        double number = numbers[i];
        uint32_t at = i;
        for (; at > 0 && numbers[at - 1] > number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

static double median(double *numbers, uint32_t count)
{
    sort(numbers, count);
    return numbers[count / 2];
}

/* Center and deviation of the observers, by medians, which are robust to a few outliers. */
static void start_column(const oif_sdo_state *sdo, uint32_t index)
{
    oif_sdo_column *column = &oif_sdo_columns(sdo)[index];
    double numbers[OIF_SDO_START];
    uint32_t count = 0, held = oif_min_u32(sdo->held, OIF_SDO_START);
    for (uint32_t i = 0; i < held; i++) {
        double number = oif_sdo_values(sdo, index)[i];
        numbers[count] = within(number, OIF_SDO_FURTHEST_VALUE);
        count += number == number;
    }
    if (count < 2)
        return;
    double center = median(numbers, count);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = fabs(numbers[i] - center);
    double deviation = 1.4826 * median(numbers, count); /* factor for normal distributions */
    if (deviation == 0)
        return; /* most values are equal: the others must count too */
    column->center = center;
    column->variance = deviation * deviation;
    column->inverse = oif_sdo_inverse_of(column);
}

/* ---- All columns ---- */

void oif_sdo_init_columns(oif_sdo_state *sdo)
{
    for (uint32_t i = 0; i < sdo->dimension; i++)
        oif_sdo_columns(sdo)[i] = (oif_sdo_column){.reach = OIF_SDO_FIRST_REACH, .inverse = 1};
}

/* Returns the least and the greatest factor of an inverse, at most and at least 1. */
OIF_INLINE oif_sdo_change learn_numbers(oif_sdo_state *sdo, const double *row, bool starts,
                                        bool with_change)
{
    oif_sdo_change change = {1, 1};
    for (uint32_t i = 0; i < sdo->dimension; i++) {
        oif_sdo_column *column = &oif_sdo_columns(sdo)[i];
        const double before = column->inverse;
        if (row[i] != row[i])
            continue;
        learn_number(column, row[i], !starts, sdo->window_size);
        if (with_change) {
            const double factor = column->inverse / before;
            change.least = factor < change.least ? factor : change.least;
            change.greatest = factor > change.greatest ? factor : change.greatest;
        }
    }
    return change;
}

/* Each time from twice as many observers; the last time just before clamping starts. */
static bool starts_columns(const oif_sdo_state *sdo)
{
    const uint32_t rows = sdo->rows_so_far;
    return rows < OIF_SDO_START && ((rows + 1) & rows) == 0;
}

static void start_columns(const oif_sdo_state *sdo)
{
    for (uint32_t i = 0; i < sdo->dimension; i++)
        start_column(sdo, i);
}

void oif_sdo_learn_scales(oif_sdo_state *sdo, const double *row)
{
    (void)learn_numbers(sdo, row, sdo->rows_so_far < OIF_SDO_START, false);
    if (starts_columns(sdo))
        start_columns(sdo);
}

/* A column adds at most furthest_square before and after, so its factor may also be 1. */
oif_sdo_change oif_sdo_change_scales(oif_sdo_state *sdo, const double *row)
{
    oif_sdo_change change = learn_numbers(sdo, row, sdo->rows_so_far < OIF_SDO_START, true);
    if (starts_columns(sdo)) {
        start_columns(sdo);
        return (oif_sdo_change){0, HUGE_VAL};
    }
    return (oif_sdo_change){change.least * change.least, change.greatest * change.greatest};
}
