#include "base/checksum.h"

#include "base/vector.h"

/* ---- Sixteen bytes at a time ---- */

#if OIF_HAS_AVX2_CODE
static bool machine_can_fold(void)
{
    return __builtin_cpu_supports("pclmul");
}

__attribute__((target("pclmul"))) static inline __m128i sixteen(const unsigned char *bytes)
{
    return _mm_loadu_si128((const __m128i *)bytes);
}

/* Combines bytes with those n x 16 bytes later. The factors are x^(n 128 + 32) and x^(n 128 - 32),
 * bit-reversed. */
__attribute__((target("pclmul"))) static inline __m128i move_on(__m128i bytes, __m128i factors,
                                                                __m128i later)
{
    __m128i low = _mm_clmulepi64_si128(bytes, factors, 0x00);
    __m128i high = _mm_clmulepi64_si128(bytes, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), later);
}

/* Folds the bytes into sixteen with the same checksum. Bytes that come 16 bytes earlier count x^128
 * times; a carry-less product multiplies by the remainder of that power (Gopal et al., "Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ", 2009). `count` is a multiple of sixteen, at
 * least 64. */
__attribute__((target("pclmul"))) static void fold(uint32_t sum, const unsigned char *bytes,
                                                   size_t count, unsigned char last[16])
{
    const __m128i once = _mm_set_epi64x(0x00CCAA009E, 0x01751997D0),
                  four_times = _mm_set_epi64x(0x01C6E41596, 0x0154442BD4);
    __m128i all[4];
    for (size_t i = 0; i < 4; i++)
        all[i] = sixteen(bytes + 16 * i);
    all[0] = _mm_xor_si128(all[0], _mm_cvtsi32_si128((int)sum));
    size_t at = 64;
    for (; at + 64 <= count; at += 64) /* four chains: each step waits for the one before */
        for (size_t i = 0; i < 4; i++)
            all[i] = move_on(all[i], four_times, sixteen(bytes + at + 16 * i));
    for (size_t i = 1; i < 4; i++)
        all[0] = move_on(all[0], once, all[i]);
    for (; at < count; at += 16)
        all[0] = move_on(all[0], once, sixteen(bytes + at));
    _mm_storeu_si128((__m128i *)last, all[0]);
}
#else
static bool machine_can_fold(void)
{
    return false;
}

static void fold(uint32_t sum, const unsigned char *bytes, size_t count, unsigned char last[16])
{
    (void)sum, (void)bytes, (void)count, (void)last;
}
#endif

/* ---- Eight bytes at a time ---- */

static void fill_table(oif_checksum_table *table, uint32_t polynomial)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? polynomial : 0);
        table->step[0][byte] = value;
    }
    for (int k = 1; k < 8; k++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = table->step[k - 1][byte];
            table->step[k][byte] = before >> 8 ^ table->step[0][before & 0xFF];
        }
}

void oif_checksum_table_init(oif_checksum_table *table)
{
    fill_table(table, UINT32_C(0xEDB88320));
    table->may_fold = machine_can_fold();
}

void oif_checksum_table_init_castagnoli(oif_checksum_table *table)
{
    fill_table(table, UINT32_C(0x82F63B78));
    table->may_fold = false;
}

static uint32_t add_bytes(const oif_checksum_table *table, uint32_t sum, const unsigned char *next,
                          size_t count)
{
    const uint32_t(*step)[256] = table->step;
    for (; count >= 8; count -= 8, next += 8)
        sum = step[7][(sum ^ next[0]) & 0xFF] ^ step[6][(sum >> 8 ^ next[1]) & 0xFF] ^
              step[5][(sum >> 16 ^ next[2]) & 0xFF] ^ step[4][(sum >> 24 ^ next[3]) & 0xFF] ^
              step[3][next[4]] ^ step[2][next[5]] ^ step[1][next[6]] ^ step[0][next[7]];
    for (; count > 0; count--, next++)
        sum = sum >> 8 ^ step[0][(sum ^ *next) & 0xFF];
    return sum;
}

uint32_t oif_checksum(const oif_checksum_table *table, uint32_t checksum, const void *bytes,
                      size_t count)
{
    const unsigned char *next = bytes;
    uint32_t sum = ~checksum;
    const size_t sixteens = count / 16 * 16;
    if (table->may_fold && sixteens >= 64) {
        unsigned char last[16];
        fold(sum, next, sixteens, last);
        sum = add_bytes(table, 0, last, sizeof last);
        next += sixteens, count -= sixteens;
    }
    return ~add_bytes(table, sum, next, count);
}
