#include "pages.h"

#include "front/page/embedded.h"
#include "front/text/output.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- Login ---- */

static void set_cookie(const api_call *call, const char *value, long seconds)
{
    reply_add_header(call->answer, "Set-Cookie",
                     ACCESS_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%ld%s", value,
                     seconds, call->asked->is_encrypted ? "; Secure" : "");
}

/* token=... as sent by browsers and curl -d, encoded like a query. */
static json_t *read_form(const request *asked)
{
    size_t bytes = asked->body_bytes + sizeof "/?";
    char *target = malloc(bytes);
    request form;
    problem ignored;
    const char *text = NULL;
    json_t *given = NULL;
    if (!target)
        return NULL;
    snprintf(target, bytes, "/?%.*s", (int)asked->body_bytes, asked->body);
    if (request_parse(&form, "GET", target, &ignored) &&
        request_text(&form, "token", &text, &ignored) && text)
        given = json_pack("{s:s}", "token", text);
    request_free(&form);
    free(target);
    return given;
}

/* {"token": "..."}, or a form. */
static json_t *read_login(const request *asked)
{
    const char *type = asked->headers[HEADER_CONTENT_TYPE];
    if (request_type_is(type, "application/x-www-form-urlencoded") && *asked->body != '{')
        return read_form(asked);
    return json_loadb(asked->body, asked->body_bytes, JSON_REJECT_DUPLICATES, NULL);
}

static bool log_in(const api_call *call, const char *text, problem *why)
{
    const long month_seconds = 30L * 24 * 3600;
    const access_rules *rules = &call->served->access;
    if (!text)
        return problem_set(why, 400, "Send {\"token\": \"...\"}, or token=... of a form.",
                           "the body has no token");
    if (rules->token_count == 0)
        return problem_set(why, 409, "Continue without one.", "this server has no tokens");
    access_level level = access_of_token(rules, text, strlen(text));
    if (level == ACCESS_NONE)
        return problem_set(why, 401, NULL, "this is not a token of this server");
    set_cookie(call, text, month_seconds);
    output_print("{\"read_only\": %s}\n", level == ACCESS_READ ? "true" : "false");
    return true;
}

bool page_login(api_call *call, problem *why)
{
    json_t *given = read_login(call->asked);
    bool is_good = log_in(call, json_string_value(json_object_get(given, "token")), why);
    json_decref(given);
    return is_good;
}

bool page_logout(api_call *call, problem *why)
{
    (void)why;
    set_cookie(call, "", 0);
    reply_empty(call->answer, 204);
    return true;
}
