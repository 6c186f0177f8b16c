/* Grids, and the marks of rows and boxes on them. */
#include "detect/online_iforest/inner_box.h"

#include "base/block.h"

enum {
    FIRST_LINE = -16383, /* whose numbers and those beside them have marks of 16 bits */
    LAST_LINE = 16382,
    LOWEST_MARK = -32768, /* no row has it, nor OIF_INNER_BOX_NOTHING */
    WHOLE_SPAN = 65535,   /* from there to the highest mark */
    NO_SPAN = 1           /* from the highest mark to the lowest one, which follows it in 16 bits */
};

/* A range is given between 2^12 and 2^13 lines when its grid is made, and a new grid when it has
 * fewer than 2^9 or reaches beyond 2^13. */
#define FEWEST_LINES 0x1p9
#define USUAL_LINES 0x1p12
#define MOST_LINES 0x1p13
#define LARGEST_NUMBER 0x1p1000 /* sums and differences of smaller ones are finite */

uint32_t oif_inner_box_width(uint32_t dimension)
{
    if (oif_box_width(dimension) <= OIF_SHORT_BOX)
        return 0; /* widening the box is as fast */
    return (dimension + OIF_INNER_BOX_STEP - 1) / OIF_INNER_BOX_STEP * OIF_INNER_BOX_STEP;
}

/* ---- Grids ---- */

static void set_lines(const oif_grid *grid, uint32_t column, double origin, double step)
{
    grid->origins[column] = origin;
    grid->steps[column] = step;
    grid->scales[column] = 1 / step;
}

void oif_grid_clear(const oif_grid *grid, uint32_t dimension)
{
    for (uint32_t i = 0; i < oif_inner_box_width(dimension); i++)
        set_lines(grid, i, INFINITY, 1);
}

static bool is_usual(oif_range range)
{
    return range.low <= range.high && range.low > -LARGEST_NUMBER && range.high < LARGEST_NUMBER;
}

/* A step that makes between USUAL_LINES and twice as many lines of a length, the last one at its
 * end. A power of two, if that does, has all whole numbers on lines. */
static double step_for(double length)
{
    double scale = 1;
    if (length == 0)
        return 1;
    while (length * scale < USUAL_LINES && scale < LARGEST_NUMBER)
        scale *= 2;
    while (length * scale >= 2 * USUAL_LINES && scale > 1 / LARGEST_NUMBER)
        scale /= 2;
    const double lines = length * scale;
    return lines == (int32_t)lines || lines < USUAL_LINES ? 1 / scale : length / USUAL_LINES;
}

/* Whether the grid of a column still suits its range. */
static bool suits(const oif_grid *grid, oif_range range, uint32_t column)
{
    const double origin = grid->origins[column], scale = grid->scales[column];
    if (!is_usual(range))
        return origin == INFINITY;
    double lines = (range.high - range.low) * scale;
    return fabs(range.low - origin) * scale < MOST_LINES &&
           fabs(range.high - origin) * scale < 2 * MOST_LINES &&
           (lines >= FEWEST_LINES || range.low == range.high);
}

bool oif_grid_fit(const oif_grid *grid, const double *box, uint32_t dimension)
{
    bool changed = false;
    for (uint32_t column = 0; column < dimension; column++) {
        const oif_range range = oif_box_range(box, dimension, column);
        if (suits(grid, range, column))
            continue;
        changed = true;
        if (is_usual(range))
            set_lines(grid, column, range.low, step_for(range.high - range.low));
        else
            set_lines(grid, column, INFINITY, 1);
    }
    return changed;
}

/* ---- Marks ---- */

static double line_at(const oif_grid *grid, size_t column, double line)
{
    return grid->origins[column] + line * grid->steps[column];
}

/* The mark of a number: twice the line next to it, and one more or less if it is not on it. Where
 * the number is in relation to that line decides; halfway between two, either gives one mark. So
 * rounding errors do no harm. */
static int mark_of(const oif_grid *grid, size_t column, double x)
{
    double line = (x - grid->origins[column]) * grid->scales[column];
    line = line > FIRST_LINE ? line : FIRST_LINE; /* as is a NaN */
    line = line < LAST_LINE ? line : LAST_LINE;
    line = (int)(line + (line < 0 ? -0.5 : 0.5)); /* whatever the rounding mode is */
    const double at = line_at(grid, column, line);
    return 2 * (int)line + (at < x) - (at > x);
}

