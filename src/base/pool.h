/* A few threads that work on one task at a time and sleep between tasks. */
#ifndef OIF_BASE_POOL_H
#define OIF_BASE_POOL_H

#include "oif.h"

/* One part for each thread. */
enum { OIF_POOL_MAX_PARTS = OIF_THREADS_MAX };

typedef struct oif_pool oif_pool;

/* A pool of `parts` workers including the caller: starts parts - 1 threads. Each part has that many
 * bytes of memory of its own. NULL if that fails. */
oif_pool *oif_pool_new(unsigned parts, size_t bytes_a_part);

/* Replaces a pool (NULL: no threads) by one of 1 to OIF_POOL_MAX_PARTS parts. Unchanged on failure.
 *
 * OIF_EPARAM    the number is out of range
 * OIF_EMEMORY   the threads could not be started */
oif_status oif_pool_set(oif_pool **pool, unsigned parts, size_t bytes_a_part, oif_error *error);

/* Ends the threads; NULL is accepted. */
void oif_pool_free(oif_pool *pool);

/* The number of parts of a task; 1 without a pool. */
unsigned oif_pool_parts(const oif_pool *pool);

/* The memory of a part, in whole cache lines; its bytes stay from task to task. */
void *oif_pool_memory(const oif_pool *pool, unsigned part);

/* Calls task(context, part) for all parts at once, part 0 in the calling thread; returns when all
 * are done. Without a pool: just part 0. If the pool is busy with another caller, this caller does
 * all parts itself. */
void oif_pool_run(oif_pool *pool, void (*task)(void *context, unsigned part), void *context);

#endif
