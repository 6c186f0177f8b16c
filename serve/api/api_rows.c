#include "api.h"

#include "front/text/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* 0: detect it in the bytes. */
static bool find_format(const request *asked, int *format, problem *why)
{
    static const struct known_type {
        const char *type;
        int format;
    } known[] = {
        {"application/x-ndjson", 1 + OIF_FORMAT_NDJSON},
        {"application/ndjson", 1 + OIF_FORMAT_NDJSON},
        {"application/jsonl", 1 + OIF_FORMAT_NDJSON},
        {REPLY_JSON, 1 + OIF_FORMAT_NDJSON},
        {"text/csv", 1 + OIF_FORMAT_CSV},
        {"text/plain", 0},
        {"application/octet-stream", 0},
        {"application/x-www-form-urlencoded", 0}, /* curl's default */
    };
    const char *type = asked->headers[HEADER_CONTENT_TYPE];
    *format = 0;
    if (!type || !*type)
        return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (request_type_is(type, known[i].type)) {
            *format = known[i].format;
            return true;
        }
    }
    return problem_set(why, 415, "Send Content-Type: application/x-ndjson or text/csv.",
                       "rows of this Content-Type are not read");
}

/* If the headers say what the client wants, the query need not. */
static rows_answer_kind usual_answer(const request *asked)
{
    const char *prefer = asked->headers[HEADER_PREFER];
    if (prefer && strstr(prefer, "return=minimal"))
        return ANSWER_COUNT;
    return request_type_is(asked->headers[HEADER_ACCEPT], REPLY_JSON) ? ANSWER_COUNT
                                                                      : ANSWER_RESULTS;
}

static bool read_request(const request *asked, rows_request *rows, bool *may_create, problem *why)
{
    static const char *const answers[] = {"results", "alerts", "count"};
    size_t answer = usual_answer(asked);
    memset(rows, 0, sizeof *rows);
    *may_create = false;
    rows->body = asked->body;
    rows->bytes = asked->body_bytes;
    rows->has_first_row = request_find(asked, "first_row") != NULL;
    bool is_good = find_format(asked, &rows->format, why) &&
                   request_word(asked, "answer", answers, 3, &answer, why) &&
                   request_count(asked, "first_row", UINT64_C(1) << 62, &rows->first_row, why) &&
                   request_flag(asked, "durable", &rows->is_durable, why) &&
                   request_flag(asked, "create", may_create, why);
    rows->answer = (rows_answer_kind)answer;
    return is_good;
}

static void add_figures(reply *answer, const rows_answer *done)
{
    reply_add_header(answer, "Oif-Rows", "%" PRIu64, done->rows);
    reply_add_header(answer, "Oif-Saved", "%" PRIu64, done->saved);
    reply_add_header(answer, "Oif-Accepted", "%" PRIu64, done->accepted);
    reply_add_header(answer, "Oif-Skipped", "%" PRIu64, done->skipped);
    reply_add_header(answer, "Oif-Bad", "%" PRIu64, done->bad);
    reply_add_header(answer, "Oif-Alerts", "%" PRIu64, done->alerts);
}

static void print_count(const rows_answer *done)
{
    output_print("{\"rows\": %" PRIu64 ", \"saved\": %" PRIu64 ", \"accepted\": %" PRIu64
                 ", \"skipped\": %" PRIu64 ", \"alerts\": %" PRIu64 ", \"bad\": %" PRIu64 "}\n",
                 done->rows, done->saved, done->accepted, done->skipped, done->alerts, done->bad);
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
static bool create_stream(api_call *call, problem *why)
{
    const char *name = api_stream_name(call);
    bool is_new;
    if (!api_check_name(call, why))
        return false;
    if (!streams_create(call->all, name, NULL, &call->one, &is_new, why))
        call->one = streams_find(call->all, name);
    return call->one != NULL;
}

bool api_post_rows(api_call *call, problem *why)
{
    rows_request rows;
    bool may_create;
    if (!api_find_streams(call, why) || !read_request(call->asked, &rows, &may_create, why))
        return false;
    call->one = streams_find(call->all, api_stream_name(call));
    if (!call->one && !(may_create ? create_stream(call, why) : refuse_missing(call, why)))
        return false;
    return score(call, &rows, why);
}

bool api_post_explain(api_call *call, problem *why)
{
    const request *asked = call->asked;
    const request_parameter *key = request_find(asked, "key");
    explain_request row = {.body = asked->body,
                           .bytes = asked->body_bytes,
                           .key = key ? key->value : NULL,
                           .key_bytes = key ? key->value_bytes : 0};
    if (!api_find_stream(call, why) || !find_format(asked, &row.format, why) ||
        !stream_write_explanation(call->one, &row, why))
        return false;
    output_write("\n", 1);
    return true;
}
