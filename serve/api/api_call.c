#include "api_call.h"

#include "front/text/output.h"

#include <stdlib.h>

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

const char *api_stream_name(const api_call *call)
{
    return call->asked->segments[3];
}

bool api_check_name(const api_call *call, problem *why)
{
    return stream_name_is_valid(api_stream_name(call)) ||
           problem_set(why, 400,
                       "Use a letter or a digit first, then letters, digits, dots, underscores "
                       "and dashes.",
                       "this cannot be the name of a stream; it has at most 64 characters");
}

void api_answer(app *served, api_handler handle, const request *asked, reply *answer)
{
    api_call call = {
        .served = served, .asked = asked, .answer = answer, .status = 200, .type = REPLY_JSON};
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
    }
    if (call.one)
        stream_release(call.one);
}
