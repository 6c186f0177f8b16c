/* Distances to observers, and the nearest of them. Lanes are observers and columns come in order,
 * so a distance is summed in the same order whatever the width of a vector. */
#include "detect/sdo/sdo.h"

#include "base/vector.h"

#include <math.h>
#include <string.h>

/* ---- Distances ---- */

/* Extrapolates a sum over the columns in common to all columns. */
OIF_INLINE double for_all_columns(double sum, double common, double columns)
{
    return common == columns ? sum : common > 0 ? sum * (columns / common) : HUGE_VAL;
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 OIF_INLINE void measure_lanes_avx2(const oif_sdo_state *sdo, const double *row,
                                            bool complete, uint32_t first, double *squares)
{
    enum { VECTORS = OIF_SDO_LANES / 4 };
    const __m256d furthest = _mm256_set1_pd(sdo->furthest_square), one = _mm256_set1_pd(1);
    const oif_sdo_column *columns = oif_sdo_columns(sdo);
    const double *values = oif_sdo_values(sdo, 0) + first;
    __m256d sums[VECTORS], common[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        sums[i] = common[i] = _mm256_setzero_pd();
    for (uint32_t column = 0; column < sdo->dimension; column++, values += sdo->stride) {
        if (!complete && row[column] != row[column])
            continue;
        const __m256d number = _mm256_set1_pd(row[column]),
                      inverse = _mm256_set1_pd(columns[column].inverse);
        for (int i = 0; i < VECTORS; i++) {
            __m256d value = _mm256_loadu_pd(values + 4 * i);
            __m256d apart = _mm256_mul_pd(_mm256_sub_pd(number, value), inverse);
            __m256d square = _mm256_min_pd(_mm256_mul_pd(apart, apart), furthest);
            if (!complete) {
                __m256d known = _mm256_cmp_pd(value, value, _CMP_EQ_OQ);
                square = _mm256_and_pd(square, known);
                common[i] = _mm256_add_pd(common[i], _mm256_and_pd(one, known));
            }
            sums[i] = _mm256_add_pd(sums[i], square);
        }
    }
    for (int i = 0; i < VECTORS; i++)
        _mm256_storeu_pd(squares + 4 * i, sums[i]);
    if (complete)
        return;
    double counted[OIF_SDO_LANES];
    for (int i = 0; i < VECTORS; i++)
        _mm256_storeu_pd(counted + 4 * i, common[i]);
    for (int i = 0; i < OIF_SDO_LANES; i++)
        squares[i] = for_all_columns(squares[i], counted[i], sdo->dimension);
}

OIF_AVX2 static void measure_avx2(const oif_sdo_state *sdo, const double *row, bool complete,
                                  uint32_t first, uint32_t count, double *squares)
{
    for (uint32_t i = 0; i < count; i += OIF_SDO_LANES)
        if (complete)
            measure_lanes_avx2(sdo, row, true, first + i, squares + i);
        else
            measure_lanes_avx2(sdo, row, false, first + i, squares + i);
}
#endif

#if OIF_HAS_NEON_CODE
/* For rows and observers without missing values. Like AVX2's minimum, FMINNM of a NaN and the
 * greatest square is that square. */
static void measure_lanes_neon(const oif_sdo_state *sdo, const double *row, uint32_t first,
                               double *squares)
{
    enum { VECTORS = OIF_SDO_LANES / 2 };
    const float64x2_t furthest = vdupq_n_f64(sdo->furthest_square);
    const oif_sdo_column *columns = oif_sdo_columns(sdo);
    const double *values = oif_sdo_values(sdo, 0) + first;
    float64x2_t sums[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        sums[i] = vdupq_n_f64(0);
    for (uint32_t column = 0; column < sdo->dimension; column++, values += sdo->stride) {
        const float64x2_t number = vdupq_n_f64(row[column]);
        for (int i = 0; i < VECTORS; i++) {
            float64x2_t apart =
                vmulq_n_f64(vsubq_f64(number, vld1q_f64(values + 2 * i)), columns[column].inverse);
            sums[i] = vaddq_f64(sums[i], vminnmq_f64(vmulq_f64(apart, apart), furthest));
        }
    }
    for (int i = 0; i < VECTORS; i++)
        vst1q_f64(squares + 2 * i, sums[i]);
}
#endif

static void measure_lanes(const oif_sdo_state *sdo, const double *row, uint32_t first,
                          double *squares)
{
    const double furthest = sdo->furthest_square;
    const oif_sdo_column *columns = oif_sdo_columns(sdo);
    double sums[OIF_SDO_LANES] = {0}, common[OIF_SDO_LANES] = {0};
    for (uint32_t column = 0; column < sdo->dimension; column++) {
        const double *values = oif_sdo_values(sdo, column) + first;
        const double number = row[column], inverse = columns[column].inverse;
        if (number != number)
            continue;
        for (int i = 0; i < OIF_SDO_LANES; i++) {
            double apart = (number - values[i]) * inverse, square = apart * apart;
            square = square < furthest ? square : furthest;
            bool known = values[i] == values[i];
            sums[i] += known ? square : 0;
            common[i] += known ? 1 : 0;
        }
    }
    for (int i = 0; i < OIF_SDO_LANES; i++)
        squares[i] = for_all_columns(sums[i], common[i], sdo->dimension);
}

enum { FEW = 4 };

/* Squared distances to a few observers that are not adjacent. */
static void measure_few(const oif_sdo_state *sdo, const double *row, const uint32_t slots[FEW],
                        double squares[FEW])
{
    const double furthest = sdo->furthest_square;
    const oif_sdo_column *columns = oif_sdo_columns(sdo);
    const double *values = oif_sdo_values(sdo, 0);
    double sums[FEW] = {0}, common[FEW] = {0};
    for (uint32_t column = 0; column < sdo->dimension; column++, values += sdo->stride) {
        const double number = row[column], inverse = columns[column].inverse;
        if (number != number)
            continue;
        for (int i = 0; i < FEW; i++) {
            double value = values[slots[i]], apart = (number - value) * inverse;
            double square = apart * apart;
            square = square < furthest ? square : furthest;
            sums[i] += value == value ? square : 0;
            common[i] += value == value ? 1 : 0;
        }
    }
    for (int i = 0; i < FEW; i++)
        squares[i] = for_all_columns(sums[i], common[i], sdo->dimension);
}

#if OIF_HAS_AVX2_CODE
/* The same, if no value is missing. */
OIF_AVX2 static void measure_few_avx2(const oif_sdo_state *sdo, const double *row,
                                      const uint32_t slots[FEW], double squares[FEW])
{
    const __m256d furthest = _mm256_set1_pd(sdo->furthest_square);
    const __m128i at = _mm_loadu_si128((const __m128i *)(const void *)slots);
    const oif_sdo_column *columns = oif_sdo_columns(sdo);
    const double *values = oif_sdo_values(sdo, 0);
    __m256d sums = _mm256_setzero_pd();
    for (uint32_t column = 0; column < sdo->dimension; column++, values += sdo->stride) {
        __m256d value = _mm256_i32gather_pd(values, at, sizeof *values);
        __m256d apart = _mm256_mul_pd(_mm256_sub_pd(_mm256_set1_pd(row[column]), value),
                                      _mm256_set1_pd(columns[column].inverse));
        sums = _mm256_add_pd(sums, _mm256_min_pd(_mm256_mul_pd(apart, apart), furthest));
    }
    _mm256_storeu_pd(squares, sums);
}
#endif

void oif_sdo_measure(const oif_sdo_state *sdo, const double *row, bool complete, uint32_t first,
                     uint32_t count, double *squares)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        measure_avx2(sdo, row, complete && sdo->incomplete == 0, first, count, squares);
        return;
    }
#endif
    uint32_t i = 0;
#if OIF_HAS_NEON_CODE
    for (; complete && sdo->incomplete == 0 && i < count; i += OIF_SDO_LANES)
        measure_lanes_neon(sdo, row, first + i, squares + i);
#endif
    (void)complete;
    for (; i < count; i += OIF_SDO_LANES)
        measure_lanes(sdo, row, first + i, squares + i);
}

/* ---- The nearest ---- */

/* Inserts an observer that is near enough, in order. */
static void insert(oif_sdo_nearest *nearest, double square, uint32_t slot)
{
    uint32_t at = nearest->found < nearest->wanted ? nearest->found++ : nearest->wanted - 1;
    for (; at > 0 && nearest->squares[at - 1] > square; at--) {
        nearest->squares[at] = nearest->squares[at - 1];
        nearest->slots[at] = nearest->slots[at - 1];
    }
    nearest->squares[at] = square;
    nearest->slots[at] = slot;
}

/* Observers at this distance or farther are not among the nearest. */
OIF_INLINE double bound_of(const oif_sdo_nearest *nearest)
{
    return nearest->found < nearest->wanted ? HUGE_VAL : nearest->squares[nearest->wanted - 1];
}

#if OIF_HAS_AVX2_CODE
/* An upper bound of the distance of the nearest `wanted` observers: the minimum of each lane, and
 * of these the one with that rank. Few observers then remain to be compared, which made scores
 * twice as fast. */
OIF_AVX2 OIF_INLINE double bound_by_lanes_avx2(const double *squares, uint32_t count,
                                               uint32_t wanted)
{
    __m256d least[4], bound = _mm256_set1_pd(HUGE_VAL);
    double lanes[16], bounds[4];
    for (int i = 0; i < 4; i++)
        least[i] = bound;
    for (uint32_t first = 0; first + 16 <= count; first += 16)
        for (int i = 0; i < 4; i++)
            least[i] = _mm256_min_pd(least[i], _mm256_loadu_pd(squares + first + 4 * i));
    for (int i = 0; i < 4; i++)
        _mm256_storeu_pd(lanes + 4 * i, least[i]);
    const __m256i most_below = _mm256_set1_epi64x(-(int64_t)wanted);
    for (int i = 0; i < 4; i++) {
        __m256i up_to_it = _mm256_setzero_si256(); /* minus the count of lanes up to each */
        for (int j = 0; j < 16; j++)
            up_to_it = _mm256_add_epi64(
                up_to_it,
                _mm256_castpd_si256(_mm256_cmp_pd(_mm256_set1_pd(lanes[j]), least[i], _CMP_LE_OQ)));
        __m256d too_few = _mm256_castsi256_pd(_mm256_cmpgt_epi64(up_to_it, most_below));
        bound = _mm256_min_pd(bound, _mm256_blendv_pd(least[i], _mm256_set1_pd(HUGE_VAL), too_few));
    }
    _mm256_storeu_pd(bounds, bound);
    for (int i = 1; i < 4; i++)
        bounds[0] = bounds[i] < bounds[0] ? bounds[i] : bounds[0];
    return bounds[0];
}

/* One bit for each observer up to this bound, of at most 64 from `from` on. `end` is a multiple of
 * four. */
OIF_AVX2 OIF_INLINE uint64_t near_of_64_avx2(const double *squares, uint32_t from, uint32_t end,
                                             __m256d bound)
{
    uint64_t near = 0;
    for (uint32_t i = 0; i < 64 && from + i < end; i += 4) {
        __m256d four = _mm256_loadu_pd(squares + from + i);
        near |= (uint64_t)_mm256_movemask_pd(_mm256_cmp_pd(four, bound, _CMP_LE_OQ)) << i;
    }
    return near;
}

/* Adds the nearest of count / 4 x 4 observers; returns how many it considered. */
OIF_AVX2 static uint32_t add_nearest_avx2(oif_sdo_nearest *nearest, const double *squares,
                                          uint32_t first, uint32_t count)
{
    const uint32_t end = count / 4 * 4;
    const double by_lanes = bound_by_lanes_avx2(squares, count, nearest->wanted);
    const __m256d bound =
        _mm256_set1_pd(by_lanes < bound_of(nearest) ? by_lanes : bound_of(nearest));
    for (uint32_t from = 0; from < end; from += 64) {
        uint64_t near = near_of_64_avx2(squares, from, end, bound);
        for (; near; near &= near - 1) {
            uint32_t at = from + (uint32_t)__builtin_ctzll(near);
            if (squares[at] < bound_of(nearest))
                insert(nearest, squares[at], first + at);
        }
    }
    return end;
}
#endif

void oif_sdo_add_nearest(oif_sdo_nearest *nearest, const double *squares, uint32_t first,
                         uint32_t count)
{
    uint32_t i = 0;
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2())
        i = add_nearest_avx2(nearest, squares, first, count);
#endif
    for (; i < count; i++)
        if (squares[i] < bound_of(nearest))
            insert(nearest, squares[i], first + i);
}

