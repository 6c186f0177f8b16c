#include "progress.h"

#include "clock.h"

#include <stdio.h>
#include <unistd.h>

static const double first_update_seconds = 0.5, update_seconds = 0.1;

enum { ROWS_PER_LOOK_AT_THE_CLOCK = 256 };

progress_line progress_start(uint64_t total)
{
    progress_line progress = {.started = clock_seconds()};
    progress.next_update = progress.started + first_update_seconds;
    if (isatty(STDERR_FILENO))
        progress.total = total;
    return progress;
}

static void print_line(const progress_line *progress, uint64_t done, double elapsed)
{
    bool has_grown = done > progress->total; /* a file that is still being written */
    double share = has_grown ? 1 : (double)done / (double)progress->total;
    double remaining = share > 0 ? elapsed / share - elapsed : 0;
    fprintf(stderr, "\r%3.0f%%  %.0f rows/s  %.0f s left\033[K", share * 100,
            (double)progress->rows / elapsed, remaining);
}

void progress_row(progress_line *progress, uint64_t done)
{
    progress->rows++;
    if (progress->total == 0 || progress->rows % ROWS_PER_LOOK_AT_THE_CLOCK != 0)
        return;
    double now = clock_seconds();
    if (now < progress->next_update)
        return;
    print_line(progress, done, now - progress->started);
    progress->next_update = now + update_seconds;
    progress->is_shown = true;
}

void progress_end(progress_line *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}
