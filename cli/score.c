/* oif score: every row passes through as it came, with what is known about it added: a thin
 * front on oif_pipeline. Added fields come last, even where the input has columns of the same
 * names. */
#include "bad_rows.h"
#include "progress.h"
#include "rows.h"
#include "stop.h"
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One run, from the first row to the last. */
struct scoring {
    const struct score_settings *settings;
    struct input *input;
    struct state *state;
    struct fields fields;
    struct rows rows;
    struct watch watch;
    bool is_watched;
    struct bad_rows bad;
    struct progress progress;
    uint64_t anomalies, episodes;
};

/* ---- Rows ---- */

/* What the pipeline would refuse about a record; found first, so that rows that were seen are
 * counted alike. */
static oif_status check_key(const struct input *input, const oif_record *record, oif_error *error)
{
    const size_t most_bytes = 64 * 1024;

    if (!input->has_key || record->texts[input->key_text].bytes <= most_bytes)
        return OIF_OK;
    *error = (oif_error){.status = OIF_EINPUT, .line = record->line};
    snprintf(error->message, sizeof error->message,
             "a key of %zu bytes is too long; up to %zu are fine",
             record->texts[input->key_text].bytes, most_bytes);
    return OIF_EINPUT;
}

/* The next record that can be used. Bad ones on the way are treated as the settings want it. */
static oif_status next_record(struct scoring *scoring, oif_record *record, oif_error *error)
{
    oif_reader *reader = scoring->input->reader;
    enum on_bad_row policy = scoring->settings->on_bad_row;

    for (;;) {
        oif_status status = oif_reader_next(reader, record, error);
        bool is_mended = status == OIF_EINPUT && policy == BAD_ROW_IS_MENDED &&
                         oif_reader_refused(reader, record);

        if (is_mended)
            bad_rows_add(&scoring->bad, error, true);
        if (status == OIF_OK || is_mended)
            status = check_key(scoring->input, record, error);
        if (status != OIF_EINPUT || policy == BAD_ROW_FAILS)
            return status;
        bad_rows_add(&scoring->bad, error, false);
    }
}

static bool is_shown(const struct score_settings *settings, const oif_result *result)
{
    if (settings->alert_once)
        return result->episode == OIF_EPISODE_BEGINS || result->episode == OIF_EPISODE_ENDS;
    return result->anomaly || !settings->only_alerts;
}

/* Returns false when nobody takes the output any more. */
static bool tell(struct scoring *scoring, const oif_record *record, const oif_result *result)
{
    struct verdict verdict;

    scoring->anomalies += result->anomaly;
    scoring->episodes += result->episode == OIF_EPISODE_BEGINS;
    if (!scoring->is_watched && !is_shown(scoring->settings, result))
        return true;
    verdict = fields_judge(&scoring->fields, scoring->state->pipeline, result);
    return scoring->is_watched ? watch_row(&scoring->watch, record, &verdict)
                               : rows_write(&scoring->rows, record, &verdict);
}

static oif_status process(struct scoring *scoring, const oif_record *record, oif_result *result,
                          oif_error *error)
{
    const struct input *input = scoring->input;
    oif_text key = input->has_key ? record->texts[input->key_text] : (oif_text){NULL, 0};
    oif_status status = oif_pipeline_process(scoring->state->pipeline, key.text, key.bytes,
                                             record->values, result, error);

    if (status == OIF_OK)
        state_row(scoring->state);
    return status;
}

static exit_code score_rows(struct scoring *scoring)
{
    struct state *state = scoring->state;
    oif_status status;
    oif_record record;
    oif_result result;
    oif_error error;

    while ((status = next_record(scoring, &record, &error)) == OIF_OK) {
        if (state->rows_seen > 0) {
            state->rows_seen--;
            continue;
        }
        status = process(scoring, &record, &result, &error);
        if (status != OIF_OK || !tell(scoring, &record, &result) || stop_requested())
            break;
        if (state_is_due(state)) {
            progress_end(&scoring->progress);
            state_save(state);
        }
        if (state_has_lost(state)) {
            progress_end(&scoring->progress);
            state_tell_lost(state);
        }
        progress_row(&scoring->progress, scoring->input->bytes_read);
    }
    progress_end(&scoring->progress);
    return status == OIF_OK || status == OIF_END || stop_requested()
               ? EXIT_OK
               : input_complain(scoring->input, &error);
}

/* ---- The run ---- */

/* For a person at a terminal. */
static void tell_summary(const struct scoring *scoring)
{
    const oif_pipeline *pipeline = scoring->state->pipeline;
    uint64_t rows = scoring->progress.rows, bad = scoring->bad.skipped + scoring->bad.mended;
    double seconds = seconds_now() - scoring->progress.started;
    char text[5][GROUPED_TEXT_BYTES], keys[96] = "", bad_text[64] = "";

    if (!isatty(STDERR_FILENO))
        return;
    if (scoring->input->has_key)
        snprintf(keys, sizeof keys, ", %s keys (%" PRIu64 " evicted)",
                 grouped_text(oif_pipeline_keys(pipeline), text[3]),
                 oif_pipeline_evictions(pipeline));
    if (bad > 0)
        snprintf(bad_text, sizeof bad_text, ", %s bad", grouped_text(bad, text[4]));
    complain(EXIT_OK, "%s rows%s, %s anomalies in %" PRIu64 " episodes%s; %s rows/s",
             grouped_text(rows, text[0]), bad_text, grouped_text(scoring->anomalies, text[1]),
             scoring->episodes, keys,
             grouped_text(seconds > 0 ? (uint64_t)((double)rows / seconds) : 0, text[2]));
}

