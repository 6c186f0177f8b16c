/* oif eval: how well, and how fast, a detector finds the anomalies of a labelled file.
 *
 * Rows are learned and scored in blocks, which gives the same scores as one by one and lets the clock be read
 * once per block: time spent reading the file and time spent in the detector are told apart. */
#include "input.h"
#include "progress.h"
#include "ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 256 };

struct evaluation {
    oif_detector *detector;
    double *rows; /* the block: features, then the label */
    size_t stride, row_count;
    double scores[BLOCK_ROWS];
    struct ranking ranking;
    double detector_seconds, total_seconds;
};

static exit_code start(struct evaluation *evaluation, const struct settings *settings, size_t feature_count)
{
    exit_code code = settings_make_detector(settings, feature_count, &evaluation->detector);

    if (code != EXIT_OK)
        return code;
    evaluation->stride = feature_count + 1;
    evaluation->rows = calloc(BLOCK_ROWS * evaluation->stride, sizeof(double));
    return evaluation->rows ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
}

static void finish(struct evaluation *evaluation)
{
    ranking_free(&evaluation->ranking);
    free(evaluation->rows);
    oif_detector_free(evaluation->detector);
}

static exit_code score_block(struct evaluation *evaluation)
{
    double started = seconds_now();
    oif_error error;

    if (oif_detector_learn_score_rows(evaluation->detector, evaluation->rows, evaluation->row_count,
                                      evaluation->stride, evaluation->scores, &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s", error.message);
    evaluation->detector_seconds += seconds_now() - started;
    for (size_t i = 0; i < evaluation->row_count; i++) {
        double label = evaluation->rows[(i + 1) * evaluation->stride - 1];
        if (!ranking_add(&evaluation->ranking, evaluation->scores[i], label != 0))
            return complain(EXIT_FAILED, "out of memory");
    }
    evaluation->row_count = 0;
    return EXIT_OK;
}

static exit_code add_row(struct evaluation *evaluation, const struct input *input, const oif_record *record)
{
    double *row = evaluation->rows + evaluation->row_count * evaluation->stride;

    if (isnan(record->values[input->feature_count]))
        return input_complain_label(input, record,
                                    "the label is missing; give 0 for a normal row, 1 for an anomaly");
    memcpy(row, record->values, evaluation->stride * sizeof *row);
    evaluation->row_count++;
    return evaluation->row_count == BLOCK_ROWS ? score_block(evaluation) : EXIT_OK;
}

static exit_code evaluate_rows(struct evaluation *evaluation, struct input *input, struct progress *progress)
{
    exit_code code = EXIT_OK;
    oif_status status;
    oif_record record;
    oif_error error;

    while ((status = oif_reader_next(input->reader, &record, &error)) == OIF_OK) {
        code = add_row(evaluation, input, &record);
        if (code != EXIT_OK)
            return code;
        progress_row(progress, input->bytes_read);
    }
    if (status != OIF_END)
        return input_complain(input, &error);
    code = score_block(evaluation);
    if (code == EXIT_OK && evaluation->ranking.count == 0)
        return complain(EXIT_FAILED, "%s: there is a header but no row", input->name);
    return code;
}

static exit_code evaluate(struct evaluation *evaluation, struct input *input)
{
    double started = seconds_now();
    struct progress progress = progress_start(input->total_bytes);
    exit_code code = evaluate_rows(evaluation, input, &progress);

    progress_end(&progress);
    evaluation->total_seconds = seconds_now() - started;
    ranking_sort(&evaluation->ranking);
    return code;
}

/* ---- The report ----------------------------------------------------------------------------------- */

static double per_second(size_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

static void print_count(const char *title, uint64_t count, const char *remark)
{
    char text[GROUPED_TEXT_BYTES];

    output_print("%-18s %12s%s%s\n", title, grouped_text(count, text), *remark ? "  " : "", remark);
}

static void print_measures(const struct ranking *ranking)
{
    if (!ranking_has_both(ranking)) {
        output_print("%-18s %12s  %s\n%-18s %12s\n", "ROC AUC", "undefined",
                     ranking->anomaly_count == 0 ? "no row is labelled an anomaly: nothing to find"
                                                 : "every row is labelled an anomaly",
                     "average precision", "undefined");
        return;
    }
    output_print("%-18s %12.4f\n%-18s %12.4f\n", "ROC AUC", ranking_roc_auc(ranking), "average precision",
                 ranking_average_precision(ranking));
}

static void print_table(const struct evaluation *evaluation, size_t feature_count)
{
    const struct ranking *ranking = &evaluation->ranking;
    double total = per_second(ranking->count, evaluation->total_seconds);
    double detector = per_second(ranking->count, evaluation->detector_seconds);

    print_count("rows", ranking->count, "");
    print_count("features", feature_count, "");
    print_count("anomalies", ranking->anomaly_count, "");
    print_measures(ranking);
    print_count("points per second", (uint64_t)detector, "learning and scoring");
    print_count("", (uint64_t)total, "with reading the input");
}

static void print_json(const struct evaluation *evaluation, const struct settings *settings,
                       size_t feature_count)
{
    const struct ranking *ranking = &evaluation->ranking;

    output_print("{\"detector\": \"%s\", \"params\": {", settings->params.info->name);
    print_json_params(&settings->params);
    output_print("},\n \"rows\": %zu, \"features\": %zu, \"anomalies\": %zu,\n", ranking->count,
                 feature_count, ranking->anomaly_count);
    if (ranking_has_both(ranking))
        output_print(" \"roc_auc\": %.17g, \"average_precision\": %.17g,\n", ranking_roc_auc(ranking),
                     ranking_average_precision(ranking));
    else
        output_print(" \"roc_auc\": null, \"average_precision\": null,\n");
    output_print(" \"detector_seconds\": %.9f, \"total_seconds\": %.9f}\n", evaluation->detector_seconds,
                 evaluation->total_seconds);
}

static exit_code run(const struct settings *settings)
{
    struct evaluation evaluation = {0};
    struct input input;
    exit_code code;

    if (!settings->label)
        return complain(EXIT_USAGE, "eval needs --label COL, the column that is 1 for anomalies");
    code = input_open(&input, settings, LABEL_READ);
    if (code != EXIT_OK)
        return code;
    code = start(&evaluation, settings, input.feature_count);
    if (code == EXIT_OK)
        code = evaluate(&evaluation, &input);
    if (code == EXIT_OK && settings->json)
        print_json(&evaluation, settings, input.feature_count);
    else if (code == EXIT_OK)
        print_table(&evaluation, input.feature_count);
    finish(&evaluation);
    input_close(&input);
    return code;
}

static const struct option options[] = {
    {"label", "COL", "the column that tells: 0 for a normal row, anything else for an anomaly", set_label},
    {"json", NULL, "print the results as JSON", set_json},
    INPUT_OPTIONS,
};

const struct command eval_command = {
    .name = "eval",
    .summary = "score a labelled file and say how well the scores find its anomalies",
    .usage = "eval --label COL [OPTION...] [FILE|-]",
    .examples = "  oif eval --label fault pump.csv                   ROC AUC, average precision, speed\n"
                "  oif eval --label fault --num-trees 100 pump.csv   the same with a larger forest\n"
                "  oif eval --label fault --json pump.csv            for other programs to read\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .takes_params = true,
    .run = run,
};
