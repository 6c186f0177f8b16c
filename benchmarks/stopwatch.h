/* Elapsed time: processor time of this process (all threads), and wall-clock time. */
#ifndef BENCHMARKS_STOPWATCH_H
#define BENCHMARKS_STOPWATCH_H

#include <time.h>

typedef struct timing {
    double cpu_seconds, wall_seconds;
} timing;

static inline double stopwatch_read(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline timing stopwatch_start(void)
{
    return (timing){stopwatch_read(CLOCK_PROCESS_CPUTIME_ID), stopwatch_read(CLOCK_MONOTONIC)};
}

static inline timing stopwatch_stop(timing started)
{
    return (timing){stopwatch_read(CLOCK_PROCESS_CPUTIME_ID) - started.cpu_seconds,
                    stopwatch_read(CLOCK_MONOTONIC) - started.wall_seconds};
}

/* The minimum of each: other load on the machine can only have made a run longer. */
static inline timing timing_best(timing a, timing b)
{
    return (timing){a.cpu_seconds < b.cpu_seconds ? a.cpu_seconds : b.cpu_seconds,
                    a.wall_seconds < b.wall_seconds ? a.wall_seconds : b.wall_seconds};
}

#endif
