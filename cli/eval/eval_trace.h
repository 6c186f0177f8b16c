/* What a page shows of a detector: severities and thresholds, the episodes of alerts with their
 * reasons, and what was expected of the columns. Kept only for --report, of the first run of each
 * detector: 8 bytes per row, and at most 64 MB of what was expected. */
#ifndef OIF_CLI_EVAL_TRACE_H
#define OIF_CLI_EVAL_TRACE_H

#include "eval_bands.h"

enum { TRACE_REASONS = 3 };

typedef struct alert_reason {
    uint32_t column; /* of those that are learned */
    oif_attribution why;
    double value;
} alert_reason;

typedef struct alert_episode {
    size_t first, last, peak; /* rows: the first and last alert, and the worst */
    uint32_t key;
    size_t alerts;
    double severity; /* of the worst */
    alert_reason reasons[TRACE_REASONS];
    size_t reason_count;
    bool is_labelled; /* one of its alerts; known once the labels are */
} alert_episode;

/* All zero is an empty one. */
typedef struct eval_trace {
    float *severities, *thresholds; /* of the rows; NaN and infinite until ready */
    size_t row_capacity;
    alert_episode *episodes;
    size_t episode_count, episode_capacity;
    size_t *latest; /* of each key: 1 + its latest episode; 0: none */
    size_t key_capacity;
    oif_attribution *attributions; /* room for one per learned column */
    eval_bands bands;
} eval_trace;

/* After a row was processed. Returns false when memory is short. */
bool eval_trace_row(eval_trace *trace, oif_pipeline *pipeline, size_t row, uint32_t key,
                    const oif_result *result);
void eval_trace_free(eval_trace *trace);

#endif
