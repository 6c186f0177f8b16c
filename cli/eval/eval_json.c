/* The results of oif eval as JSON. One detector is one object; several are `results` in the order
 * in which they were asked for, each with its rank. With --runs a measure is the mean of the runs,
 * `sd` has the standard deviations, and `runs` each run. */
#include "eval.h"

#include <math.h>

static void print_number(const char *name, double number)
{
    output_print("\"%s\": ", name);
    isnan(number) ? output_text("null") : output_number(number);
}

void eval_json_measures(const double measures[MEASURES])
{
    for (int i = 0; i < MEASURES; i++) {
        print_number(eval_measure_name((eval_measure)i), measures[i]);
        output_print(i + 1 < MEASURES ? ", " : "");
    }
}

static void print_counts(const eval_run *evaluation)
{
    const eval_rows *rows = &evaluation->rows;
    output_print("\"rows\": %zu, \"columns\": %zu, \"anomalies\": %zu, \"labelled_episodes\": %zu, "
                 "\"keys\": %zu,\n \"options\": {",
                 rows->count, evaluation->column_count, rows->anomaly_count,
                 rows->labelled_episodes, rows->key_count);
    params_print_json(&evaluation->settings->options);
    output_print("},\n ");
}

static void print_runs(const eval_run *evaluation, const eval_contestant *contestant)
{
    if (evaluation->run_count == 1)
        return;
    output_print(",\n \"sd\": {");
    eval_json_measures(contestant->spread);
    output_print("},\n \"runs\": [");
    for (size_t i = 0; i < evaluation->run_count; i++) {
        double seed = NAN;
        oif_error error;
        if (oif_params_get(&contestant->tries[i].params, "seed", &seed, &error) != OIF_OK)
            seed = NAN;
        output_print("%s\n  {", i > 0 ? "," : "");
        print_number("seed", seed);
        output_print(", ");
        eval_json_measures(contestant->tries[i].measures);
        output_print("}");
    }
    output_print("]");
}

static void print_detector(const eval_run *evaluation, size_t which, bool is_alone)
{
    const eval_contestant *contestant = &evaluation->contestants[which];
    output_print("{\"detector\": \"%s\", \"params\": {", contestant->name);
    params_print_json(&contestant->tries[0].params);
    output_print("},\n ");
    if (is_alone)
        print_counts(evaluation);
    else
        output_print("\"rank\": %zu, ", contestant->rank + 1);
    eval_json_measures(contestant->mean);
    output_print(",\n \"detector_seconds\": %.9f", contestant->mean_seconds);
    if (is_alone)
        output_print(", \"total_seconds\": %.9f", evaluation->total_seconds);
    print_runs(evaluation, contestant);
    output_print("}");
}

void eval_report_json(const eval_run *evaluation)
{
    if (evaluation->contestant_count == 1) {
        print_detector(evaluation, 0, true);
        output_print("\n");
        return;
    }
    output_print("{");
    print_counts(evaluation);
    output_print("\"total_seconds\": %.9f,\n \"results\": [\n", evaluation->total_seconds);
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        print_detector(evaluation, i, false);
        output_print(i + 1 < evaluation->contestant_count ? ",\n" : "]}\n");
    }
}
