/* The interface of objects stored as snapshots, so memory (stored_in_memory.h) and files
 * (state_file.h) are handled once for detectors and pipelines. */
#ifndef OIF_SNAPSHOT_STORED_OBJECT_H
#define OIF_SNAPSHOT_STORED_OBJECT_H

#include "oif.h"

typedef struct oif_stored_kind {
    oif_status (*save)(const void *object, oif_write_function write, void *context,
                       oif_error *error);
    /* `bytes`: how many bytes there are, UINT64_MAX if unknown. A section that claims to be longer
     * is rejected before memory is allocated for it. `*object` is set by the caller: NULL, or the
     * object to be filled. */
    oif_status (*load)(uint64_t bytes, oif_read_function read, void *context, void **object,
                       oif_error *error);
    void (*free)(void *object);
} oif_stored_kind;

/* Where the last save of an object is: a log of a state file, which its next save may append to. */
typedef struct oif_stored_place {
    const oif_state_file *file; /* NULL: none */
    uint64_t saves;             /* of the file, by this program */
    uint64_t device, inode, bytes;
    int64_t seconds, nanoseconds; /* when the file was changed */
    oif_log_info log;
    bool has_end;  /* the log has its end; else a crash has interrupted the writing of it */
    uint64_t rows; /* of the pipeline, when it was saved */
} oif_stored_place;

#endif
