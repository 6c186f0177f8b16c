#include "api.h"

#include "front/text/output.h"
#include "serve/agents/body_kind.h"
#include "serve/agents/float64_rows.h"
#include "serve/agents/json_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows as they were posted. */
typedef struct posted {
    rows_request rows;
    body_found found;
    uint64_t columns; /* of raw rows; 0: not given */
    bool may_create;
    json_t *settings; /* that the query names, for a new stream */
    char *text;       /* the rows as NDJSON; NULL: the body has them */
} posted;

static void free_posted(posted *one)
{
    json_decref(one->settings);
    free(one->text);
}

/* ---- The request ---- */

/* If the headers say what the client wants, the query need not. */
static rows_answer_kind usual_answer(const request *asked)
{
    const char *prefer = asked->headers[HEADER_PREFER];
    if (prefer && strstr(prefer, "return=minimal"))
        return ANSWER_COUNT;
    return request_type_is(asked->headers[HEADER_ACCEPT], REPLY_JSON) ? ANSWER_COUNT
                                                                      : ANSWER_RESULTS;
}

static bool read_setting(const request *asked, const char *name, json_t *settings, problem *why)
{
    const char *text = NULL;
    if (!request_text(asked, name, &text, why))
        return false;
    return !text || json_object_set_new(settings, name, json_string(text)) == 0 ||
           problem_set(why, 400, "Send it as UTF-8.", "%s: the name of a column is text", name);
}

static bool find_kind(const request *asked, posted *one, int known, problem *why)
{
    body_claim claim = {.type = asked->headers[HEADER_CONTENT_TYPE],
                        .has_columns = request_find(asked, "columns") != NULL,
                        .known = known};
    const oif_text bytes = {asked->body, asked->body_bytes};
    if (!request_text(asked, "format", &claim.format, why) ||
        !body_kind_find(&claim, bytes, &one->found, why))
        return false;
    if (one->found.kind == BODY_FLOAT64)
        return one->columns > 0 ||
               problem_set(why, 400, NULL, "raw numbers need columns=N, how many a row has");
    return !claim.has_columns ||
           problem_set(why, 400, "Leave it out.", "columns: only raw numbers have it");
}

static bool read_request(const request *asked, posted *one, problem *why)
{
    static const char *const answers[] = {"results", "alerts", "count"};
    rows_request *rows = &one->rows;
    size_t answer = usual_answer(asked);
    rows->has_first_row = request_find(asked, "first_row") != NULL;
    bool is_good = request_word(asked, "answer", answers, 3, &answer, why) &&
                   request_count(asked, "first_row", UINT64_C(1) << 62, &rows->first_row, why) &&
                   request_count(asked, "columns", UINT32_MAX, &one->columns, why) &&
                   request_flag(asked, "durable", &rows->is_durable, why) &&
                   request_flag(asked, "create", &one->may_create, why) &&
                   read_setting(asked, "key", one->settings, why) &&
                   read_setting(asked, "time", one->settings, why);
    rows->answer = (rows_answer_kind)answer;
    return is_good;
}

/* Turns the body into what the stream reads: CSV or NDJSON. */
static bool translate(const request *asked, posted *one, problem *why)
{
    const oif_text given = {asked->body, asked->body_bytes};
    const body_kind kind = one->found.kind;
    size_t bytes;
    one->rows.body = asked->body;
    one->rows.bytes = asked->body_bytes;
    one->rows.must_have_row = one->found.is_guessed;
    one->rows.format = one->found.is_guessed ? 0 : 1 + (int)kind;
    if (kind == BODY_CSV || kind == BODY_NDJSON)
        return true;
    output_divert();
    bool is_good = kind == BODY_JSON ? json_rows_write(given, why)
                                     : float64_rows_write(given, (size_t)one->columns, why);
    one->text = output_diverted(&bytes);
    if (is_good && !one->text)
        return problem_set(why, 503, NULL, "out of memory");
    one->rows.body = one->text;
    one->rows.bytes = bytes;
    one->rows.format = 1 + OIF_FORMAT_NDJSON;
    return is_good;
}

/* ---- The answer ---- */

static const char header_note[] = "only a header came; rows may follow without it";

static void add_figures(reply *answer, const rows_answer *done)
{
    reply_add_header(answer, "Oif-Rows", "%" PRIu64, done->rows);
    reply_add_header(answer, "Oif-Saved", "%" PRIu64, done->saved);
    reply_add_header(answer, "Oif-Accepted", "%" PRIu64, done->accepted);
    reply_add_header(answer, "Oif-Skipped", "%" PRIu64, done->skipped);
    reply_add_header(answer, "Oif-Bad", "%" PRIu64, done->bad);
    reply_add_header(answer, "Oif-Alerts", "%" PRIu64, done->alerts);
    if (done->is_a_header)
        reply_add_header(answer, "Oif-Note", "%s", header_note);
}

