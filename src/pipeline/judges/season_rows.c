/* Seasons: following rows, judging, learning. season_fields.c has snapshots and checks. */
#include "pipeline/judges/season_layout.h"

#include "base/stable_math.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>

enum {
    COMPARE_ROWS = 4,   /* between two comparisons with a random phase */
    LEAST_COMPARED = 64 /* needed before any column is judged */
};

static const double quarter = 0.25, most_periods = 0x1p52;
/* The strength of a season whose values, and whose shape, are judged. */
static const double least_strength = 0.05, least_for_shapes = 0.3;

/* ---- Creation ---- */

static oif_season lay_out(size_t columns, const oif_season_options *options)
{
    oif_season s = {.options = *options, .columns = columns, .bytes = oif_size_align(sizeof s)};
    size_t cells = oif_size_multiply(columns, (size_t)phases_at_most(options) * PERIODS);
    s.history_at = oif_size_append(&s.bytes, cells, sizeof(uint32_t));
    s.means_at = oif_size_append(&s.bytes, columns, sizeof(double));
    s.counts_at = oif_size_append(&s.bytes, columns, sizeof(uint32_t));
    s.own_at = oif_size_append(&s.bytes, columns, sizeof(double));
    s.other_at = oif_size_append(&s.bytes, columns, sizeof(double));
    s.cells_at = oif_size_append(&s.bytes, columns, PERIODS * sizeof(float));
    s.expected_at = oif_size_append(&s.bytes, columns, 3 * sizeof(double));
    s.differences_at = oif_size_append(&s.bytes, columns, sizeof(double));
    s.ranges_at = oif_size_append(&s.bytes, oif_row_ranges_bytes(columns), 1);
    s.shapes_at = oif_size_append(&s.bytes, columns, sizeof(oif_season_shape));
    s.likeness_at = oif_size_append(&s.bytes, columns, sizeof(double));
    s.alike_at = oif_size_append(&s.bytes, oif_row_ranges_bytes(columns), 1);
    s.search_at =
        oif_size_append(&s.bytes, options->period == 0 ? sizeof(oif_period_search) : 0, 1);
    return s;
}

size_t oif_season_bytes(size_t columns, const oif_season_options *options)
{
    return lay_out(columns, options).bytes;
}

static const uint32_t bits_of_none = 0x7fc00000; /* a NaN */

static uint32_t bits_of_float(double number)
{
    const double most = FLT_MAX;
    float kept = (float)(number > most ? most : number < -most ? -most : number);
    uint32_t bits;
    memcpy(&bits, &kept, sizeof bits);
    return bits;
}

static void fill_with(double *numbers, size_t count, double number)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = number;
}

/* Starts a season of the period, with everything after the head blank except for the search. */
static void start(oif_season *season)
{
    const size_t columns = season->columns;
    uint32_t *history = history_of(season, 0);
    season->phase = season->slot = season->is_known = 0;
    season->compared = 0;
    season->middle = 0.5;
    for (size_t i = 0; i < columns * phases_at_most(&season->options) * PERIODS; i++)
        history[i] = bits_of_none;
    fill_with(differences_of(season), columns, NAN);
    fill_with(likeness_of(season), columns, NAN);
    oif_row_ranges_init(ranges_of(season), columns);
    oif_row_ranges_init(alike_of(season), columns);
}

void oif_season_init(oif_season *season, size_t columns, const oif_season_options *options)
{
    *season = lay_out(columns, options);
    season->period = options->period;
    season->in_seconds = options->in_seconds;
    season->phases = season->in_seconds || season->period == 0 ? 0 : phases_at_most(options);
    season->first_seconds = season->last_seconds = NAN;
    start(season);
    if (is_searched_for(season))
        oif_period_search_init(search_of(season), columns);
}

/* ---- Time ---- */

/* The position of a row in its period, in phases, and the number of that period. */
typedef struct place {
    bool is_known;
    double at;
    uint64_t period;
} place;

/* Counts the rows of the first period. */
static void count_first_rows(oif_season *season, double seconds)
{
    const double since = seconds - season->first_seconds;
    const uint64_t few_rows = 4; /* in a whole period: its first row had a wrong time */
    if (!(since >= 0) || (since >= season->period && season->first_rows < few_rows)) {
        season->first_seconds = seconds;
        season->first_rows = 0;
    } else if (since >= season->period) {
        season->phases = (uint32_t)oif_min_u64(season->first_rows, PHASES);
    }
    season->first_rows++;
}

