#include "season_period.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { LEAST_BLOCKS = 64, LEAST_PERIOD = 4 };

static const double least_correlation = 0.3;
static const double least_certainty = 5; /* noise has about 10^5 chances to reach it */
static const double as_good = 0.8;       /* a shorter lag is preferred to a longer one */
static const double nearly = 0.97;       /* and a usual period to one that no clock has */
static const double least_fit = 0.2;     /* of a period; a cycle that wanders has less */
static const double fits_as_well = 0.6;  /* a shorter period is preferred to a longer one */

typedef struct ranked {
    double value;
    size_t at;
} ranked;

/* Memory for a series: its changes and their autocorrelations. */
typedef struct search {
    double *values; /* without missing ones */
    size_t count;
    ranked *order;
    double *changes;
    size_t change_count;
    double variance;      /* of the changes */
    double *correlations; /* by lag */
} search;

/* ---- Changes ---- */

/* A number that is missing, or infinite, is the one before it; at the start, the one after. Returns
 * false if all are. */
static bool fill_missing(double *filled, const double *values, size_t count)
{
    size_t first = 0;
    while (first < count && !isfinite(values[first]))
        first++;
    double last = first < count ? values[first] : 0;
    for (size_t i = 0; i < count; i++) {
        last = isfinite(values[i]) ? values[i] : last;
        filled[i] = last;
    }
    return first < count;
}

/* Divided before it is added, so the sum of huge numbers does not overflow. */
static double mean_of(const double *values, size_t count)
{
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    return mean;
}

static int compare_ranked(const void *left, const void *right)
{
    double a = ((const ranked *)left)->value, b = ((const ranked *)right)->value;
    return (a > b) - (a < b);
}

/* Ranks around 0 instead of the changes; equal ones share their mean rank. */
static void rank_changes(search *in)
{
    size_t count = in->change_count;
    qsort(in->order, count, sizeof *in->order, compare_ranked);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && in->order[end].value == in->order[first].value;)
            end++;
        for (size_t i = first; i < end; i++)
            in->changes[in->order[i].at] = ((double)(first + end) - (double)count) / 2;
    }
}

/* ---- Autocorrelation ---- */

static double product_at(const search *in, size_t lag)
{
    double sum = 0;
    for (size_t i = lag; i < in->change_count; i++)
        sum += in->changes[i] * in->changes[i - lag];
    return sum / (double)(in->change_count - lag);
}

/* From each block to the next one, where blocks begin every `step` rows. */
static void find_changes(search *in, size_t block_rows, size_t step)
{
    in->change_count = 0;
    for (size_t i = 0; i + 2 * block_rows <= in->count; i += step) {
        double before = mean_of(in->values + i, block_rows);
        double after = mean_of(in->values + i + block_rows, block_rows);
        in->order[in->change_count] = (ranked){after - before, in->change_count};
        in->change_count++;
    }
    rank_changes(in);
    in->variance = product_at(in, 0);
}

/* 0 for a series that does not change. */
static double correlation_at(const search *in, size_t lag)
{
    return in->variance > 0 ? product_at(in, lag) / in->variance : 0;
}

static size_t highest(const double *numbers, size_t first, size_t last)
{
    size_t best = first;
    for (size_t i = first; i <= last; i++)
        if (numbers[i] > numbers[best])
            best = i;
    return best;
}

/* The shortest lag that is about as good as the best. Blocks near each other are alike, which is
 * no period: lags count only after some were not alike. 0: none. */
static size_t find_lag(const search *in, size_t last)
{
    const double *correlations = in->correlations;
    size_t first = 1;
    while (first <= last && correlations[first] > 0)
        first++;
    first = first < LEAST_PERIOD ? LEAST_PERIOD : first;
    if (first > last)
        return 0;
    double enough = as_good * correlations[highest(correlations, first, last)];
    while (correlations[first] < enough)
        first++;
    size_t end = first + first / 4; /* of the hill that begins there */
    return highest(correlations, first, end < last ? end : last);
}

/* Of the series in blocks of some rows. */
static season_period find_in_blocks(search *in, size_t block_rows)
{
    season_period none = {0, 0, 0};
    find_changes(in, block_rows, block_rows);
    size_t last = in->change_count * 2 / 5;
    for (size_t lag = 1; lag <= 2 * last + 1; lag++)
        in->correlations[lag] = correlation_at(in, lag);
    size_t lag = find_lag(in, last);
    if (lag == 0)
        return none;
    double found = in->correlations[lag];
    double again = in->correlations[highest(in->correlations, 2 * lag - 1, 2 * lag + 1)];
    double certainty = found * sqrt((double)(in->change_count - lag));
    if (found < least_correlation || certainty < least_certainty || again < found / 2)
        return none;
    return (season_period){lag * block_rows, found, certainty};
}

/* ---- The period ---- */

