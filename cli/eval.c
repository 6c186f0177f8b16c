/* oif eval: how well, and how fast, detectors find the anomalies of a labelled file.
 *
 * Rows are learned and scored in blocks, which gives the same scores as one by one and lets the
 * clock be read once per block: time spent reading the file and time spent in each detector are
 * measured separately. Several detectors take each block in turn, so the file is read once and
 * may be a pipe. Only the scores are kept, 24 bytes per row and detector.
 *
 * With keys, shingles or other options of pipelines, rows go through a pipeline for each
 * detector: the scores are those of `oif score` with the same options. Rows without a score,
 * the first of a shingle, count as the least anomalous. */
#include "eval.h"
#include "clock.h"
#include "input.h"
#include "input_error.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 256 };

typedef struct row_block {
    double *rows; /* columns, then the label */
    size_t stride, row_count;

    /* The keys of the rows, one behind the other. */
    char *keys;
    size_t key_ends[BLOCK_ROWS], keys_capacity;
} row_block;

/* ---- Who takes part ---- */

static exit_code complain_out_of_memory(void)
{
    return complain(EXIT_FAILED, "out of memory");
}

/* What the command line says about the first detector holds for every other one that has a
 * parameter of that name. */
static exit_code copy_params(const cli_settings *settings, oif_params *params)
{
    const oif_params *first = &settings->params;
    oif_error error;
    for (size_t i = 0; i < first->table->param_count; i++) {
        const oif_param *param = &first->table->params[i];
        char text[PARAM_TEXT_BYTES];
        double value;
        if (!settings->is_given[i] || oif_params_get(params, param->name, &value, &error) != OIF_OK)
            continue;
        if (oif_params_set_text(params, param->name, param_text(param, first->values[i], text),
                                &error) != OIF_OK)
            return complain(EXIT_USAGE, "%s: %s", params->table->name, error.message);
    }
    return EXIT_OK;
}

/* Detectors that judge together need a pipeline. It learns like the detectors beside it. */
static oif_status make_contestant(eval_contestant *contestant, const eval_run *evaluation,
                                  oif_error *error)
{
    const oif_params *options = evaluation->options;
    oif_params learning_all;
    oif_status status = OIF_OK;
    if (!options && strchr(contestant->params.table->name, '+')) {
        oif_pipeline_options_init(&learning_all);
        status = oif_params_set_text(&learning_all, "learn", "all", error);
        options = &learning_all;
    }
    if (status != OIF_OK)
        return status;
    return options ? oif_pipeline_new(&contestant->params, evaluation->column_count, options,
                                      &contestant->pipeline, error)
                   : oif_detector_new(&contestant->params, evaluation->column_count,
                                      &contestant->detector, error);
}

static exit_code add_contestant(eval_run *evaluation, const cli_settings *settings,
                                const char *name, size_t name_bytes)
{
    eval_contestant *contestant = &evaluation->contestants[evaluation->contestant_count];
    if (evaluation->contestant_count == MAX_CONTESTANTS)
        return complain(EXIT_USAGE, "eval compares at most %d detectors at a time",
                        MAX_CONTESTANTS);
    exit_code code = params_choose(&contestant->params, name, name_bytes);
    if (code == EXIT_OK)
        code = copy_params(settings, &contestant->params);
    if (code != EXIT_OK)
        return code;
    oif_error error;
    oif_status status = make_contestant(contestant, evaluation, &error);
    if (status != OIF_OK)
        return complain(status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED, "%s", error.message);
    evaluation->contestant_count++;
    return EXIT_OK;
}

static exit_code add_contestants(eval_run *evaluation, const cli_settings *settings)
{
    const oif_detector_info *info;
    const char *names = settings->detectors;
    exit_code code = EXIT_OK;
    for (size_t i = 0; settings->eval.all_detectors && code == EXIT_OK &&
                       (info = oif_detector_info_at(i)) != NULL;
         i++)
        code = add_contestant(evaluation, settings, info->table.name, strlen(info->table.name));
    while (!settings->eval.all_detectors && code == EXIT_OK) {
        size_t name_bytes = strcspn(names, ",");
        code = add_contestant(evaluation, settings, names, name_bytes);
        if (names[name_bytes] == '\0')
            break;
        names += name_bytes + 1;
    }
    return code;
}

static void finish(eval_run *evaluation)
{
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        roc_free(&evaluation->contestants[i].ranking);
        oif_detector_free(evaluation->contestants[i].detector);
        oif_pipeline_free(evaluation->contestants[i].pipeline);
    }
    free(evaluation->windows.items);
    free(evaluation->early.items);
}

/* ---- Scoring ---- */

static oif_status process_rows(oif_pipeline *pipeline, const row_block *block, double scores[],
                               oif_error *error)
{
    oif_status status = OIF_OK;
    oif_result result = {.score = NAN};
    size_t start = 0;
    for (size_t i = 0; i < block->row_count && status == OIF_OK; i++) {
        size_t end = block->key_ends[i];
        status = oif_pipeline_process(pipeline, block->keys ? block->keys + start : NULL,
                                      end - start, block->rows + i * block->stride, &result, error);
        scores[i] = isnan(result.score) ? -INFINITY : result.score;
        start = end;
    }
    return status;
}