static void fit_column(const oif_grid *grid, oif_inner_box inner, const double *box,
                       uint32_t dimension, size_t i)
{
    int low = mark_of(grid, i, box[i]), high = mark_of(grid, i, -box[dimension + i]);
    low += low & 1; /* from the first line in the box to the last one, if there is any */
    high -= high & 1;
    inner.lows[i] = (int16_t)(low <= high ? low : OIF_INNER_BOX_NOTHING);
    inner.spans[i] = (uint16_t)(low <= high ? high - low : NO_SPAN);
}

static void widen_column(const oif_grid *grid, oif_inner_box inner, double *box,
                         const double *mirror, uint32_t dimension, size_t i)
{
    const size_t high = dimension + i;
    box[i] = mirror[i] < box[i] ? mirror[i] : box[i];
    box[high] = mirror[high] < box[high] ? mirror[high] : box[high];
    fit_column(grid, inner, box, dimension, i);
}

/* ---- The same, four columns at a time ---- */

#if OIF_HAS_AVX2_CODE
OIF_AVX2 OIF_INLINE __m128i mark_4(const oif_grid *grid, size_t i, __m256d x)
{
    const __m256d origins = _mm256_loadu_pd(grid->origins + i), one = _mm256_set1_pd(1);
    __m256d line = _mm256_mul_pd(_mm256_sub_pd(x, origins), _mm256_loadu_pd(grid->scales + i));
    line =
        _mm256_min_pd(_mm256_max_pd(line, _mm256_set1_pd(FIRST_LINE)), _mm256_set1_pd(LAST_LINE));
    line = _mm256_round_pd(line, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256d at =
        _mm256_add_pd(origins, _mm256_mul_pd(line, _mm256_loadu_pd(grid->steps + i)));
    __m256d mark = _mm256_add_pd(line, line);
    mark = _mm256_add_pd(mark, _mm256_and_pd(_mm256_cmp_pd(at, x, _CMP_LT_OQ), one));
    mark = _mm256_sub_pd(mark, _mm256_and_pd(_mm256_cmp_pd(at, x, _CMP_GT_OQ), one));
    return _mm256_cvttpd_epi32(mark);
}

OIF_AVX2 static void mark_row_avx2(const oif_grid *grid, const double *row, size_t width,
                                   int16_t *marks)
{
    for (size_t i = 0; i < width; i += 8)
        _mm_storeu_si128((__m128i *)(marks + i),
                         _mm_packs_epi32(mark_4(grid, i, _mm256_loadu_pd(row + i)),
                                         mark_4(grid, i + 4, _mm256_loadu_pd(row + i + 4))));
}

OIF_AVX2 OIF_INLINE void fit_4(const oif_grid *grid, oif_inner_box inner, const double *box,
                               uint32_t dimension, size_t i)
{
    const __m256d sign = _mm256_set1_pd(-0.0);
    const __m128i one = _mm_set1_epi32(1), no_span = _mm_set1_epi32(NO_SPAN),
                  nothing = _mm_set1_epi32(OIF_INNER_BOX_NOTHING);
    __m128i low = mark_4(grid, i, _mm256_loadu_pd(box + i)),
            high = mark_4(grid, i, _mm256_xor_pd(_mm256_loadu_pd(box + dimension + i), sign));
    low = _mm_add_epi32(low, _mm_and_si128(low, one));
    high = _mm_sub_epi32(high, _mm_and_si128(high, one));
    const __m128i empty = _mm_cmpgt_epi32(low, high),
                  spans = _mm_blendv_epi8(_mm_sub_epi32(high, low), no_span, empty);
    low = _mm_blendv_epi8(low, nothing, empty);
    _mm_storel_epi64((__m128i *)(inner.lows + i), _mm_packs_epi32(low, low));
    _mm_storel_epi64((__m128i *)(inner.spans + i), _mm_packus_epi32(spans, spans));
}

/* The first of four columns that are all there, this one among them. */
static size_t four_with(size_t column, uint32_t dimension)
{
    const size_t first = column - column % OIF_BOX_STEP, last = dimension - OIF_BOX_STEP;
    return first < last ? first : last;
}

OIF_AVX2 static void fit_avx2(const oif_grid *grid, oif_inner_box inner, const double *box,
                              uint32_t dimension)
{
    for (size_t i = 0; i < dimension; i += OIF_BOX_STEP)
        fit_4(grid, inner, box, dimension, four_with(i, dimension));
}

/* Widens a step of an inner box by a row whose numbers are in the box by now: up to the line next
 * to each, on the side of the inner box. Returns where still nothing is inside. */
OIF_AVX2 OIF_INLINE __m256i widen_inner_16(oif_inner_box inner, const int16_t *row_marks, size_t i)
{
    __m256i *lows_at = (__m256i *)(inner.lows + i), *spans_at = (__m256i *)(inner.spans + i);
    const __m256i marks = _mm256_loadu_si256((const __m256i *)(row_marks + i)),
                  odd = _mm256_and_si256(marks, _mm256_set1_epi16(1)),
                  old_lows = _mm256_loadu_si256(lows_at),
                  old_highs = _mm256_add_epi16(old_lows, _mm256_loadu_si256(spans_at)),
                  lows = _mm256_min_epi16(old_lows, _mm256_add_epi16(marks, odd)),
                  highs = _mm256_max_epi16(old_highs, _mm256_sub_epi16(marks, odd)),
                  empty = _mm256_cmpgt_epi16(lows, highs);
    _mm256_storeu_si256(lows_at,
                        _mm256_blendv_epi8(lows, _mm256_set1_epi16(OIF_INNER_BOX_NOTHING), empty));
    _mm256_storeu_si256(spans_at, _mm256_blendv_epi8(_mm256_sub_epi16(highs, lows),
                                                     _mm256_set1_epi16(NO_SPAN), empty));
    return empty;
}

/* The next four columns, of 16, in which a bit is set: clears their bits. */
static size_t take_four(uint32_t *bits)
{
    const uint32_t four = (uint32_t)__builtin_ctz(*bits) / 8;
    *bits &= ~(UINT32_C(0xff) << 8 * four);
    return four * OIF_BOX_STEP;
}

OIF_AVX2 static void widen_avx2(const oif_grid *grid, oif_inner_box inner, double *box,
                                const int16_t *row_marks, const double *mirror, uint32_t dimension)
{
    for (size_t first = 0; first < dimension; first += OIF_INNER_BOX_STEP) {
        const __m256i inside = _mm256_cmpeq_epi16(
            oif_inner_box_excess_avx2(inner, row_marks, first), _mm256_setzero_si256());
        uint32_t outside = ~(uint32_t)_mm256_movemask_epi8(inside); /* two bits per column */
        if (!outside)
            continue;
        while (outside) {
            const size_t i = four_with(first + take_four(&outside), dimension);
            oif_lower_4_avx2(box + i, mirror + i);
            oif_lower_4_avx2(box + dimension + i, mirror + dimension + i);
        }
        uint32_t empty = (uint32_t)_mm256_movemask_epi8(widen_inner_16(inner, row_marks, first));
        while (empty)
            fit_4(grid, inner, box, dimension, four_with(first + take_four(&empty), dimension));
    }
}
#endif

/* ---- Rows and inner boxes ---- */

void oif_grid_mark_row(const oif_grid *grid, const double *row, uint32_t dimension, int16_t *marks)
{
    const size_t width = oif_inner_box_width(dimension);
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        mark_row_avx2(grid, row, width, marks);
        return;
    }
#endif
    for (size_t i = 0; i < width; i++)
        marks[i] = (int16_t)mark_of(grid, i, row[i]);
}

