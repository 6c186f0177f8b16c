/* Snapshots in memory. */
#include "base/error.h"
#include "snapshot/savable.h"

#include <string.h>

typedef struct piece {
    const char *next, *end;
} piece;

static ptrdiff_t take_from_memory(void *context, char *buffer, size_t capacity)
{
    piece *from = context;
    size_t left = (size_t)(from->end - from->next), count = left < capacity ? left : capacity;
    memcpy(buffer, from->next, count);
    from->next += count;
    return (ptrdiff_t)count;
}

oif_status oif_savable_load_memory(const oif_savable *kind, const void *bytes, size_t count, void **object,
                                   oif_error *error)
{
    piece from = {bytes, (const char *)bytes + count};
    void *made;
    oif_status status = kind->load(count, take_from_memory, &from, &made, error);
    if (status != OIF_OK)
        return status;
    if (from.next != from.end) {
        size_t read = count - (size_t)(from.end - from.next);
        kind->free(made);
        return oif_fail_at(error, OIF_ECORRUPT, 0, read, "byte %zu: the snapshot ends here, but bytes follow",
                           read);
    }
    *object = made;
    return OIF_OK;
}
