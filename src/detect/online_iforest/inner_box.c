/* Grids, and the marks of rows and boxes on them. */
#include "detect/online_iforest/inner_box.h"

#include "base/block.h"

enum { SHORT_DIMENSION = 12 }; /* rows up to this widen their boxes as fast */

/* A range is given between 2^13 and 2^14 marks when its grid is made, and a new grid when it has
 * fewer than 2^9 or reaches beyond 2^14. */
#define FEWEST_MARKS 0x1p9
#define USUAL_MARKS 0x1p13
#define MOST_MARKS 0x1p14
#define LARGEST_NUMBER 0x1p1000 /* sums and differences of smaller ones are finite */

uint32_t oif_inner_box_width(uint32_t dimension)
{
    if (!OIF_HAS_AVX2_CODE || dimension <= SHORT_DIMENSION)
        return 0;
    return (dimension * 2 + OIF_INNER_BOX_STEP - 1) / OIF_INNER_BOX_STEP * OIF_INNER_BOX_STEP;
}

void oif_inner_box_forget(int16_t *marks, uint32_t dimension)
{
    uint32_t width = oif_inner_box_width(dimension);
    for (uint32_t i = 0; i < width; i++)
        marks[i] = i < 2 * dimension ? OIF_INNER_BOX_UNKNOWN : OIF_INNER_BOX_LOWEST;
}

/* ---- Grids ---- */

/* Everything is below the marks of an infinite origin. */
static void clear_number(const oif_grid *grid, uint32_t i)
{
    grid->origins[i] = INFINITY;
    grid->scales[i] = grid->steps[i] = 1;
}

void oif_grid_clear(const oif_grid *grid, uint32_t dimension)
{
    for (uint32_t i = 0; i < 2 * dimension; i++)
        clear_number(grid, i);
    for (uint32_t i = 2 * dimension; i < oif_box_width(dimension); i++) {
        grid->origins[i] = 0; /* where mirrors are 0 */
        grid->scales[i] = grid->steps[i] = 1;
    }
}

static bool is_usual(oif_range range)
{
    return range.low <= range.high && range.low > -LARGEST_NUMBER && range.high < LARGEST_NUMBER;
}

/* The power of two that makes between USUAL_MARKS and twice as many marks of a length. */
static double scale_for(double length)
{
    double scale = 1;
    if (length == 0)
        return 1;
    while (length * scale < USUAL_MARKS && scale < LARGEST_NUMBER)
        scale *= 2;
    while (length * scale >= 2 * USUAL_MARKS && scale > 1 / LARGEST_NUMBER)
        scale /= 2;
    return scale;
}

/* Whether the grid of a column still suits its range. */
static bool suits(const oif_grid *grid, oif_range range, uint32_t low, uint32_t high)
{
    if (!is_usual(range))
        return grid->origins[low] == INFINITY;
    double marks = (range.high - range.low) * grid->scales[low];
    return fabs(range.low - grid->origins[low]) * grid->scales[low] < MOST_MARKS &&
           fabs(-range.high - grid->origins[high]) * grid->scales[low] < MOST_MARKS &&
           marks < 2 * MOST_MARKS && (marks >= FEWEST_MARKS || range.low == range.high);
}

bool oif_grid_fit(const oif_grid *grid, const double *box, uint32_t dimension)
{
    bool changed = false;
    for (uint32_t column = 0; column < dimension; column++) {
        const uint32_t low = column, high = dimension + column;
        const oif_range range = oif_box_range(box, dimension, column);
        if (suits(grid, range, low, high))
            continue;
        changed = true;
        clear_number(grid, low);
        clear_number(grid, high);
        if (!is_usual(range))
            continue;
        grid->origins[low] = range.low;
        grid->origins[high] = -range.high;
        grid->scales[low] = grid->scales[high] = scale_for(range.high - range.low);
        grid->steps[low] = grid->steps[high] = 1 / grid->scales[low];
    }
    return changed;
}

bool oif_inner_box_is_inside(const oif_grid *grid, const int16_t *marks, const double *box,
                             uint32_t dimension)
{
    for (uint32_t i = 0; i < 2 * dimension && oif_inner_box_width(dimension); i++)
        if (marks[i] != OIF_INNER_BOX_UNKNOWN && grid->origins[i] != INFINITY &&
            !(grid->origins[i] + marks[i] * grid->steps[i] >= box[i]))
            return false;
    return true;
}

/* ---- Marks ---- */

#if OIF_HAS_AVX2_CODE
/* Where four numbers lie on their grids: mark r at origin + r step. */
typedef struct grid_4 {
    __m256d origins, scales, steps;
} grid_4;

