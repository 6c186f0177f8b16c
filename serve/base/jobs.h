/* A few threads for long-running work. */
#ifndef OIF_SERVE_JOBS_H
#define OIF_SERVE_JOBS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct jobs jobs;

/* NULL: no memory or no threads. */
jobs *jobs_open(size_t threads);

/* Finishes all jobs, then ends. */
void jobs_close(jobs *all);

/* Queues work(context) for one of the threads, in order. False: out of memory. */
bool jobs_add(jobs *all, void (*work)(void *context), void *context);

#endif
