#include "pages.h"

#include "front/page/embedded.h"

#include <string.h>

/* ---- Files ---- */

/* Whether the browser has this version: a list of tags, or *. */
static bool has_tag(const char *header, const char *etag)
{
    return header && (strcmp(header, "*") == 0 || strstr(header, etag));
}

bool page_file(api_call *call, problem *why)
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

bool page_healthz(api_call *call, problem *why)
{
    static const char text[] = "{\"status\": \"ok\"}\n";
    (void)why;
    reply_static(call->answer, 200, REPLY_JSON, text, sizeof text - 1);
    return true;
}
