#include "suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 48 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

word_suggestion suggestion_for(const char *typed, size_t typed_bytes)
{
    /* About a third of the word may be wrong, but never all of it. */
    return (word_suggestion){typed, typed_bytes, NULL, least(typed_bytes / 3 + 2, typed_bytes)};
}

/* Levenshtein's distance, one row of the table at a time. */
static size_t edit_distance(const char *from, size_t from_bytes, const char *to, size_t to_bytes)
{
    size_t row[LONGEST_WORD + 1];
    for (size_t j = 0; j <= to_bytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= from_bytes; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= to_bytes; j++) {
            size_t replaced = diagonal + (from[i - 1] != to[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[to_bytes];
}

void suggestion_consider(word_suggestion *suggestion, const char *word)
{
    size_t word_bytes = strlen(word);
    if (word_bytes > LONGEST_WORD || suggestion->typed_bytes > LONGEST_WORD)
        return;
    size_t distance = edit_distance(suggestion->typed, suggestion->typed_bytes, word, word_bytes);
    if (suggestion->typed_bytes >= 3 &&
        strncmp(suggestion->typed, word, suggestion->typed_bytes) == 0)
        distance = 1; /* the rest was left out */
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->closest = word;
    }
}

const char *suggestion_hint(const word_suggestion *suggestion, const char *prefix,
                            char text[HINT_BYTES])
{
    text[0] = '\0';
    if (suggestion->closest)
        snprintf(text, HINT_BYTES, "; did you mean %s%s?", prefix, suggestion->closest);
    return text;
}
