/* What senders need: rows that are sent again (numbers of writers, digests of bodies), and rows of
 * samples that wait for more columns (serve/agents/waiting_rows.h).
 *
 *     JOURNAL_SENT      rows of a sender. If they wait, those that have waited long enough are
 *                       processed
 *     JOURNAL_WAITED    the same without new rows: by the clock, or before a snapshot
 *
 * What is processed follows from the journal, so it is not in it a second time. */
#include "stream_parts.h"

#include "front/text/cut.h"
#include "serve/base/background.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

sender stream_sender_of(const rows_request *request)
{
    sender from = {.kind = SENDER_NONE, .name = ""};
    if (request->digest) {
        from.kind = SENDER_BODY;
        from.name = request->digest;
    } else if (request->has_first_row) {
        from.kind = request->writer ? SENDER_WRITER : SENDER_STREAM;
        from.name = request->writer ? request->writer : "";
        from.first_row = request->first_row;
    }
    from.name_bytes = strlen(from.name);
    return from;
}

uint64_t stream_position(const stream *one, const sender *from)
{
    return from->kind == SENDER_STREAM ? stream_row_count(one)
           : from->kind == SENDER_NONE ? 0
                                       : senders_position(one->senders, from);
}

bool stream_check_sender(const stream *one, const sender *from, problem *why)
{
    const uint64_t rows = stream_position(one, from);
    if (from->kind == SENDER_NONE || from->first_row <= rows)
        return true;
    if (from->kind == SENDER_STREAM)
        return problem_set(why, 409, "send the rows from number `rows` on",
                           "first_row is %" PRIu64 ", but the stream has only %" PRIu64
                           " rows: those between are missing",
                           from->first_row, rows);
    return problem_set(why, 409,
                       rows > 0 ? "Send the rows from number `writer_rows` on."
                                : "Begin with first_row=0; a writer that was not seen for a long "
                                  "time may have been dropped.",
                       "first_row is %" PRIu64 ", but the writer %s has only %" PRIu64 " rows",
                       from->first_row, cut_name(from->name).text, rows);
}

/* ---- The journal ---- */

char *stream_write_sent(const rows_request *request, size_t *bytes)
{
    json_t *about = json_pack("{s:b, s:s*, s:s*, s:b, s:I}", "waits", request->may_wait, "writer",
                              request->writer, "digest", request->digest, "numbered",
                              request->has_first_row, "first", (json_int_t)request->first_row);
    char *head = about ? json_dumps(about, JSON_COMPACT) : NULL;
    json_decref(about);
    const size_t head_bytes = head ? strlen(head) + 1 : 0;
    char *payload = head ? malloc(head_bytes + request->bytes) : NULL;
    if (payload) {
        memcpy(payload, head, head_bytes - 1);
        payload[head_bytes - 1] = '\n';
        if (request->bytes > 0)
            memcpy(payload + head_bytes, request->body, request->bytes);
    }
    free(head);
    *bytes = head_bytes + request->bytes;
    return payload;
}

bool stream_read_sent(const journal_record *record, rows_request *request, json_t **texts)
{
    const char *end = memchr(record->payload, '\n', record->bytes);
    const size_t head_bytes = end ? (size_t)(end - record->payload) : 0;
    *texts = json_loadb(record->payload, head_bytes, 0, NULL);
    if (!*texts)
        return false;
    *request =
        (rows_request){.body = end + 1,
                       .bytes = record->bytes - head_bytes - 1,
                       .format = record->format,
                       .answer = ANSWER_COUNT,
                       .may_wait = json_is_true(json_object_get(*texts, "waits")),
                       .writer = json_string_value(json_object_get(*texts, "writer")),
                       .digest = json_string_value(json_object_get(*texts, "digest")),
                       .has_first_row = json_is_true(json_object_get(*texts, "numbered")),
                       .first_row = (uint64_t)json_integer_value(json_object_get(*texts, "first"))};
    return true;
}

/* ---- Rows that wait ---- */

/* Rows that are refused now were accepted before, so this is the place to say it. */
static void report(stream *one, const problem *why, uint64_t bad)
{
    one->bad_rows += bad;
    if (!one->is_replaying)
        complain(EXIT_FAILED, "stream %s: rows of agents cannot be used: %s", one->name,
                 why->message);
}

static uint64_t count_lines(const char *text, size_t bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    return lines;
}

/* When rows are processed, and how many rows the stream may then have. */
typedef struct waiting_end {
    double now, arrived_by;
    uint64_t limit;
} waiting_end;

