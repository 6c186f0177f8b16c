#include "api.h"

#include "serve/outside/exposition.h"
#include "serve/outside/outside.h"

bool api_metrics(api_call *call, problem *why)
{
    outside *others = atomic_load(&call->served->others);
    call->type = EXPOSITION_TYPE;
    if (others)
        return outside_write_metrics(others, &call->served->requests) ||
               problem_set(why, 500, NULL, "out of memory");
    reply_add_header(call->answer, "Retry-After", "1");
    return problem_set(why, 503, "Ask again in a moment.", "the server is starting");
}
