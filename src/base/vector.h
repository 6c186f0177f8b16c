/* Code for one kind of processor: AVX2 of x86-64, used if the machine has it, and NEON of aarch64,
 * which every such machine has. The results are the same bits as those of the portable code: it
 * uses only operations that IEEE 754 defines exactly, and -ffp-contract=off keeps compilers from
 * fusing them. OIF_PORTABLE disables it, for tests and comparisons.
 *
 * Most uses of AVX2 have no intrinsics: an OIF_INLINE function is compiled a second time, inside an
 * OIF_AVX2 function that is called if oif_machine_has_avx2(). On other processors that is never
 * true, and the second copy vanishes. On aarch64 compilers use NEON in such loops without being
 * asked; intrinsics are for those where they do not. */
#ifndef OIF_BASE_VECTOR_H
#define OIF_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Coverage builds define it as plain `static inline`: copies of one branch would count
 * separately. */
#ifndef OIF_INLINE
#define OIF_INLINE static inline __attribute__((always_inline))
#endif

/* Before a short loop with many iterations: unrolls it by two. */
#if defined(__clang__)
#define OIF_UNROLL_2 _Pragma("clang loop unroll_count(2)")
#else
#define OIF_UNROLL_2 _Pragma("GCC unroll 2")
#endif

#if defined(__x86_64__) && !defined(OIF_PORTABLE)
#define OIF_HAS_AVX2_CODE 1
#define OIF_AVX2 __attribute__((target("avx2")))

#include <immintrin.h>

static inline bool oif_machine_has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

/* lowest[i] = x[i] < lowest[i] ? x[i] : lowest[i] for four numbers; a NaN in x changes nothing. */
OIF_AVX2 static inline void oif_lower_4_avx2(double *lowest, const double *x)
{
    _mm256_storeu_pd(lowest, _mm256_min_pd(_mm256_loadu_pd(x), _mm256_loadu_pd(lowest)));
}

/* highest[i] = x[i] > highest[i] ? x[i] : highest[i] for four numbers; likewise. */
OIF_AVX2 static inline void oif_raise_4_avx2(double *highest, const double *x)
{
    _mm256_storeu_pd(highest, _mm256_max_pd(_mm256_loadu_pd(x), _mm256_loadu_pd(highest)));
}

/* For 32 numbers: all ones in byte i if x[i] >= least or, with `nan_too`, if x[i] is NaN. */
OIF_AVX2 OIF_INLINE __m256i oif_at_least_32_avx2(const double *x, double least, bool nan_too)
{
    const __m256d bound = _mm256_set1_pd(least);
    __m256i found[8];
    for (int i = 0; i < 8; i++) {
        __m256d four = _mm256_loadu_pd(x + 4 * i);
        found[i] = _mm256_castpd_si256(nan_too ? _mm256_cmp_pd(bound, four, _CMP_NGT_UQ)
                                               : _mm256_cmp_pd(bound, four, _CMP_LE_OQ));
    }
    for (int i = 0; i < 4; i++) /* eight bytes per number, then four, two, one */
        found[i] = _mm256_packs_epi32(found[2 * i], found[2 * i + 1]);
    for (int i = 0; i < 2; i++)
        found[i] = _mm256_packs_epi32(found[2 * i], found[2 * i + 1]);
    /* Packing works in halves: by now the low half has the numbers 0 1, 4 5, 8 9, .. and the high
     * half the others. */
    const __m256i in_order = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
                                              0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    __m256i halves =
        _mm256_permute4x64_epi64(_mm256_packs_epi16(found[0], found[1]), _MM_SHUFFLE(3, 1, 2, 0));
    return _mm256_shuffle_epi8(halves, in_order);
}

/* For 32 bytes: bytes[i] = to if bytes[i] == from and byte i of `where` is all ones. */
OIF_AVX2 OIF_INLINE void oif_replace_32_avx2(uint8_t *bytes, uint8_t from, uint8_t to,
                                             __m256i where)
{
    __m256i old = _mm256_loadu_si256((const __m256i *)bytes);
    __m256i replaced =
        _mm256_and_si256(_mm256_cmpeq_epi8(old, _mm256_set1_epi8((char)from)), where);
    _mm256_storeu_si256((__m256i *)bytes,
                        _mm256_blendv_epi8(old, _mm256_set1_epi8((char)to), replaced));
}
#else
#define OIF_HAS_AVX2_CODE 0
#define OIF_AVX2

static inline bool oif_machine_has_avx2(void)
{
    return false;
}
#endif

#if defined(__aarch64__) && !defined(OIF_PORTABLE)
#define OIF_HAS_NEON_CODE 1

#include <arm_neon.h>
#else
#define OIF_HAS_NEON_CODE 0
#endif

/* The child of node i of a heap for a key: 2 i, or 2 i + 1 if last_left < key. Compilers would
 * materialise the comparison and add it. Written as a carry, it is added with the doubling: two
 * instructions fewer. */
OIF_INLINE size_t oif_child_index(size_t i, uint64_t last_left, uint64_t key)
{
#if OIF_HAS_AVX2_CODE
    unsigned long long child = 0;
    _addcarry_u64(last_left < key, i, i, &child);
    return child;
#else
    return 2 * i + (last_left < key);
#endif
}

#endif
