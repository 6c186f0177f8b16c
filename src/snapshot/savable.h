/* What has snapshots, whatever it is: so that memory and files are dealt with once. */
#ifndef OIF_SNAPSHOT_SAVABLE_H
#define OIF_SNAPSHOT_SAVABLE_H

#include "oif.h"

/* A kind of thing that has snapshots. */
typedef struct oif_savable {
    oif_status (*save)(const void *object, oif_write_function write, void *context,
                       oif_error *error);
    /* `bytes`: that there are to read, so that no section is believed to be longer; UINT64_MAX
     * when nobody knows. */
    oif_status (*load)(uint64_t bytes, oif_read_function read, void *context, void **object,
                       oif_error *error);
    void (*free)(void *object);
} oif_savable;

/* A piece of memory that a snapshot is written to or read from: an oif_write_function and an
 * oif_read_function, whose context it is. */
typedef struct oif_piece {
    char *next, *end;
} oif_piece;

ptrdiff_t oif_piece_put(void *piece, const char *bytes, size_t count);
ptrdiff_t oif_piece_take(void *piece, char *buffer, size_t capacity);

/* As oif_detector_load_memory and oif_detector_load_file. */
oif_status oif_savable_load_memory(const oif_savable *kind, const void *bytes, size_t count,
                                   void **object, oif_error *error);
oif_status oif_savable_load_file(const oif_savable *kind, const char *path, void **object,
                                 oif_error *error);

/* As oif_state_file_save and oif_state_file_load. */
oif_status oif_state_file_put(oif_state_file *file, const oif_savable *kind, const void *object,
                              oif_error *error);
oif_status oif_state_file_get(const oif_state_file *file, const oif_savable *kind, void **object,
                              oif_error *error);

#endif
