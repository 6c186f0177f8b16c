/* The internals of a state file, and how any kind of object is saved to it and loaded from it. */
#ifndef OIF_SNAPSHOT_STATE_FILE_H
#define OIF_SNAPSHOT_STATE_FILE_H

#include "snapshot/evicted_file.h"
#include "snapshot/stored_object.h"

/* Its strings follow in the same block of memory. */
struct oif_state_file {
    oif_state_location location;
    const char *new_name, *lock_name; /* in the folder of the location */
    int lock;
    oif_evicted_file *evicted; /* NULL while no pipeline keeps evicted models beside the file */
};

/* Like oif_state_file_save and oif_state_file_load; `*object` as in oif_stored_kind. */
oif_status oif_state_file_save_object(oif_state_file *file, const oif_stored_kind *kind,
                                      const void *object, oif_error *error);
oif_status oif_state_file_load_object(const oif_state_file *file, const oif_stored_kind *kind,
                                      void **object, oif_error *error);

/* Like oif_detector_save_file and oif_detector_load_file; `*object` as in oif_stored_kind. */
oif_status oif_stored_save_file(const oif_stored_kind *kind, const void *object, const char *path,
                                oif_error *error);
oif_status oif_stored_load_file(const oif_stored_kind *kind, const char *path, void **object,
                                oif_error *error);

#endif