/* Observers to be measured again, a few at a time. */
typedef struct remeasured {
    const oif_sdo_state *sdo;
    const double *row;
    void (*measure)(const oif_sdo_state *sdo, const double *row, const uint32_t slots[FEW],
                    double squares[FEW]);
    uint32_t count, slots[FEW];
    oif_sdo_nearest *nearest;
} remeasured;

static void add_remeasured(remeasured *again)
{
    double squares[FEW];
    again->measure(again->sdo, again->row, again->slots, squares);
    for (uint32_t i = 0; i < again->count; i++)
        if (squares[i] < bound_of(again->nearest))
            insert(again->nearest, squares[i], again->slots[i]);
    again->count = 0;
}

OIF_INLINE void measure_again(remeasured *again, uint32_t slot)
{
    again->slots[again->count++] = slot;
    if (again->count == FEW)
        add_remeasured(again);
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static uint32_t measure_again_avx2(remeasured *again, const double *squares,
                                            uint32_t count, double bound)
{
    const uint32_t end = count / 4 * 4;
    for (uint32_t from = 0; from < end; from += 64) {
        uint64_t near = near_of_64_avx2(squares, from, end, _mm256_set1_pd(bound));
        for (; near; near &= near - 1)
            measure_again(again, from + (uint32_t)__builtin_ctzll(near));
    }
    return end;
}
#endif

void oif_sdo_add_nearest_again(const oif_sdo_state *sdo, const double *row, bool complete,
                               const double *squares, uint32_t count, double bound,
                               oif_sdo_nearest *nearest)
{
    remeasured again = {sdo, row, measure_few, 0, {0}, nearest};
    uint32_t i = 0;
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        if (complete && sdo->incomplete == 0)
            again.measure = measure_few_avx2;
        i = measure_again_avx2(&again, squares, count, bound);
    }
#endif
    (void)complete;
    for (; i < count; i++)
        if (squares[i] <= bound)
            measure_again(&again, i);
    add_remeasured(&again);
}
