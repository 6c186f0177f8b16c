#include "api.h"

#include "serve/outside/exposition.h"
#include "serve/outside/outside.h"

bool api_metrics(api_call *call, problem *why)
{
    app *served = call->served;
    call->type = EXPOSITION_TYPE;
    pthread_rwlock_rdlock(&served->others_lock);
    const bool is_there = served->others != NULL;
    const bool is_written = is_there && outside_write_metrics(served->others, &served->requests,
                                                              access_patterns(call->asked));
    pthread_rwlock_unlock(&served->others_lock);
    if (is_written)
        return true;
    if (is_there)
        return problem_set(why, 500, NULL, "out of memory");
    problem_set(why, 503, "Ask again in a moment.", "the server is starting");
    why->wait_seconds = 1;
    return false;
}
