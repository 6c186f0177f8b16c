/* Seasons: following rows, judging, learning. season_fields.c has snapshots and checks. */
#include "pipeline/judges/season_layout.h"

#include "base/stable_math.h"

#include <float.h>
#include <math.h>

enum {
    COMPARE_ROWS = 4,   /* between two comparisons with a random phase */
    LEAST_COMPARED = 64 /* needed before any column is judged */
};

static const double quarter = 0.25, most_periods = 0x1p52;
static const double at_usual = 0.5, per_octave = 3; /* severity: docs/algorithms/judges.md */
static const double more_for_shapes = 1.5;          /* shapes are never more than twice unlike */
/* The strength of a season whose values, and whose shape, are judged; a stronger one than `certain`
 * counts no more. */
static const double least_strength = 0.05, least_for_shapes = 0.3, certain = 0.3;

/* ---- Creation ---- */

static oif_season lay_out(size_t columns, const oif_season_options *options)
{
    oif_season s = {.options = *options, .columns = columns, .bytes = oif_size_align(sizeof s)};
    const size_t cells = oif_size_multiply(columns, (size_t)phases_at_most(options) * PERIODS);
    s.columns_at = oif_size_append(&s.bytes, columns, sizeof(oif_season_column));
    s.expected_at = oif_size_append(&s.bytes, columns, ARRAYS * sizeof(double));
    s.history_at = oif_size_append(&s.bytes, cells, sizeof(uint32_t));
    s.search_at =
        oif_size_append(&s.bytes, options->period == 0 ? oif_period_search_bytes(columns) : 0, 1);
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
    for (size_t j = 0; j < season->columns; j++) {
        oif_season_column *c = column_of(season, j);
        if (c->count > 0)
            cells[j] = bits_of_float(c->mean);
        c->count = 0;
    }
}

static void learn_phase(oif_season_column *c, double x)
{
    c->mean = c->count++ == 0 ? x : c->mean + (x - c->mean) / (double)c->count;
}

/* ---- What is expected ---- */

static float smaller(float a, float b)
{
    return a < b ? a : b;
}

static float larger(float a, float b)
{
    return a < b ? b : a;
}

/* A missing value counts as infinity, beyond all others. */
static float cell_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number == number ? number : (float)INFINITY;
}

/* The medians of a phase in up to three periods; NaN if there are fewer than two. Computes
 * every case, then selects, so compilers can vectorise it. */
