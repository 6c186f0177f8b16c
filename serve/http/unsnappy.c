#include "unsnappy.h"

#ifdef OIF_HAS_SNAPPY
#include <snappy-c.h>

bool unsnappy_exists(void)
{
    return true;
}

/* Three bytes become at most 64, so a size beyond that is a lie, and no memory is taken for it. */
bool unsnappy_size(const char *bytes, size_t count, size_t *size)
{
    return snappy_uncompressed_length(bytes, count, size) == SNAPPY_OK && *size / 64 <= count;
}

bool unsnappy_run(const char *bytes, size_t count, char *to, size_t size)
{
    return snappy_uncompress(bytes, count, to, &size) == SNAPPY_OK;
}

#else

bool unsnappy_exists(void)
{
    return false;
}

bool unsnappy_size(const char *bytes, size_t count, size_t *size)
{
    (void)bytes;
    (void)count;
    *size = 0;
    return false;
}

bool unsnappy_run(const char *bytes, size_t count, char *to, size_t size)
{
    (void)bytes;
    (void)count;
    (void)to;
    (void)size;
    return false;
}

#endif
