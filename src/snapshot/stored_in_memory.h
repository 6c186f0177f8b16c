/* Snapshots in memory. */
#ifndef OIF_SNAPSHOT_STORED_IN_MEMORY_H
#define OIF_SNAPSHOT_STORED_IN_MEMORY_H

#include "snapshot/stored_object.h"

/* The context of an oif_write_function or oif_read_function on a block of memory. */
typedef struct oif_memory_stream {
    char *next, *end;
} oif_memory_stream;

ptrdiff_t oif_memory_stream_write(void *stream, const char *bytes, size_t count);
ptrdiff_t oif_memory_stream_read(void *stream, char *buffer, size_t capacity);

/* Like oif_detector_load_memory; `*object` as in oif_stored_kind. */
oif_status oif_stored_load_memory(const oif_stored_kind *kind, const void *bytes, size_t count,
                                  void **object, oif_error *error);

#endif
