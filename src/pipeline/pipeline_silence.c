/* Silent keys of a pipeline. The queue holds their deadlines, which may be too early but never too
 * late: a row moves a deadline, and the queue is corrected when the old deadline comes up. */
#include "pipeline/pipeline.h"

#include <math.h>

void oif_pipeline_await(oif_pipeline *pipeline, uint32_t entry)
{
    const oif_model *model = oif_pipeline_model(pipeline, entry);
    oif_silence_queue_push(&pipeline->silence, &pipeline->keys, entry,
                           oif_pauses_deadline(&model->pauses));
}

/* Corrects deadlines until the first one in the queue is current. Returns whether it is before
 * `seconds`. So keys come in the order of their deadlines, however often the queue is examined. */
static bool find_first(oif_pipeline *pipeline, double seconds, struct oif_deadline *first)
{
    oif_silence_queue *queue = &pipeline->silence;
    while (oif_silence_queue_first(queue, first) && first->seconds < seconds) {
        const uint32_t entry = first->entry;
        const double deadline = oif_pauses_deadline(&oif_pipeline_model(pipeline, entry)->pauses);
        if (deadline <= first->seconds) /* or earlier, where a rule has held it back */
            return true;
        oif_silence_queue_remove(queue, &pipeline->keys, entry);
        oif_silence_queue_push(queue, &pipeline->keys, entry, deadline);
    }
    return false;
}

/* Whether a rule holds back, at this time, that a key is silent. Then it is looked at again when
 * the rule may be over: a key that is still silent after planned work is reported. */
static bool is_held(oif_pipeline *pipeline, uint32_t entry, oif_pauses *pauses, double seconds)
{
    const oif_text key = {pipeline->keys.entries[entry].key,
                          pipeline->keys.entries[entry].key_bytes};
    const uint32_t rule =
        pipeline->rules ? oif_rules_mute_silence(pipeline->rules, key, seconds) : 0;
    if (rule == 0)
        return false;
    if (pauses->silence != OIF_SILENCE_HELD)
        oif_rules_count(pipeline->rules, rule, seconds);
    pauses->silence = OIF_SILENCE_HELD;
    oif_silence_queue_push(&pipeline->silence, &pipeline->keys, entry,
                           oif_rule_lasts_until(&pipeline->rules->list[rule - 1], seconds));
    return true;
}

void oif_pipeline_silent(oif_pipeline *pipeline, double seconds, oif_silence_function report,
                         void *context)
{
    struct oif_deadline first;
    oif_model *model;
    while (find_first(pipeline, seconds, &first)) {
        if (oif_models_open(&pipeline->models, first.entry, &model, NULL) != OIF_OK)
            return; /* out of memory: the next call reports it */
        oif_silence_queue_remove(&pipeline->silence, &pipeline->keys, first.entry);
        const double deadline = oif_pauses_deadline(&model->pauses);
        if (is_held(pipeline, first.entry, &model->pauses, first.seconds))
            continue;
        model->pauses.silence = OIF_SILENCE_REPORTED;
        const oif_key_entry *entry = &pipeline->keys.entries[first.entry];
        report(context, &(oif_silence){.key = entry->key_bytes > 0 ? entry->key : NULL,
                                       .key_bytes = entry->key_bytes,
                                       .since = model->pauses.last_seconds,
                                       .allowed = deadline - model->pauses.last_seconds});
    }
}

void oif_pipeline_await_all(oif_pipeline *pipeline)
{
    const oif_keys *keys = &pipeline->keys;
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY; i = keys->entries[i].newer)
        oif_pipeline_await(pipeline, i);
}

double oif_pipeline_next_silence(oif_pipeline *pipeline)
{
    struct oif_deadline first;
    return find_first(pipeline, INFINITY, &first) ? first.seconds : INFINITY;
}

double oif_pipeline_silence_after(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                  double seconds)
{
    const uint32_t entry = oif_keys_find(&pipeline->keys, key, key_bytes);
    const oif_model *model = oif_pipeline_model(pipeline, entry);
    if (!model && pipeline->evicted.is_kept)
        return -INFINITY; /* the row may restore a model, whose deadline is not in memory */
    if (seconds != seconds)
        return INFINITY;
    return model
               ? oif_pauses_earliest_deadline(&model->pauses, seconds)
               : oif_pauses_earliest_deadline(
                     &(oif_pauses){.limit = pipeline->models.options.silence, .last_seconds = NAN},
                     seconds);
}
