/* The options that mute alerts. Each becomes lines of the rules that oif_pipeline_set_rules
 * reads:
 *
 *     --mute 'key=db-* time=02:00-04:00'  mute key=db-* time=02:00-04:00
 *     --rules FILE                        the lines of the file
 */
#ifndef OIF_FRONT_RULE_OPTIONS_H
#define OIF_FRONT_RULE_OPTIONS_H

#include "options.h"

/* As `apply` of an option: each adds to the rules that are given. */
const char *rule_mute(run_settings *settings, const char *value);
const char *rule_file(run_settings *settings, const char *value);

/* The comment of rules that `oif state feedback`, or the service, adds to a state. */
#define RULE_FEEDBACK_MARK " # feedback"

/* Gives the pipeline, whose columns have their names, the rules that are given, and behind them
 * those of feedback that it has. Returns false with what is wrong. */
bool given_rules_replace(const given_rules *rules, oif_pipeline *pipeline, oif_error *error);

/* For a program that prints what is wrong. Rules of a state stay if none are given. Those of
 * `oif state feedback` stay beside others, and are removed by an empty file. */
exit_code settings_apply_rules(const run_settings *settings, oif_pipeline *pipeline);

#endif
