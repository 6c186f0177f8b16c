#include "name_patterns.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { PATTERN_BYTES = 80 };

/* The next pattern of the list, and where the one after it begins; NULL: there is none. */
static const char *next_pattern(const char *list, char pattern[PATTERN_BYTES])
{
    size_t bytes = strcspn(list, ",");
    if (*list == '\0')
        return NULL;
    snprintf(pattern, PATTERN_BYTES, "%.*s", (int)bytes, list);
    return list + bytes + (list[bytes] == ',');
}

bool name_patterns_match(const char *patterns, const char *name)
{
    char pattern[PATTERN_BYTES];
    if (!patterns)
        return true;
    while ((patterns = next_pattern(patterns, pattern)))
        if (fnmatch(pattern, name, FNM_NOESCAPE) == 0)
            return true;
    return false;
}

bool name_patterns_are_valid(const char *patterns)
{
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-*?";
    char pattern[PATTERN_BYTES];
    if (*patterns == '\0')
        return false;
    while ((patterns = next_pattern(patterns, pattern)))
        if (*pattern == '\0' || strlen(pattern) == PATTERN_BYTES - 1 ||
            pattern[strspn(pattern, all)] != '\0')
            return false;
    return true;
}
