/* Options of a command from JSON: {"key": ["host", "disk"], "alert-rate": 0.001, "strict": true}.
 *
 * The value of an option is a text, so numbers become texts, and lists of names become one text as
 * on the command line: it is the text that snapshots have, too. */
#ifndef OIF_SERVE_JSON_OPTIONS_H
#define OIF_SERVE_JSON_OPTIONS_H

#include "front/options/option_set.h"
#include "problem.h"

#include <jansson.h>

/* Sets an option, which is null if it is not given. The settings may point into the value and into
 * texts made from it, which are added to `texts`, an array. */
bool json_option_set(const command_entry *command, run_settings *settings, const char *name,
                     const json_t *value, json_t *texts, option_problem *why);

/* Whether options can have such a value. */
#define JSON_OPTION_VALUES "a string, a number, true or a list of strings"
bool json_option_is_value(const json_t *value);

/* The text of a string, a number or a list; NULL for others, and if out of memory. */
const char *json_option_text(const json_t *value, json_t *texts);

/* Words what is wrong for an answer and returns false. */
bool problem_set_option(problem *why, const option_problem *about, const char *remedy);

#endif
