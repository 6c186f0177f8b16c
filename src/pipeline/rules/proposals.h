/* A rule that is proposed from one past episode.
 *
 *     latency high by 12, of web-1  ->  mute column=latency direction=high reason=values
 *                                       change<13 key=web-1
 *
 * It is as narrow as the episode: the columns that decide, the direction, the reason, the key, and
 * changes up to the episode's own, rounded up to two digits.
 */
#ifndef OIF_PIPELINE_RULES_PROPOSALS_H
#define OIF_PIPELINE_RULES_PROPOSALS_H

#include "pipeline/rules/past_episodes.h"

/* `has_keys`: there is more than one key. False: no rule describes the episode and nothing
 * wider. */
bool oif_rules_propose(const oif_past *episode, const oif_rule_columns *columns, bool has_keys,
                       char rule[OIF_RULE_BYTES]);

#endif
