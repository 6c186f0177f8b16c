/* Every allocation of the library passes here, so that tests can make each of them fail. */
#ifndef OIF_BASE_MEMORY_H
#define OIF_BASE_MEMORY_H

#include <stddef.h>

enum { OIF_CACHE_LINE_BYTES = 64 }; /* as OIF_MEMORY_ALIGNMENT */

/* Memory aligned to a cache line, not cleared; NULL when there is none. */
void *oif_memory_new(size_t bytes);
void oif_memory_free(void *memory);

/* Sizes that may overflow: SIZE_MAX stands for "too large" and stays so. */
size_t oif_size_add(size_t a, size_t b);
size_t oif_size_multiply(size_t a, size_t b);
size_t oif_size_align(size_t bytes); /* up to a whole number of cache lines */

/* Adds an array to the end of a block that is being laid out, from a cache line on; returns
 * where it starts. */
size_t oif_size_append(size_t *block_bytes, size_t count, size_t element_bytes);

#endif
