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

void page_file(app *served, const request *asked, reply *answer)
{
    (void)served;
    const embedded_file *file = embedded_find(asked->path);
    if (!file) {
        reply_refuse(answer, 404, "The API is described at /api/v1/openapi.json.",
                     "there is nothing here");
        return;
    }
    reply_add_header(answer, "ETag", "%s", file->etag);
    reply_add_header(answer, "Cache-Control", "no-cache"); /* revalidate each time, by 304 */
    if (has_tag(asked->headers[HEADER_IF_NONE_MATCH], file->etag)) {
        reply_empty(answer, 304);
        return;
    }
    reply_static(answer, 200, file->type, file->bytes, file->byte_count);
}

void page_healthz(app *served, const request *asked, reply *answer)
{
    static const char text[] = "{\"status\": \"ok\"}\n";
    (void)served;
    (void)asked;
    reply_static(answer, 200, REPLY_JSON, text, sizeof text - 1);
}

/* ---- Login ---- */

static void set_cookie(reply *answer, const request *asked, const char *value, long seconds)
{
    reply_add_header(answer, "Set-Cookie",
                     ACCESS_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%ld%s", value,
                     seconds, asked->is_encrypted ? "; Secure" : "");
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

void page_login(app *served, const request *asked, reply *answer)
{
    const long month_seconds = 30L * 24 * 3600;
    json_t *given = read_login(asked);
    const char *text = json_string_value(json_object_get(given, "token"));
    access_level level = text ? access_of_token(&served->access, text, strlen(text)) : ACCESS_NONE;
    if (!text) {
        reply_refuse(answer, 400, "Send {\"token\": \"...\"}, or token=... of a form.",
                     "the body has no token");
    } else if (served->access.token_count == 0) {
        reply_refuse(answer, 409, "Continue without one.", "this server has no tokens");
    } else if (level == ACCESS_NONE) {
        reply_refuse(answer, 401, NULL, "this is not a token of this server");
    } else {
        set_cookie(answer, asked, text, month_seconds);
        reply_begin();
        output_print("{\"read_only\": %s}\n", level == ACCESS_READ ? "true" : "false");
        reply_end(answer, 200, "application/json");
    }
    json_decref(given);
}

void page_logout(app *served, const request *asked, reply *answer)
{
    (void)served;
    set_cookie(answer, asked, "", 0);
    reply_empty(answer, 204);
}