static void finish_run(struct scoring *scoring)
{
    if (scoring->is_watched)
        watch_draw(&scoring->watch);
    if (scoring->state->rows_seen > 0 && !stop_requested())
        complain(EXIT_OK, "%s: it ends %" PRIu64 " rows before what %s has seen",
                 scoring->input->name, scoring->state->rows_seen, scoring->state->path);
    bad_rows_tell(&scoring->bad, scoring->input);
    tell_summary(scoring);
}

/* A live view needs a terminal; elsewhere alerts and their reasons come as lines. */
static bool start_watch(struct scoring *scoring)
{
    if (!scoring->settings->watch || !watch_is_possible())
        return false;
    watch_start(&scoring->watch, scoring->input, scoring->state->pipeline);
    scoring->input->pauses = watch_draw;
    scoring->input->pause_context = &scoring->watch;
    return true;
}

/* The header stands at the start of the output; where rows are skipped it is there already. */
static bool write_header(const struct scoring *scoring)
{
    return scoring->is_watched || scoring->state->rows_seen > 0 ||
           rows_write_header(&scoring->rows, &scoring->fields);
}

/* Puts the names of the columns into the state, unless there are some or the input has none. */
static exit_code name_columns(oif_pipeline *pipeline, const struct input *input)
{
    const char **names;
    oif_error error;
    oif_status status;

    if (!input_has_names(input) || oif_pipeline_column_name(pipeline, 0))
        return EXIT_OK;
    names = calloc(input->feature_count, sizeof *names);
    if (!names)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < input->feature_count; i++)
        names[i] = input_feature_name(input, i);
    status = oif_pipeline_name_columns(pipeline, names, &error);
    free(names);
    return status == OIF_OK ? EXIT_OK : complain(EXIT_FAILED, "%s: %s", input->name, error.message);
}

static exit_code score_opened(struct scoring *scoring, const struct settings *settings)
{
    exit_code code = state_start(scoring->state, settings, scoring->input->feature_count);

    if (code == EXIT_OK)
        code = name_columns(scoring->state->pipeline, scoring->input);
    if (code != EXIT_OK) {
        state_give_up(scoring->state);
        return code;
    }
    scoring->rows = rows_start(scoring->input, settings->score.output);
    scoring->is_watched = start_watch(scoring);
    scoring->progress = progress_start(isatty(STDOUT_FILENO) ? 0 : scoring->input->total_bytes);
    if (write_header(scoring))
        code = score_rows(scoring);
    finish_run(scoring);
    return code;
}

static exit_code score_input(const struct settings *settings, struct state *state)
{
    struct input input;
    struct scoring scoring = {.settings = &settings->score, .input = &input, .state = state};
    struct bad_rows *bad = settings->score.on_bad_row == BAD_ROW_FAILS ? NULL : &scoring.bad;
    exit_code code = input_open(&input, settings, LABEL_IGNORED, state->pipeline, bad);

    if (code != EXIT_OK) {
        bad_rows_tell(&scoring.bad, &input);
        return stop_requested() ? EXIT_OK : code;
    }
    input.state = state;
    code = fields_open(&scoring.fields, settings, &input);
    if (code == EXIT_OK) {
        code = score_opened(&scoring, settings);
        fields_close(&scoring.fields);
    }
    input_close(&input);
    return code;
}

static exit_code run(const struct settings *asked)
{
    struct settings settings = *asked;
    struct state state;
    exit_code code = state_open(&state, &settings);

    if (code != EXIT_OK)
        return code;
    if (settings.score.watch && !watch_is_possible()) {
        settings.score.only_alerts = true;
        if (settings.score.explain_top == 0)
            settings.score.explain_top = DEFAULT_EXPLAIN_TOP;
    }
    stop_catch_signals();
    return state_close(&state, score_input(&settings, &state));
}

/* ---- The command line ---- */

static const char *set_time(struct settings *settings, const char *value)
{
    settings->score.time = value;
    return NULL;
}

static const char *set_fields(struct settings *settings, const char *value)
{
    settings->score.fields = value;
    return NULL;
}

static const char *set_explain(struct settings *settings, const char *value)
{
    const char *end = value ? value + strlen(value) : NULL;
    double number = DEFAULT_EXPLAIN_TOP;

    if (value && (oif_number_parse(value, end, &number) != end || !(number >= 1 && number <= 1e6) ||
                  number != (double)(size_t)number))
        return "how many columns, a whole number from 1 on";
    settings->score.explain_top = (size_t)number;
    return NULL;
}