OIF_AVX2 OIF_INLINE grid_4 grid_at(const oif_grid *grid, size_t i)
{
    return (grid_4){_mm256_loadu_pd(grid->origins + i), _mm256_loadu_pd(grid->scales + i),
                    _mm256_loadu_pd(grid->steps + i)};
}

OIF_AVX2 OIF_INLINE __m256d numbers_at(const grid_4 *grid, __m256d marks)
{
    return _mm256_add_pd(grid->origins, _mm256_mul_pd(marks, grid->steps));
}

/* The last marks not above the numbers x. The difference may have been rounded up to a mark, so
 * it is the mark's number that decides. */
OIF_AVX2 OIF_INLINE __m128i mark_row_4(const oif_grid *on, const double *mirror, size_t i)
{
    const grid_4 at = grid_at(on, i), *grid = &at;
    const __m256d x = _mm256_loadu_pd(mirror + i);
    __m256d place = _mm256_mul_pd(_mm256_sub_pd(x, grid->origins), grid->scales);
    __m256d whole = _mm256_min_pd(_mm256_floor_pd(place), _mm256_set1_pd(OIF_INNER_BOX_HIGHEST));
    __m256d above = _mm256_cmp_pd(numbers_at(grid, whole), x, _CMP_GT_OQ);
    return _mm256_cvttpd_epi32(_mm256_sub_pd(whole, _mm256_and_pd(above, _mm256_set1_pd(1))));
}

/* The first marks not below the numbers of a box; OIF_INNER_BOX_UNKNOWN where there are none. */
OIF_AVX2 OIF_INLINE __m128i mark_box_4(const oif_grid *on, const double *box, size_t i)
{
    const grid_4 at = grid_at(on, i), *grid = &at;
    const __m256d x = _mm256_loadu_pd(box + i);
    __m256d place = _mm256_mul_pd(_mm256_sub_pd(x, grid->origins), grid->scales);
    __m256d whole = _mm256_max_pd(_mm256_ceil_pd(place), _mm256_set1_pd(OIF_INNER_BOX_LOWEST));
    whole = _mm256_min_pd(whole, _mm256_set1_pd(OIF_INNER_BOX_UNKNOWN));
    __m256d below = _mm256_cmp_pd(numbers_at(grid, whole), x, _CMP_LT_OQ);
    return _mm256_cvttpd_epi32(_mm256_add_pd(whole, _mm256_and_pd(below, _mm256_set1_pd(1))));
}

OIF_AVX2 void oif_grid_mark_row(const oif_grid *grid, const double *mirror, uint32_t box_width,
                                int16_t *marks)
{
    const size_t paired = box_width / (2 * OIF_BOX_STEP) * (2 * OIF_BOX_STEP);
    /* Packing makes the outermost marks of those that do not fit 16 bits. */
    for (size_t i = 0; i < paired; i += 2 * OIF_BOX_STEP)
        _mm_storeu_si128((__m128i *)(marks + i),
                         _mm_packs_epi32(mark_row_4(grid, mirror, i),
                                         mark_row_4(grid, mirror, i + OIF_BOX_STEP)));
    if (paired < box_width) {
        const __m128i last = mark_row_4(grid, mirror, paired);
        _mm_storel_epi64((__m128i *)(marks + paired), _mm_packs_epi32(last, last));
    }
}

/* Of the box, the four numbers around one that the row is not known to be above. */
OIF_AVX2 OIF_INLINE void widen_4(const oif_grid *grid, int16_t *marks, double *box,
                                 const double *mirror, size_t i)
{
    oif_lower_4_avx2(box + i, mirror + i);
    const __m128i four = mark_box_4(grid, box, i);
    _mm_storel_epi64((__m128i *)(marks + i), _mm_packs_epi32(four, four));
}

OIF_AVX2 void oif_inner_box_widen(const oif_grid *grid, int16_t *marks, double *box,
                                  const int16_t *row_marks, const double *mirror,
                                  uint32_t box_width)
{
    for (size_t i = 0; i < box_width; i += OIF_INNER_BOX_STEP) {
        __m256i below = _mm256_cmpgt_epi16(_mm256_loadu_si256((const __m256i *)(marks + i)),
                                           _mm256_loadu_si256((const __m256i *)(row_marks + i)));
        uint32_t bits = (uint32_t)_mm256_movemask_epi8(below); /* two for each mark */
        while (bits) {
            const uint32_t four = (uint32_t)__builtin_ctz(bits) / 8;
            widen_4(grid, marks, box, mirror, i + four * OIF_BOX_STEP);
            bits &= ~(UINT32_C(0xff) << 8 * four);
        }
    }
}
#endif
