#include "pipeline/senses/season.h"

#include "base/block.h"
#include "base/invariant.h"
#include "base/stable_math.h"
#include "base/vector.h"
#include "detect/row_ranges.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    PHASES = OIF_SEASON_PHASES,
    PERIODS = OIF_SEASON_PERIODS,
    COMPARE_ROWS = 4,   /* between two comparisons with a random phase */
    LEAST_COMPARED = 64 /* needed before any column is judged */
};

static const double quarter = 0.25, most_periods = 0x1p52;

/* ---- Layout ---- */

static uint32_t *history_of(const oif_season *season, uint32_t phase)
{
    uint32_t *history = oif_block_part(season, season->history_at);
    return history + (size_t)phase * PERIODS * season->columns;
}

static double *means_of(const oif_season *season)
{
    return oif_block_part(season, season->means_at);
}

static uint32_t *counts_of(const oif_season *season)
{
    return oif_block_part(season, season->counts_at);
}

static double *own_of(const oif_season *season)
{
    return oif_block_part(season, season->own_at);
}

static double *other_of(const oif_season *season)
{
    return oif_block_part(season, season->other_at);
}

/* Scratch arrays: the expected values of the last row, how much of the difference the slope may
 * explain, and one for temporary use. */
static double *expected_of(const oif_season *season, size_t array)
{
    return (double *)oif_block_part(season, season->expected_at) + array * season->columns;
}

static double *differences_of(const oif_season *season)
{
    return oif_block_part(season, season->differences_at);
}

static oif_row_ranges *ranges_of(const oif_season *season)
{
    return oif_block_part(season, season->ranges_at);
}

/* ---- Creation ---- */

/* Rows per phase, if the period is in rows. */
static double rows_of_phase(const oif_season_options *options)
{
    return (double)(((uint64_t)options->period + PHASES - 1) / PHASES);
}

static uint32_t phases_at_most(const oif_season_options *options)
{
    if (options->in_seconds)
        return PHASES;
    const uint64_t rows = (uint64_t)rows_of_phase(options);
    return (uint32_t)(((uint64_t)options->period + rows - 1) / rows);
}

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
    return s;
}

size_t oif_season_bytes(size_t columns, const oif_season_options *options)
{
    return lay_out(columns, options).bytes;
}

