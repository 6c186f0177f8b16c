#include "pipeline/table/table_rarity.h"

#include "base/stable_math.h"

#include <stdlib.h>

static const double log10_of_2 = 0.30102999566398120, log2_of_10 = 3.3219280948873623,
                    ln_of_10 = 2.3025850929940457;
static const double least_apart = 0x1p-4; /* scores that hardly differ are all ordinary */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void oif_table_sort(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_numbers);
}

/* The mean of what the numbers above one of them have beyond it, the end censored. */
static double mean_beyond(const double *sorted, size_t count, size_t from)
{
    const size_t censored = (count + 19) / 20, last = count - 1 - censored;
    double sum = 0;
    for (size_t i = from + 1; i < count; i++)
        sum += sorted[i < last ? i : last] - sorted[from];
    return last > from ? sum / (double)(last - from) : 0;
}

oif_table_rarity oif_table_rarity_of(const double *scores, size_t count, oif_score_scale scale,
                                     double *sorted)
{
    for (size_t i = 0; i < count; i++)
        sorted[i] = oif_score_evidence(scale, scores[i]);
    oif_table_sort(sorted, count);
    const double half = mean_beyond(sorted, count, count / 2) * ln_of_10,
                 fifth = mean_beyond(sorted, count, count - count / 5 - 1) * ln_of_10,
                 apart = half > fifth ? half : fifth;
    return (oif_table_rarity){scale, sorted[count / 2], apart > least_apart ? apart : least_apart};
}

/* Below the median there is nothing to extrapolate, and no need to. */
double oif_table_severity(const oif_table_rarity *rarity, double score)
{
    const double beyond = oif_score_evidence(rarity->scale, score) - rarity->median;
    return beyond > 0 ? log10_of_2 + beyond / rarity->apart : 0;
}

double oif_table_bar(void)
{
    return 3;
}

/* Of 34 kinds of tables without anomalies, that with the heaviest tails: one row in 130 beyond
 * severity 3, in 310 beyond 4 (docs/manual/short.md). */
double oif_table_chance(double severity)
{
    const double of_heavy_tails = 2.08 + 0.4 * (severity - 3),
                 least = severity < of_heavy_tails ? severity : of_heavy_tails;
    return oif_exp2(-least * log2_of_10);
}
