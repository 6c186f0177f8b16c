#include "api_call.h"

#include "front/text/output.h"

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

bool api_read_object(const request *asked, const api_object *kind, json_t **object, problem *why)
{
    const char *type = asked->headers[HEADER_CONTENT_TYPE];
    json_error_t error;
    *object = NULL;
    if (asked->body_bytes == 0)
        return true;
    if (type && !request_type_is(type, REPLY_JSON) &&
        !request_type_is(type, "application/x-www-form-urlencoded")) /* curl -d */
        return problem_set(why, 415, "Send Content-Type: application/json.", "%s are a JSON object",
                           kind->what + strlen("the "));
    *object = json_loadb(asked->body, asked->body_bytes, kind->flags, &error);
    if (!*object) {
        problem_set(why, 400, NULL, "%s are not JSON: %s", kind->what, error.text);
        why->line = error.line > 0 ? (uint64_t)error.line : 0;
        why->column = error.column > 0 ? (uint64_t)error.column : 0;
        return false;
    }
    if (json_is_object(*object))
        return true;
    json_decref(*object);
    *object = NULL;
    problem_set(why, 400, NULL, "%s are not a JSON object", kind->what);
    snprintf(why->remedy, sizeof why->remedy, "Send an object such as %s.", kind->example);
    return false;
}

/* The parameters and a body of JSON; NULL: there are none. The caller frees it. */
static json_t *details_of(const request *asked)
{
    json_t *details = json_object();
    for (size_t i = 0; i < asked->parameter_count; i++)
        json_object_set_new(details, asked->parameters[i].name,
                            json_string(asked->parameters[i].value));
    json_t *object = json_loadb(asked->body, asked->body_bytes, JSON_ALLOW_NUL, NULL);
    if (json_is_object(object))
        json_object_update(details, object);
    json_decref(object);
    if (json_object_size(details) > 0)
        return details;
    json_decref(details);
    return NULL;
}

static void record(const api_call *call)
{
    const request *asked = call->asked;
    if (!call->served->changes)
        return;
    json_t *details = details_of(asked);
    audit_add(call->served->changes, &(audit_entry){.who = call->who,
                                                    .from = asked->from,
                                                    .method = asked->method,
                                                    .path = asked->path,
                                                    .status = call->answer->status,
                                                    .details = details});
    json_decref(details);
}

void api_answer(app *served, api_handler handle, bool is_change, const request *asked,
                reply *answer)
{
    api_call call = {.served = served,
                     .asked = asked,
                     .answer = answer,
                     .status = 200,
                     .type = REPLY_JSON,
                     .who = asked->who,
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
    } else if (call.is_change) {
        record(&call);
    }
    if (call.one)
        stream_release(call.one);
}
