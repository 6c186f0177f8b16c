/* A body: from its reader through the pipeline to the output, the history and the events. */
#include "stream_parts.h"
#include "streams.h"

#include "front/columns/derive.h"
#include "front/columns/known_roles.h"
#include "front/options/alert_options.h"
#include "front/options/key_room.h"
#include "front/options/rule_options.h"
#include "front/options/season_option.h"
#include "front/session/row_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void stream_start_times(stream *one)
{
    const byte_source source = {.name = "body"};
    const score_settings *score = &one->settings.cli.score;
    oif_time_format format = settings_time_format(&one->settings.cli);
    if (format.day_order == OIF_DAY_ORDER_AUTO)
        format.day_order = one->shape.day_order;
    one->times = stream_clock_start(&source, score->time, &format);
    alert_options_set_clock(&one->settings.cli, &one->times);
    one->times.source = NULL; /* only for reports, which a stream does not print */
    one->times.is_told = one->times.is_coarse_told = true;
}

/* ---- The first row ---- */

/* Like the tool for a new state file. */
static exit_code make_pipeline(stream *one, const input_columns *columns, oif_pipeline **pipeline)
{
    const run_settings *settings = &one->settings.cli;
    exit_code code = settings_make_pipeline(settings, columns->count, pipeline);
    if (code == EXIT_OK)
        code = derive_columns(*pipeline, settings, columns);
    if (code == EXIT_OK)
        code = columns_name_pipeline(columns, *pipeline);
    if (code == EXIT_OK)
        code = settings_apply_rules(settings, *pipeline);
    oif_error error;
    if (code == EXIT_OK && (oif_pipeline_keep_episodes(*pipeline, true, &error) != OIF_OK ||
                            (params_keep_evicted(&settings->options) &&
                             oif_state_file_keep_evicted(one->file, *pipeline, &error) != OIF_OK)))
        code = complain_because(&(complaint_reason){.cause = error.cause}, EXIT_FAILED, "%s",
                                error.message);
    if (code == EXIT_OK)
        code = known_roles_remember(settings, *pipeline);
    if (code == EXIT_OK)
        key_room_limit(*pipeline);
    return code;
}

/* Takes the shape of the first body; a body with only a header may have come before. *is_new: it
 * differs from that. False: out of memory. */
static bool take_shape(stream *one, const run_input *input, bool *is_new)
{
    body_shape taken = {.header = NULL};
    if (!body_shape_take(&taken, input)) {
        body_shape_free(&taken);
        return false;
    }
    *is_new = !body_shape_equal(&taken, &one->shape);
    body_shape_free(&one->shape);
    one->shape = taken;
    return true;
}

/* The first row creates the pipeline. Its columns were chosen by examining the whole body. */
static exit_code begin_stream(stream *one, const run_input *input)
{
    oif_pipeline *pipeline = NULL;
    const char *asked = one->settings.cli.score.time;
    bool is_new;
    if (!take_shape(one, input, &is_new))
        return complain(EXIT_FAILED, "out of memory");
    one->settings.cli.score.time = one->shape.time;
    exit_code code = season_check(&one->settings.cli);
    if (code == EXIT_OK)
        code = make_pipeline(one, &input->columns, &pipeline);
    if (code != EXIT_OK) {
        oif_pipeline_free(pipeline);
        one->settings.cli.score.time = asked;
        body_shape_free(&one->shape);
        return code;
    }
    one->pipeline = pipeline;
    history_start(one->past, oif_pipeline_columns(pipeline));
    stream_start_times(one);
    stream_trend_start(one);
    return EXIT_OK;
}

/* ---- One row ---- */

/* Hides categories: their values are hashes of texts. */
static const double *values_of(body_run *run, const double *row)
{
    category_columns *categories = &run->reader->input.columns.categories;
    for (size_t i = 0; i < categories->count; i++)
        categories->row[categories->list[i].place] = NAN;
    return categories->count > 0 ? categories->row : row;
}

