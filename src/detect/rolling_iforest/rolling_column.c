#include "detect/rolling_iforest/rolling_column.h"

#include "base/double_bits.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    /* independent partial sums; the bits of a kurtosis depend on their number */
    LANES = 4,
    /* One value in this many is not missing, or the column is not cut. The range of a few values is
     * narrow: in a column that has just begun, every further value would be far outside. */
    LEAST_KNOWN = 4
};

/* A vector type of the width that every machine with vectors has. Compilers keep wider ones in
 * memory if the machine's are narrower. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

/* ---- Range ---- */

static const oif_rolling_column nothing_seen = {
    .low = INFINITY, .high = -INFINITY, .complete = true};

/* With zeros of both signs, the order would decide which one is the lowest. Make it +0. */
OIF_INLINE oif_rolling_column without_sign_of_zero(oif_rolling_column seen)
{
    seen.low += 0.0;
    seen.high += 0.0;
    return seen;
}

#if OIF_HAS_NEON_CODE
OIF_INLINE float64x2_t two_numbers(const double *values, const size_t *rows)
{
    return vcombine_f64(vld1_f64(values + rows[0]), vld1_f64(values + rows[1]));
}

/* The range of at least four rows, and their values; NaN if a value is missing. The last four may
 * overlap the ones before, which is harmless. */
OIF_INLINE oif_rolling_column scan_neon(const double *values, const size_t *rows, size_t count,
                                        double *numbers)
{
    const size_t last = count - LANES;
    float64x2_t a = two_numbers(values, rows + last), b = two_numbers(values, rows + last + 2);
    float64x2_t low_a = a, low_b = b, high_a = a, high_b = b;
    vst1q_f64(numbers + last, a);
    vst1q_f64(numbers + last + 2, b);
    for (size_t i = 0; i < last; i += LANES) {
        a = two_numbers(values, rows + i);
        b = two_numbers(values, rows + i + 2);
        vst1q_f64(numbers + i, a);
        vst1q_f64(numbers + i + 2, b);
        low_a = vminq_f64(low_a, a);
        low_b = vminq_f64(low_b, b);
        high_a = vmaxq_f64(high_a, a);
        high_b = vmaxq_f64(high_b, b);
    }
    return without_sign_of_zero((oif_rolling_column){.low = vminvq_f64(vminq_f64(low_a, low_b)),
                                                     .high = vmaxvq_f64(vmaxq_f64(high_a, high_b)),
                                                     .complete = true});
}
#endif

/* Missing values compare false and stay out of the range. */
static oif_rolling_column scan(const double *restrict values, const size_t *restrict rows,
                               uint32_t count, double *restrict numbers)
{
#if OIF_HAS_NEON_CODE
    if (count >= LANES) {
        const oif_rolling_column complete = scan_neon(values, rows, count, numbers);
        if (complete.low <= complete.high)
            return complete;
    }
#endif
    oif_rolling_column seen = nothing_seen;
    for (uint32_t i = 0; i < count; i++) {
        double number = numbers[i] = values[rows[i]];
        seen.low = number < seen.low ? number : seen.low;
        seen.high = number > seen.high ? number : seen.high;
        seen.complete &= number == number;
    }
    return without_sign_of_zero(seen);
}

/* ---- Kurtosis ---- */

static uint32_t leave_out_missing(double *numbers, uint32_t count)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        numbers[known] = numbers[i];
        known += numbers[i] == numbers[i];
    }
    return known;
}

/* A power of two that scales the width of a range to about 1, without rounding. */
static double scale_of(double width)
{
    uint64_t exponent = oif_bits_of_double(width) >> 52; /* 0 for a subnormal width, at most 2046 */
    return oif_double_from_bits((exponent > 2045 ? 1 : 2046 - exponent) << 52);
}

/* Sums in four lanes, of the first four powers. */
typedef struct power_sums {
    pair of[4][LANES / 2];
} power_sums;

/* Adds the powers of four (number - low) x scale. */
OIF_INLINE void add_powers(power_sums *sums, const double *numbers, double low, double scale)
{
    for (int half = 0; half < LANES / 2; half++) {
        pair x;
        memcpy(&x, numbers + 2 * half, sizeof x);
        x = (x - low) * scale;
        const pair square = x * x;
        sums->of[0][half] += x;
        sums->of[1][half] += square;
        sums->of[2][half] += square * x;
        sums->of[3][half] += square * square;
    }
}

