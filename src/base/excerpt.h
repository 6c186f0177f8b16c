/* Untrusted text, made safe for error messages. */
#ifndef OIF_BASE_EXCERPT_H
#define OIF_BASE_EXCERPT_H

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { OIF_EXCERPT_BYTES = 40 };

typedef struct oif_excerpt {
    char text[OIF_EXCERPT_BYTES + 1];
} oif_excerpt;

/* The bytes of the printable character at `at`; 0 for a control character and for invalid UTF-8. */
static inline size_t oif_excerpt_character_bytes(const char *at, const char *end)
{
    uint32_t code;
    size_t bytes = oif_utf8_character(at, end, &code);
    bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    return is_control ? 0 : bytes;
}

/* The text for a message: shortened, with unprintable bytes as \xNN. */
static inline oif_excerpt oif_excerpt_of(const char *at, const char *end)
{
    oif_excerpt excerpt;
    const size_t limit = OIF_EXCERPT_BYTES - strlen("...");
    size_t length = 0;
    while (at < end) {
        size_t bytes = oif_excerpt_character_bytes(at, end),
               shown = bytes ? bytes : strlen("\\xNN");
        if (length + shown > limit)
            break;
        if (bytes)
            memcpy(excerpt.text + length, at, bytes);
        else
            snprintf(excerpt.text + length, shown + 1, "\\x%02x", (unsigned)(unsigned char)*at);
        length += shown;
        at += bytes ? bytes : 1;
    }
    strcpy(excerpt.text + length, at < end ? "..." : "");
    return excerpt;
}

#endif
