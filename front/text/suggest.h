/* "did you mean --label?": the known word that is closest to what was typed. */
#ifndef OIF_FRONT_SUGGEST_H
#define OIF_FRONT_SUGGEST_H

#include <stddef.h>

typedef struct word_suggestion {
    const char *typed;
    size_t typed_bytes;
    const char *closest; /* NULL while no word was close enough to be a slip of the fingers */
    size_t distance;     /* of the closest; at first, of what is too far */
} word_suggestion;

word_suggestion suggestion_for(const char *typed, size_t typed_bytes);
void suggestion_consider(word_suggestion *suggestion, const char *word);

/* "; did you mean --label?" with "--" as the prefix, or "" when nothing came close. */
enum { HINT_BYTES = 96 };
const char *suggestion_hint(const word_suggestion *suggestion, const char *prefix,
                            char text[HINT_BYTES]);

#endif