/* The sums of the first four powers of (number - low) x scale. */
static power_sums sum_powers(const double *numbers, uint32_t count, double low, double scale)
{
    const uint32_t whole = count / LANES * LANES;
    power_sums sums = {{{{0}}}};
    for (uint32_t i = 0; i < whole; i += LANES)
        add_powers(&sums, numbers + i, low, scale);
    if (whole < count) {
        double rest[LANES] = {low, low, low, low}; /* adds nothing */
        for (uint32_t i = whole; i < count; i++)
            rest[i - whole] = numbers[i];
        add_powers(&sums, rest, low, scale);
    }
    return sums;
}

static double mean_of(const pair lanes[LANES / 2], uint32_t count)
{
    return ((lanes[0][0] + lanes[0][1]) + (lanes[1][0] + lanes[1][1])) / count;
}

OIF_INLINE double kurtosis_from(double mean, double mean2, double mean3, double mean4)
{
    const double square = mean * mean, variance = mean2 - square;
    const double fourth = (mean4 - 4 * mean * mean3) + (6 * square * mean2 - 3 * square * square);
    return fourth / (variance * variance);
}

/* The kurtosis of numbers that are not all equal. After scaling they lie between 0 and about 1, so
 * the variance is not small next to the terms it is the difference of: one pass is enough. */
static double kurtosis_of(double *numbers, uint32_t count, double low, double high)
{
    double width = high - low;
    if (width > DBL_MAX) {
        for (uint32_t i = 0; i < count; i++)
            numbers[i] *= 0.5;
        low *= 0.5;
        width = high * 0.5 - low;
    }
    const power_sums sums = sum_powers(numbers, count, low, scale_of(width));
    return kurtosis_from(mean_of(sums.of[0], count), mean_of(sums.of[1], count),
                         mean_of(sums.of[2], count), mean_of(sums.of[3], count));
}

/* ---- Both ---- */

/* What oif_rolling_read_column does, for any rows. Apart, so the usual case saves no registers. */
static __attribute__((noinline)) void read_any(const double *values, const size_t *rows,
                                               uint32_t count, bool weigh, double *numbers,
                                               oif_rolling_column *column)
{
    *column = scan(values, rows, count, numbers);
    const uint32_t known = column->complete ? count : leave_out_missing(numbers, count);
    if (known < count / LEAST_KNOWN)
        *column = (oif_rolling_column){.low = INFINITY, .high = -INFINITY};
    else if (weigh && column->low < column->high)
        column->kurtosis = kurtosis_of(numbers, known, column->low, column->high);
}

/* ---- Sides of a cut ---- */

static bool missing_goes_right(const double *values, const size_t *rows, uint32_t count, double cut)
{
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0; i < count; i++) {
        left += values[rows[i]] < cut;
        right += values[rows[i]] >= cut;
    }
    return right > left;
}

/* Partitions the rows from `i` on; the ones before are done. Has no branches, because at random
 * cuts many would be mispredicted. Same as in iforest.c, except that rows are offsets here and
 * 32-bit numbers there, as in its snapshots. */
OIF_INLINE uint32_t part_from(uint32_t i, uint32_t left, const double *restrict values,
                              size_t *restrict rows, uint32_t count, double cut, bool missing_right,
                              size_t *restrict spare)
{
    for (uint32_t right = i - left; i < count; i++) {
        size_t row = rows[i];
        double number = values[row];
        bool goes_right = (number >= cut) | (missing_right & (number != number));
        rows[left] = row;
        spare[right] = row;
        left += !goes_right;
        right += goes_right;
    }
    memcpy(rows + left, spare, (count - left) * sizeof *spare);
    return left;
}

/* Whether missing values go right is asked once, not for each row. */
static uint32_t part(const double *values, size_t *rows, uint32_t count, double cut,
                     bool missing_right, size_t *spare)
{
    if (missing_right)
        return part_from(0, 0, values, rows, count, cut, true, spare);
    return part_from(0, 0, values, rows, count, cut, false, spare);
}

/* ---- Four rows at once ---- */

#if OIF_HAS_AVX2_CODE
_Static_assert(sizeof(size_t) == 8, "four rows are one register");

/* Single loads: the gather instruction is slower on some machines. */
OIF_AVX2 OIF_INLINE __m256d four_numbers(const double *values, const size_t *rows)
{
    return _mm256_setr_pd(values[rows[0]], values[rows[1]], values[rows[2]], values[rows[3]]);
}

