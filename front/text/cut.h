/* Text from outside, short enough for a message; no character of UTF-8 is cut. */
#ifndef OIF_FRONT_CUT_H
#define OIF_FRONT_CUT_H

#include <stddef.h>

/* The bytes of a text that are shown where `most` is the limit. */
size_t cut_bytes(const char *text, size_t bytes, size_t most);

/* A name or a value. */
enum { CUT_NAME_BYTES = 60 };
typedef struct cut_text {
    char text[CUT_NAME_BYTES + 1];
} cut_text;
cut_text cut_name(const char *name);

#endif
