/* The evicted models file, PATH.evicted beside the state file PATH: models that do not fit in
 * memory, in slots of equal size. Most models are packed and much shorter than their slot; the rest
 * of it takes no room on the disk, unless a longer model was there.
 *
 *     PATH.evicted  | slot 0  | slot 1  | slot 2   | slot 3 | ...
 *                     saved     written   released   free
 *
 * The saved state, the snapshot in PATH, lists its slots with a checksum of each. Such a slot is
 * not overwritten before the next state is saved, even if its model is back in memory:
 *
 *               put                  after_commit
 *     free ---------------> written ---------------> saved
 *      ^ ^                     |                       |
 *      | +----- free_slot -----+                   free_slot
 *      |                                               v
 *      +------------------ after_commit ----------- released
 *
 * A save makes these calls (state_file.c). The rename commits the new state:
 *
 *     1. write the snapshot to PATH.new and sync it
 *     2. oif_evicted_file_before_commit       sync the slots
 *     3. rename PATH.new to PATH
 *     4. sync the folder
 *     5. oif_evicted_file_after_commit        free the slots that only the old state used
 *
 * A crash before 3 leaves the old state and all its slots. A crash after 3 leaves the new state,
 * whose slots were synced in 2. Slots that the remaining state does not list are free, so nothing
 * has to be rolled back, scanned or compacted. There are never more than twice as many slots as
 * were in use at one time.
 *
 * Lifecycle: new; for a loaded state, open and claim_slot for each of its slots; then attach.
 */
#ifndef OIF_SNAPSHOT_EVICTED_FILE_H
#define OIF_SNAPSHOT_EVICTED_FILE_H

#include "oif.h"

#define OIF_NO_SLOT UINT32_MAX

typedef struct oif_evicted_file oif_evicted_file;

/* The location of the state file and its evicted models file. */
typedef struct oif_state_location {
    int folder;               /* a descriptor */
    const char *path;         /* of the state file as given, for messages */
    const char *name;         /* of the state file in the folder */
    const char *evicted_name; /* of the evicted models file in the folder */
} oif_state_location;

/* A model in the file. */
typedef struct oif_slot {
    uint32_t number;   /* from 0 */
    uint32_t checksum; /* of the model's key and its bytes */
    uint64_t bytes;    /* from the start of the slot, at most all of it */
} oif_slot;

/* ---- Lifecycle ---- */

/* Creates the object, without slots; the first put creates the file. If a state exists at the
 * location, the slots of an existing file are retained until after_commit has replaced that state.
 * `location` must outlive the object.
 *
 * OIF_EMEMORY */
oif_status oif_evicted_file_new(const oif_state_location *location, size_t slot_bytes,
                                oif_evicted_file **file, oif_error *error);
void oif_evicted_file_free(oif_evicted_file *file);

/* Opens the existing file, for a loaded state.
 *
 * OIF_ETRUNCATED   there is no file OIF_EREAD        it cannot be opened */
oif_status oif_evicted_file_open(oif_evicted_file *file, oif_error *error);

/* After open: the loaded state uses this slot. Once all are claimed, after_commit frees the
 * rest.
 *
 * OIF_ETRUNCATED   the file ends before the model does
 * OIF_ECORRUPT     the slot is claimed twice, or is too small
 * OIF_EMEMORY */
oif_status oif_evicted_file_claim_slot(oif_evicted_file *file, oif_slot slot, oif_error *error);

/* After the claims, if the state on disk may be a different one that uses other slots: no slot of
 * the file is overwritten until after_commit.
 *
 * OIF_EREAD, OIF_EMEMORY */
oif_status oif_evicted_file_retain_all(oif_evicted_file *file, oif_error *error);

/* Makes `*owner`, a pointer in the state file, and `*user` point to the object. The owner frees it,
 * and a previous object of the owner is freed now. When the object is freed, `*user` becomes
 * NULL. */
void oif_evicted_file_attach(oif_evicted_file *file, oif_evicted_file **owner,
                             oif_evicted_file **user);

/* The user ends before the owner: its pointer is no longer touched. `file` may be NULL. */
void oif_evicted_file_detach(oif_evicted_file *file);

/* ---- Slots ---- */

/* A buffer of slot_bytes: put writes its start to the file, get reads that from the file. */
unsigned char *oif_evicted_file_buffer(oif_evicted_file *file);

/* Writes the first bytes of the buffer to a free slot, for a key. Nothing has changed after a
 * failure.
 *
 * OIF_EWRITE, OIF_EREAD, OIF_EMEMORY */
oif_status oif_evicted_file_put(oif_evicted_file *file, size_t bytes, const char *key,
                                size_t key_bytes, oif_slot *slot, oif_error *error);

/* Reads a model into the buffer; its slot, which was put or claimed, stays in use.
 *
 * OIF_EREAD OIF_ECORRUPT   the key and the bytes do not match the checksum of the slot */
oif_status oif_evicted_file_get(oif_evicted_file *file, const char *key, size_t key_bytes,
                                oif_slot slot, oif_error *error);

/* Frees a slot; a slot used by the saved state is kept until the next save. */
void oif_evicted_file_free_slot(oif_evicted_file *file, uint32_t number);

/* ---- Saves ---- */

/* Syncs new slots, before the rename. OIF_EWRITE: the state must not be renamed. */
oif_status oif_evicted_file_before_commit(oif_evicted_file *file, oif_error *error);

/* Call it after the rename, and after claiming the slots of a loaded state. is_durable: the old
 * state cannot return after a power loss, so its slots are freed. */
void oif_evicted_file_after_commit(oif_evicted_file *file, bool is_durable);

#endif
