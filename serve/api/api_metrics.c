#include "api.h"

#include "found_stream.h"
#include "serve/outside/exposition.h"
#include "serve/outside/outside.h"

void api_metrics(app *served, const request *asked, reply *answer)
{
    outside *others = atomic_load(&served->others);
    (void)asked;
    if (!others) {
        found_streams(served, answer);
        if (answer->status == 0)
            reply_refuse(answer, 503, "Ask again in a moment.", "the server is starting");
        return;
    }
    reply_begin();
    bool is_whole = outside_write_metrics(others, &served->requests);
    reply_end(answer, 200, EXPOSITION_TYPE);
    if (!is_whole) {
        reply_free(answer);
        reply_refuse(answer, 500, NULL, "out of memory");
    }
}