OIF_AVX2 OIF_INLINE double lowest_avx2(__m256d x)
{
    const __m128d half = _mm_min_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_min_sd(half, _mm_unpackhi_pd(half, half)));
}

OIF_AVX2 OIF_INLINE double highest_avx2(__m256d x)
{
    const __m128d half = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_max_sd(half, _mm_unpackhi_pd(half, half)));
}

/* The range of at least four rows, and their values. The last four may overlap the ones before,
 * which is harmless. A value that is missing makes the range NaN or is left out of it. */
OIF_AVX2 OIF_INLINE oif_rolling_column scan_avx2(const double *values, const size_t *rows,
                                                 size_t count, double *numbers)
{
    const size_t last = count - LANES;
    __m256d x = four_numbers(values, rows + last), low = x, high = x;
    _mm256_storeu_pd(numbers + last, x);
    OIF_UNROLL_2
    for (size_t i = 0; i < last; i += LANES) {
        x = four_numbers(values, rows + i);
        _mm256_storeu_pd(numbers + i, x);
        low = _mm256_min_pd(x, low);
        high = _mm256_max_pd(x, high);
    }
    return without_sign_of_zero(
        (oif_rolling_column){.low = lowest_avx2(low), .high = highest_avx2(high)});
}

OIF_AVX2 OIF_INLINE void add_powers_avx2(__m256d sums[4], __m256d x)
{
    const __m256d square = _mm256_mul_pd(x, x);
    sums[0] = _mm256_add_pd(sums[0], x);
    sums[1] = _mm256_add_pd(sums[1], square);
    sums[2] = _mm256_add_pd(sums[2], _mm256_mul_pd(square, x));
    sums[3] = _mm256_add_pd(sums[3], _mm256_mul_pd(square, square));
}

/* The means of what sum_powers adds up; the first power is in the first lane. */
OIF_AVX2 OIF_INLINE __m256d mean_powers_avx2(const double *numbers, size_t count, double low,
                                             double scale)
{
    static const int64_t masks[2 * LANES] = {-1, -1, -1, -1};
    const __m256d from = _mm256_set1_pd(low), by = _mm256_set1_pd(scale),
                  zero = _mm256_setzero_pd();
    const size_t whole = count / LANES * LANES;
    __m256d sums[4] = {zero, zero, zero, zero};
    OIF_UNROLL_2
    for (size_t i = 0; i < whole; i += LANES)
        add_powers_avx2(sums, _mm256_mul_pd(_mm256_sub_pd(_mm256_loadu_pd(numbers + i), from), by));
    if (whole < count) {
        const __m256i rest = _mm256_loadu_si256((const __m256i *)(masks + LANES - (count - whole)));
        const __m256d x = _mm256_sub_pd(_mm256_maskload_pd(numbers + whole, rest), from);
        add_powers_avx2(sums, _mm256_and_pd(_mm256_mul_pd(x, by), _mm256_castsi256_pd(rest)));
    }
    /* Transpose: from one register per power to one register of all powers. */
    const __m256d pairs_01 = _mm256_hadd_pd(sums[0], sums[1]),
                  pairs_23 = _mm256_hadd_pd(sums[2], sums[3]);
    const __m256d totals = _mm256_add_pd(_mm256_permute2f128_pd(pairs_01, pairs_23, 0x20),
                                         _mm256_permute2f128_pd(pairs_01, pairs_23, 0x31));
    return _mm256_div_pd(totals, _mm256_set1_pd((double)count));
}

OIF_AVX2 OIF_INLINE double kurtosis_avx2(const double *numbers, size_t count, double low,
                                         double width)
{
    const __m256d means = mean_powers_avx2(numbers, count, low, scale_of(width));
    const __m128d first = _mm256_castpd256_pd128(means), last = _mm256_extractf128_pd(means, 1);
    return kurtosis_from(_mm_cvtsd_f64(first), _mm_cvtsd_f64(_mm_unpackhi_pd(first, first)),
                         _mm_cvtsd_f64(last), _mm_cvtsd_f64(_mm_unpackhi_pd(last, last)));
}

/* Like read_any with `weigh`, for at least four rows. The kurtosis would be NaN if the column is
 * constant, a value is missing or the range overflows a double. */
