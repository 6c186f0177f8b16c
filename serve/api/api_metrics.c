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
    problem_set(why, 503, "Ask again in a moment.", "the server is starting");
    why->wait_seconds = 1;
    return false;
}
