/* Foreign text as an error message can show it. */
#ifndef OIF_ROWS_EXCERPT_H
#define OIF_ROWS_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { EXCERPT_BYTES = 40 };

struct excerpt {
    char text[EXCERPT_BYTES + 1];
};

/* The bytes of the printable character at `at`; 0 for a control character and for what is not UTF-8. */
static inline size_t printable_bytes(const char *at, const char *end)
{
    static const uint32_t smallest_code[] = {0, 0, 0xa0, 0x800, 0x10000};
    const unsigned char lead = (unsigned char)*at;
    const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    uint32_t code = lead & (0xffu >> (bytes + 1));

    if (lead < 0x80)
        return lead >= 0x20 && lead < 0x7f;
    if (lead < 0xc0 || lead >= 0xf8 || (size_t)(end - at) < bytes)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    }
    bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    return code >= smallest_code[bytes] && code <= 0x10ffff && !is_surrogate ? bytes : 0;
}

/* The text as a message can show it: shortened, unprintable bytes as \xNN. */
static inline struct excerpt excerpt_of(const char *at, const char *end)
{
    struct excerpt excerpt;
    const size_t limit = EXCERPT_BYTES - strlen("...");
    size_t length = 0;

    while (at < end) {
        size_t bytes = printable_bytes(at, end), shown = bytes ? bytes : strlen("\\xNN");
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
