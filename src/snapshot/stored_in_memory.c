#include "snapshot/stored_in_memory.h"

#include "base/error.h"

#include <string.h>

ptrdiff_t oif_memory_stream_write(void *stream, const char *bytes, size_t count)
{
    oif_memory_stream *to = stream;
    if ((size_t)(to->end - to->next) < count)
        return -1;
    memcpy(to->next, bytes, count);
    to->next += count;
    return (ptrdiff_t)count;
}

ptrdiff_t oif_memory_stream_read(void *stream, char *buffer, size_t capacity)
{
    oif_memory_stream *from = stream;
    size_t left = (size_t)(from->end - from->next), count = left < capacity ? left : capacity;
    memcpy(buffer, from->next, count);
    from->next += count;
    return (ptrdiff_t)count;
}

oif_status oif_stored_load_memory(const oif_stored_kind *kind, const void *bytes, size_t count,
                                  void **object, oif_error *error)
{
    if (!bytes) {
        bytes = "";
        count = 0;
    }
    oif_memory_stream from = {(char *)bytes, (char *)bytes + count}; /* only read */
    void *made = *object;
    oif_status status = kind->load(count, oif_memory_stream_read, &from, &made, error);
    if (status != OIF_OK)
        return status;
    if (from.next != from.end) {
        size_t read = count - (size_t)(from.end - from.next);
        kind->free(made);
        return oif_fail_at(error, OIF_ECORRUPT, 0, read,
                           "byte %zu: the snapshot ends here, but more bytes follow", read);
    }
    *object = made;
    return OIF_OK;
}
