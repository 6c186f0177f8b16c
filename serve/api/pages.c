/* Answers that need no stream: embedded files, health and metrics. */
#include "api.h"

#include "front/page/embedded.h"
#include "serve/outside/exposition.h"
#include "serve/outside/outside.h"

#include <string.h>

/* Whether the browser has this version: a list of tags, or *. */
static bool has_tag(const char *header, const char *etag)
{
    return header && (strcmp(header, "*") == 0 || strstr(header, etag));
}

bool api_file(api_call *call, problem *why)
{
    const embedded_file *file = embedded_find(call->asked->path);
    if (!file)
        return problem_set(why, 404, "The API is described at /api/v1/openapi.json.",
                           "there is nothing here");
    reply_add_header(call->answer, "ETag", "%s", file->etag);
    reply_add_header(call->answer, "Cache-Control", "no-cache"); /* revalidate each time, by 304 */
    if (has_tag(call->asked->headers[HEADER_IF_NONE_MATCH], file->etag))
        reply_empty(call->answer, 304);
    else
        reply_static(call->answer, 200, file->type, file->bytes, file->byte_count);
    return true;
}

bool api_healthz(api_call *call, problem *why)
{
    static const char text[] = "{\"status\": \"ok\"}\n";
    (void)why;
    reply_static(call->answer, 200, REPLY_JSON, text, sizeof text - 1);
    return true;
}

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
