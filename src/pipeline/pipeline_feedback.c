/* The past episodes of a pipeline, and rules proposed from them. */
#include "base/error.h"
#include "base/memory.h"
#include "pipeline/pipeline.h"
#include "pipeline/rules/proposals.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Keeping ---- */

oif_status oif_pipeline_keep_episodes(oif_pipeline *pipeline, bool keep, oif_error *error)
{
    if (keep && !pipeline->past && !(pipeline->past = oif_past_episodes_new()))
        return oif_fail(error, OIF_EMEMORY, "no memory for past episodes");
    if (!keep) {
        oif_past_episodes_free(pipeline->past);
        pipeline->past = NULL;
    }
    oif_pipeline_update_asks(pipeline);
    return OIF_OK;
}

bool oif_pipeline_keeps_episodes(const oif_pipeline *pipeline)
{
    return pipeline->past != NULL;
}

void oif_pipeline_keep_episode(const oif_pipeline *pipeline, const oif_model *model, uint64_t row,
                               const oif_row_question *asked, const oif_result *result)
{
    if (!pipeline->past || result->episode != OIF_EPISODE_BEGINS)
        return;
    const oif_episode_info *episode = &model->gate.episode;
    oif_past past = {.row = row,
                     .number = episode->number,
                     .first_row = episode->first_row,
                     .first_seconds = episode->first_seconds,
                     .severity = result->severity,
                     .causes = asked->causes};
    oif_past_set_key(&past, asked->rules.key);
    oif_past_episodes_add(pipeline->past, &past);
}

/* ---- Asking ---- */

bool oif_pipeline_past_episode(const oif_pipeline *pipeline, size_t index,
                               oif_past_episode *episode)
{
    if (!pipeline->past || index >= pipeline->past->count)
        return false;
    const oif_past *past = &pipeline->past->list[index];
    const oif_alert_cause none = {.column = OIF_UNKNOWN_COLUMN, .change = NAN, .change_share = NAN},
                          *cause = past->causes.count > 0 ? &past->causes.list[0] : &none;
    *episode = (oif_past_episode){.key = past->key_bytes > 0 ? past->key : NULL,
                                  .key_bytes = oif_past_key(past).bytes,
                                  .number = past->number,
                                  .first_row = past->first_row,
                                  .first_seconds = past->first_seconds,
                                  .severity = past->severity,
                                  .column = cause->column,
                                  .direction = cause->direction,
                                  .change = cause->change,
                                  .change_share = cause->change_share,
                                  .reason = (oif_reason)past->causes.reason,
                                  .is_key_cut = past->key_bytes > OIF_PAST_KEY_BYTES};
    return true;
}

oif_status oif_pipeline_propose(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                uint64_t number, char rule[OIF_RULE_BYTES], oif_error *error)
{
    if (!pipeline->past)
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_NO_EPISODES_KEPT,
                                "the pipeline keeps no past episodes");
    const oif_past *episode =
        oif_past_episodes_find(pipeline->past, (oif_text){key, key_bytes}, number);
    if (!episode)
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_UNKNOWN_EPISODE,
                                "there is no past episode %" PRIu64
                                " of this key; the last %d of all keys are kept",
                                number, OIF_PAST_EPISODES_MAX);
    const bool has_keys = pipeline->keys.count + pipeline->evicted.count > 1;
    const oif_rule_columns columns = {&pipeline->plan, pipeline->names};
    if (!oif_rules_propose(episode, &columns, has_keys, rule))
        *rule = '\0';
    return OIF_OK;
}

/* ---- Rules ---- */

oif_status oif_pipeline_add_rules(oif_pipeline *pipeline, const char *text, size_t bytes,
                                  oif_error *error)
{
    oif_rules *more, *all;
    oif_status status = oif_rules_new(text, bytes, pipeline->names, NULL, &more, error);
    if (status != OIF_OK || !more)
        return status;
    status = oif_rules_join(pipeline->rules, more, &all, error);
    oif_rules_free(more);
    if (status != OIF_OK)
        return status;
    oif_rules_free(pipeline->rules);
    pipeline->rules = all;
    oif_pipeline_update_asks(pipeline);
    oif_pipeline_await_all(pipeline);
    return OIF_OK;
}