static void fit_columns(const oif_grid *grid, oif_inner_box inner, const double *box,
                        uint32_t dimension)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        fit_avx2(grid, inner, box, dimension);
        return;
    }
#endif
    for (size_t i = 0; i < dimension; i++)
        fit_column(grid, inner, box, dimension, i);
}

void oif_inner_box_fit(const oif_grid *grid, oif_inner_box inner, const double *box,
                       uint32_t dimension)
{
    fit_columns(grid, inner, box, dimension);
    for (size_t i = dimension; i < oif_inner_box_width(dimension); i++) {
        inner.lows[i] = LOWEST_MARK;
        inner.spans[i] = WHOLE_SPAN;
    }
}

void oif_inner_box_widen(const oif_grid *grid, oif_inner_box inner, double *box,
                         const int16_t *row_marks, const double *mirror, uint32_t dimension)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        widen_avx2(grid, inner, box, row_marks, mirror, dimension);
        return;
    }
#endif
    for (size_t i = 0; i < dimension; i++)
        if (oif_inner_box_excess(inner, row_marks, i))
            widen_column(grid, inner, box, mirror, dimension, i);
}

bool oif_inner_box_is_inside(const oif_grid *grid, oif_inner_box inner, const double *box,
                             uint32_t dimension)
{
    for (uint32_t i = 0; i < dimension && oif_inner_box_width(dimension); i++) {
        const int low = inner.lows[i], high = low + inner.spans[i];
        if (low != OIF_INNER_BOX_NOTHING && !(line_at(grid, i, low / 2.0) >= box[i] &&
                                              line_at(grid, i, high / 2.0) <= -box[dimension + i]))
            return false;
    }
    return true;
}
