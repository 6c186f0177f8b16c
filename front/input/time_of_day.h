/* A date and a time of day from two columns, as one text. */
#ifndef OIF_FRONT_TIME_OF_DAY_H
#define OIF_FRONT_TIME_OF_DAY_H

#include "oif_rows.h"

/* Writes "DATE CLOCK". A clock such as 18.00.00 gets colons. Returns the bytes; 0 if both do not
 * fit. A date without a clock stays alone. */
int time_of_day_join(const char *date, size_t date_bytes, oif_text clock, char *joined,
                     size_t room);

#endif
