/* Characters in UTF-8. */
#ifndef OIF_BASE_UTF8_H
#define OIF_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the character at `at`, and its code. 0 if it is incomplete before `end` or invalid:
 * truncated, overlong, a surrogate or above 0x10ffff. */
static inline size_t oif_utf8_character(const char *at, const char *end, uint32_t *code)
{
    static const uint32_t smallest_code[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char lead = (unsigned char)*at;
    const size_t bytes = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    *code = bytes == 1 ? lead : lead & (0xffu >> (bytes + 1));
    if ((lead >= 0x80 && lead < 0xc0) || lead >= 0xf8 || (size_t)(end - at) < bytes)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | ((unsigned char)at[i] & 0x3f);
    }
    bool is_surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code >= smallest_code[bytes] && *code <= 0x10ffff && !is_surrogate ? bytes : 0;
}

/* Writes a code in UTF-8, including surrogates (Python's surrogatepass); returns the end. */
static inline char *oif_utf8_write(uint32_t code, char *at)
{
    const int tail_bytes = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const uint32_t leads[] = {0, 0xc0, 0xe0, 0xf0};
    *at++ = (char)(leads[tail_bytes] | code >> 6 * tail_bytes);
    for (int i = tail_bytes - 1; i >= 0; i--)
        *at++ = (char)(0x80 | (code >> 6 * i & 0x3f));
    return at;
}

#endif
