/* In place of files.c, state_file.c and evicted_file.c in a library without files: every call that
 * would open one fails. Snapshots in memory and through functions of the caller remain. */
#include "snapshot/state_file.h"

#ifdef OIF_WITHOUT_FILES

#include "base/error.h"

static oif_status fail(oif_status status, oif_error *error)
{
    return oif_fail_because(error, status, OIF_CAUSE_NOT_BUILT,
                            "this library was built without files; save to memory, or build it "
                            "with -DOIF_FILES=ON");
}

/* ---- State files ---- */

oif_status oif_state_file_open(const char *path, oif_state_file **file, oif_error *error)
{
    (void)path, (void)file;
    return fail(OIF_EWRITE, error);
}

void oif_state_file_close(oif_state_file *file)
{
    (void)file;
}

oif_status oif_state_file_save_object(oif_state_file *file, const oif_stored_kind *kind,
                                      const void *object, oif_error *error)
{
    (void)file, (void)kind, (void)object;
    return fail(OIF_EWRITE, error);
}

oif_status oif_state_file_load_object(const oif_state_file *file, const oif_stored_kind *kind,
                                      void **object, oif_error *error)
{
    (void)file, (void)kind, (void)object;
    return fail(OIF_EREAD, error);
}

oif_status oif_state_file_save_log(oif_state_file *file, const oif_stored_kind *kind,
                                   const void *object, oif_stored_place *place, oif_error *error)
{
    (void)file, (void)kind, (void)object, (void)place;
    return fail(OIF_EWRITE, error);
}

oif_status oif_state_file_append(oif_state_file *file, const oif_stored_kind *kind,
                                 const void *object, oif_stored_place *place, oif_error *error)
{
    (void)file, (void)kind, (void)object, (void)place;
    return fail(OIF_EWRITE, error);
}

void oif_state_file_identify(const oif_state_file *file, oif_stored_place *place)
{
    (void)file, (void)place;
}

bool oif_state_file_is_at(const oif_state_file *file, const oif_stored_place *place)
{
    (void)file, (void)place;
    return false;
}

oif_status oif_stored_save_file(const oif_stored_kind *kind, const void *object, const char *path,
                                oif_error *error)
{
    (void)kind, (void)object, (void)path;
    return fail(OIF_EWRITE, error);
}

oif_status oif_stored_load_file(const oif_stored_kind *kind, const char *path, void **object,
                                oif_error *error)
{
    (void)kind, (void)path, (void)object;
    return fail(OIF_EREAD, error);
}

/* ---- Evicted models: there is never a file of them ---- */

oif_status oif_evicted_file_new(const oif_state_location *location, size_t slot_bytes,
                                oif_evicted_file **file, oif_error *error)
{
    (void)location, (void)slot_bytes, (void)file;
    return fail(OIF_EWRITE, error);
}

void oif_evicted_file_free(oif_evicted_file *file)
{
    (void)file;
}

oif_status oif_evicted_file_open(oif_evicted_file *file, oif_error *error)
{
    (void)file;
    return fail(OIF_EREAD, error);
}

oif_status oif_evicted_file_claim_slot(oif_evicted_file *file, oif_slot slot, oif_error *error)
{
    (void)file, (void)slot;
    return fail(OIF_EREAD, error);
}

oif_status oif_evicted_file_retain_all(oif_evicted_file *file, oif_error *error)
{
    (void)file;
    return fail(OIF_EREAD, error);
}

void oif_evicted_file_attach(oif_evicted_file *file, oif_evicted_file **owner,
                             oif_evicted_file **user)
{
    (void)file, (void)owner, (void)user;
}

void oif_evicted_file_detach(oif_evicted_file *file)
{
    (void)file;
}

unsigned char *oif_evicted_file_buffer(oif_evicted_file *file)
{
    (void)file;
    return NULL;
}

oif_status oif_evicted_file_put(oif_evicted_file *file, size_t bytes, const char *key,
                                size_t key_bytes, oif_slot *slot, oif_error *error)
{
    (void)file, (void)bytes, (void)key, (void)key_bytes, (void)slot;
    return fail(OIF_EWRITE, error);
}

oif_status oif_evicted_file_get(oif_evicted_file *file, const char *key, size_t key_bytes,
                                oif_slot slot, oif_error *error)
{
    (void)file, (void)key, (void)key_bytes, (void)slot;
    return fail(OIF_EREAD, error);
}

void oif_evicted_file_free_slot(oif_evicted_file *file, uint32_t number)
{
    (void)file, (void)number;
}

oif_status oif_evicted_file_before_commit(oif_evicted_file *file, oif_error *error)
{
    (void)file;
    return fail(OIF_EWRITE, error);
}

void oif_evicted_file_after_commit(oif_evicted_file *file, bool is_durable)
{
    (void)file, (void)is_durable;
}

#endif