static place place_by_seconds(oif_season *season, double seconds)
{
    const double periods = seconds / season->period;
    if (!(fabs(periods) < most_periods))
        return (place){.is_known = false};
    if (season->phases == 0)
        count_first_rows(season, seconds);
    int64_t whole = (int64_t)periods;
    whole -= (double)whole > periods;
    const double at = (periods - (double)whole) * season->phases;
    return (place){season->phases > 0, at, (uint64_t)whole};
}

static place place_by_rows(const oif_season *season)
{
    const uint64_t period = (uint64_t)season->period;
    return (place){true,
                   ((double)((season->rows - 1) % period) + 0.5) / rows_of_phase(season->period),
                   (season->rows - 1) / period};
}

/* ---- The history ---- */

/* Stores the means of the phase that has ended. A column without learned values keeps those of an
 * older period. */
static void keep_means(oif_season *season)
{
    uint32_t *cells = history_of(season, season->phase) + season->slot * season->columns;
    uint32_t *counts = counts_of(season);
    for (size_t j = 0; j < season->columns; j++)
        if (counts[j] > 0)
            cells[j] = bits_of_float(means_of(season)[j]);
    memset(counts, 0, season->columns * sizeof *counts);
}

static void learn_phase(oif_season *season, const double *row)
{
    double *means = means_of(season);
    uint32_t *counts = counts_of(season);
    for (size_t j = 0; j < season->columns; j++) {
        const double x = row[j] * quarter;
        if (x != x)
            continue;
        if (counts[j]++ == 0)
            means[j] = x;
        else
            means[j] += (x - means[j]) / counts[j];
    }
}

/* ---- Judging ---- */

OIF_INLINE float smaller(float a, float b)
{
    return a < b ? a : b;
}

OIF_INLINE float larger(float a, float b)
{
    return a < b ? b : a;
}

/* The medians of up to four values each; NaN if there are fewer than two. A missing value counts as
 * infinity, beyond all others. */
OIF_INLINE void find_medians(const float *restrict cells, size_t columns, double *restrict medians)
{
    const float *first = cells, *second = cells + columns, *third = second + columns,
                *fourth = third + columns;
    for (size_t j = 0; j < columns; j++) {
        const float none = (float)INFINITY;
        const float a = first[j] == first[j] ? first[j] : none,
                    b = second[j] == second[j] ? second[j] : none,
                    c = third[j] == third[j] ? third[j] : none,
                    d = fourth[j] == fourth[j] ? fourth[j] : none;
        const float low = smaller(a, b), high = larger(a, b), other_low = smaller(c, d),
                    other_high = larger(c, d);
        const float lowest = smaller(low, other_low), x = larger(low, other_low),
                    y = smaller(high, other_high), highest = larger(high, other_high);
        const float one = smaller(x, y), two = larger(x, y);
        /* lowest <= one <= two <= highest. Computes every case, then selects, so compilers can
         * vectorise it. */
        const float of_four = one * 0.5F + two * 0.5F, of_two = lowest * 0.5F + one * 0.5F;
        const float up_to_three = two < none ? one : of_two;
        const float median = highest < none ? of_four : up_to_three;
        medians[j] = one < none ? median : (float)NAN;
    }
}

static void find_medians_portable(const float *cells, size_t columns, double *medians)
{
    find_medians(cells, columns, medians);
}

OIF_AVX2 static void find_medians_avx2(const float *cells, size_t columns, double *medians)
{
    find_medians(cells, columns, medians);
}

static void medians_of_phase(const oif_season *season, uint32_t phase, double *medians)
{
    const size_t columns = season->columns;
    float *cells = oif_block_part(season, season->cells_at);
    memcpy(cells, history_of(season, phase), PERIODS * columns * sizeof *cells);
    (oif_machine_has_avx2() ? find_medians_avx2 : find_medians_portable)(cells, columns, medians);
}

/* Interpolates between the medians of two phases; if one has none, takes the other. `slope` has the
 * medians of the second phase, and gets the difference of the two, or of the first and `before` if
 * that is larger: at a peak two phases may be equal. */
