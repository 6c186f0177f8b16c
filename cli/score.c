/* oif score: every row passes through as it came, with what is known about it added: a thin
 * front on oif_pipeline. Added fields come last, even where the input has columns of the same
 * names. */
#include "score.h"
#include "alert_options.h"
#include "alert_record.h"
#include "clock.h"
#include "durations.h"
#include "key_room.h"
#include "known_roles.h"
#include "late_keys.h"
#include "metrics.h"
#include "on_alert.h"
#include "progress.h"
#include "roles.h"
#include "row_block.h"
#include "row_source.h"
#include "row_writer.h"
#include "season_search.h"
#include "signals.h"
#include "silence_monitor.h"
#include "state.h"
#include "stream_clock.h"
#include "verbose.h"
#include "watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_PER_LOOK_AT_THE_CLOCK = 256 };

/* One run, from the first row to the last. */
typedef struct scoring_run {
    const score_settings *settings;
    const cli_settings *all_settings;
    cli_input *input;
    cli_state *state;
    result_fields fields;
    row_writer writer;
    watch_view watch;
    bool is_watched;
    bad_rows bad;
    stream_clock times;
    silence_monitor silence;
    key_room room;
    season_search season;
    progress_line progress;
    cli_metrics metrics;
    on_alert *actions;
    uint64_t rows_until_attention; /* to commands that run */
    rising_watch rising;
    late_keys late;
    row_block *block; /* NULL: rows are processed one by one */
    oif_status block_status;
    oif_error block_error; /* of that status */
    bool is_over;          /* nothing is to be read any more */
    atomic_bool is_memory_short;
    bool is_header_written;
    uint64_t keyless; /* rows whose key is empty */
    uint64_t anomalies, episodes;
    uint64_t graded[OIF_GRADE_CRITICAL + 1]; /* rows of each grade */
} scoring_run;

/* ---- Rows ---- */

/* The time of a record; NaN without --time. */
static double read_time(scoring_run *scoring, const oif_record *record)
{
    const cli_columns *columns = &scoring->input->columns;
    if (!columns->has_time)
        return NAN;
    return stream_clock_read(&scoring->times, record->texts[columns->time_text], record->line);
}

static bool is_shown(const score_settings *settings, const oif_result *result)
{
    if (settings->output == OUTPUT_PROMETHEUS)
        return false;
    if (settings->alert_once)
        return result->episode == OIF_EPISODE_BEGINS || result->episode == OIF_EPISODE_ENDS;
    if (settings->min_grade != OIF_GRADE_NONE)
        return result->grade >= settings->min_grade;
    return result->anomaly || !settings->only_alerts;
}

static void count_in_metrics(scoring_run *scoring, oif_text key, const oif_result *result)
{
    metrics_row(&scoring->metrics, key.text, key.bytes, result);
    if (scoring->metrics.rows % ROWS_PER_LOOK_AT_THE_CLOCK == 0)
        metrics_attend(&scoring->metrics);
}

static void act(scoring_run *scoring, const oif_record *record, oif_text key,
                const row_verdict *verdict)
{
    size_t record_bytes;
    char *text = alert_record_make(&scoring->writer, record, verdict, key, &record_bytes);
    on_alert_run(scoring->actions, text, record_bytes, alert_record_series(verdict, key),
                 verdict->result.episode == OIF_EPISODE_BEGINS,
                 grade_word(verdict->episode.peak_grade));
}

/* A row that was processed. */
typedef struct scored_row {
    const oif_record *record;
    oif_text key; /* NULL for an empty one */
    double seconds;
    const oif_result *result;
    const kept_verdict *kept; /* made when it was processed; NULL: the pipeline is asked */
    bool is_in_block;         /* then the pipeline is not asked */
} scored_row;

static bool is_wanted(const scoring_run *scoring, const oif_result *result)
{
    return scoring->is_watched || is_shown(scoring->settings, result);
}