static void process(stream *one, const waiting_end *end, rows_answer *answer)
{
    size_t bytes;
    char *text = waiting_rows_are_due(one->held, end->arrived_by)
                     ? waiting_rows_take(one->held, end->arrived_by, &bytes)
                     : NULL;
    const rows_request request = {.body = text,
                                  .bytes = text ? bytes : 0,
                                  .format = 1 + OIF_FORMAT_NDJSON,
                                  .answer = ANSWER_COUNT};
    body_run run = {
        .one = one, .request = &request, .answer = answer, .limit = end->limit, .now = end->now};
    problem why;
    if (text && !stream_take_rows(one, &run, &why))
        report(one, &why, count_lines(text, bytes) - answer->accepted);
    free(text);
}

static waiting_end end_at(const stream *one, double now)
{
    return (waiting_end){now, now - one->settings.row_wait_seconds, UINT64_MAX};
}

static bool keep_waiting(stream *one, const rows_request *request, double now, problem *why)
{
    journal_record record = {.kind = JOURNAL_SENT,
                             .format = request->format,
                             .first_row = stream_row_count(one),
                             .seconds = now};
    char *payload = one->folder ? stream_write_sent(request, &record.bytes) : NULL;
    record.payload = payload;
    bool is_kept = !one->folder || (payload && stream_keep_record(one, &record, why)) ||
                   (!payload && problem_set(why, 503, NULL, "out of memory"));
    free(payload);
    return is_kept;
}

static bool add(stream *one, const rows_request *request, double now)
{
    const sender from = stream_sender_of(request);
    if (!waiting_rows_add(one->held, (oif_text){request->body, request->bytes},
                          one->settings.row_span_seconds, now))
        return false;
    senders_advance(one->senders, &from, count_lines(request->body, request->bytes));
    one->is_provisional = false;
    return true;
}

/* More rows than may wait in all are not one scrape in pieces. */
bool stream_waits(const stream *one, const rows_request *request)
{
    return request->may_wait && one->settings.row_wait_seconds > 0 &&
           request->bytes <= WAITING_BYTES_MAX &&
           count_lines(request->body, request->bytes) <= WAITING_ROWS_MAX;
}

bool stream_take_waiting(stream *one, const rows_request *request, rows_answer *answer,
                         problem *why)
{
    const double now = background_wall_seconds();
    const sender from = stream_sender_of(request);
    answer->skipped = from.kind == SENDER_BODY ? senders_position(one->senders, &from) : 0;
    if (answer->skipped > 0)
        return true;
    if (from.kind == SENDER_STREAM || from.kind == SENDER_WRITER)
        return problem_set(why, 409, "Leave first_row out, or set \"row-wait\" to 0.",
                           "rows of samples that wait for others cannot be numbered");
    if (!keep_waiting(one, request, now, why))
        return false;
    if (!add(one, request, now)) {
        if (one->folder)
            journal_undo(&one->log);
        return problem_set(why, 503, NULL, "out of memory");
    }
    const waiting_end end = end_at(one, now);
    process(one, &end, answer);
    return true;
}

static bool end_waiting(stream *one, bool are_all, double now, problem *why)
{
    rows_answer answer = {.rows = 0};
    const journal_record record = {.kind = JOURNAL_WAITED,
                                   .format = are_all,
                                   .first_row = stream_row_count(one),
                                   .seconds = now};
    if (!stream_keep_record(one, &record, why))
        return false;
    waiting_end end = end_at(one, now);
    if (are_all)
        end.arrived_by = INFINITY;
    process(one, &end, &answer);
    return true;
}

void stream_end_waiting(stream *one, double now)
{
    problem ignored; /* the rows wait on */
    if (!one->is_broken && waiting_rows_are_due(one->held, now - one->settings.row_wait_seconds))
        end_waiting(one, false, now, &ignored);
}

bool stream_end_all_waiting(stream *one, problem *why)
{
    if (waiting_rows_count(one->held) == 0)
        return true;
    return end_waiting(one, true, background_wall_seconds(), why) &&
           (waiting_rows_count(one->held) == 0 || problem_set(why, 503, NULL, "out of memory"));
}

void stream_replay_waiting(stream *one, const rows_request *request, double seconds, uint64_t limit)
{
    rows_answer answer = {.rows = 0};
    waiting_end end = end_at(one, seconds);
    end.limit = limit;
    if (add(one, request, seconds))
        process(one, &end, &answer);
}

void stream_replay_waited(stream *one, const journal_record *record, uint64_t limit)
{
    rows_answer answer = {.rows = 0};
    waiting_end end = end_at(one, record->seconds);
    end.limit = limit;
    if (record->format)
        end.arrived_by = INFINITY;
    process(one, &end, &answer);
}
