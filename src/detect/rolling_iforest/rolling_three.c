/* Three columns of a node at once, with AVX2: as many as compete for a cut by default. Same bits as
 * oif_rolling_read_column for each. Rows are looked up once for all three, and what follows the
 * loops is done for three columns in one register:
 *
 *     lows      | column 0 | column 1 | column 2 | column 2 |
 *
 * A tree takes an eighth fewer instructions with it.
 */
#include "base/vector.h"
#include "detect/rolling_iforest/rolling_column.h"

#if OIF_HAS_AVX2_CODE
enum { LANES = 4, MOST_ROWS = 128 };

typedef struct three {
    __m256d of[OIF_ROLLING_THREE];
} three;

typedef double three_numbers[OIF_ROLLING_THREE][MOST_ROWS + LANES];

/* ---- Ranges ---- */

/* Reads four rows from row i on. */
OIF_AVX2 OIF_INLINE three read_four(const double *const values[OIF_ROLLING_THREE],
                                    const size_t *rows, size_t i, three_numbers numbers)
{
    const size_t a = rows[i], b = rows[i + 1], c = rows[i + 2], d = rows[i + 3];
    three x;
    for (int k = 0; k < OIF_ROLLING_THREE; k++) {
        x.of[k] = _mm256_setr_pd(values[k][a], values[k][b], values[k][c], values[k][d]);
        _mm256_storeu_pd(numbers[k] + i, x.of[k]);
    }
    return x;
}

/* The lowest of the four lanes of each column. */
OIF_AVX2 OIF_INLINE __m256d lowest(three x)
{
    const __m256d pairs_01 = _mm256_min_pd(_mm256_unpacklo_pd(x.of[0], x.of[1]),
                                           _mm256_unpackhi_pd(x.of[0], x.of[1])),
                  pairs_22 = _mm256_min_pd(x.of[2], _mm256_permute_pd(x.of[2], 5));
    return _mm256_min_pd(_mm256_permute2f128_pd(pairs_01, pairs_22, 0x20),
                         _mm256_permute2f128_pd(pairs_01, pairs_22, 0x31));
}

OIF_AVX2 OIF_INLINE __m256d highest(three x)
{
    const __m256d pairs_01 = _mm256_max_pd(_mm256_unpacklo_pd(x.of[0], x.of[1]),
                                           _mm256_unpackhi_pd(x.of[0], x.of[1])),
                  pairs_22 = _mm256_max_pd(x.of[2], _mm256_permute_pd(x.of[2], 5));
    return _mm256_max_pd(_mm256_permute2f128_pd(pairs_01, pairs_22, 0x20),
                         _mm256_permute2f128_pd(pairs_01, pairs_22, 0x31));
}

/* The last four rows may overlap the ones before. Adding 0 makes a zero positive. A missing value
 * makes a range NaN or is left out of it; the kurtosis will be NaN. */
OIF_AVX2 OIF_INLINE void scan_three(const double *const values[OIF_ROLLING_THREE],
                                    const size_t *rows, size_t count, three_numbers numbers,
                                    __m256d *lows, __m256d *highs)
{
    const size_t last = count - LANES;
    three low = read_four(values, rows, last, numbers), high = low;
    for (size_t i = 0; i < last; i += LANES) {
        const three x = read_four(values, rows, i, numbers);
        for (int k = 0; k < OIF_ROLLING_THREE; k++) {
            low.of[k] = _mm256_min_pd(x.of[k], low.of[k]);
            high.of[k] = _mm256_max_pd(x.of[k], high.of[k]);
        }
    }
    *lows = _mm256_add_pd(lowest(low), _mm256_setzero_pd());
    *highs = _mm256_add_pd(highest(high), _mm256_setzero_pd());
}

/* ---- Kurtoses ---- */

/* A power of two that scales each width to about 1. NaN follows from a width above 2^1023. */
OIF_AVX2 OIF_INLINE __m256d scales_of(__m256d widths)
{
    const __m256i exponents =
        _mm256_and_si256(_mm256_castpd_si256(widths), _mm256_set1_epi64x(INT64_C(2047) << 52));
    return _mm256_castsi256_pd(
        _mm256_sub_epi64(_mm256_set1_epi64x(INT64_C(2046) << 52), exponents));
}

/* The sums of the first four powers of (number - low) x scale. The numbers are followed by four
 * more, which become `low` and add nothing. */
