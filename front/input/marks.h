/* Numbers that mark something else than a measurement: -200 or 9999 where a value is missing, a row
 * number, a part of the date. */
#ifndef OIF_FRONT_MARKS_H
#define OIF_FRONT_MARKS_H

#include "rising.h"

/* The extreme values of a column and how often they occur. All zero: none yet. */
typedef struct extreme_values {
    uint32_t count;
    double low, next_low, high, next_high;
    uint32_t low_count, high_count;
} extreme_values;

void extremes_add(extreme_values *extremes, double value);

/* Whether the lowest or highest value is repeated and far from all others, as a mark for missing
 * values is. Then *mark is that value. */
bool extremes_have_mark(const extreme_values *extremes, double *mark);

/* Whether it is one of the values that programs use as such a mark: -200, -999, 9999, ... */
bool mark_is_usual(double mark);

/* Whether the name is one of row numbers: id, LineId, index, x0 for an unnamed column. */
bool name_says_index(const char *name);

/* The steps of a column of whole numbers. All zero: none yet. */
typedef struct calendar_steps {
    uint32_t count, fractions, jumps;
    double last, last_step, lowest, highest;
} calendar_steps;

void calendar_steps_add(calendar_steps *steps, double value);

/* Whether a column has the name of a part of the date, such as hour, only values that the part
 * can have, and runs through them as a clock does. */
bool calendar_steps_are(const calendar_steps *steps, const char *name);

#endif
