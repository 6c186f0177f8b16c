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
    uint64_t saves;            /* that were begun */
    oif_evicted_file *evicted; /* NULL while no pipeline keeps evicted models beside the file */
};

/* Like oif_state_file_save and oif_state_file_load; `*object` as in oif_stored_kind. */
oif_status oif_state_file_save_object(oif_state_file *file, const oif_stored_kind *kind,
                                      const void *object, oif_error *error);
oif_status oif_state_file_load_object(const oif_state_file *file, const oif_stored_kind *kind,
                                      void **object, oif_error *error);

/* ---- Logs (sections.h) ---- */

/* Saves a log like oif_state_file_save_object, and sets where it is. */
oif_status oif_state_file_save_log(oif_state_file *file, const oif_stored_kind *kind,
                                   const void *object, oif_stored_place *place, oif_error *error);

/* Appends an update, which the kind saves, to the log at `place`. The log has either all of it or
 * nothing of it, whenever the program ends.
 *
 * OIF_EWRITE   the log is unchanged, or the update may not survive a loss of power */
oif_status oif_state_file_append(oif_state_file *file, const oif_stored_kind *kind,
                                 const void *object, oif_stored_place *place, oif_error *error);

/* Sets what identifies the content of the file if it may be appended to, and returns whether the
 * content is still that. */
void oif_state_file_identify(const oif_state_file *file, oif_stored_place *place);
bool oif_state_file_is_at(const oif_state_file *file, const oif_stored_place *place);

/* ---- Without holding the file ---- */

/* Like oif_detector_save_file and oif_detector_load_file; `*object` as in oif_stored_kind. */
oif_status oif_stored_save_file(const oif_stored_kind *kind, const void *object, const char *path,
                                oif_error *error);
oif_status oif_stored_load_file(const oif_stored_kind *kind, const char *path, void **object,
                                oif_error *error);

#endif
