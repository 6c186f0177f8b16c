#include "pipeline/judges/period.h"

#include "base/four.h"
#include "base/stable_math.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    SAMPLES = OIF_PERIOD_SAMPLES,
    CHANGES = SAMPLES - 1,
    LATER_LAG = 16, /* the same for longer samples: shorter periods were looked for before */
    LEAST_LAG = 4,  /* samples of a period */
    MOST_LAG = 2 * CHANGES / 5, /* so there are at least two and a half periods */
    LAGS = 2 * MOST_LAG + 2,    /* whose correlation is computed */
    MULTIPLES = 6,              /* of a period that determine it */
    MOST_ROWS_PER_SAMPLE = 1 << 24
};

static const double least_correlation = 0.3;
static const double least_certainty = 6; /* noise has about 10^4 chances to reach it */
static const double as_good = 0.8;       /* a shorter lag is preferred to a longer one */
static const double most_change = 3;     /* larger ones are cut, in mean absolute changes */
static const double near_clock = 0.04;   /* of a period */

static size_t step_of(size_t columns)
{
    return (columns + OIF_PERIOD_COLUMNS - 1) / OIF_PERIOD_COLUMNS;
}

static size_t columns_searched(size_t columns)
{
    return (columns + step_of(columns) - 1) / step_of(columns);
}

size_t oif_period_search_bytes(size_t columns)
{
    const oif_period_search *search = NULL;
    return sizeof *search + columns_searched(columns) * sizeof search->values[0];
}

void oif_period_search_init(oif_period_search *search, size_t columns)
{
    search->step = (uint32_t)step_of(columns);
    search->columns = (uint32_t)columns_searched(columns);
    search->rows_per_sample = 1;
}

static float value_at(const oif_period_search *search, uint32_t column, uint32_t sample)
{
    float value;
    memcpy(&value, &search->values[column][sample], sizeof value);
    return value;
}

static void set_value(oif_period_search *search, uint32_t column, uint32_t sample, double number)
{
    const double most = FLT_MAX / 4; /* so no difference of two overflows */
    const float value = (float)(number > most ? most : number < -most ? -most : number);
    memcpy(&search->values[column][sample], &value, sizeof value);
}

/* ---- Correlation ---- */

/* Sets the changes of a column. Returns false if it hardly ever changes. */
static bool find_changes(oif_period_search *search, uint32_t column)
{
    double sum = 0;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < CHANGES; i++) {
        const double change =
            (double)value_at(search, column, i + 1) - (double)value_at(search, column, i);
        search->changes[i] = change;
        sum += fabs(change);
        changed += change != 0;
    }
    const double most = most_change * sum / CHANGES;
    if (changed < CHANGES / 8 || !(most > DBL_MIN))
        return false;
    for (uint32_t i = 0; i < CHANGES; i++) {
        double change = search->changes[i] / most; /* so no product overflows */
        search->changes[i] = change > 1 ? 1 : change < -1 ? -1 : change;
    }
    return true;
}

OIF_INLINE double product_at(const double *changes, uint32_t lag)
{
    oif_four sums = {0}, later, earlier;
    uint32_t i = lag;
    for (; i + OIF_FOUR <= CHANGES; i += OIF_FOUR) {
        oif_four_load(&later, &changes[i]);
        oif_four_load(&earlier, &changes[i - lag]);
        sums += later * earlier;
    }
    for (; i < CHANGES; i++)
        sums[0] += changes[i] * changes[i - lag];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (CHANGES - lag);
}

OIF_INLINE void correlate_all(const double *changes, double correlations[LAGS + 1])
{
    const double variance = product_at(changes, 0);
    correlations[0] = 1;
    for (uint32_t lag = 1; lag <= LAGS; lag++)
        correlations[lag] = product_at(changes, lag) / variance;
}

OIF_AVX2 static void correlate_avx2(const double *changes, double correlations[LAGS + 1])
{
    correlate_all(changes, correlations);
}

static void correlate_portable(const double *changes, double correlations[LAGS + 1])
{
    correlate_all(changes, correlations);
}

static void correlate(const double *changes, double correlations[LAGS + 1])
{
    (oif_machine_has_avx2() ? correlate_avx2 : correlate_portable)(changes, correlations);
}

static uint32_t highest(const double *numbers, uint32_t first, uint32_t last)
{
    uint32_t best = first;
    for (uint32_t i = first; i <= last; i++)
        if (numbers[i] > numbers[best])
            best = i;
    return best;
}

