/* The paths and answers that agents expect: Prometheus remote write, InfluxDB's write, OTLP. Agents
 * get no scores; the page and the events have them. */
#include "api.h"

#include "front/text/output.h"
#include "front/text/quoting.h"
#include "front/text/write_json.h"
#include "posted_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- All of them ---- */

static bool read_request(posted_rows *posted, problem *why)
{
    posted->rows.answer = ANSWER_COUNT;
    return request_flag(posted->call->asked, "create", &posted->may_create, why) &&
           posted_rows_read_setting(posted, "key", why) && posted_rows_read_precision(posted, why);
}

/* An answer without a body, but with what was left out. */
static void answer_nothing(const posted_rows *posted)
{
    reply *answer = posted->call->answer;
    char left[AGENT_REPORT_BYTES];
    if (agent_report_text(&posted->report, left))
        reply_add_header(answer, "Oif-Left-Out", "%s", left);
    reply_empty(answer, 204);
}

/* A refusal as an agent reads it; the log has it, too. */
static void begin_refusal(api_call *call, const problem *why)
{
    call->status = why->status;
    problem_write_reason(why, call->answer->reason);
}

/* The whole message: where, what and what to do. */
static void write_message(const problem *why)
{
    char text[PROBLEM_MESSAGE_BYTES + PROBLEM_REMEDY_BYTES + 64], place[32] = "";
    if (why->line > 0)
        snprintf(place, sizeof place, "line %" PRIu64 ": ", why->line);
    snprintf(text, sizeof text, "%s%s%s%s", place, why->message, why->remedy[0] ? ". " : "",
             why->remedy);
    quoting_write_json(text, strlen(text));
}

/* ---- Prometheus remote write ---- */

bool api_remote_write(api_call *call, problem *why)
{
    posted_rows posted = posted_rows_begin(call);
    posted.protobuf = BODY_REMOTE_WRITE;
    bool is_good = read_request(&posted, why) && posted_rows_take(&posted, why) &&
                   posted_rows_check_bad(&posted, why);
    if (is_good)
        answer_nothing(&posted);
    posted_rows_end(&posted);
    return is_good;
}

/* ---- InfluxDB ---- */

static const char *influx_code(int status)
{
    switch (status) {
    case 404: return "not found";
    case 413: return "request too large";
    case 429: return "too many requests";
    case 503:
    case 507: return "unavailable";
    default: return status == 409 ? "conflict" : "invalid";
    }
}

/* Telegraf prints "error" of version 1 and "message" of version 2. */
static void refuse_influx(api_call *call, const problem *why)
{
    begin_refusal(call, why);
    output_print("{\"code\":\"%s\",\"message\":", influx_code(why->status));
    write_message(why);
    output_text(",\"error\":");
    write_message(why);
    output_text("}\n");
}

bool api_influx_write(api_call *call, problem *why)
{
    posted_rows posted = posted_rows_begin(call);
    posted.may_create = true;
    posted.format = "influx";
    const bool is_named = request_find(call->asked, "db") || request_find(call->asked, "bucket");
    bool is_good =
        (is_named || problem_set(why, 400, NULL, "db or bucket: the stream is missing")) &&
        read_request(&posted, why) && posted_rows_take(&posted, why) &&
        posted_rows_check_bad(&posted, why);
    if (is_good)
        answer_nothing(&posted);
    else
        refuse_influx(call, why);
    posted_rows_end(&posted);
    return true;
}

/* Telegraf asks for its database before it writes; the first rows make the stream. */
bool api_influx_query(api_call *call, problem *why)
{
    static const char create[] = "CREATE DATABASE ";
    const char *query = "";
    bool is_good = request_text(call->asked, "q", &query, why);
    call->is_change = false; /* the stream is made with its first rows */
    if (is_good && strncasecmp(query, create, sizeof create - 1) != 0)
        is_good = problem_set(why, 400, "Read streams at /api/v1/streams.",
                              "this server answers no query except CREATE DATABASE");
    if (is_good)
        output_text("{\"results\":[{\"statement_id\":0}]}\n");
    else
        refuse_influx(call, why);
    return true;
}

/* ---- OTLP ---- */

#define PROTOBUF "application/x-protobuf"

/* Codes of gRPC. */
static int status_code(int status)
{
    enum { INVALID_ARGUMENT = 3, NOT_FOUND = 5, RESOURCE_EXHAUSTED = 8, UNAVAILABLE = 14 };
    return status == 404                    ? NOT_FOUND
           : status == 413 || status == 429 ? RESOURCE_EXHAUSTED
           : status >= 500                  ? UNAVAILABLE
                                            : INVALID_ARGUMENT;
}

static void write_varint(uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        output_write(&(char){(char)(value | 0x80)}, 1);
    output_write(&(char){(char)value}, 1);
}

static void write_field(unsigned number, const char *text)
{
    write_varint(number << 3 | 2);
    write_varint(strlen(text));
    output_text(text);
}

/* google.rpc.Status: 1 is the code, 2 the message. */
static void refuse_otlp(api_call *call, const problem *why)
{
    begin_refusal(call, why);
    call->type = PROTOBUF;
    write_varint(1 << 3);
    write_varint((uint64_t)status_code(why->status));
    write_field(2, why->message);
}

/* ExportMetricsServiceResponse: empty if all is well. Else it has 1, the points that were refused:
 * 1 is how many, 2 why. */
static void answer_otlp(api_call *call, const agent_report *report)
{
    size_t bytes;
    call->type = PROTOBUF;
    if (report->bad == 0)
        return;
    output_divert();
    write_varint(1 << 3);
    write_varint(report->bad);
    write_field(2, report->first_bad.message);
    char *part = output_diverted(&bytes);
    write_varint(1 << 3 | 2);
    write_varint(bytes);
    output_write(part, part ? bytes : 0);
    free(part);
}

bool api_otlp_metrics(api_call *call, problem *why)
{
    if (!request_type_is(call->asked->headers[HEADER_CONTENT_TYPE], PROTOBUF))
        return problem_set(why, 415, BODY_OTLP_REMEDY, "metrics are " PROTOBUF);
    posted_rows posted = posted_rows_begin(call);
    posted.may_create = true;
    posted.protobuf = BODY_OTLP;
    const bool is_good = read_request(&posted, why) && posted_rows_take(&posted, why);
    char left[AGENT_REPORT_BYTES];
    if (agent_report_text(&posted.report, left))
        reply_add_header(call->answer, "Oif-Left-Out", "%s", left);
    if (is_good)
        answer_otlp(call, &posted.report);
    else
        refuse_otlp(call, why);
    posted_rows_end(&posted);
    return true;
}
