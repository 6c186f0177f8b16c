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

/* The checksum is linear: the effect of a byte is the sum of the effects of its bits, by which the
 * table is given. tests/base/test_checksum.c compares it with the definition. */
#define BIT(byte, bit, effect) ((byte) >> (bit)&1 ? UINT32_C(effect) : 0)
#define ONE(byte, a, b, c, d, e, f, g, h)                                                          \
    BIT(byte, 0, a) ^ BIT(byte, 1, b) ^ BIT(byte, 2, c) ^ BIT(byte, 3, d) ^ BIT(byte, 4, e) ^      \
        BIT(byte, 5, f) ^ BIT(byte, 6, g) ^ BIT(byte, 7, h)
#define FOUR(byte, ...)                                                                            \
    ONE(byte, __VA_ARGS__), ONE((byte) + 1, __VA_ARGS__), ONE((byte) + 2, __VA_ARGS__),            \
        ONE((byte) + 3, __VA_ARGS__)
#define SIXTEEN(byte, ...)                                                                         \
    FOUR(byte, __VA_ARGS__), FOUR((byte) + 4, __VA_ARGS__), FOUR((byte) + 8, __VA_ARGS__),         \
        FOUR((byte) + 12, __VA_ARGS__)
#define SIXTY_FOUR(byte, ...)                                                                      \
    SIXTEEN(byte, __VA_ARGS__), SIXTEEN((byte) + 16, __VA_ARGS__),                                 \
        SIXTEEN((byte) + 32, __VA_ARGS__), SIXTEEN((byte) + 48, __VA_ARGS__)
#define STEPS(...)                                                                                 \
    {                                                                                              \
        SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__), SIXTY_FOUR(128, __VA_ARGS__),     \
            SIXTY_FOUR(192, __VA_ARGS__)                                                           \
    }

const oif_checksum_table oif_checksum_zip = {
    .has_factors = true,
    .step = {
        STEPS(0x77073096, 0xEE0E612C, 0x076DC419, 0x0EDB8832, 0x1DB71064, 0x3B6E20C8, 0x76DC4190,
              0xEDB88320),
        STEPS(0x191B3141, 0x32366282, 0x646CC504, 0xC8D98A08, 0x4AC21251, 0x958424A2, 0xF0794F05,
              0x3B83984B),
        STEPS(0x01C26A37, 0x0384D46E, 0x0709A8DC, 0x0E1351B8, 0x1C26A370, 0x384D46E0, 0x709A8DC0,
              0xE1351B80),
        STEPS(0xB8BC6765, 0xAA09C88B, 0x8F629757, 0xC5B428EF, 0x5019579F, 0xA032AF3E, 0x9B14583D,
              0xED59B63B),
        STEPS(0x3D6029B0, 0x7AC05360, 0xF580A6C0, 0x30704BC1, 0x60E09782, 0xC1C12F04, 0x58F35849,
              0xB1E6B092),
        STEPS(0xCB5CD3A5, 0x4DC8A10B, 0x9B914216, 0xEC53826D, 0x03D6029B, 0x07AC0536, 0x0F580A6C,
              0x1EB014D8),
        STEPS(0xA6770BB4, 0x979F1129, 0xF44F2413, 0x33EF4E67, 0x67DE9CCE, 0xCFBD399C, 0x440B7579,
              0x8816EAF2),
        STEPS(0xCCAA009E, 0x4225077D, 0x844A0EFA, 0xD3E51BB5, 0x7CBB312B, 0xF9766256, 0x299DC2ED,
              0x533B85DA),
    }};

void oif_checksum_table_init_castagnoli(oif_checksum_table *table)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? UINT32_C(0x82F63B78) : 0);
        table->step[0][byte] = value;
    }
    for (int k = 1; k < 8; k++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = table->step[k - 1][byte];
            table->step[k][byte] = before >> 8 ^ table->step[0][before & 0xFF];
        }
    table->has_factors = false;
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
    if (table->has_factors && sixteens >= 64 && machine_can_fold()) {
        unsigned char last[16];
        fold(sum, next, sixteens, last);
        sum = add_bytes(table, 0, last, sizeof last);
        next += sixteens, count -= sixteens;
    }
    return ~add_bytes(table, sum, next, count);
}