/* Whether the correlation falls between a lag and twice that lag. In a slow wave all short lags are
 * alike, which is not a period. */
static bool is_hill(const double *correlations, uint32_t lag)
{
    const double lower = 0.5 * correlations[lag];
    for (uint32_t between = lag + 1; between < 2 * lag; between++)
        if (correlations[between] < lower)
            return true;
    return false;
}

/* The shortest lag that is about as good as the best; 0: none. Samples near each other are alike:
 * lags count only after some that were not. */
static uint32_t find_lag(const double *correlations, uint32_t least_lag)
{
    uint32_t first = 1;
    while (first <= MOST_LAG && correlations[first] > 0)
        first++;
    first = first < least_lag ? least_lag : first;
    if (first > MOST_LAG)
        return 0;
    const double enough = as_good * correlations[highest(correlations, first, MOST_LAG)];
    while (first <= MOST_LAG && !(correlations[first] >= enough && is_hill(correlations, first)))
        first++;
    const uint32_t end = first + first / 4; /* of the hill that begins there */
    return first > MOST_LAG ? 0 : highest(correlations, first, end < MOST_LAG ? end : MOST_LAG);
}

/* ---- The period ---- */

static double smooth_at(const double *correlations, uint32_t lag)
{
    const uint32_t next = lag < LAGS ? lag + 1 : lag;
    return (correlations[lag - 1] + 2 * correlations[lag] + correlations[next]) / 4;
}

/* The mean correlation over some multiples of a period, which need not be whole. Later ones would
 * count every row that is missing in the stream. */
static double fit_of(const double *correlations, double period)
{
    double sum = 0;
    uint32_t multiples = 0;
    for (double at = period; at < LAGS && multiples < MULTIPLES; at += period, multiples++) {
        const uint32_t before = (uint32_t)at;
        const double share = at - before, low = smooth_at(correlations, before);
        sum += low + (smooth_at(correlations, before + 1) - low) * share;
    }
    return multiples > 0 ? sum / multiples : 0;
}

/* The best period near the lag. */
static double refine(const double *correlations, uint32_t lag)
{
    const double part = 1.0 / 32, reach = lag < 8 ? 1 : lag / 8.0;
    double best = lag, best_fit = fit_of(correlations, lag);
    for (double period = lag - reach + part; period < lag + reach; period += part) {
        const double fit = fit_of(correlations, period);
        if (fit > best_fit) {
            best_fit = fit;
            best = period;
        }
    }
    return best;
}

/* A whole number of rows. Seconds, minutes, hours, days and weeks in rows of usual lengths are
 * preferred if they fit about as well. */
static double whole_rows(const double *correlations, double period, double rows_per_sample)
{
    static const double clocks[] = {7,   12,  24,  48,   60,   96,   144,  168,  288,   336,
                                    360, 672, 720, 1008, 1440, 2016, 3600, 8640, 10080, 86400};
    const double nearly = 0.9 * fit_of(correlations, period), rows = period * rows_per_sample;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (fabs(rows - clocks[i]) <= near_clock * clocks[i] &&
            fit_of(correlations, clocks[i] / rows_per_sample) >= nearly)
            return clocks[i];
    return (double)(uint64_t)(rows + 0.5);
}

static double find_period(oif_period_search *search)
{
    double correlations[LAGS + 1], best = 0, best_certainty = 0;
    for (uint32_t column = 0; column < search->columns; column++) {
        if (!find_changes(search, column))
            continue;
        correlate(search->changes, correlations);
        const uint32_t lag =
            find_lag(correlations, search->rows_per_sample == 1 ? LEAST_LAG : LATER_LAG);
        if (lag == 0)
            continue;
        const double found = correlations[lag],
                     again = correlations[highest(correlations, 2 * lag - 1, 2 * lag + 1)],
                     certainty = found > 0 ? found * found * (CHANGES - lag) : 0;
        if (found < least_correlation || again < found / 2 ||
            certainty < least_certainty * least_certainty || certainty <= best_certainty)
            continue;
        best_certainty = certainty;
        best = whole_rows(correlations, refine(correlations, lag), (double)search->rows_per_sample);
    }
    memset(search->changes, 0, sizeof search->changes);
    return best;
}

/* ---- Rows ---- */

