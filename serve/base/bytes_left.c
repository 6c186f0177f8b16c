#include "bytes_left.h"

#include <string.h>

bool bytes_left_take(bytes_left *from, void *to, size_t count)
{
    if (!to || from->count < count)
        return false;
    memcpy(to, from->next, count);
    from->next += count;
    from->count -= count;
    return true;
}