static void remember_row(body_run *run, history_key *key, const double *row, double seconds,
                         const oif_result *result)
{
    stream *one = run->one;
    history_point point = {.row = stream_row_count(one) - 1,
                           .time = seconds,
                           .threshold = (float)result->threshold,
                           .severity = result->ready ? (float)result->severity : NAN,
                           .grade = (uint64_t)result->grade};
    stream_remember_band(one, key, result);
    history_count_row(one->past, key, result->ready, result->anomaly);
    key->info.last_seen = isnan(seconds) ? run->now : seconds;
    key->info.score = result->score;
    key->info.threshold = result->threshold;
    key->info.severity = result->ready ? result->severity : NAN;
    key->info.grade = result->grade;
    const history_point *kept = history_add_point(one->past, key, &point, values_of(run, row));
    if (kept)
        stream_trend_row(one, key, kept, run->now);
}

/* If it began earlier, the history knows its first row and when that came. */
static stream_episode describe_episode(const body_run *run, const row_verdict *verdict,
                                       const char *reason)
{
    const oif_episode_info *episode = &verdict->episode;
    uint64_t row = stream_row_count(run->one) - 1;
    bool is_known = episode->column != OIF_UNKNOWN_COLUMN,
         has_time = !isnan(episode->first_seconds) && !isnan(episode->last_seconds);
    double last = has_time ? episode->last_seconds : run->now;
    return (stream_episode){.number = episode->number,
                            .first_row = row,
                            .last_row = row,
                            .began = has_time ? episode->first_seconds : run->now,
                            .ended = episode->is_over ? last : NAN,
                            .last_seen = last,
                            .has_time = has_time,
                            .is_over = episode->is_over,
                            .anomalies = episode->anomalies,
                            .rows = episode->rows,
                            .peak_score = episode->peak_score,
                            .peak_severity = episode->peak_severity,
                            .grade = episode->peak_grade,
                            .column = is_known ? verdict->fields->names[episode->column] : NULL,
                            .reason = is_known ? reason : NULL,
                            .arrived = run->now};
}

/* The reason is that of the worst row. A later row might no longer know all of it: which column
 * another one had followed. */
static bool is_reason_known(const history_key *key, const oif_episode_info *episode)
{
    return key->open && key->open->info.number == episode->number && key->open->info.reason &&
           episode->peak_row != episode->first_row + episode->rows - 1;
}

/* The next episode of the key has begun before this one had its calm rows. */
static void end_replaced(body_run *run, history_key *key)
{
    const history_episode *ended = key->open;
    history_end(run->one->past, key);
    stream_leave_incident(run->one, ended, run->now);
    stream_publish_episode(run->one, ended);
}

/* Reports an episode when it begins, becomes worse and ends. */
static void remember_episode(body_run *run, history_key *key, const row_verdict *verdict)
{
    stream *one = run->one;
    char reason[FIELD_TEXT_BYTES];
    bool begins = verdict->result.episode == OIF_EPISODE_BEGINS;
    if (verdict->episode.number == 0 ||
        !history_row_opens(one->past, key, verdict->episode.number, &verdict->result))
        return;
    if (key->open && key->open->info.number != verdict->episode.number)
        end_replaced(run, key);
    const oif_grade before = key->open ? key->open->info.grade : OIF_GRADE_NONE;
    const bool is_known = is_reason_known(key, &verdict->episode);
    if (!is_known)
        result_fields_episode_text(verdict->fields, &verdict->episode, reason);
    stream_episode info = describe_episode(run, verdict, is_known ? NULL : reason);
    one->past->episodes += begins;
    history_episode *episode = history_episode_now(one->past, key, &info);
    if (!episode || !(begins || episode->info.is_over || episode->info.grade > before))
        return;
    if (begins || episode->info.grade > before)
        stream_join_incident(one, episode, run->now);
    if (episode->info.is_over)
        stream_leave_incident(one, episode, run->now);
    stream_publish_episode(one, episode);
}