static void interpolate(double *restrict expected, double *restrict slope,
                        const double *restrict before, double share, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        const double a = expected[j], b = slope[j], rise = fabs(b - a),
                     earlier = fabs(a - before[j]);
        expected[j] = a != a ? b : b != b ? a : a + (b - a) * share;
        slope[j] = earlier > rise || rise != rise ? earlier : rise;
    }
}

/* Computes the expected values. Returns whether the position is between the middles of two
 * phases. */
static bool find_expected(const oif_season *season, double at)
{
    const double least_share = 0x1p-20;
    double *expected = expected_of(season, 0), *slope = expected_of(season, 1),
           *before = expected_of(season, 2);
    double from = at - season->middle;
    from += from < 0 ? season->phases : 0;
    const uint32_t phase = oif_min_u32((uint32_t)from, season->phases - 1);
    const double share = from - phase;
    medians_of_phase(season, phase, expected);
    if (!(share > least_share))
        return false;
    medians_of_phase(season, (phase + 1) % season->phases, slope);
    medians_of_phase(season, (phase + season->phases - 1) % season->phases, before);
    interpolate(expected, slope, before, share, season->columns);
    return true;
}

/* Moves to the phase of the row. */
static void enter(oif_season *season, const place *now)
{
    const uint32_t phase = oif_min_u32((uint32_t)now->at, season->phases - 1),
                   slot = (uint32_t)(now->period % PERIODS);
    if (phase != season->phase || slot != season->slot)
        keep_means(season);
    season->phase = phase;
    season->slot = slot;
    if (season->in_seconds)
        season->middle += (now->at - phase - season->middle) / PERIODS;
}

OIF_INLINE void subtract(const double *restrict row, const double *restrict expected,
                         size_t columns, double *restrict differences)
{
    for (size_t j = 0; j < columns; j++)
        differences[j] = row[j] * quarter - expected[j];
}

/* Removes the part of each difference that the slope may explain. */
static void allow_slope(const double *restrict slope, size_t columns, double *restrict differences)
{
    for (size_t j = 0; j < columns; j++) {
        const double x = differences[j], allowed = slope[j] == slope[j] ? slope[j] : 0,
                     size = fabs(x) - allowed, left = size > 0 ? size : 0;
        differences[j] = x != x ? x : x < 0 ? -left : left;
    }
}

static uint64_t count_present(const double *numbers, size_t columns)
{
    uint64_t count = 0;
    for (size_t j = 0; j < columns; j++)
        count += numbers[j] == numbers[j];
    return count;
}

/* The strength of the season in a column: 0 for none. */
static double strength_of(const oif_season *season, size_t column)
{
    const double own = own_of(season)[column], other = other_of(season)[column];
    return own < other ? 1 - own / other : 0;
}

double oif_season_strength(const oif_season *season, size_t *column)
{
    double most = 0;
    for (size_t j = 0; j < season->columns && season->compared >= LEAST_COMPARED; j++)
        if (strength_of(season, j) > most) {
            most = strength_of(season, j);
            *column = j;
        }
    return most;
}

static bool may_be_unusual(const oif_row_ranges *ranges, const double *row)
{
    return ranges->groups > 0 && oif_row_ranges_may_be_outside(ranges, row);
}

/* Judges how far the values are from the expected ones. */
static double judge_values(const oif_season *season, size_t *column, int *direction)
{
    const double whole = 0.3; /* a stronger season counts no more */
    const double *differences = differences_of(season);
    double *judged = expected_of(season, 2);
    if (!may_be_unusual(ranges_of(season), differences))
        return 0;
    for (size_t j = 0; j < season->columns; j++)
        judged[j] = strength_of(season, j) > least_strength ? differences[j] : NAN;
    size_t worst = 0;
    double squares = oif_row_ranges_worst(ranges_of(season), judged, &worst);
    if (!(squares > 0))
        return 0;
    /* On a slope all differences may be 0, and with them the width of their ranges. Use at least
     * the mean difference before the slope was subtracted. */
    const double widths = fabs(judged[worst]) / own_of(season)[worst],
                 weight = strength_of(season, worst) / whole;
    squares = widths * widths < squares ? widths * widths : squares;
    *column = worst;
    *direction = judged[worst] > 0 ? 1 : -1;
    return oif_log2(1 + (weight < 1 ? weight * weight * squares : squares) / 2);
}

