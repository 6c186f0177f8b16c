/* Requests with rows: what they may, the journal, and how long they take. */
#include "stream_parts.h"
#include "streams.h"

#include "front/text/clock.h"
#include "serve/base/background.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t stream_row_count(const stream *one)
{
    return one->pipeline ? oif_pipeline_rows(one->pipeline) : 0;
}

/* ---- The rate ---- */

static const double rate_seconds = 10;

double stream_rate(const stream *one, double now)
{
    return now > one->rate_at ? one->rate * exp((one->rate_at - now) / rate_seconds) : one->rate;
}

/* ---- Requests ---- */

static bool check_request(const stream *one, const rows_request *request, problem *why)
{
    const sender from = stream_sender_of(request);
    if (!stream_check_usable(one, why))
        return false;
    if (request->is_durable && !one->folder)
        return problem_set(why, 409, "Leave durable out, or send durable=false.",
                           "rows cannot be durable: this server stores nothing");
    return stream_check_sender(one, &from, why);
}

/* Appends the body to the journal, with its sender if there is one. */
static bool keep_body(stream *one, const body_run *run, problem *why)
{
    const rows_request *request = run->request;
    journal_record record = {.kind = JOURNAL_ROWS,
                             .format = request->format,
                             .first_row = stream_row_count(one),
                             .skip = run->skip,
                             .seconds = run->now,
                             .payload = request->body,
                             .bytes = request->bytes};
    if (run->from.kind == SENDER_NONE || !one->folder)
        return stream_keep_record(one, &record, why);
    char *payload = stream_write_sent(request, &record.bytes);
    record.kind = JOURNAL_SENT;
    record.payload = payload;
    bool is_kept = payload ? stream_keep_record(one, &record, why)
                           : problem_set(why, 503, NULL, "out of memory");
    free(payload);
    return is_kept;
}

/* Rows that failed for lack of memory are not processed by a replay either. */
static void keep_cut(stream *one, double now)
{
    problem ignored;
    journal_record cut = {.kind = JOURNAL_CUT, .first_row = stream_row_count(one), .seconds = now};
    if (!stream_keep_record(one, &cut, &ignored))
        one->is_failing = true;
}

/* Of a body without a processed row, the journal keeps only its number of bad rows, and a new
 * header. They count as a change, so the journal does not grow without end. */
static void keep_bad_rows(stream *one, const body_run *run, uint64_t count)
{
    problem ignored;
    const journal_record record = {.kind = JOURNAL_BAD_ROWS,
                                   .first_row = stream_row_count(one),
                                   .skip = one->bad_rows,
                                   .seconds = run->now};
    if (!run->is_shape_new)
        journal_undo(&one->log);
    if (count == 0)
        return;
    one->changes++;
    if (!stream_keep_record(one, &record, &ignored))
        one->is_failing = true;
}

/* A body without a processed row is not an arrival, so a replay sees the same arrivals. */
static void note_arrival(stream *one, const rows_answer *answer, double now)
{
    if (answer->accepted > 0)
        stream_feed_arrives(one, now);
}

/* A body that was read, and had no row. */
static bool check_rows(const body_run *run, problem *why)
{
    rows_answer *answer = run->answer;
    if (answer->accepted + answer->skipped > 0 || !run->reader) /* or blank */
        return true;
    if (answer->bad > 0)
        return problem_set(why, 400, "Compare them with the columns of the stream.",
                           "none of the %llu rows can be read", (unsigned long long)answer->bad);
    answer->is_a_header = !run->request->must_have_row && answer->is_csv;
    return answer->is_a_header ||
           problem_set(why, 400,
                       "If its first line is a header, send rows below it, or say Content-Type: "
                       "text/csv.",
                       "there is no row in the body");
}

bool stream_take_rows(stream *one, body_run *run, problem *why)
{
    rows_answer *answer = run->answer;
    one->now = run->now;
    const uint64_t bad_before = one->bad_rows;
    run_end end = stream_run_body(run, why);
    note_arrival(one, answer, run->now);
    if (one->is_replaying)
        return end == BODY_READ;
    if (one->folder && answer->accepted == 0 && run->is_in_journal)
        keep_bad_rows(one, run, one->bad_rows - bad_before);
    else if (end == BODY_FAILED)
        keep_cut(one, run->now);
    one->rate = stream_rate(one, run->now) + (double)answer->accepted / rate_seconds;
    one->rate_at = run->now;
    if (answer->accepted > 0 || run->is_shape_new)
        one->is_provisional = false;
    return end == BODY_READ && check_rows(run, why);
}