static void print_count(const rows_answer *done)
{
    output_print("{\"rows\": %" PRIu64 ", \"saved\": %" PRIu64 ", \"accepted\": %" PRIu64
                 ", \"skipped\": %" PRIu64 ", \"alerts\": %" PRIu64 ", \"bad\": %" PRIu64,
                 done->rows, done->saved, done->accepted, done->skipped, done->alerts, done->bad);
    if (done->is_a_header)
        output_print(", \"note\": \"%s\"", header_note);
    output_print("}\n");
}

static bool score(api_call *call, const rows_request *rows, problem *why)
{
    rows_answer done = {0};
    bool is_good = stream_rows(call->one, rows, &done, why);
    if (is_good && rows->answer == ANSWER_COUNT)
        print_count(&done);
    call->type = rows->answer == ANSWER_COUNT ? REPLY_JSON
                 : done.is_csv                ? "text/csv; charset=utf-8"
                                              : "application/x-ndjson";
    add_figures(call->answer, &done);
    return is_good;
}

/* ---- The stream ---- */

/* The host by which the client reached this server, if it can be pasted into a shell. */
static const char *host_of(const request *asked)
{
    const char *host = asked->headers[HEADER_HOST];
    bool is_plain = host && *host && strlen(host) < 100 &&
                    host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789.:-[]")] == '\0';
    return is_plain ? host : "127.0.0.1:8571";
}

static bool refuse_missing(const api_call *call, problem *why)
{
    if (!api_check_name(call, why))
        return false;
    problem_set(why, 404, NULL, "there is no stream of this name");
    snprintf(why->remedy, sizeof why->remedy,
             "Add ?create=true for usual settings, or: curl -X PUT -d '{\"key\": \"host\"}' "
             "http%s://%s/api/v1/streams/%s",
             call->asked->is_encrypted ? "s" : "", host_of(call->asked), api_stream_name(call));
    return false;
}

/* Another client may create it at the same time, with other settings. */
static bool create_stream(api_call *call, json_t *settings, problem *why)
{
    const char *name = api_stream_name(call);
    if (!api_check_name(call, why))
        return false;
    if (!streams_create_for_rows(call->all, name, settings, &call->one, why))
        call->one = streams_find(call->all, name);
    return call->one != NULL;
}

static bool find_or_create(api_call *call, const posted *one, problem *why)
{
    if (!call->one)
        return create_stream(call, one->settings, why);
    return stream_check_settings(call->one, one->settings, why);
}

/* A stream that was made for refused rows goes with them. */
static void leave_stream(api_call *call)
{
    if (!call->one)
        return;
    stream_release(call->one);
    call->one = NULL;
    streams_drop_provisional(call->all);
}

static bool post_rows(api_call *call, posted *one, problem *why)
{
    if (!read_request(call->asked, one, why))
        return false;
    call->one = streams_find(call->all, api_stream_name(call));
    if (!call->one && !one->may_create)
        return refuse_missing(call, why);
    const int known = call->one ? stream_format(call->one) : 0;
    return find_kind(call->asked, one, known, why) && translate(call->asked, one, why) &&
           find_or_create(call, one, why) && score(call, &one->rows, why);
}

bool api_post_rows(api_call *call, problem *why)
{
    posted one = {.settings = json_object()};
    bool is_good = api_find_streams(call, why) && post_rows(call, &one, why);
    if (!is_good)
        leave_stream(call);
    free_posted(&one);
    return is_good;
}

bool api_post_explain(api_call *call, problem *why)
{
    const request *asked = call->asked;
    const request_parameter *key = request_find(asked, "key");
    posted one = {.settings = NULL};
    if (!api_find_stream(call, why) || !find_kind(asked, &one, stream_format(call->one), why) ||
        !translate(asked, &one, why)) {
        free_posted(&one);
        return false;
    }
    explain_request row = {.body = one.rows.body,
                           .bytes = one.rows.bytes,
                           .format = one.rows.format,
                           .key = key ? key->value : NULL,
                           .key_bytes = key ? key->value_bytes : 0};
    bool is_good = stream_write_explanation(call->one, &row, why);
    free_posted(&one);
    if (is_good)
        output_write("\n", 1);
    return is_good;
}