/* Judges how alike the last rows and the expected ones are. More alike than usual is harmless, and
 * so is a row that moves as expected while those before it did not. */
static double judge_shapes(const oif_season *season, size_t *column)
{
    const double alike = 0.3, against = -0.5;
    const double *likeness = likeness_of(season);
    double *judged = expected_of(season, 2);
    if (!may_be_unusual(alike_of(season), likeness))
        return 0;
    for (size_t j = 0; j < season->columns; j++)
        judged[j] = likeness[j] < alike && shapes_of(season)[j].last < against &&
                            strength_of(season, j) > least_for_shapes
                        ? likeness[j]
                        : NAN;
    size_t worst = *column;
    const double squares = oif_row_ranges_worst(alike_of(season), judged, &worst);
    *column = worst;
    return oif_log2(1 + squares / 2);
}

static double judge(const oif_season *season, size_t *column, int *direction)
{
    if (season->compared < LEAST_COMPARED)
        return 0;
    size_t shape_column = *column;
    const double by_values = judge_values(season, column, direction),
                 by_shapes = judge_shapes(season, &shape_column);
    if (!(by_shapes > by_values))
        return by_values;
    *column = shape_column;
    const double difference = differences_of(season)[shape_column];
    *direction = (difference > 0) - (difference < 0);
    return by_shapes;
}

static double rows_of_period(const oif_season *season)
{
    return season->in_seconds ? (double)season->first_rows : season->period;
}

/* Correlates the last rows with the expected ones. */
static void follow_shapes(const oif_season *season, const double *row)
{
    const double third = rows_of_period(season) / 3, memory = third > 4 ? third : 4;
    const double *expected = expected_of(season, 0);
    for (size_t j = 0; j < season->columns; j++) {
        oif_season_shape *shape = &shapes_of(season)[j];
        const double x = row[j] * quarter, y = expected[j];
        double *likeness = &likeness_of(season)[j];
        *likeness = NAN;
        if (!(fabs(x) < most_distance && fabs(y) < most_distance))
            continue;
        shape->rows += shape->rows < memory;
        const double weight = 1 / shape->rows, keep = 1 - weight, from_x = x - shape->x,
                     from_y = y - shape->y;
        shape->x += weight * from_x;
        shape->y += weight * from_y;
        shape->x_squares = keep * (shape->x_squares + weight * from_x * from_x);
        shape->y_squares = keep * (shape->y_squares + weight * from_y * from_y);
        shape->products = keep * (shape->products + weight * from_x * from_y);
        const double both = shape->x_squares * shape->y_squares;
        if (!(shape->rows >= memory && both >= DBL_MIN && both <= DBL_MAX))
            continue;
        shape->last = from_x * from_y / oif_sqrt(both);
        *likeness = shape->products / oif_sqrt(both);
    }
}

/* ---- The period ---- */

/* A period in rows that is near one of a clock, in seconds; otherwise 0. */
static double clock_seconds(double rows, double pause)
{
    static const double clocks[] = {3600, 86400, 604800};
    const double near = 0.04;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (fabs(rows * pause - clocks[i]) <= near * clocks[i])
            return clocks[i];
    return 0;
}

/* Starts again with a period that was found, unless the current one is good or too young to
 * judge. */
static void adopt(oif_season *season, double rows)
{
    const double strong = 0.5;
    size_t column;
    const bool is_young = season->phases > 0 && season->compared < LEAST_COMPARED;
    if (is_young || oif_season_strength(season, &column) >= strong)
        return;
    const double seconds = clock_seconds(rows, season->pause),
                 period = seconds > 0 ? seconds : rows;
    if (period == season->period && (seconds > 0) == season->in_seconds)
        return;
    unsigned char *blank = (unsigned char *)(season + 1),
                  *search = (unsigned char *)search_of(season);
    memset(blank, 0, (size_t)(search - blank));
    season->period = period;
    season->in_seconds = seconds > 0;
    season->phases = phases_of_rows(rows);
    season->first_rows = (uint64_t)rows;
    start(season);
}

static void follow_pause(oif_season *season, double seconds)
{
    const double step = seconds - season->last_seconds, most = 4 * season->pause;
    if (seconds == seconds)
        season->last_seconds = seconds;
    if (!(step > 0))
        return;
    season->pause = season->pause > 0
                        ? season->pause + ((step < most ? step : most) - season->pause) / 64
                        : step;
}