static void remember_alert(body_run *run, const history_key *key, const row_verdict *verdict,
                           double seconds)
{
    stream *one = run->one;
    uint64_t row = stream_row_count(one) - 1;
    size_t bytes;
    output_divert();
    stream_write_alert(one, verdict, row, key);
    char *text = output_diverted(&bytes);
    if (text && !one->is_replaying)
        feed_add(one->events, FEED_ALERT, one->name, key->info.key, key->info.key_bytes, text,
                 bytes);
    history_add_alert(one->past, row, seconds, key->info.key, key->info.key_bytes, text, bytes);
}

static void write_row(body_run *run, const oif_record *record, const row_verdict *verdict)
{
    rows_answer_kind kind = run->request->answer;
    if (kind == ANSWER_RESULTS || (kind == ANSWER_ALERTS && verdict->result.anomaly))
        row_writer_row(&run->reader->writer, record, verdict);
}

/* Before any decimal comma, a fraction means a decimal point. From then on a comma is a mistake,
 * whichever reader finds it. */
static void notice_decimal_point(body_run *run, const double *row)
{
    size_t columns = oif_pipeline_columns(run->one->pipeline);
    run->seeks_decimal = !oif_reader_has_decimal_commas(run->reader->input.reader);
    for (size_t i = 0; i < columns && run->seeks_decimal; i++)
        if (isfinite(row[i]) && row[i] != floor(row[i]) &&
            !categories_contain(&run->reader->input.columns.categories, i)) {
            run->one->shape.has_decimal_points = true;
            run->seeks_decimal = false;
        }
}

/* Call it after a row was processed. */
static void take_result(void *context, const session_row *row, const oif_result *result)
{
    body_run *run = context;
    stream *one = run->one;
    result_fields *fields = &run->reader->fields;
    history_key *key = history_touch(one->past, row->key.text, row->key.bytes);
    if (run->seeks_decimal)
        notice_decimal_point(run, row->values);
    bool is_alert = result->anomaly, is_in_episode = result->episode != OIF_EPISODE_NONE;
    run->answer->accepted++;
    run->answer->alerts += is_alert;
    one->past->graded[result->grade]++;
    if (is_alert || is_in_episode || run->request->answer == ANSWER_RESULTS) {
        result_fields_follow(fields, one->pipeline, result);
        row_verdict verdict = result_fields_judge(fields, one->pipeline, result, row->seconds);
        write_row(run, row->record, &verdict);
        if (key && is_in_episode)
            remember_episode(run, key, &verdict);
        if (key && is_alert)
            remember_alert(run, key, &verdict, row->seconds);
    }
    if (!key)
        return; /* out of memory for the history; scoring continues */
    stream_note_result(one, key, row->seconds, result);
    remember_row(run, key, row->values, row->seconds, result);
}

static void pass_silence(void *context, const oif_silence *silence)
{
    stream_take_silence(((body_run *)context)->one, silence);
}

static oif_status process(body_run *run, const oif_record *record, oif_error *error)
{
    stream *one = run->one;
    const row_session session = {.pipeline = one->pipeline,
                                 .columns = &run->reader->input.columns,
                                 .times = &one->times,
                                 .silence = &one->quiet,
                                 .sink = {run, pass_silence, take_result}};
    session_row row = row_session_read(&session, record);
    if (one->times.is_contradicted) {
        one->times.is_contradicted = false; /* a later body may be right */
        *error = one->times.first_unreadable;
        error->status = OIF_EINPUT;
        if (one->settings.cli.score.on_bad_row == BAD_ROW_FAILS)
            return OIF_EINPUT;
    }
    return row_session_process(&session, &row, error);
}

/* Before the first row of a body. */
static exit_code begin_rows(body_run *run)
{
    stream *one = run->one;
    exit_code code = EXIT_OK;
    if (run->is_header_written)
        return EXIT_OK;
    run->is_header_written = true;
    if (!one->pipeline)
        code = begin_stream(one, &run->reader->input);
    if (code == EXIT_OK)
        code = body_reader_start(run->reader, one->pipeline, &one->settings.cli);
    if (code == EXIT_OK && run->request->answer != ANSWER_COUNT)
        row_writer_header(&run->reader->writer, &run->reader->fields);
    return code;
}

/* ---- A body ---- */

