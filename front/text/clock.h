/* The clock that measures speed and schedules work; no score depends on it. */
#ifndef OIF_FRONT_CLOCK_H
#define OIF_FRONT_CLOCK_H

/* Seconds since some moment in the past; never goes backwards. */
double clock_seconds(void);

#endif
