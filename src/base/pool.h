/* A few threads that work on one task at a time and sleep in between. */
#ifndef OIF_BASE_POOL_H
#define OIF_BASE_POOL_H

#include "oif.h"

/* One part for each thread. */
enum { OIF_POOL_MAX_PARTS = OIF_THREADS_MAX };

typedef struct oif_pool oif_pool;

/* A pool for `parts` workers, the caller among them: parts - 1 threads are made. NULL when that
 * fails. */
oif_pool *oif_pool_new(unsigned parts);

/* Replaces a pool, NULL without threads, by one for 1 to OIF_POOL_MAX_PARTS parts. On failure it
 * stays as it was.
 *
 * OIF_EPARAM    the number is out of range
 * OIF_EMEMORY   the threads could not be started */
oif_status oif_pool_set(oif_pool **pool, unsigned parts, oif_error *error);

/* Ends the threads; NULL is accepted. */
void oif_pool_free(oif_pool *pool);

/* How many parts a task has; 1 without a pool. */
unsigned oif_pool_parts(const oif_pool *pool);

/* Calls task(context, part) for every part at the same time, part 0 in the calling thread;
 * returns when all are done. Without a pool: just part 0. While the pool works for another
 * caller, this one does all parts itself. */
void oif_pool_run(oif_pool *pool, void (*task)(void *context, unsigned part), void *context);

#endif
