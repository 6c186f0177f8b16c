/* oif eval: how well, and how fast, detectors find the anomalies of a labelled file.
 *
 * Every detector gets a pipeline with the options of the command line, so scores and alerts are
 * those of `oif score` with the same options. With --runs each has several, with seeds that count
 * up. Rows without a score, the first of a shingle, count as the least anomalous. */
#include "eval.h"

#include "eval_command.h"
#include "front/columns/derive.h"
#include "front/options/alert_options.h"
#include "front/options/command.h"
#include "front/options/key_room.h"
#include "front/options/row_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static exit_code complain_out_of_memory(void)
{
    return complain(EXIT_FAILED, "out of memory");
}

/* ---- Who takes part ---- */

/* Parameters given for the first detector apply to every other detector that has one of that
 * name. */
static exit_code copy_params(const run_settings *settings, oif_params *params)
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

static exit_code set_seed(oif_params *params, size_t run)
{
    double seed;
    oif_error error;
    if (run == 0 || oif_params_get(params, "seed", &seed, &error) != OIF_OK)
        return EXIT_OK;
    if (oif_params_set(params, "seed", seed + (double)run, &error) == OIF_OK)
        return EXIT_OK;
    return complain(EXIT_USAGE, "--runs: %s", error.message);
}

/* Makes the pipeline that `oif score` would make. */
static exit_code make_pipeline(const eval_run *evaluation, const run_settings *settings,
                               eval_try *try)
{
    run_settings own = *settings;
    own.params = try->params;
    exit_code code = settings_make_pipeline(&own, evaluation->column_count, &try->pipeline);
    if (code == EXIT_OK)
        code = derive_columns(try->pipeline, &own, &evaluation->input->columns);
    if (code == EXIT_OK)
        key_room_limit(try->pipeline);
    return code;
}

static exit_code add_contestant(eval_run *evaluation, const run_settings *settings,
                                const char *name, size_t name_bytes)
{
    eval_contestant *contestant = &evaluation->contestants[evaluation->contestant_count];
    oif_params params;
    if (evaluation->contestant_count == MAX_CONTESTANTS)
        return complain(EXIT_USAGE,
                        "--detector: eval compares at most %d detectors at a time; leave some out",
                        MAX_CONTESTANTS);
    exit_code code = params_choose(&params, name, name_bytes);
    if (code == EXIT_OK)
        code = copy_params(settings, &params);
    if (code != EXIT_OK)
        return code;
    contestant->name = params.table->name;
    contestant->tries = calloc(evaluation->run_count, sizeof *contestant->tries);
    if (!contestant->tries)
        return complain_out_of_memory();
    evaluation->contestant_count++;
    for (size_t run = 0; run < evaluation->run_count && code == EXIT_OK; run++) {
        contestant->tries[run].params = params;
        code = set_seed(&contestant->tries[run].params, run);
        if (code == EXIT_OK)
            code = make_pipeline(evaluation, settings, &contestant->tries[run]);
    }
    contestant->tries[0].is_traced = settings->eval.report != NULL;
    return code;
}

static exit_code add_contestants(eval_run *evaluation, const run_settings *settings)
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

bool eval_try_reserve(eval_try *try, size_t capacity)
{
    double *scores = realloc(try->scores, capacity * sizeof *scores);
    if (!scores)
        return false;
    try->scores = scores;
    uint8_t *marks = realloc(try->marks, capacity * sizeof *marks);
    if (!marks)
        return false;
    try->marks = marks;
    return true;
}

static void free_contestant(const eval_run *evaluation, eval_contestant *contestant)
{
    for (size_t run = 0; run < evaluation->run_count; run++) {
        oif_pipeline_free(contestant->tries[run].pipeline);
        free(contestant->tries[run].scores);
        free(contestant->tries[run].marks);
        eval_trace_free(&contestant->tries[run].trace);
    }
    free(contestant->tries);
}

static void finish(eval_run *evaluation)
{
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        free_contestant(evaluation, &evaluation->contestants[i]);
    free(evaluation->rows.labels);
    free(evaluation->rows.keys);
    free(evaluation->rows.seconds);
    eval_keys_free(&evaluation->keys);
    eval_labels_close(&evaluation->labels);
    row_spool_close(&evaluation->spool);
}

/* ---- Measuring ---- */

bool eval_is_timed(const eval_run *evaluation)
{
    return !isnan(evaluation->contestants[0].tries[0].measures[MEASURE_FALSE_PER_DAY]);
}

/* Decides which values of the label are anomalies, and replaces the values by 0 and 1. */
static exit_code decide_labels(eval_run *evaluation)
{
    eval_rows *rows = &evaluation->rows;
    exit_code code = eval_labels_decide(&evaluation->labels);
    for (size_t i = 0; i < rows->count && code == EXIT_OK; i++)
        rows->labels[i] = eval_labels_is_anomaly(&evaluation->labels, rows->labels[i]);
    return code;
}

