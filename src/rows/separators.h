/* Where the fields of a line end. 64 bytes are compared at a time; a bit mask marks the delimiters
 * and \n. The number parser then knows where each field ends before it has read the previous one,
 * so the processor works on several fields at once. */
#ifndef OIF_ROWS_SEPARATORS_H
#define OIF_ROWS_SEPARATORS_H

#include "base/number_text.h"
#include "rows/reader.h"

#if defined(__SSE2__) && !defined(OIF_PORTABLE)
#include <emmintrin.h>
#define OIF_HAS_SSE2_CODE 1
#else
#define OIF_HAS_SSE2_CODE 0
#endif

enum { OIF_SEPARATOR_WINDOW_BYTES = 64 };

/* The separators in [window, window + 64) not yet taken, the first in the lowest bit. */
typedef struct oif_separators {
    const char *window;
    uint64_t left;
    char delimiter;
} oif_separators;

/* Sets the top bit of each byte that is zero; exact in every byte, because there are no carries. */
static inline uint64_t oif_zero_bytes(uint64_t word)
{
    const uint64_t low_bits = EVERY_BYTE * 0x7f;
    return ~(((word & low_bits) + low_bits) | word | low_bits);
}

/* Bit i: byte i of eight is a separator. The product collects the eight top bits. */
static inline uint64_t oif_separator_bits_8(const char *bytes, char delimiter)
{
    const uint64_t word = load_eight(bytes);
    const uint64_t found = oif_zero_bytes(word ^ EVERY_BYTE * (unsigned char)delimiter) |
                           oif_zero_bytes(word ^ EVERY_BYTE * '\n');
    return (found >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* The same for the whole window. */
static inline uint64_t oif_separator_bits_portable(const char *window, char delimiter)
{
    uint64_t bits = 0;
    for (int i = 0; i < OIF_SEPARATOR_WINDOW_BYTES; i += 8)
        bits |= oif_separator_bits_8(window + i, delimiter) << i;
    return bits;
}

#if OIF_HAS_SSE2_CODE
static inline uint64_t oif_separator_bits_16(const char *bytes, char delimiter)
{
    const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    const __m128i found = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8(delimiter)),
                                       _mm_cmpeq_epi8(text, _mm_set1_epi8('\n')));
    return (uint64_t)(unsigned)_mm_movemask_epi8(found);
}
#endif

static inline uint64_t oif_separator_bits(const char *window, char delimiter)
{
#if OIF_HAS_SSE2_CODE
    return oif_separator_bits_16(window, delimiter) |
           oif_separator_bits_16(window + 16, delimiter) << 16 |
           oif_separator_bits_16(window + 32, delimiter) << 32 |
           oif_separator_bits_16(window + 48, delimiter) << 48;
#else
    return oif_separator_bits_portable(window, delimiter);
#endif
}

static inline oif_separators oif_separators_from(const char *window, char delimiter)
{
    return (oif_separators){window, oif_separator_bits(window, delimiter), delimiter};
}

/* Takes the next separator; the caller knows that another \n follows. */
static inline const char *oif_separators_next(oif_separators *separators)
{
    while (UNLIKELY(separators->left == 0))
        *separators = oif_separators_from(separators->window + OIF_SEPARATOR_WINDOW_BYTES,
                                          separators->delimiter);
    const char *found = separators->window + __builtin_ctzll(separators->left);
    separators->left &= separators->left - 1;
    return found;
}

#endif