static exit_code score_block(eval_contestant *contestant, const row_block *block)
{
    double scores[BLOCK_ROWS], started = clock_seconds();
    oif_error error;
    oif_status status =
        contestant->pipeline
            ? process_rows(contestant->pipeline, block, scores, &error)
            : oif_detector_learn_score_rows(contestant->detector, block->rows, block->row_count,
                                            block->stride, scores, &error);
    if (status != OIF_OK)
        return complain(EXIT_FAILED, "%s", error.message);
    contestant->seconds += clock_seconds() - started;
    for (size_t i = 0; i < block->row_count; i++)
        if (!roc_add(&contestant->ranking, scores[i],
                     block->rows[(i + 1) * block->stride - 1] != 0))
            return complain_out_of_memory();
    return EXIT_OK;
}

static exit_code score_by_all(eval_run *evaluation, row_block *block)
{
    exit_code code = EXIT_OK;
    for (size_t i = 0; i < evaluation->contestant_count && code == EXIT_OK; i++)
        code = score_block(&evaluation->contestants[i], block);
    block->row_count = 0;
    return code;
}

static bool add_key(row_block *block, oif_text key)
{
    size_t start = block->row_count > 0 ? block->key_ends[block->row_count - 1] : 0,
           end = start + key.bytes;
    if (end > block->keys_capacity || !block->keys) {
        size_t capacity = 2 * end + BLOCK_ROWS;
        char *keys = realloc(block->keys, capacity);
        if (!keys)
            return false;
        block->keys = keys;
        block->keys_capacity = capacity;
    }
    memcpy(block->keys + start, key.text, key.bytes);
    block->key_ends[block->row_count] = end;
    return true;
}

static exit_code add_row(eval_run *evaluation, row_block *block, const cli_input *input,
                         const oif_record *record)
{
    double *row = block->rows + block->row_count * block->stride;
    if (isnan(record->values[input->columns.count]))
        return input_error_in_field(
            input->source.name, input->reader, record, input->columns.label,
            "the label is missing; give 0 for a normal row, 1 for an anomaly");
    if (input->columns.has_key && !add_key(block, record->texts[input->columns.key_text]))
        return complain_out_of_memory();
    memcpy(row, record->values, block->stride * sizeof *row);
    block->row_count++;
    return block->row_count == BLOCK_ROWS ? score_by_all(evaluation, block) : EXIT_OK;
}

static exit_code evaluate_rows(eval_run *evaluation, row_block *block, cli_input *input,
                               progress_line *progress)
{
    exit_code code = EXIT_OK;
    oif_status status;
    oif_record record;
    oif_error error;
    while ((status = oif_reader_next(input->reader, &record, &error)) == OIF_OK) {
        code = add_row(evaluation, block, input, &record);
        if (code != EXIT_OK)
            return code;
        progress_row(progress, input->source.bytes_read);
    }
    if (status != OIF_END)
        return input_complain(input, &error);
    code = score_by_all(evaluation, block);
    if (code == EXIT_OK && evaluation->contestants[0].ranking.count == 0)
        return complain(EXIT_FAILED, "%s: there is a header but no row", input->source.name);
    return code;
}

static exit_code evaluate(eval_run *evaluation, cli_input *input)
{
    row_block block = {.stride = input->columns.count + 1};
    double started = clock_seconds();
    progress_line progress = progress_start(input->source.total_bytes);
    exit_code code;
    block.rows = calloc(BLOCK_ROWS * block.stride, sizeof *block.rows);
    code =
        block.rows ? evaluate_rows(evaluation, &block, input, &progress) : complain_out_of_memory();
    free(block.rows);
    free(block.keys);
    progress_end(&progress);
    evaluation->total_seconds = clock_seconds() - started;
    evaluation->row_count = evaluation->contestants[0].ranking.count;
    evaluation->anomaly_count = evaluation->contestants[0].ranking.anomaly_count;
    return code;
}

/* ---- Measuring ---- */

/* While the rankings are still in the order of the rows. */
static bool measure_span(const eval_run *evaluation, row_span *span)
{
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        roc_ranking part = {0};
        const ranked_row *rows = evaluation->contestants[i].ranking.rows + span->first;
        for (size_t row = 0; row < span->count; row++) {
            if (!roc_add(&part, rows[row].score, rows[row].anomaly)) {
                roc_free(&part);
                return false;
            }
        }
        roc_sort(&part);
        span->anomaly_count = part.anomaly_count;
        span->roc_auc[i] = roc_has_both(&part) ? roc_auc(&part) : NAN;
        roc_free(&part);
    }
    return true;
}

