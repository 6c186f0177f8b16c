/* The rules of a pipeline, changed one by one. */
#ifndef OIF_FRONT_RULE_LIST_H
#define OIF_FRONT_RULE_LIST_H

#include "oif.h"

/* Gives the pipeline all its rules but the one at `without`, and one more, which may be NULL. Those
 * that stay keep their counts. */
bool rule_list_exchange(oif_pipeline *pipeline, size_t without, const char *more, oif_error *error);

/* The line that is stored for a rule that a person adds, to be freed: with RULE_FEEDBACK_MARK.
 * NULL: no memory. */
char *rule_list_line(const char *rule);

#endif
