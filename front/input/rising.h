/* Columns that only ever rise: ids, times, counters. Learning such a column is useless, because
 * every value is new. */
#ifndef OIF_FRONT_RISING_H
#define OIF_FRONT_RISING_H

#include <stdbool.h>
#include <stdint.h>

/* The number of values that decide. */
enum { RISING_ROWS = 200 };

/* The values of one column so far. All zero: none. */
typedef struct rising_column {
    double first, last, smallest_step, largest_step;
    uint32_t count, rises, falls;
} rising_column;

typedef enum rising_kind {
    RISING_NOT,
    RISING_EVENLY, /* an id or a row number */
    RISING_TIME,   /* since 1970 */
    RISING_COUNTER
} rising_kind;

/* Missing values are ignored. */
void rising_add(rising_column *column, double value);

/* RISING_NOT while there are too few values. */
rising_kind rising_judge(const rising_column *column, const char *name);

/* Whether a number may be a time since 1970 in this century, in seconds to nanoseconds. */
bool rising_is_epoch(double value);

/* Whether the name, or the last part of a path, is one that times have. */
bool rising_says_time(const char *name);

#endif
