/* Places of equal size in a file beside the state file, for what does not fit in memory.
 *
 *     PATH.shelf    | place 0 | place 1 | place 2 | place 3 | ...
 *                      used      kept      free      used
 *
 * The state that was saved last says which places it uses, and the checksum of each. Such a
 * place is not written to before the next state is saved, even when nobody uses it any more:
 * until then it is kept. So a crash at any moment leaves everything there that the saved state
 * knows of, and what was written since is in places that count as free; nothing has to be
 * rolled back, scanned or compacted, and there are never more places than twice those that were
 * in use at a time.
 */
#ifndef OIF_SNAPSHOT_SHELF_H
#define OIF_SNAPSHOT_SHELF_H

#include "oif.h"

#define OIF_NO_PLACE UINT32_MAX

typedef struct oif_shelf oif_shelf;

/* Makes a shelf beside a state file, whose places are all free; those that the file of a shelf
 * has already are kept, if a state stands there, until oif_shelf_saved is sure of another.
 * OIF_EMEMORY. */
oif_status oif_shelf_new(oif_state_file *file, size_t place_bytes, oif_shelf **shelf,
                         oif_error *error);
void oif_shelf_free(oif_shelf *shelf);

/* Gives the shelf to its file, instead of one that it has, and to a user: `*user` becomes the
 * shelf, and NULL as soon as the file is closed or gets another one. When the user goes first,
 * `*user` is not touched any more; NULL may leave. */
void oif_shelf_use(oif_shelf *shelf, oif_shelf **user);
void oif_shelf_leave(oif_shelf *shelf);

/* Whether a save to this file concerns this shelf. */
bool oif_shelf_is_of(const oif_shelf *shelf, const oif_state_file *file);

/* For a state that was loaded: opens the file that is there, and says of each place that the
 * state uses it; then what is not used is free with oif_shelf_saved. OIF_ETRUNCATED when the
 * file or the place is not there, OIF_ECORRUPT when the place is used twice, OIF_EREAD,
 * OIF_EMEMORY. */
oif_status oif_shelf_reopen(oif_shelf *shelf, oif_error *error);
oif_status oif_shelf_claim(oif_shelf *shelf, uint32_t place, oif_error *error);

/* After claims for a state that may not be the one on the disk: keeps all that the file holds.
 * OIF_EREAD, OIF_EMEMORY. */
oif_status oif_shelf_keep_all(oif_shelf *shelf, oif_error *error);

/* Memory of the size of a place: what is put is taken from here, and what was got stands here. */
unsigned char *oif_shelf_room(oif_shelf *shelf);

/* Puts a thing with a name in a free place. OIF_EWRITE, OIF_EREAD, OIF_EMEMORY; nothing has
 * changed then. */
oif_status oif_shelf_put(oif_shelf *shelf, const char *name, size_t name_bytes, uint32_t *place,
                         uint32_t *checksum, oif_error *error);

/* Gets it back, and leaves it there. OIF_EREAD; OIF_ECORRUPT when it is not what was put there
 * by that name. */
oif_status oif_shelf_get(oif_shelf *shelf, const char *name, size_t name_bytes, uint32_t place,
                         uint32_t checksum, oif_error *error);

/* Nobody uses the place any more, but a saved state may. */
void oif_shelf_release(oif_shelf *shelf, uint32_t place);

/* Before the state that uses these places is given the name of the last one; and after it was,
 * even where nobody can be sure which of the two a loss of power would leave. */
oif_status oif_shelf_sync(oif_shelf *shelf, oif_error *error);
void oif_shelf_saved(oif_shelf *shelf, bool is_sure);

#endif
