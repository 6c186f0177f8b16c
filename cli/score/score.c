/* oif score: copies every row and appends its score and other fields: a thin front end of
 * oif_pipeline. Added fields come last, even where the input has columns of the same names.
 * scored_row.c has what happens to one row, scoring_threads.c to many at a time. */
#include "score.h"
#include "front/columns/known_roles.h"
#include "front/columns/row_source.h"
#include "front/options/alert_options.h"
#include "front/options/rule_options.h"
#include "front/options/season_option.h"
#include "front/text/clock.h"
#include "front/text/signals.h"
#include "scoring_run.h"
#include "verbose.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* ---- While there is nothing to read ---- */

/* The shorter of two waits in milliseconds; -1 is forever. */
static int sooner(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* While there is no input: draws the view, reports keys that fall silent, and saves the state when
 * it is due. Returns the milliseconds until the next call. */
static int use_idle_time(void *context)
{
    scoring_run *scoring = context;
    int listens = silence_monitor_idle(&scoring->silence, &scoring->session);
    if (scoring->is_watched)
        watch_draw(&scoring->watch);
    scored_row_save(scoring);
    const int saves = state_milliseconds_left(scoring->state), holds = held_rows_idle(scoring);
    return sooner(sooner(listens, holds), sooner(saves, on_alert_attend(scoring->actions)));
}

/* ---- All rows ---- */

static void pass_silence(void *context, const oif_silence *silence)
{
    scoring_run *scoring = context;
    silence_monitor_begins(&scoring->silence, silence);
}

/* Messages about columns that later rows cause. */
static exit_code watch_columns(scoring_run *scoring, const oif_record *record)
{
    const input_columns *columns = &scoring->input->columns;
    exit_code code = EXIT_OK;
    if (scoring->late.is_watching)
        code = late_keys_row(&scoring->late, columns, scoring->all_settings, record);
    if (code == EXIT_OK && scoring->rising.columns)
        code = rising_watch_row(&scoring->rising, columns, scoring->all_settings, record);
    return code;
}

static exit_code end_of_rows(scoring_run *scoring, oif_status status, const oif_error *error)
{
    if (scoring->block) {
        scoring_threads_flush(scoring);
        if (scoring->is_memory_short)
            return complain(EXIT_FAILED, "out of memory");
    }
    if (scoring->block_status != OIF_OK) {
        status = scoring->block_status;
        error = &scoring->block_error;
    }
    progress_end(&scoring->progress);
    return status == OIF_OK || status == OIF_END || signals_stop_requested()
               ? EXIT_OK
               : input_complain(scoring->input, error);
}

bool scored_row_process(scoring_run *scoring, session_row row, oif_status *status, oif_error *error)
{
    if (scoring->block && scoring_threads_row(scoring, &row))
        return !scoring->is_over;
    silence_monitor_arrive(&scoring->silence);
    *status = row_session_process(&scoring->session, &row, error);
    if (*status != OIF_OK || scoring->is_over || signals_stop_requested())
        return false;
    scored_row_save(scoring);
    scored_row_finish(scoring);
    return true;
}

static bool has_value(const scoring_run *scoring, const oif_record *record)
{
    const input_columns *columns = &scoring->input->columns;
    bool is_there = columns->categories.count > 0; /* categories are values, too */
    for (size_t i = 0; i < columns->count && !is_there; i++)
        is_there = record->values[i] == record->values[i];
    return is_there;
}

/* The next row. False: there is none, or `*code` is not EXIT_OK. */
static bool next_row(scoring_run *scoring, oif_record *record, oif_status *status, oif_error *error,
                     exit_code *code)
{
    *code = EXIT_OK;
    *status = row_source_next(scoring->input, scoring->settings->on_bad_row, &scoring->bad, record,
                              error);
    if (*status != OIF_OK || scoring->is_over)
        return false;
    *code = watch_columns(scoring, record);
    return *code == EXIT_OK;
}

static exit_code score_rows(scoring_run *scoring)
{
    kept_state *state = scoring->state;
    oif_status status = OIF_OK;
    oif_record record;
    oif_error error;
    exit_code code;
    while (next_row(scoring, &record, &status, &error, &code)) {
        if (!scoring->has_value)
            scoring->has_value = has_value(scoring, &record);
        /* Also for rows that --skip-seen skips: their times give the unit and the year of later
         * ones. */
        session_row row = row_session_read(&scoring->session, &record);
        if (scoring->times.is_contradicted && scoring->settings->on_bad_row == BAD_ROW_FAILS) {
            error = scoring->times.first_unreadable;
            status = OIF_EINPUT;
            break;
        }
        if (state_skips_row(state, scoring->input->source.name, &row)) {
            if (state->seen.phase == SEEN_LOST)
                break;
            continue;
        }
        row.key = scored_row_key(scoring, &row);
        if (state->times_to_compare > 0)
            state_compare_time(state, scoring->input->source.name, row.key, row.seconds);
        if (!held_rows_row(scoring, &row, &status, &error) &&
            !scored_row_process(scoring, row, &status, &error))
            break;
    }
    if (code != EXIT_OK) {
        end_of_rows(scoring, OIF_OK, NULL);
        return code;
    }
    held_rows_finish(scoring, &status, &error);
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

/* The summary at the end, if stderr is a terminal. */
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

/* --freeze=off asks for a stream, whose first rows are only learned. */
static void report_early(const scoring_run *scoring)
{
    const char *of_key = scoring->input->columns.has_key ? " of each key" : "";
    char text[GROUPED_TEXT_BYTES];
    const bool is_news = !settings_give_option(scoring->all_settings, "learn") &&
                         !scoring->is_watched && output_is_open() && !signals_stop_requested();
    const bool is_told = scoring->all_settings->verbose || scoring->early == scoring->progress.rows;
    if (scoring->early > 0 && is_told && is_news)
        note("%s: %s row%s came too early to be judged: the first %d%s are only learned",
             scoring->input->source.name, grouped_text(scoring->early, text),
             scoring->early == 1 ? "" : "s", OIF_FIRST_ROWS, of_key);
}

static void finish_run(scoring_run *scoring)
{
    if (scoring->is_watched)
        watch_end(&scoring->watch);
    bad_rows_report(&scoring->bad, &scoring->input->source);
    stream_clock_report(&scoring->times);
    key_room_summary(&scoring->room, scoring->state->pipeline);
    if (scoring->all_settings->verbose)
        verbose_end(&scoring->input->columns, scoring->state->pipeline);
    char text[GROUPED_TEXT_BYTES];
    if (scoring->keyless > 1)
        note("%s: %s rows have no key", scoring->input->source.name,
             grouped_text(scoring->keyless, text));
    rising_watch_end(&scoring->rising);
    if (!scoring->has_value && scoring->progress.rows > 0 && scoring->state->seen.skipped == 0)
        note("%s: all values of all rows are missing, so there is nothing to learn; --columns and "
             "--csv decimal=, say where numbers are, --verbose what is learned",
             scoring->input->source.name);
    report_early(scoring);
    report_summary(scoring);
    run_summary_print(&scoring->summary, scoring->all_settings, &scoring->input->columns);
}

/* A live view needs a terminal; elsewhere alerts and their reasons come as lines. */
static bool start_watch(scoring_run *scoring)
{
    if (!scoring->settings->watch || !watch_is_possible())
        return false;
    watch_start(&scoring->watch, scoring->input, scoring->state->pipeline);
    return true;
}

/* Writes the header. With --skip-seen the output is that of an earlier run, which has written
 * it. */
static bool write_header(const scoring_run *scoring)
{
    if (scoring->is_watched || scoring->state->seen.phase != SEEN_NONE || !scoring->has_rows)
        return true;
    result_fields_note_clash(&scoring->fields, &scoring->input->columns.from,
                             output_format_facts(scoring->writer.format)->has_objects);
    return scoring->is_header_written || row_writer_header(&scoring->writer, &scoring->fields);
}

/* Prints the header before the first row, although columns are chosen by that row: a program
 * may write its header and wait for ours before it writes a row. */
static void write_header_early(void *context)
{
    scoring_run *scoring = context;
    row_writer writer;
    bool is_shown = oif_reader_has_header(scoring->input->reader) && scoring->has_rows &&
                    !scoring->settings->watch &&
                    !(scoring->settings->skip_seen && scoring->state->pipeline);
    if (!is_shown)
        return;
    if (row_writer_start(&writer, scoring->input, scoring->settings) == EXIT_OK &&
        row_writer_has_header(&writer))
        scoring->is_header_written = row_writer_header(&writer, &scoring->fields) && output_flush();
    row_writer_close(&writer);
}

/* Prepares all that may fail before the first row: the pipeline, and what writes its
 * results. */
static exit_code open_parts(scoring_run *scoring, run_settings *settings)
{
    bool is_new = !scoring->state->pipeline || scoring->state->is_resumed;
    exit_code code = state_start(scoring->state, settings, &scoring->input->columns);
    if (code == EXIT_OK && is_new && scoring->state->path)
        code = known_roles_remember(settings, scoring->state->pipeline);
    if (code == EXIT_OK)
        key_room_limit(scoring->state->pipeline);
    if (code == EXIT_OK)
        code = columns_name_pipeline(&scoring->input->columns, scoring->state->pipeline);
    if (code == EXIT_OK)
        code = settings_apply_rules(settings, scoring->state->pipeline);
    if (code == EXIT_OK)
        code = result_fields_start(&scoring->fields, scoring->state->pipeline,
                                   &scoring->input->columns);
    if (code == EXIT_OK)
        code = row_writer_start(&scoring->writer, scoring->input, &settings->score);
    if (code == EXIT_OK)
        code = incident_lines_start(&scoring->incidents, &settings->score, scoring->state,
                                    scoring->actions);
    return code;
}

/* Starts what observes the rows: clock, silence, summary, commands. */
static void start_followers(scoring_run *scoring, run_settings *settings)
{
    scoring->times = stream_clock_start(&scoring->input->source, settings->score.time,
                                        &scoring->input->columns.time_format);
    alert_options_set_clock(settings, &scoring->times);
    scoring->is_watched = start_watch(scoring);
    scoring->room = key_room_start(scoring->state->pipeline, scoring->input->columns.has_key);
    if (settings->verbose)
        key_room_say_limit(&scoring->room);
    scoring->silence = silence_monitor_start(settings, &scoring->writer,
                                             scoring->is_watched ? &scoring->watch : NULL,
                                             scoring->actions, &scoring->incidents);
    scoring->session =
        (row_session){.pipeline = scoring->state->pipeline,
                      .columns = &scoring->input->columns,
                      .times = &scoring->times,
                      .silence = scoring->silence.is_wanted ? &scoring->silence.clock : NULL,
                      .sink = {scoring, pass_silence, scored_row_take}};
    scoring->summary = run_summary_start(settings);
    scoring->progress = progress_start(isatty(STDOUT_FILENO) || settings->is_silent
                                           ? 0
                                           : scoring->input->source.files.total_bytes);
    if (settings->verbose)
        verbose_start(settings, &scoring->input->columns, scoring->state->pipeline);
    rising_watch_start(&scoring->rising, &scoring->input->columns);
    late_keys_start(&scoring->late, &scoring->input->columns, settings);
    scoring->input->source.idle = use_idle_time;
    scoring->input->source.idle_context = scoring;
}

static exit_code score_opened(scoring_run *scoring, run_settings *settings)
{
    exit_code code = open_parts(scoring, settings);
    if (code != EXIT_OK) {
        state_give_up(scoring->state);
        return code;
    }
    start_followers(scoring, settings);
    code = scoring_threads_start(scoring);
    if (code == EXIT_OK)
        code = held_rows_start(scoring);
    if (code == EXIT_OK && write_header(scoring))
        code = score_rows(scoring);
    open_episodes_print(&scoring->episodes_open);
    incident_lines_finish(&scoring->incidents);
    if (code == EXIT_OK && !signals_stop_requested())
        code = state_report_skipped(scoring->state, scoring->input->source.name);
    finish_run(scoring);
    row_block_free(scoring->block);
    held_rows_close(scoring);
    open_episodes_free(&scoring->episodes_open);
    return code;
}

/* Whether there was an alert, of --min-grade or worse, or a key fell silent. */
static bool had_alerts(const scoring_run *scoring)
{
    oif_grade worst = OIF_GRADE_CRITICAL;
    while (worst > OIF_GRADE_NONE && scoring->graded[worst] == 0)
        worst--;
    return scoring->silence.silences > 0 ||
           (worst > OIF_GRADE_NONE && worst >= scoring->settings->min_grade);
}

static exit_code score_input(run_settings *settings, kept_state *state, on_alert *actions)
{
    run_input input;
    scoring_run scoring = {.settings = &settings->score,
                           .all_settings = settings,
                           .input = &input,
                           .state = state,
                           .actions = actions,
                           .has_rows = settings->score.rows != PRINT_INCIDENTS,
                           .acts_on_episodes =
                               actions->command || settings->score.rows == PRINT_INCIDENTS};
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
    settings->score.time = input.columns.time_name; /* given or found */
    alert_options_note_idle(settings);
    code = season_check(settings);
    if (code == EXIT_OK)
        code = score_opened(&scoring, settings);
    row_writer_close(&scoring.writer);
    result_fields_close(&scoring.fields);
    input_close(&input);
    if (code == EXIT_OK && settings->score.fail_on_alert && had_alerts(&scoring))
        code = EXIT_ALERT;
    return code;
}

exit_code score_run(const run_settings *asked)
{
    run_settings settings = *asked;
    kept_state state;
    if (settings.is_silent)
        output_silence_notes();
    exit_code code = incident_lines_check(&settings.score);
    if (code == EXIT_OK)
        code = alert_options_check(&settings);
    if (code == EXIT_OK)
        code = state_open(&state, &settings);
    if (code != EXIT_OK)
        return code;
    alert_options_note_useless(&settings, state.pipeline);
    if (settings.score.watch && !watch_is_possible())
        settings.score.rows = PRINT_ALERTS;
    signals_catch();
    on_alert actions;
    on_alert_start(&actions, &settings.score);
    code = state_close(&state, score_input(&settings, &state, &actions));
    on_alert_finish(&actions);
    return code;
}
