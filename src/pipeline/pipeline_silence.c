/* Silent keys of a pipeline. The queue holds their deadlines, which may be too early but never too
 * late: a row moves a deadline, and the queue is corrected when the old deadline comes up. */
#include "pipeline/pipeline.h"

#include <math.h>

void oif_pipeline_await(oif_pipeline *pipeline, uint32_t entry)
{
    const oif_model *model = oif_pipeline_model(pipeline, entry);
    oif_silence_queue_push(&pipeline->silence, entry, oif_alerts_deadline(&model->alerts));
}

/* Corrects deadlines until the first one in the queue is current. Returns whether it is before
 * `seconds`. So keys come in the order of their deadlines, however often the queue is examined. */
static bool find_first(oif_pipeline *pipeline, double seconds, struct oif_deadline *first)
{
    oif_silence_queue *queue = &pipeline->silence;
    while (oif_silence_queue_first(queue, first) && first->seconds < seconds) {
        const uint32_t entry = first->entry;
        const bool is_removed = entry >= pipeline->keys.used || !pipeline->keys.entries[entry].key;
        double deadline = INFINITY;
        if (!is_removed)
            deadline = oif_alerts_deadline(&oif_pipeline_model(pipeline, entry)->alerts);
        if (deadline == first->seconds)
            return true;
        oif_silence_queue_pop(queue);
        oif_silence_queue_push(queue, entry, deadline);
    }
    return false;
}

/* Whether a rule holds back that a key is silent. */
static bool is_muted(oif_pipeline *pipeline, const oif_key_entry *entry, double seconds)
{
    const oif_text key = {entry->key, entry->key_bytes};
    if (!pipeline->rules)
        return false;
    uint32_t rule = oif_rules_ignore(pipeline->rules, key, seconds);
    if (rule == 0)
        rule = oif_rules_mute(pipeline->rules, &(oif_rule_question){.key = key,
                                                                    .reason = OIF_REASON_SILENCE,
                                                                    .change = NAN,
                                                                    .change_share = NAN,
                                                                    .seconds = seconds});
    if (rule > 0)
        oif_rules_count(pipeline->rules, rule, seconds);
    return rule > 0;
}

void oif_pipeline_silent(oif_pipeline *pipeline, double seconds, oif_silence_function report,
                         void *context)
{
    struct oif_deadline first;
    oif_model *model;
    while (find_first(pipeline, seconds, &first)) {
        if (oif_models_open(&pipeline->models, first.entry, &model, NULL) != OIF_OK)
            return; /* out of memory: the next call reports it */
        oif_silence_queue_pop(&pipeline->silence);
        model->alerts.is_silent = 1;
        const oif_key_entry *entry = &pipeline->keys.entries[first.entry];
        if (is_muted(pipeline, entry, first.seconds))
            continue;
        report(context, &(oif_silence){.key = entry->key_bytes > 0 ? entry->key : NULL,
                                       .key_bytes = entry->key_bytes,
                                       .since = model->alerts.last_seconds,
                                       .allowed = first.seconds - model->alerts.last_seconds});
    }
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
               ? oif_alerts_earliest_deadline(&model->alerts, seconds)
               : oif_alerts_earliest_deadline(
                     &(oif_alerts){.options = pipeline->models.options.alerts, .last_seconds = NAN},
                     seconds);
}
