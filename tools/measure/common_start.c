/* How much sooner would a new host be useful if it began with what other hosts have learned? Prints
 * a table of docs/measurements/fleets.md; tools/measure/fleet_tables.sh builds and runs it.
 *
 * 40 hosts with 3 correlated columns; in similar ones the means differ by half of their spread, in
 * dissimilar ones by 40 times that. The common model has learned 4,000 rows of 39 hosts. Then come
 * 500 rows of the new host, 4% of them with one column 8 spreads too high. */
#include "oif.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOSTS = 40, COLUMNS = 3, COMMON_ROWS = 4000, ROWS = 500, RUNS = 30, PARTS = 3 };

static const int part_ends[PARTS] = {100, 250, ROWS};

typedef struct host {
    double mean[COLUMNS], spread[COLUMNS];
} host;

typedef struct outcome {
    double auc[PARTS];
    int anomalies, found, normal, false_alerts;
} outcome;

static void require(oif_status status, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t mixed = (*state ^ *state >> 33) * UINT64_C(0xff51afd7ed558ccd);
    return (double)((mixed ^ mixed >> 33) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

static void make_host(host *h, bool is_similar, uint64_t *state)
{
    for (int i = 0; i < COLUMNS; i++) {
        h->mean[i] = 50 + (is_similar ? 0.5 : 40) * normal(state);
        h->spread[i] = is_similar ? 1 + 0.1 * uniform(state) : exp(normal(state));
    }
}

static void make_row(const host *h, double row[COLUMNS], uint64_t *state)
{
    double load = normal(state);
    for (int i = 0; i < COLUMNS; i++)
        row[i] = h->mean[i] + h->spread[i] * (0.6 * load + 0.8 * normal(state));
}

static oif_result process(oif_pipeline *pipeline, const double row[COLUMNS])
{
    oif_result result;
    oif_error error;
    require(oif_pipeline_process(pipeline, "new", 3, row, &result, &error), &error);
    return result;
}

/* The share of pairs of an anomaly and another row in which the anomaly scores higher. */
static double auc_of(const double *scores, const bool *is_anomaly, int from, int end)
{
    double pairs = 0, won = 0;
    for (int i = from; i < end; i++)
        for (int j = from; j < end; j++)
            if (is_anomaly[i] && !is_anomaly[j]) {
                pairs++;
                won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
            }
    return pairs > 0 ? won / pairs : 0.5;
}

static oif_pipeline *make_pipeline(void)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require(oif_params_init(&params, "rolling-iforest", &error), &error);
    oif_pipeline_options_init(&options);
    require(oif_params_set(&options, "alert_rate", 0.01, &error), &error);
    require(oif_pipeline_new(&params, COLUMNS, &options, &pipeline, &error), &error);
    return pipeline;
}

static void run(bool is_similar, bool is_common, uint64_t seed, outcome *sum)
{
    oif_pipeline *pipeline = make_pipeline();
    host hosts[HOSTS];
    double row[COLUMNS], scores[ROWS];
    bool is_anomaly[ROWS];
    for (int i = 0; i < HOSTS; i++)
        make_host(&hosts[i], is_similar, &seed);
    for (int i = 0; i < COMMON_ROWS && is_common; i++) {
        make_row(&hosts[(int)(uniform(&seed) * (HOSTS - 1))], row, &seed);
        process(pipeline, row);
    }
    for (int i = 0; i < ROWS; i++) {
        const host *new_host = &hosts[HOSTS - 1];
        int column = (int)(uniform(&seed) * COLUMNS);
        is_anomaly[i] = uniform(&seed) < 0.04;
        make_row(new_host, row, &seed);
        row[column] += is_anomaly[i] ? 8 * new_host->spread[column] : 0;
        oif_result result = process(pipeline, row);
        scores[i] = result.score;
        sum->anomalies += is_anomaly[i];
        sum->normal += !is_anomaly[i];
        sum->found += is_anomaly[i] && result.anomaly;
        sum->false_alerts += !is_anomaly[i] && result.anomaly;
    }
    for (int i = 0; i < PARTS; i++)
        sum->auc[i] += auc_of(scores, is_anomaly, i > 0 ? part_ends[i - 1] : 0, part_ends[i]);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    printf(
        "| hosts | start | AUC, rows 1 to 100 | 101 to 250 | 251 to 500 | found | false alerts |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < 4; i++) {
        bool is_similar = i < 2, is_common = i % 2;
        outcome sum = {0};
        for (uint64_t seed = 0; seed < RUNS; seed++)
            run(is_similar, is_common, seed, &sum);
        printf("| %s | %s | %.3f | %.3f | %.3f | %d of %d | %d of %d |\n",
               is_similar ? "similar" : "dissimilar", is_common ? "common" : "blank",
               sum.auc[0] / RUNS, sum.auc[1] / RUNS, sum.auc[2] / RUNS, sum.found, sum.anomalies,
               sum.false_alerts, sum.normal);
    }
    return 0;
}
