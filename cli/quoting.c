#include "quoting.h"

#include "output.h"

#include <string.h>

bool quoting_write_doubled(const char *text, size_t bytes)
{
    bool written = true;
    for (size_t i = 0; i < bytes; i++)
        written = output_write(text + i, 1) && (text[i] != '"' || output_write("\"", 1));
    return written;
}

bool quoting_write_csv(const char *text, size_t bytes, char delimiter)
{
    bool quotes = memchr(text, delimiter, bytes) || memchr(text, '"', bytes) ||
                  memchr(text, '\n', bytes) || memchr(text, '\r', bytes);
    if (!quotes)
        return output_write(text, bytes);
    return output_write("\"", 1) && quoting_write_doubled(text, bytes) && output_write("\"", 1);
}

/* The bytes of the character that [at, end) begins with, if they are UTF-8: 1 to 4; otherwise 0,
 * and *invalid_bytes are those of its beginning that could have become one. */
static size_t character_bytes(const char *at, const char *end, size_t *invalid_bytes)
{
    const unsigned char *c = (const unsigned char *)at;
    size_t length = *c < 0x80   ? 1
                    : *c < 0xc2 ? 0
                    : *c < 0xe0 ? 2
                    : *c < 0xf0 ? 3
                    : *c < 0xf5 ? 4
                                : 0;
    /* the second byte has a smaller range where others would be another spelling, a surrogate or
     * past the last character */
    unsigned lowest = *c == 0xe0   ? 0xa0
                      : *c == 0xf0 ? 0x90
                                   : 0x80,
             highest = *c == 0xed   ? 0x9f
                       : *c == 0xf4 ? 0x8f
                                    : 0xbf;
    *invalid_bytes = 1;
    for (size_t i = 1; i < length; i++, lowest = 0x80, highest = 0xbf) {
        *invalid_bytes = i;
        if (at + i == end || c[i] < lowest || c[i] > highest)
            return 0;
    }
    return length;
}

/* What a byte of ASCII is in a JSON string; NULL: itself. */
static const char *json_escape(unsigned char c, char control[ESCAPE_BYTES])
{
    if (c < 0x20)
        return escape_control(c, control);
    return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
}

bool quoting_write_json(const char *text, size_t bytes)
{
    const char *start = text, *at = text, *end = text + bytes;
    output_write("\"", 1);
    while (at < end) {
        if (*at >= ' ' && *at != '"' && *at != '\\' && (unsigned char)*at < 0x80) {
            at++;
            continue;
        }
        char control[ESCAPE_BYTES];
        size_t invalid_bytes, length = character_bytes(at, end, &invalid_bytes);
        const char *instead = length == 0   ? "\xEF\xBF\xBD" /* U+FFFD */
                              : length == 1 ? json_escape((unsigned char)*at, control)
                                            : NULL;
        size_t passed = length > 0 ? length : invalid_bytes;
        if (instead) {
            output_write(start, (size_t)(at - start));
            output_write(instead, strlen(instead));
            start = at + passed;
        }
        at += passed;
    }
    return output_write(start, (size_t)(end - start)) && output_write("\"", 1);
}