static void summarize(eval_contestant *contestant, size_t run_count)
{
    double values[MAX_RUNS], deviation;
    for (size_t measure = 0; measure < MEASURES; measure++) {
        for (size_t run = 0; run < run_count; run++)
            values[run] = contestant->tries[run].measures[measure];
        eval_measures_spread(values, run_count, &contestant->mean[measure],
                             &contestant->spread[measure]);
    }
    for (size_t run = 0; run < run_count; run++)
        values[run] = contestant->tries[run].seconds;
    eval_measures_spread(values, run_count, &contestant->mean_seconds, &deviation);
}

/* Orders by episodes found, most first, then by false alerts, fewest first, then by average
 * precision. */
static bool is_better(const eval_contestant *a, const eval_contestant *b)
{
    static const struct {
        eval_measure measure;
        double sign;
    } by[] = {{MEASURE_FOUND, 1}, {MEASURE_FALSE_PER_1000, -1}, {MEASURE_AVERAGE_PRECISION, 1}};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        double difference = by[i].sign * (a->mean[by[i].measure] - b->mean[by[i].measure]);
        if (difference != 0 && !isnan(difference))
            return difference > 0;
    }
    return false;
}

static void rank(eval_run *evaluation)
{
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        size_t place = i;
        for (; place > 0 && is_better(&evaluation->contestants[i],
                                      &evaluation->contestants[evaluation->order[place - 1]]);
             place--)
            evaluation->order[place] = evaluation->order[place - 1];
        evaluation->order[place] = i;
    }
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        evaluation->contestants[evaluation->order[i]].rank = i;
}

static exit_code measure(eval_run *evaluation)
{
    eval_rows *rows = &evaluation->rows;
    exit_code code = decide_labels(evaluation);
    if (code != EXIT_OK)
        return code;
    rows->key_count = rows->keys ? evaluation->keys.table.count : 1;
    bool has_memory = eval_rows_count(rows);
    for (size_t i = 0; i < evaluation->contestant_count && has_memory; i++) {
        eval_contestant *contestant = &evaluation->contestants[i];
        for (size_t run = 0; run < evaluation->run_count && has_memory; run++) {
            eval_try *try = &contestant->tries[run];
            has_memory = eval_measures_take(rows, try->scores, try->marks, try->measures);
        }
        summarize(contestant, evaluation->run_count);
    }
    rank(evaluation);
    return has_memory ? EXIT_OK : complain_out_of_memory();
}

/* ---- The command ---- */

static exit_code check_settings(const run_settings *settings)
{
    if (!settings->label)
        return complain(
            EXIT_USAGE,
            "eval needs --label COL: the column that is 1 in anomalous rows and 0 in others");
    if (settings->eval.all_detectors && settings->is_detector_given)
        return complain(EXIT_USAGE,
                        "--all already includes every detector; leave out --all or --detector");
    if (params_keep_evicted(&settings->options))
        return complain(EXIT_USAGE, "eval keeps no state: leave out --evicted keep");
    return alert_options_check(settings);
}

static exit_code evaluate(eval_run *evaluation, run_settings *settings)
{
    run_input *input = evaluation->input;
    alert_options_note_useless(settings, NULL);
    alert_options_note_idle(settings);
    evaluation->times =
        stream_clock_start(&input->source, settings->score.time, &input->columns.time_format);
    alert_options_set_clock(settings, &evaluation->times);
    evaluation->labels = eval_labels_start(settings, &input->source);
    evaluation->column_count = input->columns.count;
    exit_code code = add_contestants(evaluation, settings);
    if (code == EXIT_OK && settings->eval.report)
        code = row_spool_open(
            &evaluation->spool, settings->eval.report,
            oif_pipeline_learned_columns(evaluation->contestants[0].tries[0].pipeline));
    if (code == EXIT_OK)
        code = eval_stream(evaluation);
    bad_rows_report(&evaluation->bad, &input->source);
    if (code == EXIT_OK)
        stream_clock_report(&evaluation->times);
    if (code == EXIT_OK)
        code = measure(evaluation);
    return code;
}

exit_code eval_command_run(const run_settings *asked)
{
    run_settings settings = *asked;
    run_input input;
    eval_run evaluation = {.settings = &settings,
                           .input = &input,
                           .run_count = settings.eval.runs > 0 ? (size_t)settings.eval.runs : 1};
    bad_rows *bad = settings.score.on_bad_row == BAD_ROW_FAILS ? NULL : &evaluation.bad;
    if (settings.is_silent)
        output_silence_notes();
    exit_code code = check_settings(&settings);
    if (code != EXIT_OK)
        return code;
    code = input_open(&input, &settings, LABEL_READ, NULL, bad);
    if (code != EXIT_OK)
        return code;
    settings.score.time = input.columns.time_name; /* given or found */
    code = season_check(&settings);
    if (code == EXIT_OK)
        code = evaluate(&evaluation, &settings);
    if (code == EXIT_OK && settings.json)
        eval_report_json(&evaluation);
    else if (code == EXIT_OK)
        eval_report_table(&evaluation);
    if (code == EXIT_OK && settings.eval.report)
        code = eval_write_report(&evaluation);
    finish(&evaluation);
    input_close(&input);
    return code;
}

