/* A few threads for work that takes long. */
#ifndef OIF_SERVE_JOBS_H
#define OIF_SERVE_JOBS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct jobs jobs;

/* NULL: no memory or no threads. */
jobs *jobs_open(size_t threads);

/* Does all that was added, and ends. */
void jobs_close(jobs *all);

/* Calls work(context) on one of the threads, in the order of the calls. False: no memory. */
bool jobs_add(jobs *all, void (*work)(void *context), void *context);

#endif
