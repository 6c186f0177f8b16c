#include "api_call.h"

#include "front/text/cut.h"
#include "front/text/output.h"
#include "serve/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool api_find_streams(api_call *call, problem *why)
{
    call->all = atomic_load(&call->served->all);
    if (call->all)
        return true;
    reply_add_header(call->answer, "Retry-After", "1");
    return problem_set(why, 503, "Ask again in a moment.", "the streams are being loaded");
}

bool api_find_stream(api_call *call, problem *why)
{
    if (!api_find_streams(call, why))
        return false;
    call->one = streams_find(call->all, api_stream_name(call));
    return call->one || problem_set(why, 404, "PUT it first, with its settings as the body.",
                                    "there is no stream of this name");
}

/* Agents name it where they name a database or a bucket, or in a header. */
const char *api_request_stream(const request *asked)
{
    static const char *const names[] = {"db", "bucket", "stream"};
    if (asked->segment_count >= 4 && strcmp(asked->segments[2], "streams") == 0)
        return asked->segments[3];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const request_parameter *named = request_find(asked, names[i]);
        if (named)
            return named->value;
    }
    return asked->headers[HEADER_STREAM] ? asked->headers[HEADER_STREAM] : "otlp";
}

const char *api_stream_name(const api_call *call)
{
    return api_request_stream(call->asked);
}

bool api_check_name(const api_call *call, problem *why)
{
    return stream_name_is_valid(api_stream_name(call)) ||
           problem_set(why, 400,
                       "Use a letter or a digit first, then letters, digits, dots, underscores "
                       "and dashes.",
                       "this cannot be the name of a stream; it has at most 64 characters");
}

/* A line of the log says who made a change. */
static void log_change(const api_call *call)
{
    const request *asked = call->asked;
    char status[16];
    snprintf(status, sizeof status, "%d", call->answer->status);
    log_line("info", "change", "status", status, "method", asked->method, "path", asked->path,
             "user", asked->user ? cut_name(asked->user).text : NULL, "from", asked->from,
             (char *)NULL);
}

void api_answer(app *served, api_handler handle, bool is_change, const request *asked,
                reply *answer)
{
    api_call call = {.served = served,
                     .asked = asked,
                     .answer = answer,
                     .status = 200,
                     .type = REPLY_JSON,
                     .is_change = is_change};
    size_t bytes;
    problem why;
    reply_begin();
    bool is_good = handle(&call, &why);
    if (answer->status > 0) /* it is whole */
        free(output_diverted(&bytes));
    else
        reply_end(answer, call.status, call.type);
    if (!is_good) {
        reply_free(answer);
        reply_problem(answer, &why);
    } else if (call.is_change && answer->status < 400) { /* a handler may write an error itself */
        log_change(&call);
    }
    if (call.one)
        stream_release(call.one);
}