OIF_AVX2 OIF_INLINE __m256d sum_powers(double *numbers, size_t count, double low, double scale)
{
    const __m256d from = _mm256_set1_pd(low), by = _mm256_set1_pd(scale);
    __m256d first = _mm256_setzero_pd(), second = first, third = first, fourth = first;
    _mm256_storeu_pd(numbers + count, from);
    OIF_UNROLL_2
    for (size_t i = 0; i < count; i += LANES) {
        const __m256d x = _mm256_mul_pd(_mm256_sub_pd(_mm256_loadu_pd(numbers + i), from), by),
                      square = _mm256_mul_pd(x, x);
        first = _mm256_add_pd(first, x);
        second = _mm256_add_pd(second, square);
        third = _mm256_add_pd(third, _mm256_mul_pd(square, x));
        fourth = _mm256_add_pd(fourth, _mm256_mul_pd(square, square));
    }
    const __m256d pairs_01 = _mm256_hadd_pd(first, second),
                  pairs_23 = _mm256_hadd_pd(third, fourth);
    return _mm256_add_pd(_mm256_permute2f128_pd(pairs_01, pairs_23, 0x20),
                         _mm256_permute2f128_pd(pairs_01, pairs_23, 0x31));
}

/* From one register per column to one per power: the kurtosis of each column, as kurtosis_from of
 * rolling_column.c. */
OIF_AVX2 OIF_INLINE __m256d kurtoses_from(three sums, double count)
{
    const __m256d n = _mm256_set1_pd(count);
    const __m256d odd_01 = _mm256_unpacklo_pd(sums.of[0], sums.of[1]),
                  even_01 = _mm256_unpackhi_pd(sums.of[0], sums.of[1]),
                  odd_22 = _mm256_unpacklo_pd(sums.of[2], sums.of[2]),
                  even_22 = _mm256_unpackhi_pd(sums.of[2], sums.of[2]);
    const __m256d mean = _mm256_permute2f128_pd(odd_01, odd_22, 0x20) / n,
                  mean2 = _mm256_permute2f128_pd(even_01, even_22, 0x20) / n,
                  mean3 = _mm256_permute2f128_pd(odd_01, odd_22, 0x31) / n,
                  mean4 = _mm256_permute2f128_pd(even_01, even_22, 0x31) / n;
    const __m256d square = mean * mean, variance = mean2 - square;
    const __m256d fourth =
        (mean4 - 4.0 * mean * mean3) + (6.0 * square * mean2 - 3.0 * square * square);
    return fourth / (variance * variance);
}

OIF_AVX2 static bool read_three_avx2(const double *values,
                                     const uint32_t numbers[OIF_ROLLING_THREE], const size_t *rows,
                                     uint32_t count, oif_rolling_column columns[OIF_ROLLING_THREE])
{
    const double *const starts[] = {values + numbers[0], values + numbers[1], values + numbers[2]};
    three_numbers known;
    double low[LANES], high[LANES], scale[LANES], kurtosis[LANES];
    __m256d lows, highs;
    three sums;
    scan_three(starts, rows, count, known, &lows, &highs);
    _mm256_storeu_pd(low, lows);
    _mm256_storeu_pd(high, highs);
    _mm256_storeu_pd(scale, scales_of(_mm256_sub_pd(highs, lows)));
    for (int k = 0; k < OIF_ROLLING_THREE; k++)
        sums.of[k] = sum_powers(known[k], count, low[k], scale[k]);
    const __m256d kurtoses = kurtoses_from(sums, count);
    _mm256_storeu_pd(kurtosis, kurtoses);
    for (int k = 0; k < OIF_ROLLING_THREE; k++)
        columns[k] = (oif_rolling_column){low[k], high[k], kurtosis[k], true};
    return _mm256_movemask_pd(_mm256_cmp_pd(kurtoses, kurtoses, _CMP_ORD_Q)) == 15;
}
#endif

bool oif_rolling_read_three(const double *values, const uint32_t numbers[OIF_ROLLING_THREE],
                            const size_t *rows, uint32_t count,
                            oif_rolling_column columns[OIF_ROLLING_THREE])
{
#if OIF_HAS_AVX2_CODE
    if (count >= LANES && count <= MOST_ROWS && oif_machine_has_avx2())
        return read_three_avx2(values, numbers, rows, count, columns);
#endif
    (void)values, (void)numbers, (void)rows, (void)count, (void)columns;
    return false;
}
