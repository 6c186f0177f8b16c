/* Which streams are meant: a list of patterns such as "web-*,db-1". A * is any text, a ? is one
 * character. */
#ifndef OIF_SERVE_NAME_PATTERNS_H
#define OIF_SERVE_NAME_PATTERNS_H

#include <stdbool.h>

/* NULL means all streams. */
bool name_patterns_match(const char *patterns, const char *name);

/* Whether the list is not empty, and each pattern could match the name of a stream. */
bool name_patterns_are_valid(const char *patterns);

#endif
