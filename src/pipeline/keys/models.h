/* The models of all keys. A model takes memory as it learns:
 *
 *     whole      the first models, and those that have learned much. Their rows have no extra cost.
 *     packed     all others (packed_model.h). For a row, the model is unpacked into one that all
 *                keys share; it is packed again when another key needs that.
 *
 *     entry.value    the whole model, or NULL
 *     entry.packed   the packed one, or NULL; outdated while it is unpacked
 *
 * When memory is low, whole models are packed too.
 */
#ifndef OIF_PIPELINE_MODELS_H
#define OIF_PIPELINE_MODELS_H

#include "pipeline/keys/keys.h"
#include "pipeline/model/packed_model.h"

/* Is called before the model of an entry changes or is removed. */
typedef struct oif_models_watch {
    void (*before_change)(void *context, uint32_t entry); /* NULL: none */
    void *context;
} oif_models_watch;

typedef struct oif_models {
    oif_keys *keys;               /* the pipeline's */
    const oif_params *params;     /* the pipeline's */
    const oif_derived_plan *plan; /* the pipeline's */
    oif_model_options options;    /* of new models */
    uint64_t section_bytes;       /* of a model in a snapshot */

    /* Has seen no row. It becomes the model of the first key, and the model of the last key to be
     * removed becomes the blank one again. While there are keys, another is made only for
     * comparison with packed models, so a pipeline of few keys holds no model that no key needs. */
    oif_model *blank;
    bool keeps_blank; /* the model of a key could not replace it */

    size_t whole_at_first; /* new models are whole up to this total */
    size_t whole_at_most;  /* models that have learned much are whole up to this total */
    size_t bytes;          /* of all keys' models */
    size_t most_bytes;     /* of the largest model so far */
    uint32_t whole_count;
    uint32_t next_to_pack; /* the entry where the search for whole models resumes */
    bool have_grown;       /* since the caller set it to false */
    bool are_whole;        /* nothing is ever packed */

    oif_unpacked_model work, view; /* NULL until a model is packed; then `blank` stays */
    uint32_t in_work;              /* the entry whose model is unpacked, or OIF_NO_KEY */
    uint64_t rows_before;          /* that model had processed when it was unpacked */
    bool is_changed;               /* by more than rows */
    oif_models_watch watch;        /* while a snapshot is written in turns */
} oif_models;

static inline void oif_models_before_change(const oif_models *models, uint32_t entry)
{
    if (models->watch.before_change)
        models->watch.before_change(models->watch.context, entry);
}

/* Takes ownership of the blank model, which `params` describes. */
void oif_models_init(oif_models *models, oif_keys *keys, const oif_params *params,
                     oif_model *blank);
void oif_models_free(oif_models *models);

/* Creates a model that has seen no row, owned by the caller.
 *
 * OIF_EMEMORY */
oif_status oif_models_new_model(const oif_models *models, oif_model **model, oif_error *error);

/* Creates the blank model if there is none, and keeps it from now on.
 *
 * OIF_EMEMORY   nothing has changed */
oif_status oif_models_keep_blank(oif_models *models, oif_error *error);

/* Adds a blank model to an entry without one, or removes the model of an entry.
 *
 * OIF_EMEMORY */
oif_status oif_models_add(oif_models *models, uint32_t entry, oif_error *error);
void oif_models_remove(oif_models *models, uint32_t entry);

/* Unpacks the model of an entry that is not whole; see oif_models_open.
 *
 * OIF_EMEMORY   nothing has changed */
oif_status oif_models_unpack(oif_models *models, uint32_t entry, bool for_row, oif_model **model,
                             oif_error *error);

/* Packs the unpacked model, if there is one, or makes it whole.
 *
 * OIF_EMEMORY   it has grown; nothing has changed */
oif_status oif_models_put_back(oif_models *models, oif_error *error);

/* The model of an entry, for changes. Valid until the next call.
 *
 * OIF_EMEMORY   only if another model must be packed first and has grown */
static inline oif_status oif_models_open(oif_models *models, uint32_t entry, oif_model **model,
                                         oif_error *error)
{
    oif_keys_mark(models->keys, entry);
    oif_models_before_change(models, entry);
    *model = models->keys->entries[entry].value;
    return *model ? OIF_OK : oif_models_unpack(models, entry, false, model, error);
}

/* The same, only to process a row: it is packed again faster. */
static inline oif_status oif_models_open_for_row(oif_models *models, uint32_t entry,
                                                 oif_model **model, oif_error *error)
{
    oif_keys_mark(models->keys, entry);
    oif_models_before_change(models, entry);
    *model = models->keys->entries[entry].value;
    return *model ? OIF_OK : oif_models_unpack(models, entry, true, model, error);
}

/* The model of an entry, read-only. Valid until the next call. */
oif_model *oif_models_view(const oif_models *models, uint32_t entry);

/* Makes the model of an entry whole.
 *
 * OIF_EMEMORY */
oif_status oif_models_make_whole(oif_models *models, uint32_t entry, oif_error *error);

/* Packs a whole model other than that of `entry`, to save memory. Returns false if there is none,
 * or no memory to pack it. */
bool oif_models_pack_one(oif_models *models, uint32_t entry);

/* To undo rows of packed models: before the first row of a key, its packed model, which must not be
 * unpacked, is copied. `*before` gets the old one, which the caller then frees or restores. Returns
 * false if out of memory. Once all are restored, the sums must be too. */
typedef struct oif_models_sums {
    size_t bytes, most_bytes;
    uint32_t whole_count;
} oif_models_sums;
oif_models_sums oif_models_sums_now(const oif_models *models);
bool oif_models_copy_packed(oif_models *models, uint32_t entry, oif_packed_model **before);
void oif_models_restore_packed(oif_models *models, uint32_t entry, oif_packed_model *before);
void oif_models_restore_sums(oif_models *models, const oif_models_sums *before);

/* Sets the options of all models, present and future. */
void oif_models_set_options(oif_models *models, const oif_model_options *options);

/* Bytes of the model of an entry, and of all models. */
size_t oif_models_entry_bytes(const oif_models *models, uint32_t entry);
size_t oif_models_bytes(const oif_models *models);

#endif
