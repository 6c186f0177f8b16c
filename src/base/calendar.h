/* Days of the Gregorian calendar, without the clock, zone or locale of the machine. */
#ifndef OIF_BASE_CALENDAR_H
#define OIF_BASE_CALENDAR_H

#include <stdint.h>

enum { OIF_DAY_SECONDS = 86400, OIF_DAYS_TO_1970 = 719468 /* from March 1 of year 0 */ };

/* Days since 1970, from year 1 on. Years start in March here, so the leap day is the last day of
 * its year. */
static inline int64_t oif_days_since_1970(int year, int month, int day)
{
    int from_march = month > 2 ? month - 3 : month + 9;
    int years = month > 2 ? year : year - 1;
    int day_of_year = (153 * from_march + 2) / 5 + day - 1;
    return (int64_t)365 * years + years / 4 - years / 100 + years / 400 + day_of_year -
           OIF_DAYS_TO_1970;
}

#endif