static bool is_acted_on(const scoring_run *scoring, const oif_result *result)
{
    return scoring->actions->command &&
           (result->episode == OIF_EPISODE_BEGINS || result->episode == OIF_EPISODE_ENDS);
}

static row_verdict judge(scoring_run *scoring, const scored_row *row)
{
    if (row->kept)
        return row->kept->verdict;
    if (row->is_in_block) /* neither anomalous nor part of an episode */
        return (row_verdict){
            .result = *row->result, .fields = &scoring->fields, .seconds = row->seconds};
    return result_fields_judge(&scoring->fields, scoring->state->pipeline, row->result,
                               row->seconds);
}

/* Returns false once stdout takes no more. */
static bool write_result(scoring_run *scoring, const scored_row *row)
{
    const oif_result *result = row->result;
    scoring->anomalies += result->anomaly;
    scoring->graded[result->grade]++;
    scoring->episodes += result->episode == OIF_EPISODE_BEGINS;
    if (!row->is_in_block)
        result_fields_follow(&scoring->fields, scoring->state->pipeline, result);
    if (scoring->metrics.is_wanted && !result->has_no_model)
        count_in_metrics(scoring, row->key, result);
    const bool is_printed = is_wanted(scoring, result), is_alert = is_acted_on(scoring, result);
    if (!is_printed && !is_alert)
        return true;
    row_verdict verdict = judge(scoring, row);
    if (is_alert)
        act(scoring, row->record, row->key, &verdict);
    if (!is_printed)
        return true;
    return scoring->is_watched ? watch_row(&scoring->watch, row->record, &verdict, row->seconds)
                               : row_writer_row(&scoring->writer, row->record, &verdict);
}

static void count_keyless(scoring_run *scoring, const oif_record *record)
{
    if (scoring->keyless++ == 0)
        note("%s:%" PRIu64 ": there is no key in '%.60s'; rows without one share a model",
             scoring->input->source.name, record->line, scoring->settings->key);
}

/* What is said about columns while rows come. */
static exit_code watch_columns(scoring_run *scoring, const oif_record *record)
{
    const cli_columns *columns = &scoring->input->columns;
    exit_code code = EXIT_OK;
    if (scoring->late.is_watching)
        code = late_keys_row(&scoring->late, columns, scoring->all_settings, record);
    if (code == EXIT_OK && scoring->rising.columns)
        code = rising_watch_row(&scoring->rising, columns, scoring->all_settings, record);
    return code;
}

/* What is said about a row that was processed, before the row itself. */
static void note_row(scoring_run *scoring, const scored_row *row, bool is_short)
{
    oif_pipeline *pipeline = scoring->state->pipeline;
    silence_monitor_result(&scoring->silence, row->key, row->seconds, row->result);
    if (is_short) {
        progress_end(&scoring->progress);
        key_room_report(&scoring->room, pipeline, row->result, row->key.text, row->key.bytes);
    }
    state_row(scoring->state);
}

static oif_text key_of(scoring_run *scoring, const oif_record *record)
{
    const cli_columns *columns = &scoring->input->columns;
    oif_text key = key_columns_text(&columns->key, record);
    if (key.bytes > 0)
        return key;
    if (columns->has_key)
        count_keyless(scoring, record);
    return (oif_text){NULL, 0};
}

static oif_status process(scoring_run *scoring, scored_row *row, oif_result *result,
                          oif_error *error)
{
    cli_columns *columns = &scoring->input->columns;
    oif_pipeline *pipeline = scoring->state->pipeline;
    silence_monitor_row(&scoring->silence, pipeline, row->seconds);
    oif_status status =
        oif_pipeline_process_at(pipeline, row->key.text, row->key.bytes, row->seconds,
                                categories_row(&columns->categories, row->record), result, error);
    if (status == OIF_OK)
        note_row(scoring, row, key_room_is_short(&scoring->room, pipeline, result));
    return status;
}

