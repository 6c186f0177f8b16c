/* Snapshots in memory. */
#include "base/error.h"
#include "snapshot/savable.h"

#include <string.h>

ptrdiff_t oif_piece_put(void *piece, const char *bytes, size_t count)
{
    oif_piece *to = piece;
    if ((size_t)(to->end - to->next) < count)
        return -1;
    memcpy(to->next, bytes, count);
    to->next += count;
    return (ptrdiff_t)count;
}

ptrdiff_t oif_piece_take(void *piece, char *buffer, size_t capacity)
{
    oif_piece *from = piece;
    size_t left = (size_t)(from->end - from->next), count = left < capacity ? left : capacity;
    memcpy(buffer, from->next, count);
    from->next += count;
    return (ptrdiff_t)count;
}

oif_status oif_savable_load_memory(const oif_savable *kind, const void *bytes, size_t count,
                                   void **object, oif_error *error)
{
    oif_piece from = {(char *)bytes, (char *)bytes + count}; /* which is only read */
    void *made;
    oif_status status = kind->load(count, oif_piece_take, &from, &made, error);
    if (status != OIF_OK)
        return status;
    if (from.next != from.end) {
        size_t read = count - (size_t)(from.end - from.next);
        kind->free(made);
        return oif_fail_at(error, OIF_ECORRUPT, 0, read,
                           "byte %zu: the snapshot ends here, but bytes follow", read);
    }
    *object = made;
    return OIF_OK;
}