OIF_AVX2 static void weigh_avx2(const double *values, const size_t *rows, uint32_t count,
                                double *numbers, oif_rolling_column *column)
{
    const oif_rolling_column seen = scan_avx2(values, rows, count, numbers);
    if (seen.low < seen.high) {
        const double kurtosis = kurtosis_avx2(numbers, count, seen.low, seen.high - seen.low);
        if (kurtosis == kurtosis) {
            *column = (oif_rolling_column){seen.low, seen.high, kurtosis, true};
            return;
        }
    }
    read_any(values, rows, count, true, numbers, column);
}

/* For each bit mask of four rows: the chosen rows in order, then the others in order, as pairs of
 * 32 bits; each followed by any rows. */
#define ROW(i) 2 * (i), 2 * (i) + 1
static const _Alignas(32) int32_t chosen_rows[16][2][8] = {
    {{0}, {ROW(0), ROW(1), ROW(2), ROW(3)}}, {{ROW(0)}, {ROW(1), ROW(2), ROW(3)}},
    {{ROW(1)}, {ROW(0), ROW(2), ROW(3)}},    {{ROW(0), ROW(1)}, {ROW(2), ROW(3)}},
    {{ROW(2)}, {ROW(0), ROW(1), ROW(3)}},    {{ROW(0), ROW(2)}, {ROW(1), ROW(3)}},
    {{ROW(1), ROW(2)}, {ROW(0), ROW(3)}},    {{ROW(0), ROW(1), ROW(2)}, {ROW(3)}},
    {{ROW(3)}, {ROW(0), ROW(1), ROW(2)}},    {{ROW(0), ROW(3)}, {ROW(1), ROW(2)}},
    {{ROW(1), ROW(3)}, {ROW(0), ROW(2)}},    {{ROW(0), ROW(1), ROW(3)}, {ROW(2)}},
    {{ROW(2), ROW(3)}, {ROW(0), ROW(1)}},    {{ROW(0), ROW(2), ROW(3)}, {ROW(1)}},
    {{ROW(1), ROW(2), ROW(3)}, {ROW(0)}},    {{ROW(0), ROW(1), ROW(2), ROW(3)}, {0}},
};

/* Writes four rows in this order; only the first ones are kept. */
OIF_AVX2 OIF_INLINE void put_rows_avx2(size_t *to, __m256i rows, const int32_t order[8])
{
    const __m256i from = _mm256_load_si256((const __m256i *)(const void *)order);
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutevar8x32_epi32(rows, from));
}

/* Like part_from, if missing values (if any) go left. */
OIF_AVX2 static uint32_t part_avx2(const double *values, size_t *rows, uint32_t count, double cut,
                                   size_t *spare)
{
    const __m256d bound = _mm256_set1_pd(cut);
    const size_t whole = count / LANES * LANES;
    size_t right = 0;
    for (size_t i = 0; i < whole; i += LANES) {
        const __m256d at_least = _mm256_cmp_pd(four_numbers(values, rows + i), bound, _CMP_GE_OQ);
        const unsigned chosen = (unsigned)_mm256_movemask_pd(at_least);
        const __m256i here = _mm256_loadu_si256((const __m256i *)(rows + i));
        put_rows_avx2(spare + right, here, chosen_rows[chosen][0]);
        put_rows_avx2(rows + (i - right), here, chosen_rows[chosen][1]);
        right += (size_t)__builtin_popcount(chosen);
    }
    return part_from((uint32_t)whole, (uint32_t)(whole - right), values, rows, count, cut, false,
                     spare);
}
#endif

/* ---- Called by the trees ---- */

void oif_rolling_read_column(const double *values, const size_t *rows, uint32_t count, bool weigh,
                             double *numbers, oif_rolling_column *column)
{
#if OIF_HAS_AVX2_CODE
    if (weigh && count >= LANES && oif_machine_has_avx2()) {
        weigh_avx2(values, rows, count, numbers, column);
        return;
    }
#endif
    read_any(values, rows, count, weigh, numbers, column);
}

uint32_t oif_rolling_part_rows(const double *values, size_t *rows, uint32_t count, double cut,
                               bool complete, size_t *spare)
{
    if (!complete && missing_goes_right(values, rows, count, cut))
        return part(values, rows, count, cut, true, spare);
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2())
        return part_avx2(values, rows, count, cut, spare);
#endif
    return part(values, rows, count, cut, false, spare);
}
