/* Rules that are proposed from what people said about past episodes.
 *
 *     marked useless:  latency high by 12, of web-1     mute column=latency direction=high
 *                      latency high by 15, of web-1  ->      reason=values change<45 key=web-1
 *
 * A kind of episode has the same column, with the highest share, the same direction and the same
 * reason. Its rule covers the columns that its useless episodes need to be held back, and changes
 * up to a margin above the largest of theirs. If it would have held back an episode that was marked
 * real, narrower rules are tried: only the keys of useless episodes, then without the margin.
 */
#ifndef OIF_PIPELINE_RULES_PROPOSALS_H
#define OIF_PIPELINE_RULES_PROPOSALS_H

#include "pipeline/rules/past_episodes.h"

/* `rules`: those that there are, or NULL. `has_keys`: there is more than one key. As
 * oif_pipeline_propose. */
size_t oif_rules_propose(const oif_past_episodes *past, const oif_rules *rules,
                         const oif_rule_columns *columns, bool has_keys, oif_proposal *proposals,
                         size_t capacity);

/* How the past episodes fare with rules; `is_held` may be NULL. */
oif_rule_trial oif_rules_try(const oif_past_episodes *past, const oif_rule *rules, size_t count,
                             const oif_rule_columns *columns, bool *is_held);

#endif
