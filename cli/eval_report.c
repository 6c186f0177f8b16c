/* The results of oif eval: as tables, with a chart for a person at a terminal, or as JSON. */
#include "chart.h"
#include "eval.h"

#include <math.h>
#include <unistd.h>

static uint64_t per_second(size_t count, double seconds)
{
    return seconds > 0 ? (uint64_t)((double)count / seconds) : 0;
}

static void print_count(const char *title, uint64_t count, const char *remark)
{
    char text[GROUPED_TEXT_BYTES];
    output_print("%-18s %12s%s%s\n", title, grouped_text(count, text), *remark ? "  " : "", remark);
}

/* ---- One detector ---- */

static void print_measures(const roc_ranking *ranking)
{
    if (!roc_has_both(ranking)) {
        output_print("%-18s %12s  %s\n%-18s %12s\n", "ROC AUC", "undefined",
                     ranking->anomaly_count == 0 ? "no row is labelled an anomaly: nothing to find"
                                                 : "every row is labelled an anomaly",
                     "average precision", "undefined");
        return;
    }
    output_print("%-18s %12.4f\n%-18s %12.4f\n", "ROC AUC", roc_auc(ranking), "average precision",
                 roc_average_precision(ranking));
}

static void print_one(const eval_run *evaluation)
{
    const eval_contestant *contestant = &evaluation->contestants[0];
    print_measures(&contestant->ranking);
    print_count("rows per second", per_second(evaluation->row_count, contestant->seconds),
                "learning and scoring");
    print_count("", per_second(evaluation->row_count, evaluation->total_seconds),
                "with reading the input");
}

/* ---- Several, side by side ---- */

/* "0.9534", or "-" where the measure means nothing. */
static void print_measure(int width, double measure)
{
    if (isnan(measure))
        output_print(" %*s", width, "-");
    else
        output_print(" %*.4f", width, measure);
}

static void print_several(const eval_run *evaluation)
{
    char text[GROUPED_TEXT_BYTES];
    output_print("\n%-18s %12s %18s %18s\n", "detector", "ROC AUC", "average precision",
                 "rows per second");
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        const eval_contestant *contestant = &evaluation->contestants[i];
        bool defined = roc_has_both(&contestant->ranking);
        output_print("%-18s", contestant->params.table->name);
        print_measure(12, defined ? roc_auc(&contestant->ranking) : NAN);
        print_measure(18, defined ? roc_average_precision(&contestant->ranking) : NAN);
        output_print(" %18s\n",
                     grouped_text(per_second(evaluation->row_count, contestant->seconds), text));
    }
}

/* ---- Over time ---- */

static void print_spans(const eval_run *evaluation, const row_spans *spans, const char *title)
{
    char first[GROUPED_TEXT_BYTES], last[GROUPED_TEXT_BYTES], anomalies[GROUPED_TEXT_BYTES];
    output_print("\n%-23s %10s", title, "anomalies");
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        output_print(" %14s", evaluation->contestants[i].params.table->name);
    output_print("\n");
    for (size_t i = 0; i < spans->count; i++) {
        const row_span *span = &spans->items[i];
        output_print("%10s - %-10s %10s", grouped_text(span->first + 1, first),
                     grouped_text(span->first + span->count, last),
                     grouped_text(span->anomaly_count, anomalies));
        for (size_t j = 0; j < evaluation->contestant_count; j++)
            print_measure(14, span->roc_auc[j]);
        output_print("\n");
    }
}

/* A window without a measure is drawn like the one before it. Few windows are drawn as wide
 * bars, of many each column shows the best of its share. */
static void print_chart(const eval_run *evaluation, size_t which)
{
    enum { MOST_BARS = 64 * CHART_COLUMNS };
    static const bool unmarked[MOST_BARS];
    const row_spans *windows = &evaluation->windows;
    size_t bars = windows->count > MOST_BARS       ? MOST_BARS
                  : windows->count < CHART_COLUMNS ? CHART_COLUMNS
                                                   : windows->count;
    double heights[MOST_BARS], last = 0.5;
    for (size_t bar = 0; bar < bars; bar++) {
        double measure = windows->items[bar * windows->count / bars].roc_auc[which];
        last = isnan(measure) ? last : measure;
        heights[bar] = last;
    }
    output_print("\n%s, ROC AUC of the windows from first to last:\n\n",
                 evaluation->contestants[which].params.table->name);
    chart_print(heights, unmarked, bars);
}