static void search_period(oif_season *season, const double *row, double seconds)
{
    follow_pause(season, seconds);
    const double rows = oif_period_search_row(search_of(season), row);
    if (rows > 0)
        adopt(season, rows);
}

/* ---- Observing ---- */

double oif_season_observe(oif_season *season, const double *row, double seconds, size_t *column,
                          int *direction)
{
    if (is_searched_for(season))
        search_period(season, row, seconds);
    season->rows++;
    season->is_known = 0;
    if (season->period == 0)
        return 0;
    const place now =
        season->in_seconds ? place_by_seconds(season, seconds) : place_by_rows(season);
    season->is_known = now.is_known;
    if (!now.is_known)
        return 0;
    enter(season, &now);
    const bool is_between = find_expected(season, now.at);
    subtract(row, expected_of(season, 0), season->columns, differences_of(season));
    if (is_between)
        allow_slope(expected_of(season, 1), season->columns, differences_of(season));
    follow_shapes(season, row);
    return judge(season, column, direction);
}

void oif_season_pass(oif_season *season)
{
    season->rows++;
    season->is_known = 0;
}

bool oif_season_expected(const oif_season *season, size_t column, double *low, double *high)
{
    const double predicted = expected_of(season, 0)[column] / quarter;
    if (!season->is_known || !oif_row_ranges_usual(ranges_of(season), column, low, high))
        return false;
    *low = predicted + *low / quarter;
    *high = predicted + *high / quarter;
    return isfinite(*low) && isfinite(*high);
}

/* ---- Learning rows ---- */

/* A pseudorandom phase other than the current one. */
static uint32_t other_phase(const oif_season *season)
{
    const uint64_t mixed = (season->rows + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 33;
    return (season->phase + 1 + (uint32_t)(mixed % (season->phases - 1))) % season->phases;
}

/* Older rows count less, to 1/e after four periods. */
static void compare_with_other(oif_season *season, const double *row)
{
    const double least_memory = 256, period = rows_of_period(season),
                 memory = period > least_memory ? period : least_memory;
    const double age = (double)season->compared + 1, weight = 1 / (age < memory ? age : memory);
    const double *expected = expected_of(season, 0);
    double *medians = expected_of(season, 2), *own = own_of(season), *other = other_of(season);
    medians_of_phase(season, other_phase(season), medians);
    season->compared++;
    for (size_t j = 0; j < season->columns; j++) {
        const double x = row[j] * quarter, near = fabs(x - expected[j]), far = fabs(x - medians[j]);
        if (near == near && far == far) {
            own[j] += (near - own[j]) * weight;
            other[j] += (far - other[j]) * weight;
        }
    }
}

void oif_season_learn(oif_season *season, const double *row)
{
    const double *differences = differences_of(season);
    if (!season->is_known)
        return;
    learn_phase(season, row);
    const uint64_t present = count_present(differences, season->columns);
    if (present == 0)
        return;
    oif_row_ranges_learn(ranges_of(season), differences, present == season->columns);
    const uint64_t alike = count_present(likeness_of(season), season->columns);
    if (alike > 0)
        oif_row_ranges_learn(alike_of(season), likeness_of(season), alike == season->columns);
    if (season->phases > 1 && season->rows % COMPARE_ROWS == 0)
        compare_with_other(season, row);
}

/* ---- What rows change ---- */

/* Phases that the period does not have are blank, but those of the period before it may not have
 * been. */
static void report_phases(const oif_season *season, const oif_unchanged *unchanged)
{
    const unsigned char *end = (const unsigned char *)means_of(season),
                        *used = (const unsigned char *)history_of(season, season->phases);
    if (!is_searched_for(season) || unchanged->rows == OIF_ALL_ROWS ||
        season->compared > unchanged->rows)
        oif_unchanged_add(unchanged, used, (size_t)(end - used));
}

void oif_season_unchanged(const oif_season *season, const oif_unchanged *unchanged)
{
    const unsigned char *head_end = (const unsigned char *)(season + 1),
                        *search = (const unsigned char *)search_of(season);
    if (is_searched_for(season))
        oif_period_search_unchanged(search_of(season), unchanged);
    if (season->period == 0)
        oif_unchanged_add(unchanged, head_end, (size_t)(search - head_end));
    else
        report_phases(season, unchanged);
}
