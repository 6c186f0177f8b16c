#include "base/memory.h"

#include "oif.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef _WIN32
#include <malloc.h>
#endif

/* Set once, before other threads exist; all zero: aligned_alloc and free. */
static oif_allocator callers;

void oif_set_allocator(const oif_allocator *allocator)
{
    callers = allocator ? *allocator : (oif_allocator){0};
}

#ifdef _WIN32
static void *allocate(size_t bytes)
{
    return _aligned_malloc(bytes, OIF_MEMORY_ALIGNMENT);
}

static void release(void *memory)
{
    _aligned_free(memory);
}
#else
static void *allocate(size_t bytes)
{
    return aligned_alloc(OIF_MEMORY_ALIGNMENT, bytes);
}

static void release(void *memory)
{
    free(memory);
}
#endif

void *oif_memory_new(size_t bytes)
{
    size_t aligned = oif_size_align(bytes);
    if (aligned == SIZE_MAX)
        return NULL;
    return callers.allocate ? callers.allocate(callers.context, OIF_MEMORY_ALIGNMENT, aligned)
                            : allocate(aligned);
}

void oif_memory_free(void *memory)
{
    if (callers.release && memory)
        callers.release(callers.context, memory);
    else if (!callers.release)
        release(memory);
}

size_t oif_size_add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

size_t oif_size_multiply(size_t a, size_t b)
{
    return b && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

size_t oif_size_align(size_t bytes)
{
    const size_t below_line = OIF_CACHE_LINE_BYTES - 1;
    return bytes > SIZE_MAX - below_line ? SIZE_MAX : (bytes + below_line) & ~below_line;
}

size_t oif_size_append(size_t *block_bytes, size_t count, size_t element_bytes)
{
    size_t at = *block_bytes;
    *block_bytes = oif_size_align(oif_size_add(at, oif_size_multiply(count, element_bytes)));
    return at;
}