static void medians_of_phase(const oif_season *season, uint32_t phase, double *restrict medians)
{
    const size_t columns = season->columns;
    const float none = (float)INFINITY;
    const uint32_t *first = history_of(season, phase), *second = first + columns,
                   *third = second + columns;
    for (size_t j = 0; j < columns; j++) {
        const float a = cell_of(first[j]), b = cell_of(second[j]), c = cell_of(third[j]);
        const float low = smaller(a, b), high = larger(a, b), lowest = smaller(low, c),
                    highest = larger(high, c), middle = larger(low, smaller(high, c));
        const float of_two = middle < none ? lowest * 0.5F + middle * 0.5F : (float)NAN;
        medians[j] = highest < none ? middle : of_two;
    }
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

/* Computes the expected values, and how much of a difference the slope may explain: nothing in the
 * middle of a phase. */
static void find_expected(const oif_season *season, double at)
{
    const double least_share = 0x1p-20;
    double *expected = expected_of(season, EXPECTED), *slope = expected_of(season, SLOPE),
           *before = expected_of(season, OTHER);
    double from = at - season->middle;
    from += from < 0 ? season->phases : 0;
    const uint32_t phase = oif_min_u32((uint32_t)from, season->phases - 1);
    const double share = from - phase;
    medians_of_phase(season, phase, expected);
    memset(slope, 0, season->columns * sizeof *slope);
    if (!(share > least_share))
        return;
    medians_of_phase(season, (phase + 1) % season->phases, slope);
    medians_of_phase(season, (phase + season->phases - 1) % season->phases, before);
    interpolate(expected, slope, before, share, season->columns);
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

double oif_season_difference(const oif_season *season, size_t column, double value)
{
    const double x = value * quarter - expected_of(season, EXPECTED)[column],
                 allowed = expected_of(season, SLOPE)[column],
                 size = allowed == allowed ? fabs(x) - allowed : fabs(x);
    if (!(size > 0))
        return x != x ? x : 0;
    return copysign(size < OIF_MOST_MAGNITUDE ? size : OIF_MOST_MAGNITUDE, x);
}

/* ---- Judging ---- */

/* The strength of the season in a column: 0 for none. */
static double strength_of(const oif_season *season, size_t column)
{
    const oif_season_column *c = column_of(season, column);
    return c->own < c->other ? 1 - c->own / c->other : 0;
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

static double rows_of_period(const oif_season *season)
{
    return season->in_seconds ? (double)season->first_rows : season->period;
}

/* On a slope all differences may be 0, and with them the usual one. So that is at least the mean
 * difference before the slope was subtracted. */
static double usual_difference(const oif_season_column *c)
{
    return c->difference.size > c->own ? c->difference.size : c->own;
}

static bool is_judged(const oif_season *season, const oif_usual_size *usual)
{
    return season->compared >= LEAST_COMPARED && usual->count >= OIF_USUAL_FIRST;
}

static double severity_of(double times)
{
    return at_usual + per_octave * oif_log2(times < OIF_MOST_TIMES ? times : OIF_MOST_TIMES);
}

/* `usual`: the usual difference; NaN if it is not the size of the difference that is unusual. */
static void report(oif_finding *found, double severity, size_t column, double difference,
                   double usual)
{
    if (severity > found->severity)
        *found = (oif_finding){.severity = severity,
                               .size = usual == usual ? fabs(difference) / quarter : NAN,
                               .usual = usual / quarter,
                               .reason = OIF_REASON_SEASON,
                               .direction = (difference > 0) - (difference < 0),
                               .column = (uint32_t)column};
}

/* How far is a value from the expected one? A weak season counts less. */
static void judge_value(const oif_season *season, size_t column, double value, oif_finding *found)
{
    const oif_season_column *c = column_of(season, column);
    const double difference = oif_season_difference(season, column, value),
                 usual = usual_difference(c);
    if (!(fabs(difference) > usual) || !is_judged(season, &c->difference))
        return;
    const double strength = strength_of(season, column), weight = strength / certain;
    if (strength > least_strength)
        report(found, severity_of(fabs(difference) / usual * (weight < 1 ? weight : 1)), column,
               difference, usual);
}

/* The product of the standard deviations of a shape; 0: unknown. */
static double deviations_of(const oif_season_shape *shape, double memory)
{
    const double both = shape->x_squares * shape->y_squares;
    return shape->rows >= memory && both >= DBL_MIN && both <= DBL_MAX ? oif_sqrt(both) : 0;
}

/* From 0, the same shape, to 2, that upside down. */
static double unlikeness_of(const oif_season_shape *shape, double deviations)
{
    const double unlikeness = 1 - shape->products / deviations;
    return unlikeness > 0 ? unlikeness : 0;
}

static double rows_of_shape(const oif_season *season)
{
    const double third = rows_of_period(season) / 3;
    return third > 4 ? third : 4;
}

/* How alike are the last rows and the expected ones? More alike than usual is harmless, and so is a
 * row that moves as expected while those before it did not. */
static void judge_shape(const oif_season *season, size_t column, double value, double moved,
                        oif_finding *found)
{
    const double alike = 0.3, against = -0.5;
    const oif_season_column *c = column_of(season, column);
    const double deviations = deviations_of(&c->shape, rows_of_shape(season));
    if (!(deviations > 0 && c->shape.products < alike * deviations &&
          moved < against * deviations) ||
        !is_judged(season, &c->unlikeness) || !(strength_of(season, column) > least_for_shapes))
        return;
    const double times = oif_usual_times(&c->unlikeness, unlikeness_of(&c->shape, deviations));
    report(found, more_for_shapes + severity_of(times), column,
           oif_season_difference(season, column, value), NAN);
}

/* Correlates the last rows with the expected ones. Returns the product of this row. */
static double follow_shape(oif_season_shape *shape, double x, double y, double memory)
{
    if (!(fabs(x) < most_distance && fabs(y) < most_distance))
        return 0;
    shape->rows += shape->rows < memory;
    const double weight = 1 / shape->rows, keep = 1 - weight, from_x = x - shape->x,
                 from_y = y - shape->y;
    shape->x += weight * from_x;
    shape->y += weight * from_y;
    shape->x_squares = keep * (shape->x_squares + weight * from_x * from_x);
    shape->y_squares = keep * (shape->y_squares + weight * from_y * from_y);
    shape->products = keep * (shape->products + weight * from_x * from_y);
    return from_x * from_y;
}

static void judge_row(oif_season *season, const double *row, oif_finding *found)
{
    const double *expected = expected_of(season, EXPECTED), memory = rows_of_shape(season);
    for (size_t j = 0; j < season->columns; j++) {
        judge_value(season, j, row[j], found);
        const double moved =
            follow_shape(&column_of(season, j)->shape, row[j] * quarter, expected[j], memory);
        if (moved < 0)
            judge_shape(season, j, row[j], moved, found);
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

void oif_season_observe(oif_season *season, const double *row, double seconds, oif_finding *found)
{
    if (is_searched_for(season))
        search_period(season, row, seconds);
    season->rows++;
    season->is_known = 0;
    if (season->period == 0)
        return;
    const place now =
        season->in_seconds ? place_by_seconds(season, seconds) : place_by_rows(season);
    season->is_known = now.is_known;
    if (!now.is_known)
        return;
    enter(season, &now);
    find_expected(season, now.at);
    judge_row(season, row, found);
}

void oif_season_pass(oif_season *season)
{
    season->rows++;
    season->is_known = 0;
}

bool oif_season_expected(const oif_season *season, size_t column, double *low, double *high)
{
    const oif_season_column *c = column_of(season, column);
    const double predicted = expected_of(season, EXPECTED)[column] / quarter,
                 usual = usual_difference(c) / quarter;
    if (!season->is_known || c->difference.count < OIF_USUAL_FIRST)
        return false;
    *low = predicted - usual;
    *high = predicted + usual;
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
    const double *expected = expected_of(season, EXPECTED);
    double *medians = expected_of(season, OTHER);
    medians_of_phase(season, other_phase(season), medians);
    season->compared++;
    for (size_t j = 0; j < season->columns; j++) {
        oif_season_column *c = column_of(season, j);
        const double x = row[j] * quarter, near = fabs(x - expected[j]), far = fabs(x - medians[j]);
        if (near == near && far == far) {
            c->own += (near - c->own) * weight;
            c->other += (far - c->other) * weight;
        }
    }
}

static void learn_value(oif_season *season, size_t column, double value, bool is_compared)
{
    oif_season_column *c = column_of(season, column);
    const double difference = oif_season_difference(season, column, value);
    learn_phase(c, value * quarter);
    if (difference != difference)
        return;
    /* Differences of neighbouring rows are alike: a holiday is one, and not 48 usual ones. */
    oif_usual_learn(&c->difference, fabs(difference), is_compared);
    if (!is_compared)
        return;
    const double deviations = deviations_of(&c->shape, rows_of_shape(season));
    if (deviations > 0)
        oif_usual_learn(&c->unlikeness, unlikeness_of(&c->shape, deviations), true);
}

void oif_season_learn(oif_season *season, const double *row)
{
    const bool is_compared = season->rows % COMPARE_ROWS == 0;
    if (!season->is_known)
        return;
    for (size_t j = 0; j < season->columns; j++)
        if (row[j] == row[j])
            learn_value(season, j, row[j], is_compared);
    if (season->phases > 1 && is_compared)
        compare_with_other(season, row);
}

/* ---- What rows change ---- */

/* Phases that the period does not have are blank, but those of the period before it may not have
 * been. */
static void report_phases(const oif_season *season, const oif_unchanged *unchanged)
{
    const unsigned char *end = oif_block_part(season, season->search_at),
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
