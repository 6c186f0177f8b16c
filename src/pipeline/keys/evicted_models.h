/* The models of evicted keys, with the option evicted=keep. They stay in the evicted models file
 * beside the state file (snapshot/evicted_file.h) until their keys come back.
 *
 *     keys of the pipeline    "web-1"  "db"         each has a model in memory
 *     keys of this            "cache" -> slot 4     the slot holds a snapshot of the model
 *                             "web-1" -> no slot    its model is back in memory
 *
 * A model that cannot be written or read back is lost and counted; its key starts with a new model.
 */
#ifndef OIF_PIPELINE_EVICTED_MODELS_H
#define OIF_PIPELINE_EVICTED_MODELS_H

#include "pipeline/keys/keys.h"
#include "pipeline/model/model_sections.h"
#include "snapshot/sections.h"
#include "snapshot/state_file.h"

typedef struct oif_evicted_models {
    bool is_kept;             /* false with evicted=forget: the rest is unused */
    uint64_t model_bytes;     /* of the sections of a model; the pipeline sets it */
    oif_evicted_file *file;   /* NULL without a state file: every evicted model is lost */
    oif_model_packer *packer; /* NULL without a file, or if models are too large to be packed */
    oif_keys keys;  /* the number of an entry is its slot and checksum, `seen` its bytes */
    uint32_t count; /* keys with a slot */
    uint64_t lost;
    char why_lost[OIF_ERROR_MESSAGE_BYTES]; /* for the last lost model */
} oif_evicted_models;

void oif_evicted_models_init(oif_evicted_models *evicted, bool is_kept);
void oif_evicted_models_free(oif_evicted_models *evicted);

/* Writes the model of an entry of the pipeline's keys to the file, before its eviction. A lost
 * model is not a failure: `lost` counts it.
 *
 * OIF_EMEMORY   no memory to store the slot; nothing has changed */
oif_status oif_evicted_models_put(oif_evicted_models *evicted, const oif_key_entry *entry,
                                  oif_model *model, oif_error *error);

/* Reads the model of a key back into a blank one, if it is in the file. */
void oif_evicted_models_take(oif_evicted_models *evicted, const char *key, size_t key_bytes,
                             oif_model *model);

/* The entry of a key that has a model in the file, or NULL. */
const oif_key_entry *oif_evicted_models_find(const oif_evicted_models *evicted, const char *key,
                                             size_t key_bytes);

/* Whether an entry of `keys` has a model in the file. */
bool oif_evicted_models_have(const oif_key_entry *entry);

/* Reads the model of an entry that has one, and keeps it in the file.
 *
 * OIF_EREAD, OIF_ECORRUPT   it cannot be read; `model` may be in any state */
oif_status oif_evicted_models_copy(const oif_evicted_models *evicted, const oif_key_entry *entry,
                                   oif_model *model, oif_error *error);

/* Forgets the model of a key. Returns whether it had one. */
bool oif_evicted_models_drop(oif_evicted_models *evicted, const char *key, size_t key_bytes);

/* Keeps evicted models beside this state file from now on, packed as the difference from the blank
 * model. is_loaded: the file holds the state of this pipeline, so slots that it does not use are
 * free. Otherwise no slot is overwritten until the pipeline is saved. Failures as in
 * oif_state_file_keep_evicted. */
oif_status oif_evicted_models_attach(oif_evicted_models *evicted, oif_state_file *file,
                                     oif_model *blank, bool is_loaded, oif_error *error);

/* Whether the models are kept beside this state file. */
bool oif_evicted_models_are_beside(const oif_evicted_models *evicted, const oif_state_file *file);

/* Writes the section that lists the keys and their slots. is_beside: the snapshot is saved to the
 * state file beside the models; elsewhere the list is empty. */
void oif_evicted_models_write(oif_section_writer *writer, const oif_evicted_models *evicted,
                              bool is_beside);

/* `in_memory`: the keys of the pipeline, which must not be in the list. */
void oif_evicted_models_read(oif_section_reader *reader, oif_evicted_models *evicted,
                             const oif_keys *in_memory);

/* OIF_EINVARIANT   a key has a model in memory and one in the file, or the count is wrong */
oif_status oif_evicted_models_check(const oif_evicted_models *evicted, const oif_keys *in_memory,
                                    oif_error *error);

#endif
