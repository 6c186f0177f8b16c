/* The clock for measuring speed and for what is done by time; no score depends on it. */
#ifndef OIF_CLI_CLOCK_H
#define OIF_CLI_CLOCK_H

/* Seconds from some moment in the past; never goes back. */
double clock_seconds(void);

#endif
