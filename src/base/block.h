/* Memory blocks that hold several arrays: access to the array at an offset, and the arithmetic for
 * laying out and walking blocks. */
#ifndef OIF_BASE_BLOCK_H
#define OIF_BASE_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* The array `offset` bytes after the start of a block. The block may be const: the caller knows
 * whether it may be written. */
static inline void *oif_block_part(const void *block, size_t offset)
{
    return (unsigned char *)block + offset;
}

static inline uint32_t oif_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t oif_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t oif_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline size_t oif_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