static bool add_span(const eval_run *evaluation, row_spans *spans, size_t first, size_t end)
{
    row_span *items = realloc(spans->items, (spans->count + 1) * sizeof *items);
    if (!items)
        return false;
    spans->items = items;
    items[spans->count] = (row_span){.first = first, .count = end - first};
    return measure_span(evaluation, &items[spans->count++]);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool measure_windows(eval_run *evaluation, size_t window)
{
    for (size_t first = 0, next; first < evaluation->row_count; first = next) {
        next = first + least(window, evaluation->row_count - first);
        if (!add_span(evaluation, &evaluation->windows, first, next))
            return false;
    }
    return true;
}

/* 100, 200, 500, 1000, 2000, ... rows, and all of them. */
static bool measure_early(eval_run *evaluation)
{
    static const size_t steps[] = {1, 2, 5};
    for (size_t power = 100;; power *= 10) {
        for (size_t i = 0; i < 3; i++) {
            size_t end = least(steps[i] * power, evaluation->row_count);
            if (!add_span(evaluation, &evaluation->early, 0, end))
                return false;
            if (end == evaluation->row_count)
                return true;
        }
    }
}

static exit_code measure(eval_run *evaluation, const eval_settings *asked)
{
    if ((asked->window > 0 && !measure_windows(evaluation, (size_t)asked->window)) ||
        (asked->early && !measure_early(evaluation)))
        return complain_out_of_memory();
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        roc_sort(&evaluation->contestants[i].ranking);
    return EXIT_OK;
}

/* ---- The command ---- */

static exit_code check_settings(const cli_settings *settings)
{
    if (!settings->label)
        return complain(EXIT_USAGE, "eval needs --label COL, the column that is 1 for anomalies");
    if (settings->eval.all_detectors && settings->is_detector_given)
        return complain(EXIT_USAGE, "--all and --detector exclude each other");
    return EXIT_OK;
}

/* Alone, a detector is faster in blocks, and has the same scores. */
static bool needs_pipeline(const cli_settings *settings)
{
    bool is_any_given = settings->score.key != NULL;
    for (size_t i = 0; i < OIF_PARAMS_MAX; i++)
        is_any_given |= settings->is_option_given[i];
    return is_any_given;
}

static exit_code run(const cli_settings *settings)
{
    eval_run evaluation = {.contestant_count = 0};
    cli_input input;
    exit_code code = check_settings(settings);
    if (code == EXIT_OK)
        code = input_open(&input, settings, LABEL_READ, NULL, NULL);
    if (code != EXIT_OK)
        return code;
    evaluation.column_count = input.columns.count;
    evaluation.options = needs_pipeline(settings) ? &settings->options : NULL;
    evaluation.has_keys = input.columns.has_key;
    code = add_contestants(&evaluation, settings);
    if (code == EXIT_OK)
        code = evaluate(&evaluation, &input);
    if (code == EXIT_OK)
        code = measure(&evaluation, &settings->eval);
    if (code == EXIT_OK && settings->json)
        eval_report_json(&evaluation);
    else if (code == EXIT_OK)
        eval_report_table(&evaluation);
    finish(&evaluation);
    input_close(&input);
    return code;
}

static const cli_option options[] = {
    {"label", OPTION_TEXT, SETTING(label),
     .help = "the column that tells: 0 for a normal row, anything else for an anomaly",
     .argument = "COL"},
    {"key", OPTION_TEXT, SETTING(score.key),
     .help = "each key, such as each host, has a model of its own", .argument = "COL"},
    {"all", OPTION_SWITCH, SETTING(eval.all_detectors),
     .help = "compare all detectors; --detector A,B,... compares some"},
    {"window", OPTION_COUNT, SETTING(eval.window),
     .help = "also the ROC AUC of each N rows, one window after the other", .argument = "N",
     .from = 1, .to = 1e9, .range = "1 to 1e9"},
    {"early", OPTION_SWITCH, SETTING(eval.early),
     .help = "also the ROC AUC of the first 100, 200, 500, 1000, ... rows"},
    {"json", OPTION_SWITCH, SETTING(json), .help = "print the results as JSON"},
};

const cli_command eval_command = {
    .name = "eval",
    .summary = "score a labelled file and say how well the scores find its anomalies",
    .usage = "eval --label COL [OPTION...] [FILE|-]",
    .examples =
        "  oif eval --label fault pump.csv                   ROC AUC, average precision, speed\n"
        "  oif eval --label fault --num-trees 100 pump.csv   the same with a larger forest\n"
        "  oif eval --label fault --all pump.csv             every detector, side by side\n"
        "  oif eval --label fault --detector hst,loda --window 1000 pump.csv\n"
        "                                                    two of them, over time\n"
        "  oif eval --label fault --detector hst,rolling-iforest+hst pump.csv\n"
        "                                                    one, and two that judge together\n"
        "  oif eval --label fault --key host --shingle 8 pump.csv\n"
        "                                                    a series of each host, eight rows as "
        "one\n"
        "  oif eval --label fault --early pump.csv           how soon are the scores any good?\n"
        "  oif eval --label fault --json pump.csv            for other programs to read\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .reads_rows = true,
    .takes_params = true,
    .takes_pipeline = true,
    .takes_detectors = true,
    .run = run,
};
