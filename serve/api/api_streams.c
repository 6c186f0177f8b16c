#include "api.h"

#include "found_stream.h"
#include "front/text/output.h"

#include "oif.h"

#include <string.h>

/* ---- The server ---- */

void api_readyz(app *served, const request *asked, reply *answer)
{
    streams *all = found_streams(served, answer);
    problem why;
    (void)asked;
    if (!all)
        return;
    if (!streams_are_ready(all, &why)) {
        reply_problem(answer, &why);
        return;
    }
    reply_begin();
    output_print("{\"status\": \"ready\"}\n");
    reply_end(answer, 200, REPLY_JSON);
}

void api_root(app *served, const request *asked, reply *answer)
{
    streams *all = found_streams(served, answer);
    if (!all)
        return;
    bool may_write = access_of(&served->access, asked) == ACCESS_WRITE;
    reply_begin();
    output_print("{\"name\": \"oif\", \"version\": \"%s\", \"streams\": %zu, \"read_only\": %s}\n",
                 oif_version(), streams_count(all), may_write ? "false" : "true");
    reply_end(answer, 200, REPLY_JSON);
}

void api_now(app *served, const request *asked, reply *answer)
{
    const uint64_t usual = 1000, most = 10000;
    streams *all = found_streams(served, answer);
    uint64_t limit = 0;
    problem why;
    if (!all)
        return;
    if (!request_count(asked, "limit", most, &limit, &why)) {
        reply_problem(answer, &why);
        return;
    }
    reply_begin();
    streams_write_now(all, (size_t)(limit > 0 ? limit : usual));
    reply_end(answer, 200, REPLY_JSON);
}

void api_list_streams(app *served, const request *asked, reply *answer)
{
    streams *all = found_streams(served, answer);
    (void)asked;
    if (!all)
        return;
    reply_begin();
    streams_write(all);
    reply_end(answer, 200, REPLY_JSON);
}

/* ---- One stream ---- */

static void answer_stream(stream *one, int status, reply *answer)
{
    reply_begin();
    stream_write(one);
    output_write("\n", 1);
    reply_end(answer, status, REPLY_JSON);
}

void api_get_stream(app *served, const request *asked, reply *answer)
{
    stream *one = found_stream(served, asked, answer);
    if (!one)
        return;
    answer_stream(one, 200, answer);
    stream_release(one);
}

/* The settings in the body: an object, which the caller frees. NULL if the body is empty. */
static bool read_settings(const request *asked, json_t **settings, problem *why)
{
    const char *type = asked->headers[HEADER_CONTENT_TYPE];
    json_error_t error;
    *settings = NULL;
    if (asked->body_bytes == 0)
        return true;
    if (type && !request_type_is(type, REPLY_JSON) &&
        !request_type_is(type, "application/x-www-form-urlencoded")) /* curl -d */
        return problem_set(why, 415, "Send Content-Type: application/json.",
                           "settings are a JSON object");
    *settings = json_loadb(asked->body, asked->body_bytes, JSON_REJECT_DUPLICATES, &error);
    if (!*settings) {
        problem_set(why, 400, NULL, "the settings are not JSON: %s", error.text);
        why->line = error.line > 0 ? (uint64_t)error.line : 0;
        why->column = error.column > 0 ? (uint64_t)error.column : 0;
        return false;
    }
    if (json_is_object(*settings))
        return true;
    json_decref(*settings);
    *settings = NULL;
    return problem_set(why, 400, "Send an object such as {\"key\": \"host\"}.",
                       "the settings are not a JSON object");
}

void api_put_stream(app *served, const request *asked, reply *answer)
{
    streams *all = found_streams(served, answer);
    const char *name = stream_name_of(asked);
    json_t *settings = NULL;
    stream *made = NULL;
    bool is_new = false;
    problem why;
    if (!all)
        return;
    bool is_good = check_stream_name(name, &why) && read_settings(asked, &settings, &why) &&
                   streams_create(all, name, settings, &made, &is_new, &why);
    if (is_good)
        answer_stream(made, is_new ? 201 : 200, answer);
    else
        reply_problem(answer, &why);
    if (is_good && is_new)
        reply_add_header(answer, "Location", "/api/v1/streams/%s", name);
    if (made)
        stream_release(made);
    json_decref(settings);
}

void api_patch_stream(app *served, const request *asked, reply *answer)
{
    stream *one = found_stream(served, asked, answer);
    json_t *settings = NULL;
    problem why;
    if (!one)
        return;
    bool is_good = read_settings(asked, &settings, &why);
    if (is_good && !settings)
        is_good =
            problem_set(&why, 400, "Send those to be changed, such as {\"alert-rate\": 0.01}.",
                        "the body has no settings");
    is_good = is_good && stream_change(one, settings, &why);
    if (is_good)
        answer_stream(one, 200, answer);
    else
        reply_problem(answer, &why);
    json_decref(settings);
    stream_release(one);
}

void api_delete_stream(app *served, const request *asked, reply *answer)
{
    streams *all = found_streams(served, answer);
    problem why;
    if (!all)
        return;
    if (streams_remove(all, stream_name_of(asked), &why))
        reply_empty(answer, 204);
    else
        reply_problem(answer, &why);
}
