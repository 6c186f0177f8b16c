/* The insides of a trend_store, for the files that implement it. */
#ifndef OIF_SERVE_TREND_STORE_PARTS_H
#define OIF_SERVE_TREND_STORE_PARTS_H

#include "trend_segment.h"
#include "trend_store.h"

typedef struct pending_buckets {
    char *bytes;
    size_t used, capacity;
} pending_buckets;

struct trend_store {
    char *folder;
    size_t columns, bucket_bytes, limit_bytes, segment_bytes;
    trend_segment *segments; /* by level and number */
    size_t count, capacity;
    pending_buckets pending[TREND_LEVELS];
    trend_figures figures;
    bool has_new_names;
};

#endif
