/* Numbers and short texts as bytes, little-endian on every machine. */
#ifndef OIF_BASE_BYTES_H
#define OIF_BASE_BYTES_H

#include "base/double_bits.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Numbers of 1 to 8 bytes ---- */

static inline void oif_bytes_store(unsigned char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t oif_bytes_load(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* ---- A block of memory, front to back ---- */

/* Writes that do not fit are dropped, and reads past the end return zero. Either sets `overrun`, to
 * be checked once at the end. */
typedef struct oif_bytes {
    unsigned char *start, *next, *end;
    bool overrun;
} oif_bytes;

static inline oif_bytes oif_bytes_over(unsigned char *start, size_t count)
{
    return (oif_bytes){start, start, start + count, false};
}

static inline bool oif_bytes_have(oif_bytes *bytes, size_t count)
{
    bytes->overrun |= (size_t)(bytes->end - bytes->next) < count;
    return !bytes->overrun;
}

static inline void oif_bytes_put(oif_bytes *bytes, uint64_t value, size_t count)
{
    if (!oif_bytes_have(bytes, count))
        return;
    oif_bytes_store(bytes->next, value, count);
    bytes->next += count;
}

static inline uint64_t oif_bytes_get(oif_bytes *bytes, size_t count)
{
    if (!oif_bytes_have(bytes, count))
        return 0;
    bytes->next += count;
    return oif_bytes_load(bytes->next - count, count);
}

static inline void oif_bytes_put_f64(oif_bytes *bytes, double value)
{
    oif_bytes_put(bytes, oif_bits_of_double(value), 8);
}

static inline double oif_bytes_get_f64(oif_bytes *bytes)
{
    return oif_double_from_bits(oif_bytes_get(bytes, 8));
}

enum { OIF_BYTES_TEXT_MAX = 255 };

/* A text of up to OIF_BYTES_TEXT_MAX bytes, preceded by its length. */
static inline void oif_bytes_put_text(oif_bytes *bytes, const char *text)
{
    size_t length = strlen(text);
    bytes->overrun |= length > OIF_BYTES_TEXT_MAX;
    oif_bytes_put(bytes, length, 1);
    if (!oif_bytes_have(bytes, length))
        return;
    memcpy(bytes->next, text, length);
    bytes->next += length;
}

static inline void oif_bytes_get_text(oif_bytes *bytes, char text[OIF_BYTES_TEXT_MAX + 1])
{
    size_t length = (size_t)oif_bytes_get(bytes, 1);
    text[0] = '\0';
    if (!oif_bytes_have(bytes, length))
        return;
    memcpy(text, bytes->next, length);
    text[length] = '\0';
    bytes->next += length;
}

#endif