static const char *set_anomaly(run_settings *settings, const char *value)
{
    if (settings->eval.anomaly_count == ANOMALY_VALUES_MAX)
        return "at most 16 values";
    settings->eval.anomalies[settings->eval.anomaly_count++] = value;
    return NULL;
}

static const char *const bad_row_words[] = {"fail", "skip", "null", NULL}; /* as on_bad_row */

static const option_entry options[] = {
    {"label", OPTION_TEXT, SETTING(label), GROUP_COLUMNS,
     .brief = "the column that marks anomalies, for example by 1",
     .help = "the column that says which rows are anomalies: 0 and 1, false and true, no and yes, "
             "normal and anything else, or -1 for an anomaly and 1 as in scikit-learn",
     .argument = "COL"},
    {"anomaly", OPTION_APPLY, SETTING(eval.anomalies), GROUP_COLUMNS,
     .brief = "the value of the label that marks anomalies",
     .help = "this value of the label marks anomalies, all others are normal; may be repeated",
     .argument = "VALUE", .apply = set_anomaly},
    OPTION_KEY,
    {"time", OPTION_TEXT, SETTING(score.time), GROUP_COLUMNS,
     .brief = "the time of a row: for delays and alerts per day",
     .help = "the column with the time of a row, as in oif score: delays are then times, and false "
             "alerts are counted per day",
     .argument = "COL"},
    OPTION_TIME_FORMAT,
    OPTION_RATE,
    OPTION_CATEGORY,
    {"season", OPTION_APPLY, SETTING(options), GROUP_DETECTOR,
     .brief = "the stream repeats after N rows, 1d, 1w; auto; off",
     .help = "the stream repeats itself after this many rows, or by --time after 24h, 1d or 1w; "
             "may be given twice; auto (the default): search for it; off: none",
     .argument = "PERIOD", .apply = season_set},
    {"all", OPTION_SWITCH, SETTING(eval.all_detectors), GROUP_DETECTOR,
     .brief = "compare all detectors, the best first",
     .help = "compare all detectors, the best first: by labelled episodes found, then by false "
             "alerts; --detector A,B,... compares some"},
    {"runs", OPTION_COUNT, SETTING(eval.runs), GROUP_DETECTOR,
     .brief = "repeat with N seeds: mean and standard deviation",
     .help = "repeat with N consecutive seeds from --seed on: mean and standard deviation of every "
             "measure",
     .argument = "N", .from = 1, .to = MAX_RUNS, .range = "1 to 100"},
    {"report", OPTION_TEXT, SETTING(eval.report), GROUP_OUTPUT,
     .brief = "also write an HTML page with charts",
     .help = "also write an HTML page with charts: scores over time, the columns at the worst "
             "episodes, curves, detectors; needs no network",
     .argument = "FILE"},
    {"on-bad-row", OPTION_WORD, SETTING(score.on_bad_row), GROUP_INPUT,
     .brief = "fail (the default), skip the row, or null its numbers",
     .help = "what to do with a row that cannot be read: fail, skip it, or treat its bad numbers "
             "as missing",
     .argument = "WORD", .words = bad_row_words, .from = BAD_ROW_FAILS},
    {"quiet", OPTION_SWITCH, SETTING(is_silent), GROUP_OUTPUT,
     .help = "-q: print no notes on stderr, only errors"},
    {"json", OPTION_SWITCH, SETTING(json), GROUP_OUTPUT, .brief = "print the results as JSON"},
};

const command_entry eval_command = {
    .name = "eval",
    .summary = "score a labelled file: what is found, how soon, what is false",
    .usage = "eval --label COL [OPTION...] [FILE|-]...",
    .examples = "  oif eval --label fault pump.csv             precision, recall, episodes, AUC\n"
                "  oif eval --label fault --all pump.csv       every detector, the best first\n"
                "  oif eval --label fault --time at --alerts 5/day pump.csv\n"
                "                                              what five alerts per day find, and\n"
                "                                              how late\n"
                "  oif eval --label fault --time at --all --report pump.html pump.csv\n"
                "                                              the same as an HTML page with\n"
                "                                              charts\n",
    .more_examples =
        "  oif eval --label fault --all --runs 5 pump.csv\n"
        "                                              is the best one just lucky?\n"
        "  oif eval --label fault --alert-rate 0.01 --all pump.csv\n"
        "                                              with ten times as many alerts\n"
        "  oif eval --label state --anomaly broken --anomaly stuck pump.csv\n"
        "                                              which labels are anomalies\n"
        "  oif eval --label fault --detector hst,loda pump.csv\n"
        "                                              two detectors, the better first\n"
        "  oif eval --label fault --detector hst,rolling-iforest+hst pump.csv\n"
        "                                              one detector, and two that judge\n"
        "                                              together\n"
        "  oif eval --label fault --key host pump.csv  a series per host\n"
        "  oif eval --label fault --json pump.csv      for other programs to read\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .reads_rows = true,
    .takes_params = true,
    .takes_pipeline = true,
    .takes_detectors = true,
};
