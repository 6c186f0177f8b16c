/* The few lines that are written for one kind of processor: AVX2 of x86-64, used when the machine has it. The results are
 * the same bits as those of the portable code beside each use: only operations occur that IEEE 754 defines exactly, and
 * -ffp-contract=off keeps compilers from fusing them. OIF_PORTABLE leaves them out, for tests and comparisons. */
#ifndef OIF_BASE_VECTOR_H
#define OIF_BASE_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Whoever counts branches defines it as plain `static inline`: copies of one branch would count as many. */
#ifndef OIF_INLINE
#define OIF_INLINE static inline __attribute__((always_inline))
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
#else
#define OIF_HAS_AVX2_CODE 0
#endif

#endif
