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

bool quoting_write_json(const char *text, size_t bytes)
{
    size_t start = 0;
    output_write("\"", 1);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        char control[ESCAPE_BYTES];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        output_write(text + start, i - start);
        const char *escaped = c < 0x20 ? escape_control(c, control) : c == '"' ? "\\\"" : "\\\\";
        output_write(escaped, strlen(escaped));
        start = i + 1;
    }
    return output_write(text + start, bytes - start) && output_write("\"", 1);
}
