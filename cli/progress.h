/* One line on stderr that tells a waiting person how far the work is: only where stderr is a
 * terminal and the end is known. Also the clock for measuring speed; no score depends on it. */
#ifndef OIF_CLI_PROGRESS_H
#define OIF_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    uint64_t total; /* 0: shows nothing */
    uint64_t rows;
    double started, next_update; /* seconds */
    bool is_shown;
};

/* `total` in any unit, such as bytes; 0 when it is not known. */
struct progress progress_start(uint64_t total);

/* After each row; `done` in the unit of the total. */
void progress_row(struct progress *progress, uint64_t done);

/* Takes the line away; before anything else is printed. */
void progress_end(struct progress *progress);

/* Seconds from some moment in the past; never goes back. */
double seconds_now(void);

#endif
