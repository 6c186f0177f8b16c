/* Every allocation of the library goes through here, so tests can make each of them fail. */
#ifndef OIF_BASE_MEMORY_H
#define OIF_BASE_MEMORY_H

#include <stddef.h>

enum { OIF_CACHE_LINE_BYTES = 64 }; /* same as OIF_MEMORY_ALIGNMENT */

/* Memory aligned to a cache line, not zeroed; NULL if there is none. */
void *oif_memory_new(size_t bytes);
void oif_memory_free(void *memory);

/* Sizes that may overflow: SIZE_MAX means "too large" and propagates. */
size_t oif_size_add(size_t a, size_t b);
size_t oif_size_multiply(size_t a, size_t b);
size_t oif_size_align(size_t bytes); /* rounds up to whole cache lines */

/* Appends an array to a block being laid out, aligned to a cache line; returns its offset. */
size_t oif_size_append(size_t *block_bytes, size_t count, size_t element_bytes);

#endif