static float float_of_bits(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
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

void oif_season_init(oif_season *season, size_t columns, const oif_season_options *options)
{
    *season = lay_out(columns, options);
    season->phases = options->in_seconds ? 0 : phases_at_most(options);
    season->first_seconds = NAN;
    season->middle = 0.5;
    uint32_t *history = history_of(season, 0);
    for (size_t i = 0; i < columns * phases_at_most(options) * PERIODS; i++)
        history[i] = bits_of_none;
    oif_row_ranges_init(ranges_of(season), columns);
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
    if (!(since >= 0) || (since >= season->options.period && season->first_rows < few_rows)) {
        season->first_seconds = seconds;
        season->first_rows = 0;
    } else if (since >= season->options.period) {
        season->phases = (uint32_t)oif_min_u64(season->first_rows, PHASES);
    }
    season->first_rows++;
}

static place place_by_seconds(oif_season *season, double seconds)
{
    const double periods = seconds / season->options.period;
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
    const uint64_t period = (uint64_t)season->options.period;
    return (place){true, ((double)(season->rows % period) + 0.5) / rows_of_phase(&season->options),
                   season->rows / period};
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
    if (season->options.in_seconds)
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

static bool has_season(const oif_season *season, size_t column)
{
    const double most_share = 0.7;
    return own_of(season)[column] < most_share * other_of(season)[column];
}

/* Judges the columns that have a season. */
static double judge(const oif_season *season, size_t *column, int *direction)
{
    const double *differences = differences_of(season);
    double *judged = expected_of(season, 2);
    if (ranges_of(season)->groups == 0 || season->compared < LEAST_COMPARED ||
        !oif_row_ranges_may_be_outside(ranges_of(season), differences))
        return 0;
    for (size_t j = 0; j < season->columns; j++)
        judged[j] = has_season(season, j) ? differences[j] : NAN;
    size_t worst = 0;
    double squares = oif_row_ranges_worst(ranges_of(season), judged, &worst);
    if (!(squares > 0))
        return 0;
    /* On a slope all differences may be 0, and with them the width of their ranges. Use at least
     * the mean difference before the slope was subtracted. */
    const double widths = fabs(judged[worst]) / own_of(season)[worst];
    squares = widths * widths < squares ? widths * widths : squares;
    *column = worst;
    *direction = judged[worst] > 0 ? 1 : -1;
    return oif_log2(1 + squares / 2);
}

double oif_season_observe(oif_season *season, const double *row, double seconds, size_t *column,
                          int *direction)
{
    const place now =
        season->options.in_seconds ? place_by_seconds(season, seconds) : place_by_rows(season);
    season->rows++;
    season->is_known = now.is_known;
    if (!now.is_known)
        return 0;
    enter(season, &now);
    const bool is_between = find_expected(season, now.at);
    subtract(row, expected_of(season, 0), season->columns, differences_of(season));
    if (is_between)
        allow_slope(expected_of(season, 1), season->columns, differences_of(season));
    return judge(season, column, direction);
}

/* ---- Learning rows ---- */

/* A pseudorandom phase other than the current one. */
static uint32_t other_phase(const oif_season *season)
{
    const uint64_t mixed = (season->rows + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 33;
    return (season->phase + 1 + (uint32_t)(mixed % (season->phases - 1))) % season->phases;
}

static double rows_of_period(const oif_season *season)
{
    return season->options.in_seconds ? (double)season->first_rows : season->options.period;
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
    if (season->phases > 1 && season->rows % COMPARE_ROWS == 0)
        compare_with_other(season, row);
}

/* ---- Snapshots ---- */

void oif_season_visit_fields(oif_season *season, oif_state_visitor *visitor)
{
    const size_t cells = (size_t)phases_at_most(&season->options) * PERIODS * season->columns;
    oif_visit_u64(visitor, "season_rows", &season->rows, 1);
    oif_visit_u32(visitor, "season_phases", &season->phases, 1);
    oif_visit_u32(visitor, "season_phase", &season->phase, 1);
    oif_visit_u32(visitor, "season_slot", &season->slot, 1);
    oif_visit_u64(visitor, "season_compared", &season->compared, 1);
    oif_visit_u64(visitor, "season_first_rows", &season->first_rows, 1);
    oif_visit_f64(visitor, "season_first_seconds", &season->first_seconds, 1);
    oif_visit_f64(visitor, "season_middle", &season->middle, 1);
    oif_visit_u32(visitor, "season_history", history_of(season, 0), cells);
    oif_visit_f64(visitor, "season_means", means_of(season), season->columns);
    oif_visit_u32(visitor, "season_counts", counts_of(season), season->columns);
    oif_visit_f64(visitor, "season_own", own_of(season), season->columns);
    oif_visit_f64(visitor, "season_other", other_of(season), season->columns);
    oif_row_ranges_visit_fields(ranges_of(season), visitor);
}

static bool is_amount(double number)
{
    return number >= 0 && number <= DBL_MAX;
}

static bool has_infinity(const oif_season *season)
{
    const size_t cells = (size_t)phases_at_most(&season->options) * PERIODS * season->columns;
    for (size_t i = 0; i < cells; i++)
        if (isinf(float_of_bits(history_of(season, 0)[i])))
            return true;
    for (size_t j = 0; j < season->columns; j++)
        if (!(fabs(means_of(season)[j]) <= DBL_MAX && is_amount(own_of(season)[j]) &&
              is_amount(other_of(season)[j])))
            return true;
    return false;
}

oif_status oif_season_check(const oif_season *season, oif_error *error)
{
    const oif_check check = {error, NULL, 0};
    const uint32_t most = phases_at_most(&season->options);
    OIF_REQUIRE(&check,
                season->options.in_seconds ? season->phases <= most : season->phases == most,
                "a season has phases that its period does not allow");
    OIF_REQUIRE(&check, season->phase < oif_max_u32(season->phases, 1) && season->slot < PERIODS,
                "a season is in a phase that it does not have");
    OIF_REQUIRE(&check, !isinf(season->first_seconds), "a season began at no time");
    OIF_REQUIRE(&check, season->middle >= 0 && season->middle <= 1,
                "the middle of a phase is outside of it");
    OIF_REQUIRE(&check, !has_infinity(season), "a number of a past period is infinite");
    return oif_row_ranges_check(ranges_of(season), error);
}
