/* The keys of a pipeline: find, list and remove them. */
#include "pipeline/pipeline.h"

#include "base/error.h"

#include <math.h>

static oif_key_info describe_entry(const oif_key_entry *entry)
{
    return (oif_key_info){.key = entry->key_bytes > 0 ? entry->key : NULL,
                          .key_bytes = entry->key_bytes,
                          .is_evicted = true,
                          .last_seconds = NAN};
}

static oif_key_info describe_model(const oif_pipeline *pipeline, uint32_t number)
{
    const oif_key_entry *entry = &pipeline->keys.entries[number];
    const oif_model *model = oif_models_view(&pipeline->models, number);
    oif_key_info info = describe_entry(entry);
    info.is_evicted = false;
    info.rows = model->rows;
    info.is_ready = oif_model_ready(model);
    info.is_in_episode = model->gate.in_episode != 0;
    info.is_silent = model->pauses.silence == OIF_SILENCE_REPORTED;
    info.last_seconds = model->pauses.last_seconds;
    info.memory_bytes =
        oif_models_entry_bytes(&pipeline->models, number) + sizeof *entry + entry->key_bytes;
    return info;
}

bool oif_pipeline_key(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                      oif_key_info *info)
{
    uint32_t entry = oif_keys_find(&pipeline->keys, key, key_bytes);
    if (entry != OIF_NO_KEY) {
        *info = describe_model(pipeline, entry);
        return true;
    }
    const oif_key_entry *evicted = oif_evicted_models_find(&pipeline->evicted, key, key_bytes);
    if (evicted)
        *info = describe_entry(evicted);
    return evicted != NULL;
}

bool oif_pipeline_next_key(const oif_pipeline *pipeline, size_t *position, oif_key_info *info)
{
    const oif_keys *keys = &pipeline->keys, *evicted = &pipeline->evicted.keys;
    for (; *position < keys->used; ++*position)
        if (keys->entries[*position].key) {
            *info = describe_model(pipeline, (uint32_t)(*position)++);
            return true;
        }
    for (; *position - keys->used < evicted->used; ++*position) {
        const oif_key_entry *entry = &evicted->entries[*position - keys->used];
        if (oif_evicted_models_have(entry)) {
            *info = describe_entry(entry);
            ++*position;
            return true;
        }
    }
    return false;
}

oif_status oif_pipeline_remove_key(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                   oif_error *error)
{
    uint32_t entry = oif_keys_find(&pipeline->keys, key, key_bytes);
    if (entry != OIF_NO_KEY) {
        oif_pipeline_drop_key(pipeline, entry);
        pipeline->last = pipeline->last == entry ? OIF_NO_KEY : pipeline->last;
        return OIF_OK;
    }
    return oif_evicted_models_drop(&pipeline->evicted, key, key_bytes)
               ? OIF_OK
               : oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_UNKNOWN_KEY,
                                  "the pipeline has no such key");
}
