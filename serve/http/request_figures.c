#include "request_figures.h"

const double request_bounds[REQUEST_BUCKETS - 1] = {1e-4,   2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2,
                                                    2.5e-2, 0.1,    0.25, 1,    2.5,    10};

void request_figures_count(request_figures *figures, int status, double seconds)
{
    size_t bucket = 0;
    while (bucket < REQUEST_BUCKETS - 1 && seconds > request_bounds[bucket])
        bucket++;
    if (status > 0 && status < REQUEST_STATUSES)
        atomic_fetch_add_explicit(&figures->by_status[status], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&figures->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&figures->nanoseconds,
                              seconds > 0 ? (uint_fast64_t)(seconds * 1e9) : 0,
                              memory_order_relaxed);
}