static const char *set_only_alerts(struct settings *settings, const char *value)
{
    (void)value;
    settings->score.only_alerts = true;
    return NULL;
}

static const char *set_alert_once(struct settings *settings, const char *value)
{
    (void)value;
    settings->score.alert_once = true;
    return NULL;
}

static const char *set_skip_seen(struct settings *settings, const char *value)
{
    (void)value;
    settings->score.skip_seen = true;
    return NULL;
}

static const char *set_watch(struct settings *settings, const char *value)
{
    (void)value;
    settings->score.watch = true;
    return NULL;
}

/* The position of a word in a list that ends with NULL, or of that NULL. */
static size_t position_of(const char *word, const char *const words[])
{
    size_t i = 0;

    while (words[i] && strcmp(words[i], word) != 0)
        i++;
    return i;
}

static const char *set_on_bad_row(struct settings *settings, const char *value)
{
    static const char *const words[] = {"fail", "skip", "null", NULL};
    size_t position = position_of(value, words);

    settings->score.on_bad_row = (enum on_bad_row)position;
    return words[position] ? NULL : "fail, skip or null";
}

static const char *set_output(struct settings *settings, const char *value)
{
    static const char *const words[] = {"csv", "ndjson", NULL};
    size_t position = position_of(value, words);

    settings->score.output = (enum output_format)(OUTPUT_CSV + position);
    return words[position] ? NULL : "csv or ndjson";
}

static const char *set_state(struct settings *settings, const char *value)
{
    settings->state = value;
    return NULL;
}

/* "10000", "30s", "5m" */
static const char *set_save_every(struct settings *settings, const char *value)
{
    static const char expected[] = "rows such as 10000, or a time such as 30s or 5m";
    const char *end = value + strlen(value), *unit;
    double number;

    settings->rows_between_saves = 0;
    settings->seconds_between_saves = 0;
    unit = oif_number_parse(value, end, &number);
    if (!unit || !(number > 0 && number <= 1e12))
        return expected;
    if (strcmp(unit, "s") == 0)
        settings->seconds_between_saves = number;
    else if (strcmp(unit, "m") == 0)
        settings->seconds_between_saves = number * 60;
    else if (unit == end && number == (double)(uint64_t)number)
        settings->rows_between_saves = (uint64_t)number;
    else
        return expected;
    return NULL;
}

static const struct option options[] = {
    {"key", "COL", "each key, such as each host, has a model of its own", set_key},
    {"time", "COL", "a column to keep out of the numbers and to show with alerts", set_time},
    {"label", "COL", "a column to keep out of the numbers, such as the truth", set_label},
    {"fields", "A,B,...",
     "what is added to a row: score, p, threshold, anomaly, ready, learned, episode, why",
     set_fields},
    {"explain", "[TOP]",
     "say why a row is anomalous: the TOP columns, how far, low or high (default 3)", set_explain},
    {"only-alerts", NULL, "print anomalous rows only", set_only_alerts},
    {"alert-once", NULL,
     "print two rows of each episode of anomalies: its first, and the one that ends it",
     set_alert_once},
    {"on-bad-row", "fail|skip|null",
     "a row that cannot be read: fail, skip it, or make its bad numbers missing; then the first "
     "line may be "
     "bad "
     "as well",
     set_on_bad_row},
    {"output", "csv|ndjson", "how rows are printed (like the input if not given)", set_output},
    {"watch", NULL, "a live view instead of rows; without a terminal, anomalous rows only",
     set_watch},
    {"state", "FILE",
     "go on from what this file holds, with columns of the same names, and save to it at the end",
     set_state},
    {"save-every", "N|Ns|Nm", "save every N rows, seconds or minutes as well", set_save_every},
    {"skip-seen", NULL,
     "the input starts where it did at first: skip the rows that the state has seen",
     set_skip_seen},
    INPUT_OPTIONS,
};

const struct command score_command = {
    .name = "score",
    .summary =
        "give each row of a stream its anomaly score and say which rows are anomalous, and why",
    .usage = "score [OPTION...] [FILE|-]",
    .examples =
        "  oif score readings.csv > scored.csv        rows as they came, with score, p and anomaly "
        "added\n"
        "  tail -f readings.csv | oif score           each row is scored as it arrives\n"
        "  oif score --exclude time,host flows.csv    columns that are not numbers stay out\n"
        "  oif score --only-alerts --explain flows.ndjson\n"
        "                                             anomalous rows only, and which columns are "
        "the reason\n"
        "  oif score --key host --time at --alert-once --alert-rate 0.0001 flows.ndjson\n"
        "                                             a model for each host, two lines for each "
        "episode\n"
        "  tail -n +1 -F readings.csv | oif score --state pump.oif --save-every 30s --skip-seen\n"
        "                                             goes on after a restart, bit for bit\n"
        "  tail -f flows.csv | oif score --watch      a live view of scores and alerts\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .takes_params = true,
    .takes_pipeline = true,
    .run = run,
};