/* Merges pairs of samples. */
static void halve(oif_period_search *search)
{
    for (uint32_t column = 0; column < search->columns; column++)
        for (uint32_t i = 0; i < SAMPLES / 2; i++)
            set_value(search, column, i,
                      ((double)value_at(search, column, 2 * i) +
                       (double)value_at(search, column, 2 * i + 1)) /
                          2);
    search->samples = SAMPLES / 2;
    search->rows_per_sample *= 2;
}

static void end_sample(oif_period_search *search)
{
    const uint32_t at = search->samples++;
    for (uint32_t column = 0; column < search->columns; column++) {
        const double before = at > 0 ? (double)value_at(search, column, at - 1) : 0;
        set_value(search, column, at,
                  search->counts[column] > 0 ? search->sums[column] / search->counts[column]
                                             : before);
        search->sums[column] = 0;
        search->counts[column] = 0;
    }
    search->rows_in_sample = 0;
}

double oif_period_search_row(oif_period_search *search, const double *row)
{
    const double most = DBL_MAX / 2 / MOST_ROWS_PER_SAMPLE;
    for (uint32_t column = 0; column < search->columns; column++) {
        const double x = row[(size_t)column * search->step];
        if (!(fabs(x) <= most))
            continue;
        search->sums[column] += x;
        search->counts[column]++;
    }
    if (++search->rows_in_sample < search->rows_per_sample)
        return 0;
    end_sample(search);
    if (search->samples < SAMPLES)
        return 0;
    const double found = find_period(search);
    if (search->rows_per_sample < MOST_ROWS_PER_SAMPLE)
        halve(search);
    else
        search->samples = 0;
    return found;
}

/* With many columns, others are searched than before: then the search begins again. */
void oif_period_search_widen(oif_period_search *wide, const oif_period_search *search)
{
    if (wide->step != search->step)
        return;
    wide->samples = search->samples;
    wide->rows_in_sample = search->rows_in_sample;
    wide->rows_per_sample = search->rows_per_sample;
    for (uint32_t column = 0; column < search->columns; column++) {
        wide->sums[column] = search->sums[column];
        wide->counts[column] = search->counts[column];
        memcpy(wide->values[column], search->values[column], sizeof wide->values[column]);
    }
}

/* ---- Snapshots ---- */

/* When the space is full, samples are merged into its first half; the second stays as it is. */
void oif_period_search_unchanged(const oif_period_search *search, const oif_unchanged *unchanged)
{
    const uint32_t half = SAMPLES / 2, end = search->samples;
    const bool was_full = search->rows_per_sample > 1;
    const uint64_t rows_since =
        was_full && end >= half ? (end - half) * search->rows_per_sample + search->rows_in_sample
                                : end;
    if (was_full && rows_since < unchanged->rows)
        return;
    const uint32_t first = unchanged->rows < end ? end - (uint32_t)unchanged->rows : 0;
    for (uint32_t column = 0; column < search->columns; column++) {
        const uint32_t *values = search->values[column];
        oif_unchanged_add(unchanged, values, first * sizeof *values);
        oif_unchanged_add(unchanged, values + end, (SAMPLES - end) * sizeof *values);
    }
}

void oif_period_search_visit_fields(oif_period_search *search, oif_state_visitor *visitor)
{
    oif_visit_u32(visitor, "period_samples", &search->samples, 1);
    oif_visit_u32(visitor, "period_rows_in_sample", &search->rows_in_sample, 1);
    oif_visit_u64(visitor, "period_rows_per_sample", &search->rows_per_sample, 1);
    oif_visit_f64(visitor, "period_sums", search->sums, search->columns);
    oif_visit_u32(visitor, "period_counts", search->counts, search->columns);
    for (uint32_t column = 0; column < search->columns; column++)
        oif_visit_u32(visitor, "period_values", search->values[column], SAMPLES);
}

bool oif_period_search_check(const oif_period_search *search)
{
    const uint64_t rows = search->rows_per_sample;
    if (search->samples >= SAMPLES || rows == 0 || (rows & (rows - 1)) != 0 ||
        rows > MOST_ROWS_PER_SAMPLE || search->rows_in_sample >= rows)
        return false;
    for (uint32_t column = 0; column < search->columns; column++) {
        if (!(fabs(search->sums[column]) <= DBL_MAX) ||
            search->counts[column] > search->rows_in_sample)
            return false;
        for (uint32_t i = 0; i < SAMPLES; i++)
            if (!(fabs((double)value_at(search, column, i)) <= (double)(FLT_MAX / 4)))
                return false;
    }
    return true;
}
