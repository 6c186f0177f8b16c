/* Past episodes with their marks, and the rules that these propose, as JSON. */
#ifndef OIF_FRONT_FEEDBACK_JSON_H
#define OIF_FRONT_FEEDBACK_JSON_H

#include "oif.h"

/* "none", "useless", "real" */
const char *feedback_mark_word(oif_mark mark);

/* "latency", "rate(rx_bytes)": the name of a learned column, to be freed; NULL: no memory. */
char *feedback_column_name(const oif_pipeline *pipeline, uint32_t learned);

/* All proposals, to be freed; NULL: no memory. */
oif_proposal *feedback_proposals(const oif_pipeline *pipeline, size_t *count);

/* {"key": "web-1", "is_key_cut": false, "number": 3, ..., "mark": "useless"} */
void feedback_write_episode(const oif_pipeline *pipeline, const oif_past_episode *episode);

/* {"number": 1, "rule": "mute ...", "kind_episodes": 4, ...}; `number` counts from 1. */
void feedback_write_proposal(const oif_proposal *proposal, size_t number);

/* "episodes": 9, "held": 4, "useless_held": 1, "real_held": 1 */
void feedback_write_trial(const oif_rule_trial *trial);

#endif