static run_end end_with(body_run *run, oif_status status, const oif_error *error, problem *why)
{
    why->line = error->line;
    why->column = error->column;
    input_complain(&run->reader->input, error);
    if (status == OIF_EMEMORY)
        why->status = 503;
    return status == OIF_EINPUT || status == OIF_EVALUE ? BODY_BAD_ROW : BODY_FAILED;
}

static run_end read_rows(body_run *run, problem *why)
{
    const on_bad_row policy = run->one->settings.cli.score.on_bad_row;
    oif_status status;
    oif_record record;
    oif_error error;
    while ((status = body_reader_next(run->reader, policy, &run->bad, &record, &error)) == OIF_OK) {
        stream_let_look(run->one);
        body_reader_note_late(run->reader, &run->one->settings.cli, &record, &run->one->shape,
                              &run->one->late);
        if (run->skip > 0) {
            run->skip--;
            run->answer->skipped++;
            continue;
        }
        if (stream_row_count(run->one) >= run->limit)
            return BODY_READ;
        if (begin_rows(run) != EXIT_OK)
            return BODY_REFUSED;
        status = process(run, &record, &error);
        if (status != OIF_OK)
            break;
    }
    return status == OIF_END ? BODY_READ : end_with(run, status, &error, why);
}

/* How to read the body: its format is as asked, by the settings, or by its content. */
static body_request ask_for(const stream *one, const rows_request *request, problem *why)
{
    const oif_text text = body_text(request->body, request->bytes);
    const int format = request->format ? request->format : one->settings.cli.format;
    return (body_request){.settings = &one->settings.cli,
                          .shape = &one->shape,
                          .known = one->pipeline,
                          .body = text,
                          .has_mark = (text.bytes < request->bytes),
                          .is_guessed = format == 0,
                          .format = format > 0 ? (oif_format)(format - 1) : body_format(text),
                          .max_columns =
                              one->is_replaying ? 0 : streams_asked(one->all)->max_columns,
                          .why = why};
}

static run_end read_body(body_run *run, problem *why)
{
    stream *one = run->one;
    const rows_request *request = run->request;
    body_request asked = ask_for(one, request, why);
    if (body_is_blank(asked.body))
        return BODY_READ;
    if (!one->pipeline && one->settings.cli.score.on_bad_row != BAD_ROW_FAILS)
        asked.bad = &run->bad;
    run->answer->is_csv = asked.format == OIF_FORMAT_CSV;
    run->reader = body_readers_begin(one->readers, BODY_READERS, &asked);
    if (!run->reader)
        return BODY_REFUSED;
    run->seeks_decimal = body_reader_seeks_decimal(run->reader, &asked);
    run_end end = read_rows(run, why);
    if (!one->pipeline && end == BODY_READ && !request->must_have_row) /* only a header */
        take_shape(one, &run->reader->input, &run->is_shape_new);
    if (asked.format == OIF_FORMAT_CSV && run->answer->accepted > 0)
        one->shape.has_decimal_commas |= oif_reader_has_decimal_commas(run->reader->input.reader);
    body_reader_end(run->reader);
    return end;
}

/* Processes a whole body. */
static run_end run_body(body_run *run, problem *why)
{
    stream *one = run->one;
    complaint about;
    bool is_first = !one->pipeline;
    *why = (problem){.status = 400};
    messages_capture_for_service();
    run_end end = read_body(run, why);
    char *notes = messages_captured(&about);
    if (is_first && one->pipeline && !one->notes)
        one->notes = notes;
    else
        free(notes);
    run->answer->bad = run->bad.skipped + run->bad.mended;
    one->bad_rows += run->answer->bad + (end == BODY_BAD_ROW);
    if (end == BODY_READ || why->message[0] != '\0') /* the cause is known */
        return end;
    if (end == BODY_REFUSED && !is_first)
        why->status = 409;
    if (end == BODY_FAILED)
        why->status = 503;
    body_take_complaint(&about, why);
    return end;
}

run_end stream_run_body(body_run *run, problem *why)
{
    const run_end end = run_body(run, why);
    if (run->answer->accepted > 0)
        senders_advance(run->one->senders, &run->from, run->answer->accepted);
    return end;
}
