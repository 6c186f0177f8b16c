/* Counts of requests by status, and their latency from the last byte of the request on. Any thread
 * may count. */
#ifndef OIF_SERVE_REQUEST_FIGURES_H
#define OIF_SERVE_REQUEST_FIGURES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { REQUEST_STATUSES = 600, REQUEST_BUCKETS = 14 };

/* The upper bounds of the buckets in seconds; the last bucket has none. */
extern const double request_bounds[REQUEST_BUCKETS - 1];

typedef struct request_figures {
    atomic_uint_fast64_t by_status[REQUEST_STATUSES];
    atomic_uint_fast64_t buckets[REQUEST_BUCKETS];
    atomic_uint_fast64_t nanoseconds;
} request_figures;

void request_figures_count(request_figures *figures, int status, double seconds);

#endif
