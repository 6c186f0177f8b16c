/* The evicted models file, PATH.shelf beside the state file PATH: models that do not fit in
 * memory, in slots of equal size.
 *
 *     PATH.shelf    | slot 0  | slot 1  | slot 2   | slot 3 | ...
 *                     saved     written   released   free
 *
 * The saved state, the snapshot in PATH, lists the slots that it uses, with a checksum of each.
 * Such a slot is not overwritten before the next state is saved, not even after its model went
 * back to memory:
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
 * A crash before 3 leaves the old state and every slot that it uses. A crash after 3 leaves the
 * new state, whose slots were synced in 2. Slots that the remaining state does not list count
 * as free, so nothing has to be rolled back, scanned or compacted. There are never more slots
 * than twice the number that were in use at one time.
 *
 * Life of an object: new, then for a state that was loaded open and claim_slot for each slot of
 * it, then attach.
 */
#ifndef OIF_SNAPSHOT_EVICTED_FILE_H
#define OIF_SNAPSHOT_EVICTED_FILE_H

#include "oif.h"

#define OIF_NO_SLOT UINT32_MAX

typedef struct oif_evicted_file oif_evicted_file;

/* Where the state file and its evicted models file are. */
typedef struct oif_state_location {
    int folder;               /* a descriptor */
    const char *path;         /* of the state file as the caller gave it, for messages */
    const char *name;         /* of the state file in the folder */
    const char *evicted_name; /* of the evicted models file in the folder */
} oif_state_location;

/* A model in the file. */
typedef struct oif_slot {
    uint32_t number;   /* from 0 */
    uint32_t checksum; /* of the model's key and the bytes of the slot */
} oif_slot;

/* ---- Life ---- */

/* Makes the object, without slots; the first put creates the file. If a state exists at the
 * location, the slots that an existing file has are retained until after_commit has replaced
 * that state. `location` has to live as long as the object.
 *
 * OIF_EMEMORY */
oif_status oif_evicted_file_new(const oif_state_location *location, size_t slot_bytes,
                                oif_evicted_file **file, oif_error *error);
void oif_evicted_file_free(oif_evicted_file *file);

/* Opens the existing file, for a state that was loaded.
 *
 * OIF_ETRUNCATED   there is no file
 * OIF_EREAD        it cannot be opened */
oif_status oif_evicted_file_open(oif_evicted_file *file, oif_error *error);

/* After open: the loaded state uses this slot. Once all are claimed, after_commit frees the
 * rest.
 *
 * OIF_ETRUNCATED   the file ends before the slot
 * OIF_ECORRUPT     the slot is claimed twice
 * OIF_EMEMORY */
oif_status oif_evicted_file_claim_slot(oif_evicted_file *file, uint32_t number, oif_error *error);

/* After the claims, if the state on the disk may be another one that uses further slots: no
 * slot of the file is overwritten until after_commit.
 *
 * OIF_EREAD, OIF_EMEMORY */
oif_status oif_evicted_file_retain_all(oif_evicted_file *file, oif_error *error);

/* Makes `*owner`, a pointer in the state file, and `*user` point to the object. The owner frees
 * it; an object that the owner had before is freed now. When the object is freed, `*user`
 * becomes NULL. */
void oif_evicted_file_attach(oif_evicted_file *file, oif_evicted_file **owner,
                             oif_evicted_file **user);

/* The user ends before the owner: its pointer is not touched any more. `file` may be NULL. */
void oif_evicted_file_detach(oif_evicted_file *file);

/* ---- Slots ---- */

/* slot_bytes of memory: put writes them to the file, get fills them from the file. */
unsigned char *oif_evicted_file_buffer(oif_evicted_file *file);

/* Writes the buffer to a free slot, for a key. After a failure nothing has changed.
 *
 * OIF_EWRITE, OIF_EREAD, OIF_EMEMORY */
oif_status oif_evicted_file_put(oif_evicted_file *file, const char *key, size_t key_bytes,
                                oif_slot *slot, oif_error *error);

/* Reads a slot into the buffer; the slot stays in use.
 *
 * OIF_EREAD
 * OIF_ECORRUPT   the checksum of the key and the bytes is not that of the slot */
oif_status oif_evicted_file_get(oif_evicted_file *file, const char *key, size_t key_bytes,
                                oif_slot slot, oif_error *error);

/* The model of the slot is not needed any more, except by the saved state if that uses it. */
void oif_evicted_file_free_slot(oif_evicted_file *file, uint32_t number);

/* ---- Saves ---- */

/* Syncs what was put, before the rename. OIF_EWRITE: the state must not be renamed. */
oif_status oif_evicted_file_before_commit(oif_evicted_file *file, oif_error *error);

/* After the rename, and after a state was loaded and its slots were claimed. is_durable: a loss
 * of power cannot bring the old state back, so its slots are freed. */
void oif_evicted_file_after_commit(oif_evicted_file *file, bool is_durable);

#endif
