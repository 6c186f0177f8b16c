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
    bool is_between_blanks = delimiter == ' '; /* where an empty field could not be seen */
    bool quotes = (is_between_blanks && (bytes == 0 || memchr(text, '\t', bytes))) ||
                  memchr(text, delimiter, bytes) || memchr(text, '"', bytes) ||
                  memchr(text, '\n', bytes) || memchr(text, '\r', bytes);
    if (!quotes)
        return output_write(text, bytes);
    return output_write("\"", 1) && quoting_write_doubled(text, bytes) && output_write("\"", 1);
}

size_t quoting_character_bytes(const char *at, const char *end, size_t *invalid_bytes)
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

/* ---- Messages ---- */

bool quoting_for_shell(char *text, size_t capacity)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_.:@%+=/,-";
    size_t bytes = strlen(text), quotes = 0;
    if (bytes > 0 && strspn(text, plain) == bytes)
        return true;
    for (const char *at = text; *at; at++)
        quotes += *at == '\'';
    size_t end = bytes + 3 * quotes + 2;
    if (end >= capacity)
        return false;
    text[end] = '\0';
    text[--end] = '\'';
    while (bytes > 0) { /* from the end, so nothing is overwritten that is still to be moved */
        if (text[--bytes] == '\'') {
            end -= 4;
            memcpy(text + end, "'\\''", 4);
        } else {
            text[--end] = text[bytes];
        }
    }
    text[0] = '\'';
    return true;
}

/* ---- Escapes ---- */

/* What a format writes instead of a byte of ASCII; NULL: the byte itself. `scratch` has room for
 * it. */
typedef const char *(*escape_function)(unsigned char c, char scratch[ESCAPE_BYTES]);

/* Text with its escapes. Bytes that are not UTF-8 become U+FFFD. */
static bool write_escaped(const char *text, size_t bytes, escape_function escape)
{
    const char *start = text, *at = text, *end = text + bytes;
    while (at < end) {
        char scratch[ESCAPE_BYTES];
        size_t invalid_bytes, length = quoting_character_bytes(at, end, &invalid_bytes);
        const char *instead = length == 0   ? "\xEF\xBF\xBD"
                              : length == 1 ? escape((unsigned char)*at, scratch)
                                            : NULL;
        size_t passed = length > 0 ? length : invalid_bytes;
        if (instead) {
            output_write(start, (size_t)(at - start));
            output_write(instead, strlen(instead));
            start = at + passed;
        }
        at += passed;
    }
    return output_write(start, (size_t)(end - start));
}

static bool write_in_quotes(const char *text, size_t bytes, escape_function escape)
{
    return output_write("\"", 1) && write_escaped(text, bytes, escape) && output_write("\"", 1);
}

/* ---- JSON ---- */

static const char *json_escape(unsigned char c, char scratch[ESCAPE_BYTES])
{
    if (c < 0x20)
        return escape_control(c, scratch);
    return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
}

bool quoting_write_json(const char *text, size_t bytes)
{
    return write_in_quotes(text, bytes, json_escape);
}

static const char *past_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

bool quoting_is_json_number(const char *text, size_t bytes)
{
    const char *at = text, *end = at + bytes, *digits;
    at += at < end && *at == '-';
    digits = at;
    at = past_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return false;
    if (at < end && *at == '.') {
        digits = at + 1;
        at = past_digits(digits, end);
        if (at == digits)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        digits = at;
        at = past_digits(at, end);
        if (at == digits)
            return false;
    }
    return at == end;
}

/* ---- logfmt ---- */

static bool is_plain_in_logfmt(unsigned char c)
{
    return c > ' ' && c < 0x7f && c != '=' && c != '"' && c != '\\';
}

bool quoting_write_logfmt(const char *text, size_t bytes)
{
    size_t plain = 0;
    while (plain < bytes &&
           ((unsigned char)text[plain] >= 0x80 || is_plain_in_logfmt((unsigned char)text[plain])))
        plain++;
    if (plain < bytes || bytes == 0)
        return quoting_write_json(text, bytes);
    return write_escaped(text, bytes, json_escape);
}

static const char *logfmt_name_escape(unsigned char c, char scratch[ESCAPE_BYTES])
{
    (void)scratch;
    return is_plain_in_logfmt(c) ? NULL : "_";
}

bool quoting_write_logfmt_name(const char *name)
{
    return write_escaped(*name ? name : "_", *name ? strlen(name) : 1, logfmt_name_escape);
}