static void save_if_due(scoring_run *scoring)
{
    bool is_asked_for = signals_take_save_request();
    if (!is_asked_for && !state_is_due(scoring->state))
        return;
    progress_end(&scoring->progress);
    (is_asked_for ? state_save_now : state_save)(scoring->state);
}

/* The sooner of two waits; -1 is never. */
static int sooner(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Commands end and others wait for that; a look costs as much as some rows. */
static void attend_to_commands(scoring_run *scoring)
{
    if (scoring->actions->running_count == 0 || scoring->rows_until_attention-- > 0)
        return;
    scoring->rows_until_attention = ROWS_PER_LOOK_AT_THE_CLOCK;
    on_alert_attend(scoring->actions);
}

/* While the input has nothing to read: the view shows the latest rows, keys may fall silent, and
 * the state and the metrics are saved by the clock. Returns the milliseconds until it is needed
 * again. */
static int use_idle_time(void *context)
{
    scoring_run *scoring = context;
    int listens = silence_monitor_idle(&scoring->silence, scoring->state->pipeline);
    if (scoring->is_watched)
        watch_draw(&scoring->watch);
    save_if_due(scoring);
    int saves = state_milliseconds_left(scoring->state);
    return sooner(sooner(listens, saves),
                  sooner(metrics_attend(&scoring->metrics), on_alert_attend(scoring->actions)));
}

/* After a row was written. */
static void finish_row(scoring_run *scoring, const oif_record *record)
{
    season_search_row(&scoring->season, &scoring->input->columns, record);
    attend_to_commands(scoring);
    if (state_has_lost(scoring->state)) {
        progress_end(&scoring->progress);
        state_report_lost(scoring->state);
    }
    progress_row(&scoring->progress, scoring->input->source.bytes_read);
}

/* ---- Rows in blocks, on several threads ---- */

/* On the thread that has processed the row. */
static void keep_verdict(void *context, oif_pipeline *pipeline, size_t row,
                         const oif_result *result)
{
    scoring_run *scoring = context;
    row_block *block = scoring->block;
    waiting_row *waiting = &block->waiting[row];
    waiting->is_short = key_room_is_short(&scoring->room, pipeline, result);
    if (!result->anomaly && result->episode == OIF_EPISODE_NONE)
        return;
    const bool is_judged = is_wanted(scoring, result) || is_acted_on(scoring, result);
    waiting->kept =
        kept_verdict_make(&scoring->fields, pipeline, result, block->seconds[row], is_judged);
    if (!waiting->kept)
        scoring->is_memory_short = true;
}

static bool write_waiting(scoring_run *scoring, size_t i)
{
    const row_block *block = scoring->block;
    const waiting_row *waiting = &block->waiting[i];
    const key_room *room = &scoring->room;
    const scored_row row = {.record = &waiting->record,
                            .key = {block->keys[i], block->key_bytes[i]},
                            .seconds = block->seconds[i],
                            .result = &block->results[i],
                            .kept = waiting->kept,
                            .is_in_block = true};
    bool is_reported =
        row.result->has_no_model ? room->is_full_reported : room->is_restart_reported;
    note_row(scoring, &row, waiting->is_short && !is_reported);
    if (!write_result(scoring, &row))
        return false;
    finish_row(scoring, row.record);
    return true;
}

/* Processes the rows that wait and writes them: when there are enough, when the order of what
 * happens asks for it, and before the input may have to be waited for. */
static void process_block(void *context)
{
    scoring_run *scoring = context;
    row_block *block = scoring->block;
    size_t done = 0;
    if (block->count == 0 || scoring->is_over)
        return;
    scoring->block_status = oif_pipeline_process_rows_with(
        scoring->state->pipeline, block->rows, block->count, block->columns, block->keys,
        block->key_bytes, block->seconds, keep_verdict, scoring, block->results, &done,
        &scoring->block_error);
    scoring->block_error.line = 0; /* it is the row of the block */
    bool is_written = !scoring->is_memory_short;
    for (size_t i = 0; i < done && is_written; i++)
        is_written = write_waiting(scoring, i);
    row_block_empty(block);
    scoring->is_over = !is_written || scoring->block_status != OIF_OK || signals_stop_requested();
    if (!scoring->is_over)
        save_if_due(scoring);
}

/* The state is saved after exactly as many rows as were asked for. */
static bool is_block_full(const scoring_run *scoring)
{
    const cli_state *state = scoring->state;
    return scoring->block->count == ROW_BLOCK_ROWS ||
           (state->rows_between_saves > 0 &&
            state->rows_unsaved + scoring->block->count >= state->rows_between_saves);
}

/* False: the row is to be processed by itself. */
static bool wait_in_block(scoring_run *scoring, const scored_row *row)
{
    row_block *block = scoring->block;
    if (silence_monitor_acts(&scoring->silence, row->seconds))
        process_block(scoring);
    if (!row_block_add(block, row->record, row->key, row->seconds)) {
        process_block(scoring);
        if (!row_block_add(block, row->record, row->key, row->seconds))
            return false;
    }
    silence_monitor_row(&scoring->silence, scoring->state->pipeline, row->seconds);
    if (is_block_full(scoring))
        process_block(scoring);
    return true;
}

/* Whether threads can share the rows, and the reason why not. */
static exit_code start_threads(scoring_run *scoring)
{
    oif_error error;
    cli_input *input = scoring->input;
    oif_pipeline *pipeline = scoring->state->pipeline;
    const uint64_t threads = scoring->settings->threads;
    if (threads < 2 || scoring->is_watched || input->columns.categories.count > 0)
        return EXIT_OK;
    if (oif_pipeline_set_threads(pipeline, (unsigned)threads, &error) != OIF_OK)
        return complain(EXIT_FAILED, "--threads: %s", error.message);
    scoring->block = row_block_new(&input->columns);
    if (!scoring->block)
        return complain(EXIT_FAILED, "out of memory");
    input->source.before_read = process_block;
    input->source.before_read_context = scoring;
    return EXIT_OK;
}

/* ---- All rows ---- */

static exit_code end_of_rows(scoring_run *scoring, oif_status status, const oif_error *error)
{
    if (scoring->block) {
        process_block(scoring);
        if (scoring->is_memory_short)
            return complain(EXIT_FAILED, "out of memory");
        if (scoring->block_status != OIF_OK) {
            status = scoring->block_status;
            error = &scoring->block_error;
        }
    }
    progress_end(&scoring->progress);
    return status == OIF_OK || status == OIF_END || signals_stop_requested()
               ? EXIT_OK
               : input_complain(scoring->input, error);
}

/* Returns false when it was the last one, because of `status` or because no output is taken. */
static bool score_row(scoring_run *scoring, scored_row row, oif_status *status, oif_error *error)
{
    oif_result result;
    if (scoring->block && wait_in_block(scoring, &row))
        return !scoring->is_over;
    row.result = &result;
    *status = process(scoring, &row, &result, error);
    if (*status != OIF_OK || !write_result(scoring, &row) || signals_stop_requested())
        return false;
    save_if_due(scoring);
    finish_row(scoring, row.record);
    return true;
}

static exit_code score_rows(scoring_run *scoring)
{
    cli_state *state = scoring->state;
    oif_status status;
    oif_record record;
    oif_error error;
    while ((status = row_source_next(scoring->input, scoring->settings->on_bad_row, &scoring->bad,
                                     &record, &error)) == OIF_OK &&
           !scoring->is_over) {
        exit_code code = watch_columns(scoring, &record);
        if (code != EXIT_OK) {
            end_of_rows(scoring, OIF_OK, NULL);
            return code;
        }
        double seconds = read_time(scoring, &record); /* of rows that were seen too: they give
                                                         the unit and the year of later ones */
        if (state->rows_seen > 0) {
            state->rows_seen--;
            continue;
        }
        scored_row row = {.record = &record, .key = key_of(scoring, &record), .seconds = seconds};
        if (!score_row(scoring, row, &status, &error))
            break;
    }
    return end_of_rows(scoring, status, &error);
}

/* ---- The run ---- */

/* " (2 critical, 1 warning, 14 note)", the worst first; "" without anomalies. */
enum { GRADES_TEXT_BYTES = 96 };

static const char *grades_text(const scoring_run *scoring, char text[GRADES_TEXT_BYTES])
{
    int length = 0;
    text[0] = '\0';
    for (oif_grade grade = OIF_GRADE_CRITICAL; grade > OIF_GRADE_NONE; grade--)
        if (scoring->graded[grade] > 0)
            length +=
                snprintf(text + length, (size_t)(GRADES_TEXT_BYTES - length), "%s%" PRIu64 " %s",
                         length > 0 ? ", " : " (", scoring->graded[grade], grade_word(grade));
    if (length > 0)
        snprintf(text + length, (size_t)(GRADES_TEXT_BYTES - length), ")");
    return text;
}

/* For a person at a terminal. */
static void report_summary(const scoring_run *scoring)
{
    const oif_pipeline *pipeline = scoring->state->pipeline;
    uint64_t rows = scoring->progress.rows, bad = scoring->bad.skipped + scoring->bad.mended;
    double seconds = clock_seconds() - scoring->progress.started;
    char text[5][GROUPED_TEXT_BYTES], keys[96] = "", bad_text[64] = "", grades[GRADES_TEXT_BYTES];
    if (!isatty(STDERR_FILENO))
        return;
    if (scoring->input->columns.has_key)
        snprintf(keys, sizeof keys, ", %s keys (%" PRIu64 " evicted)",
                 grouped_text(oif_pipeline_keys(pipeline), text[3]),
                 oif_pipeline_evictions(pipeline));
    if (bad > 0)
        snprintf(bad_text, sizeof bad_text, ", %s bad", grouped_text(bad, text[4]));
    note("%s rows%s, %s anomalies%s in %" PRIu64 " episodes%s; %s rows/s",
         grouped_text(rows, text[0]), bad_text, grouped_text(scoring->anomalies, text[1]),
         grades_text(scoring, grades), scoring->episodes, keys,
         grouped_text(seconds > 0 ? (uint64_t)((double)rows / seconds) : 0, text[2]));
}

static void finish_run(scoring_run *scoring)
{
    if (scoring->is_watched)
        watch_end(&scoring->watch);
    if (scoring->state->rows_seen > 0 && !signals_stop_requested())
        note("%s: it ends %" PRIu64 " rows before what %s has seen", scoring->input->source.name,
             scoring->state->rows_seen, scoring->state->path);
    season_search_end(&scoring->season);
    bad_rows_report(&scoring->bad, &scoring->input->source);
    stream_clock_report(&scoring->times);
    key_room_summary(&scoring->room, scoring->state->pipeline);
    char text[GROUPED_TEXT_BYTES];
    if (scoring->keyless > 1)
        note("%s: %s rows have no key", scoring->input->source.name,
             grouped_text(scoring->keyless, text));
    rising_watch_end(&scoring->rising);
    report_summary(scoring);
}

/* A live view needs a terminal; elsewhere alerts and their reasons come as lines. */
static bool start_watch(scoring_run *scoring)
{
    if (!scoring->settings->watch || !watch_is_possible())
        return false;
    watch_start(&scoring->watch, scoring->input, scoring->state->pipeline);
    return true;
}

/* The header starts the output; where rows are skipped it is there already. */
static bool write_header(const scoring_run *scoring)
{
    if (scoring->is_watched || scoring->state->rows_seen > 0 || scoring->metrics.is_wanted)
        return true;
    result_fields_note_clash(&scoring->fields, &scoring->input->columns.from,
                             scoring->writer.format == OUTPUT_NDJSON);
    if (scoring->writer.has_no_header && scoring->writer.format != OUTPUT_CSV)
        note("--no-output-header does nothing here: only CSV has a header");
    return scoring->is_header_written || row_writer_header(&scoring->writer, &scoring->fields);
}

/* A program that writes the header and waits for ours before it writes a row does not wait in
 * vain, although columns are chosen by the first row. */
static void write_header_early(void *context)
{
    scoring_run *scoring = context;
    row_writer writer;
    output_format output = scoring->settings->output;
    bool is_csv = output == OUTPUT_AS_INPUT || output == OUTPUT_CSV;
    bool is_shown = oif_reader_has_header(scoring->input->reader) && is_csv &&
                    !scoring->settings->watch &&
                    !(scoring->settings->skip_seen && scoring->state->pipeline);
    if (!is_shown)
        return;
    if (row_writer_start(&writer, scoring->input, scoring->settings) == EXIT_OK)
        scoring->is_header_written = row_writer_header(&writer, &scoring->fields) && output_flush();
    row_writer_close(&writer);
}

static exit_code score_opened(scoring_run *scoring, cli_settings *settings)
{
    if (!scoring->state->pipeline)
        season_search_start(&scoring->season, settings, scoring->input);
    bool is_new = !scoring->state->pipeline || scoring->state->is_taken_up;
    exit_code code = state_start(scoring->state, settings, &scoring->input->columns);
    if (code == EXIT_OK && is_new && scoring->state->path)
        code = known_roles_remember(settings, scoring->state->pipeline);
    if (code == EXIT_OK)
        key_room_limit(scoring->state->pipeline);
    if (code == EXIT_OK)
        code = columns_name_pipeline(&scoring->input->columns, scoring->state->pipeline);
    if (code == EXIT_OK)
        code = result_fields_start(&scoring->fields, scoring->state->pipeline,
                                   &scoring->input->columns);
    if (code == EXIT_OK)
        code = row_writer_start(&scoring->writer, scoring->input, &settings->score);
    if (code == EXIT_OK && settings->score.output == OUTPUT_PROMETHEUS)
        code = metrics_open(&scoring->metrics, settings);
    if (code != EXIT_OK) {
        season_search_end(&scoring->season);
        state_give_up(scoring->state);
        return code;
    }
    scoring->times = stream_clock_start(&scoring->input->source, settings->score.time,
                                        (int32_t)settings->score.time_year);
    scoring->times.is_needed = alert_options_need_times(settings);
    scoring->times.has_keys = settings->score.key != NULL;
    scoring->is_watched = start_watch(scoring);
    scoring->room = key_room_start(scoring->state->pipeline, scoring->input->columns.has_key);
    if (settings->verbose)
        key_room_say_limit(&scoring->room);
    scoring->silence =
        silence_monitor_start(settings, scoring->state->pipeline, &scoring->writer,
                              scoring->is_watched ? &scoring->watch : NULL, scoring->actions);
    scoring->progress =
        progress_start(isatty(STDOUT_FILENO) ? 0 : scoring->input->source.files.total_bytes);
    if (settings->verbose)
        verbose_start(settings, &scoring->input->columns, scoring->state->pipeline);
    rising_watch_start(&scoring->rising, &scoring->input->columns);
    late_keys_start(&scoring->late, &scoring->input->columns, settings);
    scoring->input->source.idle = use_idle_time;
    scoring->input->source.idle_context = scoring;
    code = start_threads(scoring);
    if (code == EXIT_OK && write_header(scoring))
        code = score_rows(scoring);
    finish_run(scoring);
    row_block_free(scoring->block);
    return metrics_finish(&scoring->metrics, code);
}

/* Whether a row of the run was an alert, of --min-grade or worse, or a key fell silent. */
static bool had_alerts(const scoring_run *scoring)
{
    oif_grade worst = OIF_GRADE_CRITICAL;
    while (worst > OIF_GRADE_NONE && scoring->graded[worst] == 0)
        worst--;
    return scoring->silence.silences > 0 ||
           (worst > OIF_GRADE_NONE && worst >= scoring->settings->min_grade);
}

/* What options need from the times of the rows. */
static exit_code check_times(const cli_settings *settings)
{
    alert_options_note_idle(settings);
    return season_check(settings);
}

static exit_code score_input(cli_settings *settings, cli_state *state, on_alert *actions)
{
    cli_input input;
    scoring_run scoring = {.settings = &settings->score,
                           .all_settings = settings,
                           .input = &input,
                           .state = state,
                           .actions = actions};
    bad_rows *bad = settings->score.on_bad_row == BAD_ROW_FAILS ? NULL : &scoring.bad;
    exit_code code = result_fields_open(&scoring.fields, settings);
    if (code != EXIT_OK)
        return code;
    code = input_open_reader(&input, settings, state->pipeline, bad);
    if (code == EXIT_OK) {
        code = known_roles_take(settings, state->pipeline, &input);
        if (code != EXIT_OK)
            input_close(&input);
    }
    if (code == EXIT_OK)
        code = input_choose_columns(&input, settings, LABEL_IGNORED, state->pipeline,
                                    (first_rows_wait){write_header_early, &scoring});
    if (code != EXIT_OK) {
        result_fields_close(&scoring.fields);
        return signals_stop_requested() ? EXIT_OK : code;
    }
    settings->score.time = input.columns.time_name; /* which may have been found */
    code = check_times(settings);
    if (code == EXIT_OK)
        code = score_opened(&scoring, settings);
    metrics_close(&scoring.metrics);
    row_writer_close(&scoring.writer);
    result_fields_close(&scoring.fields);
    input_close(&input);
    if (code == EXIT_OK && settings->score.fail_on_alert && had_alerts(&scoring))
        code = EXIT_ALERT;
    return code;
}

/* Options of outputs that do nothing with the one that was chosen. */
static exit_code check_output(const score_settings *score)
{
    bool is_prometheus = score->output == OUTPUT_PROMETHEUS;
    if (score->output_file && !is_prometheus)
        return complain(EXIT_USAGE,
                        "--output-file goes with --output prometheus; rows go to stdout: > %s",
                        score->output_file);
    if ((score->output_every > 0 || score->output_keys > 0) && !is_prometheus)
        return complain(EXIT_USAGE, "--output-every and --output-keys go with --output prometheus");
    if (score->measurement && score->output != OUTPUT_INFLUX)
        return complain(EXIT_USAGE, "--measurement goes with --output influx");
    return EXIT_OK;
}

exit_code score_run(const cli_settings *asked)
{
    cli_settings settings = *asked;
    cli_state state;
    if (check_output(&settings.score) != EXIT_OK)
        return EXIT_USAGE;
    if (settings.score.min_grade != OIF_GRADE_NONE && settings.score.alert_once)
        return complain(EXIT_USAGE, "--min-grade goes with single rows: leave out --alert-once, "
                                    "which prints the first and last of an episode");
    if (settings.score.threads > 1 && !settings.score.key)
        return complain(EXIT_USAGE, "--threads needs --key COL: threads share the keys");
    exit_code code = alert_options_check(&settings);
    if (code == EXIT_OK)
        code = state_open(&state, &settings);
    if (code != EXIT_OK)
        return code;
    alert_options_note_useless(&settings, state.pipeline);
    if (settings.score.watch && !watch_is_possible()) {
        settings.score.only_alerts = true;
        if (settings.score.explain_top == 0)
            settings.score.explain_top = DEFAULT_EXPLAIN_TOP;
    }
    signals_catch();
    on_alert actions;
    on_alert_start(&actions, &settings.score);
    code = state_close(&state, score_input(&settings, &state, &actions));
    on_alert_finish(&actions);
    return code;
}
