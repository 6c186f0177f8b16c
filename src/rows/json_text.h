/* Strings and numbers in JSON (RFC 8259). The text is in a buffer of lines: it is followed by a \n,
 * which no string or number contains, and words may be loaded up to eight bytes past that. Inline,
 * because the parser calls these for every key and value. */
#ifndef OIF_ROWS_JSON_TEXT_H
#define OIF_ROWS_JSON_TEXT_H

#include "base/number_text.h"
#include "base/utf8.h"
#include "oif.h"
#include "rows/short_number.h"

/* Where a text is not JSON, and why. */
typedef struct oif_json_fault {
    const char *at;
    const char *why;
} oif_json_fault;

static inline const char *oif_json_fail(oif_json_fault *fault, const char *at, const char *why)
{
    *fault = (oif_json_fault){at, why};
    return NULL;
}

static inline const char *oif_json_past_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

/* ---- Strings ---- */

/* Sets the top bit of each byte equal to `byte`; above the first one possibly of others too. */
static inline uint64_t oif_json_bytes_equal_to(uint64_t word, unsigned char byte)
{
    const uint64_t difference = word ^ EVERY_BYTE * byte;
    return (difference - EVERY_BYTE) & ~difference & EVERY_BYTE * 0x80;
}

/* The first byte that is a quote, a backslash, a control character or not ASCII. */
static inline const char *oif_json_plain_text_end(const char *at)
{
    for (;; at += 8) {
        const uint64_t word = load_eight(at);
        const uint64_t controls = (word - EVERY_BYTE * 0x20) & ~word;
        const uint64_t others = oif_json_bytes_equal_to(word, '"') |
                                oif_json_bytes_equal_to(word, '\\') |
                                ((controls | word) & EVERY_BYTE * 0x80);
        if (others)
            return at + __builtin_ctzll(others) / 8;
    }
}

static inline int oif_json_hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The number given by four hexadecimal digits, or -1. Does not read past the first byte that is not
 * one. */
static inline int32_t oif_json_four_hex_digits(const char *at)
{
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = oif_json_hex_digit(at[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* Past the escape at the backslash `at`. */
static inline const char *oif_json_escape_end(const char *at, oif_json_fault *fault)
{
    if (at[1] == 'u' && oif_json_four_hex_digits(at + 2) < 0)
        return oif_json_fail(fault, at, "four hexadecimal digits must follow \\u");
    if (at[1] == 'u')
        return at + 6;
    if (at[1] == '\0' || !strchr("\"\\/bfnrt", at[1]))
        return oif_json_fail(fault, at,
                             "JSON has no such escape; a backslash itself is written \\\\");
    return at + 2;
}

/* Reports a control character in the string that starts at `open`. */
static inline const char *oif_json_fail_control(const char *open, const char *at,
                                                oif_json_fault *fault)
{
    const char *behind = at;
    while (*behind == '\r')
        behind++;
    if (*behind == '\n')
        return oif_json_fail(fault, open, "the string that begins here does not end on this line");
    return oif_json_fail(fault, at,
                         "a control character in a string must be escaped, such as \\t or \\u0000");
}

/* The closing quote of the string that starts at `open`, or NULL. Sets *escaped if it has an
 * escape. */
static inline const char *oif_json_string_end(const char *open, bool *escaped,
                                              oif_json_fault *fault)
{
    const char *at = open + 1;
    while (*(at = oif_json_plain_text_end(at)) != '"') {
        uint32_t code;
        if (*at == '\\') {
            *escaped = true;
            at = oif_json_escape_end(at, fault);
            if (!at)
                return NULL;
        } else if ((unsigned char)*at < 0x80) {
            return oif_json_fail_control(open, at, fault);
        } else {
            size_t bytes = oif_utf8_character(at, at + 4, &code);
            if (!bytes)
                return oif_json_fail(fault, at, "this is not UTF-8; convert the input");
            at += bytes;
        }
    }
    return at;
}

/* The code of the \u escape at `at`, or of the surrogate pair; moves past it. */
static inline uint32_t oif_json_read_unicode_escape(const char **at)
{
    uint32_t code = (uint32_t)oif_json_four_hex_digits(*at + 2);
    *at += 6;
    if (code < 0xd800 || code > 0xdbff || (*at)[0] != '\\' || (*at)[1] != 'u')
        return code;
    uint32_t low = (uint32_t)oif_json_four_hex_digits(*at + 2);
    if (low < 0xdc00 || low > 0xdfff)
        return code;
    *at += 6;
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

/* Unescapes [at, end), the inside of a valid string. Never writes more bytes than it reads; returns
 * the end. */
static inline char *oif_json_unescape(const char *at, const char *end, char *to)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    for (;;) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        const size_t bytes = (size_t)((escape ? escape : end) - at);
        memcpy(to, at, bytes);
        to += bytes;
        if (!escape)
            return to;
        const char *letter = strchr(letters, escape[1]);
        at = escape;
        if (escape[1] == 'u') {
            to = oif_utf8_write(oif_json_read_unicode_escape(&at), to);
        } else {
            *to++ = letter ? meanings[letter - letters] : escape[1];
            at += 2;
        }
    }
}

/* ---- Numbers ---- */

static inline bool oif_json_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static inline const char *oif_json_past_digits(const char *at)
{
    while (oif_json_is_digit(*at))
        at++;
    return at;
}

/* The end of the number that begins with a minus or a digit; NULL if it is not valid JSON. */
static inline const char *oif_json_number_end(const char *at, oif_json_fault *fault)
{
    at += *at == '-';
    if (!oif_json_is_digit(*at))
        return oif_json_fail(fault, at, "a digit must follow the minus");
    if (*at == '0' && oif_json_is_digit(at[1]))
        return oif_json_fail(fault, at, "a number in JSON has no leading zeros");
    at = oif_json_past_digits(at);
    if (*at == '.') {
        if (!oif_json_is_digit(*++at))
            return oif_json_fail(fault, at, "a digit must follow the point");
        at = oif_json_past_digits(at);
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '-' || *at == '+';
        if (!oif_json_is_digit(*at))
            return oif_json_fail(fault, at, "a digit must follow the exponent's e");
        at = oif_json_past_digits(at);
    }
    return at;
}

/* The end of a short number without an exponent, as most are; NULL for all others, valid or not. */
static inline const char *oif_json_short_number_end(const char *at, const char *lines_end,
                                                    double *value)
{
    const char *digits = at + (*at == '-');
    const bool leading_zero = *digits == '0' && oif_json_is_digit(digits[1]);
    const char *end = oif_short_number_end(at, lines_end, value);
    if (!end || !oif_json_is_digit(*digits) || leading_zero || end[-1] == '.' ||
        (*end | 0x20) == 'e')
        return NULL;
    return end;
}

#endif
