#include "api.h"

#include "front/text/output.h"

#include "oif.h"

/* ---- The server ---- */

bool api_readyz(api_call *call, problem *why)
{
    if (!api_find_streams(call, why) || !streams_are_ready(call->all, why))
        return false;
    const size_t damaged = streams_count_damaged(call->all);
    output_print("{\"status\": \"ready\"");
    if (damaged > 0)
        output_print(", \"damaged_streams\": %zu", damaged);
    output_print("}\n");
    return true;
}

bool api_root(api_call *call, problem *why)
{
    if (!api_find_streams(call, why))
        return false;
    output_print("{\"name\": \"oif\", \"version\": \"%s\", \"streams\": %zu, \"read_only\": %s}\n",
                 oif_version(), streams_count(call->all),
                 call->asked->may_write ? "false" : "true");
    return true;
}

bool api_now(api_call *call, problem *why)
{
    const uint64_t usual = 1000, most = 10000;
    uint64_t limit = 0;
    if (!api_find_streams(call, why) || !request_count(call->asked, "limit", most, &limit, why))
        return false;
    streams_write_now(call->all, (size_t)(limit > 0 ? limit : usual));
    return true;
}

bool api_list_streams(api_call *call, problem *why)
{
    if (!api_find_streams(call, why))
        return false;
    streams_write(call->all);
    return true;
}

/* ---- One stream ---- */

static bool write_stream(const api_call *call)
{
    stream_write(call->one);
    output_write("\n", 1);
    return true;
}

bool api_get_stream(api_call *call, problem *why)
{
    return api_find_stream(call, why) && write_stream(call);
}

/* The settings in the body, which the caller frees; NULL if the body is empty. */
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

bool api_stream_ready(api_call *call, problem *why)
{
    if (!api_find_stream(call, why) || !stream_is_ready(call->one, why))
        return false;
    output_print("{\"status\": \"ready\"}\n");
    return true;
}

bool api_put_stream(api_call *call, problem *why)
{
    json_t *settings = NULL;
    bool is_new = false, is_good = api_find_streams(call, why) && api_check_name(call, why) &&
                                   read_settings(call->asked, &settings, why) &&
                                   (settings || (settings = json_object())) &&
                                   streams_create(call->all, api_stream_name(call), settings,
                                                  &call->one, &is_new, why) &&
                                   write_stream(call);
    call->is_change = is_new;
    if (is_good && is_new) {
        call->status = 201;
        reply_add_header(call->answer, "Location", "/api/v1/streams/%s", api_stream_name(call));
    }
    json_decref(settings);
    return is_good;
}

bool api_patch_stream(api_call *call, problem *why)
{
    json_t *settings = NULL;
    bool is_good = api_find_stream(call, why) && read_settings(call->asked, &settings, why);
    if (is_good && !settings)
        is_good = problem_set(why, 400, "Send those to be changed, such as {\"alert-rate\": 0.01}.",
                              "the body has no settings");
    is_good = is_good && stream_change(call->one, settings, why) && write_stream(call);
    json_decref(settings);
    return is_good;
}

bool api_delete_stream(api_call *call, problem *why)
{
    bool is_good =
        api_find_streams(call, why) && streams_remove(call->all, api_stream_name(call), why);
    if (is_good)
        reply_empty(call->answer, 204);
    return is_good;
}
