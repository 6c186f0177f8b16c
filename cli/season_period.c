#include "season_period.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { LEAST_BLOCKS = 64, LEAST_PERIOD = 4 };

static const double least_correlation = 0.3;
static const double least_certainty = 5; /* noise has about 10^5 chances to reach it */
static const double as_good = 0.8;       /* a shorter period is preferred to a longer one */
static const double nearly = 0.97;       /* and a usual one to one that no clock has */

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

/* ---- The exact number of rows ---- */

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

/* The mean over this many rows and its multiples: the further away, the more exact it is. */
static double fit_of(const search *in, size_t rows)
{
    size_t multiples = in->change_count * 4 / 5 / rows;
    double sum = 0;
    for (size_t i = 1; i <= multiples; i++)
        sum += correlation_at(in, i * rows);
    return multiples > 0 ? sum / (double)multiples : 0;
}

static size_t refine(search *in, size_t rows, size_t block_rows)
{
    find_changes(in, block_rows, 1);
    size_t best = rows, best_usual = 0;
    double best_fit = -1, best_usual_fit = -1;
    for (size_t i = rows - block_rows; i <= rows + block_rows; i++) {
        double fit = fit_of(in, i);
        if (fit > best_fit) {
            best_fit = fit;
            best = i;
        }
        if (is_usual(i) && fit > best_usual_fit) {
            best_usual_fit = fit;
            best_usual = i;
        }
    }
    return best_usual_fit >= nearly * best_fit ? best_usual : best;
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
    if (best.rows > 0)
        best.rows = refine(in, best.rows, best_block);
    return best;
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
