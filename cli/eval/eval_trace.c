#include "eval_trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Room ---- */

static bool make_row_room(eval_trace *trace, size_t row)
{
    if (row < trace->row_capacity)
        return true;
    size_t capacity = 2 * trace->row_capacity + 4096;
    float *thresholds = realloc(trace->thresholds, capacity * sizeof *thresholds);
    if (!thresholds)
        return false;
    trace->thresholds = thresholds;
    float *severities = realloc(trace->severities, capacity * sizeof *severities);
    if (!severities)
        return false;
    trace->severities = severities;
    trace->row_capacity = capacity;
    return true;
}

static bool make_key_room(eval_trace *trace, uint32_t key)
{
    if (key < trace->key_capacity)
        return true;
    size_t capacity = 2 * (size_t)key + 16;
    size_t *latest = realloc(trace->latest, capacity * sizeof *latest);
    if (!latest)
        return false;
    memset(latest + trace->key_capacity, 0, (capacity - trace->key_capacity) * sizeof *latest);
    trace->latest = latest;
    trace->key_capacity = capacity;
    return true;
}

static bool make_episode_room(eval_trace *trace)
{
    if (trace->episode_count < trace->episode_capacity)
        return true;
    size_t capacity = 2 * trace->episode_capacity + 64;
    alert_episode *episodes = realloc(trace->episodes, capacity * sizeof *episodes);
    if (!episodes)
        return false;
    trace->episodes = episodes;
    trace->episode_capacity = capacity;
    return true;
}

void eval_trace_free(eval_trace *trace)
{
    free(trace->thresholds);
    free(trace->severities);
    free(trace->episodes);
    free(trace->latest);
    free(trace->attributions);
    eval_bands_free(&trace->bands);
    *trace = (eval_trace){0};
}

/* ---- Rows ---- */

/* Less than half a percent is not a reason. */
static void explain(eval_trace *trace, oif_pipeline *pipeline, alert_episode *episode)
{
    size_t columns = oif_pipeline_learned_columns(pipeline);
    const double *values = oif_pipeline_learned_row(pipeline);
    oif_pipeline_explain(pipeline, trace->attributions);
    for (episode->reason_count = 0; episode->reason_count < TRACE_REASONS;
         episode->reason_count++) {
        size_t best = columns;
        for (size_t i = 0; i < columns; i++)
            if (trace->attributions[i].share >= 0.005 &&
                (best == columns || trace->attributions[i].share > trace->attributions[best].share))
                best = i;
        if (best == columns)
            break;
        episode->reasons[episode->reason_count] =
            (alert_reason){(uint32_t)best, trace->attributions[best], values[best]};
        trace->attributions[best].share = 0; /* not again */
    }
}

static alert_episode *begin_episode(eval_trace *trace, size_t row, uint32_t key)
{
    if (!make_episode_room(trace))
        return NULL;
    alert_episode *episode = &trace->episodes[trace->episode_count++];
    *episode = (alert_episode){.first = row, .key = key, .severity = -1};
    trace->latest[key] = trace->episode_count;
    return episode;
}

static bool add_alert(eval_trace *trace, oif_pipeline *pipeline, size_t row, uint32_t key,
                      const oif_result *result)
{
    bool begins = result->episode == OIF_EPISODE_BEGINS || trace->latest[key] == 0;
    alert_episode *episode =
        begins ? begin_episode(trace, row, key) : &trace->episodes[trace->latest[key] - 1];
    if (!episode)
        return false;
    episode->last = row;
    episode->alerts++;
    if (result->severity > episode->severity) {
        episode->severity = result->severity;
        episode->peak = row;
        explain(trace, pipeline, episode);
    }
    return true;
}

bool eval_trace_row(eval_trace *trace, oif_pipeline *pipeline, size_t row, uint32_t key,
                    const oif_result *result)
{
    if (!trace->attributions)
        trace->attributions =
            calloc(oif_pipeline_learned_columns(pipeline), sizeof *trace->attributions);
    if (!trace->attributions || !make_row_room(trace, row) || !make_key_room(trace, key) ||
        !eval_bands_row(&trace->bands, pipeline, row, key, result))
        return false;
    trace->thresholds[row] = (float)result->threshold;
    trace->severities[row] = result->ready ? (float)result->severity : NAN;
    return !result->anomaly || add_alert(trace, pipeline, row, key, result);
}