void eval_report_table(const eval_run *evaluation)
{
    print_count("rows", evaluation->row_count, "");
    print_count("columns", evaluation->column_count, "");
    print_count("anomalies", evaluation->anomaly_count, "");
    if (evaluation->has_keys)
        print_count("keys", oif_pipeline_keys(evaluation->contestants[0].pipeline), "");
    if (evaluation->contestant_count == 1)
        print_one(evaluation);
    else
        print_several(evaluation);
    if (evaluation->early.count > 0)
        print_spans(evaluation, &evaluation->early, "ROC AUC, the first rows");
    if (evaluation->windows.count > 0)
        print_spans(evaluation, &evaluation->windows, "ROC AUC, rows by rows");
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        if (evaluation->windows.count > 1 && isatty(STDOUT_FILENO))
            print_chart(evaluation, i);
}

/* ---- JSON ---- */

static void print_json_measure(const char *name, double measure)
{
    if (isnan(measure))
        output_print("\"%s\": null", name);
    else
        output_print("\"%s\": %.17g", name, measure);
}

static void print_json_measures(const roc_ranking *ranking)
{
    bool defined = roc_has_both(ranking);
    print_json_measure("roc_auc", defined ? roc_auc(ranking) : NAN);
    output_print(", ");
    print_json_measure("average_precision", defined ? roc_average_precision(ranking) : NAN);
}

static void print_json_spans(const char *name, const row_spans *spans, size_t which)
{
    if (spans->count == 0)
        return;
    output_print(",\n \"%s\": [", name);
    for (size_t i = 0; i < spans->count; i++) {
        const row_span *span = &spans->items[i];
        output_print("%s\n  {\"first_row\": %zu, \"last_row\": %zu, \"anomalies\": %zu, ",
                     i > 0 ? "," : "", span->first + 1, span->first + span->count,
                     span->anomaly_count);
        print_json_measure("roc_auc", span->roc_auc[which]);
        output_print("}");
    }
    output_print("]");
}

static void print_json_counts(const eval_run *evaluation)
{
    output_print("\"rows\": %zu, \"columns\": %zu, \"anomalies\": %zu,\n ", evaluation->row_count,
                 evaluation->column_count, evaluation->anomaly_count);
}

static void print_json_detector(const eval_run *evaluation, size_t which, bool alone)
{
    const eval_contestant *contestant = &evaluation->contestants[which];
    output_print("{\"detector\": \"%s\", \"params\": {", contestant->params.table->name);
    params_print_json(&contestant->params);
    output_print("},\n ");
    if (evaluation->options) {
        output_print("\"options\": {");
        params_print_json(evaluation->options);
        output_print("}, \"keys\": %zu,\n ", oif_pipeline_keys(contestant->pipeline));
    }
    if (alone)
        print_json_counts(evaluation);
    print_json_measures(&contestant->ranking);
    output_print(",\n \"detector_seconds\": %.9f", contestant->seconds);
    if (alone)
        output_print(", \"total_seconds\": %.9f", evaluation->total_seconds);
    print_json_spans("early", &evaluation->early, which);
    print_json_spans("windows", &evaluation->windows, which);
    output_print("}");
}

void eval_report_json(const eval_run *evaluation)
{
    if (evaluation->contestant_count == 1) {
        print_json_detector(evaluation, 0, true);
        output_print("\n");
        return;
    }
    output_print("{");
    print_json_counts(evaluation);
    output_print("\"total_seconds\": %.9f,\n \"results\": [\n", evaluation->total_seconds);
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        print_json_detector(evaluation, i, false);
        output_print(i + 1 < evaluation->contestant_count ? ",\n" : "]}\n");
    }
}
