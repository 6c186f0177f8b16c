/* In place of pool.c in a library without threads: the calling thread does all the work. */
#include "base/pool.h"

#ifdef OIF_WITHOUT_THREADS

#include "base/error.h"

#include <stddef.h>

oif_pool *oif_pool_new(unsigned parts, size_t bytes_a_part)
{
    (void)parts, (void)bytes_a_part;
    return NULL;
}

oif_status oif_pool_set(oif_pool **pool, unsigned parts, size_t bytes_a_part, oif_error *error)
{
    (void)bytes_a_part;
    if (parts < 1 || parts > OIF_POOL_MAX_PARTS)
        return oif_fail(error, OIF_EPARAM, "threads must be a whole number from 1 to %d",
                        OIF_POOL_MAX_PARTS);
    if (parts > 1)
        return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_NOT_BUILT,
                                "this library was built without threads; set threads to 1, or "
                                "build it with -DOIF_THREADS=ON");
    *pool = NULL;
    return OIF_OK;
}

void oif_pool_free(oif_pool *pool)
{
    (void)pool;
}

unsigned oif_pool_parts(const oif_pool *pool)
{
    (void)pool;
    return 1;
}

void *oif_pool_memory(const oif_pool *pool, unsigned part)
{
    (void)pool, (void)part;
    return NULL;
}

void oif_pool_run(oif_pool *pool, void (*task)(void *context, unsigned part), void *context)
{
    (void)pool;
    task(context, 0);
}

#endif
