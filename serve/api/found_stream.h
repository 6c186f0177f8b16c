/* How API handlers start: find the streams, and the one named by the path. */
#ifndef OIF_SERVE_FOUND_STREAM_H
#define OIF_SERVE_FOUND_STREAM_H

#include "app.h"
#include "serve/http/reply.h"
#include "serve/http/request.h"
#include "serve/stream/streams.h"

/* NULL while they are being loaded; the answer then says so. */
static inline streams *found_streams(app *served, reply *answer)
{
    streams *all = atomic_load(&served->all);
    if (all)
        return all;
    reply_add_header(answer, "Retry-After", "1");
    reply_refuse(answer, 503, "Ask again in a moment.", "the streams are being loaded");
    return NULL;
}

/* /api/v1/streams/NAME */
static inline const char *stream_name_of(const request *asked)
{
    return asked->segments[3];
}

static inline bool check_stream_name(const char *name, problem *why)
{
    return stream_name_is_valid(name) ||
           problem_set(why, 400,
                       "Use a letter or a digit first, then letters, digits, dots, underscores "
                       "and dashes.",
                       "this cannot be the name of a stream; it has at most 64 characters");
}

static inline bool refuse_missing_stream(problem *why, const char *remedy)
{
    return problem_set(why, 404, remedy, "there is no stream of this name");
}

/* Release it after use. NULL if there is none; the answer then says so. */
static inline stream *found_stream(app *served, const request *asked, reply *answer)
{
    streams *all = found_streams(served, answer);
    stream *one = all ? streams_find(all, stream_name_of(asked)) : NULL;
    if (all && !one) {
        problem why;
        refuse_missing_stream(&why, "PUT it first, with its settings as the body.");
        reply_problem(answer, &why);
    }
    return one;
}

/* Ends an answer; if it failed, with the problem instead. */
static inline void reply_end_or_problem(reply *answer, bool is_good, const problem *why)
{
    reply_end(answer, 200, REPLY_JSON);
    if (is_good)
        return;
    reply_free(answer);
    reply_problem(answer, why);
}

#endif
