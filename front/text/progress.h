/* A progress line on stderr, only if stderr is a terminal and the end is known. */
#ifndef OIF_FRONT_PROGRESS_H
#define OIF_FRONT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress_line {
    uint64_t total; /* 0: shows nothing */
    uint64_t rows;
    double started, next_update; /* seconds */
    bool is_shown;
} progress_line;

/* `total` in any unit, such as bytes; 0 when it is not known. */
progress_line progress_start(uint64_t total);

/* After each row; `done` in the unit of the total. */
void progress_row(progress_line *progress, uint64_t done);

/* Removes the line; to be called before anything else is printed. */
void progress_end(progress_line *progress);

#endif