/* Call it under the lock. */
static bool take_body(stream *one, const rows_request *request, rows_answer *answer, problem *why)
{
    const sender from = stream_sender_of(request);
    body_run run = {.one = one,
                    .request = request,
                    .answer = answer,
                    .from = from,
                    .skip = stream_position(one, &from) - from.first_row,
                    .limit = UINT64_MAX,
                    .now = background_wall_seconds(),
                    .is_in_journal = true};
    return keep_body(one, &run, why) && stream_take_rows(one, &run, why);
}

static void count_rows(const stream *one, const rows_request *request, rows_answer *answer)
{
    const sender from = stream_sender_of(request);
    answer->rows = stream_row_count(one);
    answer->saved = one->saved;
    answer->waiting = waiting_rows_count(one->held);
    answer->has_writer = from.kind == SENDER_WRITER;
    if (answer->has_writer)
        answer->writer_rows = stream_position(one, &from);
}

/* The rows are processed even if the save fails; the failure is in the stream's error. */
static void save_if_asked(stream *one)
{
    problem ignored;
    if (one->must_save)
        stream_save(one, &ignored);
    one->must_save = false;
}

/* Without the lock, so the same sync covers other bodies. `why` may already be set. */
static bool sync_rows(stream *one, const rows_request *request, rows_answer *answer, problem *why,
                      bool is_good)
{
    const uint64_t rows = answer->rows;
    bool is_synced = stream_sync(one);
    stream_read_lock(one);
    is_synced = is_synced && one->saved >= rows;
    if (!is_synced && is_good)
        problem_set(why, 503, "repair the disk; the rows were processed and count", "%s",
                    one->error[0] ? one->error : "the rows are not on disk yet");
    count_rows(one, request, answer);
    stream_read_unlock(one);
    return is_synced;
}

/* A body that could wait but does not comes after the rows that do. */
static bool take(stream *one, const rows_request *request, rows_answer *answer, problem *why)
{
    rows_request now = *request;
    now.may_wait = false;
    if (!check_request(one, request, why))
        return false;
    if (stream_waits(one, request))
        return stream_take_waiting(one, request, answer, why);
    return (!request->may_wait || stream_end_all_waiting(one, why)) &&
           take_body(one, &now, answer, why);
}

bool stream_rows(stream *one, const rows_request *request, rows_answer *answer, problem *why)
{
    *answer = (rows_answer){.rows = 0};
    stream_begin_change(one);
    bool is_good = take(one, request, answer, why);
    count_rows(one, request, answer);
    save_if_asked(one);
    answer->saved = one->saved;
    bool must_sync = one->folder && (one->saved < answer->rows || answer->waiting > 0) &&
                     (request->is_durable || streams_asked(one->all)->save_every <= 0);
    stream_end_change(one);
    bool is_synced = !must_sync || sync_rows(one, request, answer, why, is_good);
    why->rows = answer->rows;
    why->has_rows = true;
    why->writer_rows = answer->writer_rows;
    why->has_writer = answer->has_writer;
    return is_good && is_synced;
}

void stream_replay_rows(stream *one, const journal_record *record, uint64_t limit)
{
    rows_request request = {.body = record->payload,
                            .bytes = record->bytes,
                            .format = record->format,
                            .answer = ANSWER_COUNT};
    rows_answer answer = {.rows = 0};
    json_t *texts = NULL;
    problem ignored;
    if (record->kind == JOURNAL_SENT && !stream_read_sent(record, &request, &texts))
        return;
    body_run run = {.one = one,
                    .request = &request,
                    .answer = &answer,
                    .from = stream_sender_of(&request),
                    .skip = record->skip,
                    .limit = limit,
                    .now = record->seconds};
    if (record->kind == JOURNAL_WAITED)
        stream_replay_waited(one, record, limit);
    else if (request.may_wait)
        stream_replay_waiting(one, &request, record->seconds, limit);
    else
        stream_take_rows(one, &run, &ignored);
    json_decref(texts);
}