/* Seconds, minutes, hours, days, weeks and years in rows of usual lengths. */
static bool is_usual(size_t rows)
{
    static const size_t usual[] = {7,   12,  24,  48,  52,  60,  96,   144,
                                   168, 288, 336, 365, 672, 720, 1440, 2016};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i] == rows)
            return true;
    return false;
}

static void find_correlations(search *in)
{
    for (size_t lag = 1; lag <= in->change_count * 4 / 5 + 1 && lag < in->change_count; lag++)
        in->correlations[lag] = correlation_at(in, lag);
}

/* How much of the changes is the same in every period: the mean autocorrelation over all multiples
 * of the period, which need not be whole. Where two periods meet by chance, a few multiples fit,
 * but not all. */
static double fit_of(const search *in, double period)
{
    size_t multiples = (size_t)((double)(in->change_count * 4 / 5) / period);
    double sum = 0;
    for (size_t i = 1; i <= multiples; i++)
        sum += in->correlations[(size_t)((double)i * period + 0.5)];
    return multiples > 0 ? sum / (double)multiples : 0;
}

/* The next longer one to try: its last multiple is half a row later, or a sixteenth of a period.
 * No whole number is skipped: a short event needs the exact one. */
static double next_period(const search *in, double period)
{
    double later = period > 8 ? period / 16 : 0.5, whole = floor(period) + 1;
    double next = period + later * period / ((double)in->change_count * 4 / 5);
    return next < whole ? next : whole;
}

static double best_between(const search *in, double first, double last)
{
    double best = first, best_fit = fit_of(in, first);
    for (double period = first; period <= last; period = next_period(in, period)) {
        double fit = fit_of(in, period);
        if (fit > best_fit) {
            best_fit = fit;
            best = period;
        }
    }
    return best;
}

/* The whole number of rows: a usual one if it fits about as well, or the best one nearby. */
static size_t whole_rows(const search *in, double period)
{
    double fit = fit_of(in, period), reach = period * period / (double)in->change_count;
    reach = reach > 1 ? reach : 1;
    double best_fit = as_good * fit, best_usual_fit = nearly * fit;
    size_t best = (size_t)(period + 0.5), best_usual = 0;
    for (size_t rows = (size_t)ceil(period - reach); (double)rows <= period + reach; rows++) {
        double rows_fit = fit_of(in, (double)rows);
        if (rows_fit > best_fit) {
            best_fit = rows_fit;
            best = rows;
        }
        if (is_usual(rows) && rows_fit >= best_usual_fit) {
            best_usual_fit = rows_fit;
            best_usual = rows;
        }
    }
    return best_usual > 0 ? best_usual : best;
}

/* The shortest period that fits about as well as the best. `found` has shown that there is one,
 * in blocks of that many rows, but may be a multiple of it, or where two periods nearly meet. */
static season_period choose(search *in, season_period found, size_t block_rows)
{
    find_changes(in, block_rows, 1);
    find_correlations(in);
    size_t least = 2 * block_rows + 1; /* changes nearer to each other share rows */
    double first = (double)(least > LEAST_PERIOD ? least : LEAST_PERIOD);
    double last = (double)in->change_count * 2 / 5;
    double best_fit = fit_of(in, best_between(in, first, last));
    if (best_fit < least_fit)
        return (season_period){0, 0, 0};
    while (fit_of(in, first) < fits_as_well * best_fit)
        first = next_period(in, first);
    double end = first * 9 / 8; /* of the hill that begins there */
    size_t rows = whole_rows(in, best_between(in, first, end < last ? end : last));
    if (rows + block_rows < found.rows || rows > found.rows + block_rows)
        found.correlation = in->correlations[rows];
    found.rows = rows;
    return found;
}

static season_period find(search *in)
{
    season_period best = {0, 0, 0};
    size_t best_block = 1;
    for (size_t block_rows = 1; in->count / block_rows >= LEAST_BLOCKS; block_rows *= 2) {
        season_period found = find_in_blocks(in, block_rows);
        if (found.certainty <= best.certainty)
            continue;
        best = found;
        best_block = block_rows;
    }
    return best.rows > 0 ? choose(in, best, best_block) : best;
}

season_period season_period_find(const double *values, size_t count)
{
    season_period found = {0, 0, 0};
    if (count < LEAST_BLOCKS)
        return found;
    search in = {.values = malloc(count * sizeof *in.values),
                 .count = count,
                 .order = malloc(count * sizeof *in.order),
                 .changes = malloc(count * sizeof *in.changes),
                 .correlations = malloc(count * sizeof *in.correlations)};
    if (in.values && in.order && in.changes && in.correlations &&
        fill_missing(in.values, values, count))
        found = find(&in);
    free(in.values);
    free(in.order);
    free(in.changes);
    free(in.correlations);
    return found;
}
