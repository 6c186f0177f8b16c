#include "api.h"

#include "api_quota.h"
#include "front/text/output.h"
#include "front/text/write_json.h"

#include "oif.h"

#include <string.h>

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
    const access_level level = access_level_of(call->asked);
    output_print("{\"name\": \"oif\", \"version\": \"%s\", \"streams\": %zu, \"read_only\": %s",
                 oif_version(), streams_count_visible(call->all, access_patterns(call->asked)),
                 level >= ACCESS_WRITE ? "false" : "true");
    write_json_string("role", access_level_word(level));
    write_json_text("token", access_name(call->asked));
    output_print("}\n");
    return true;
}

bool api_now(api_call *call, problem *why)
{
    const uint64_t usual = 1000, most = 10000;
    uint64_t limit = 0;
    if (!api_find_streams(call, why) || !request_count(call->asked, "limit", most, &limit, why))
        return false;
    streams_write_now(call->all, access_patterns(call->asked), (size_t)(limit > 0 ? limit : usual));
    return true;
}

bool api_list_streams(api_call *call, problem *why)
{
    if (!api_find_streams(call, why))
        return false;
    streams_write(call->all, access_patterns(call->asked));
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

static const api_object settings_object = {"the settings", "{\"key\": \"host\"}",
                                           JSON_REJECT_DUPLICATES};

static bool create_stream(api_call *call, json_t *settings, bool *is_new, problem *why)
{
    const char *name = api_stream_name(call);
    const bool is_good = api_quota_begin(call, name, settings, why) &&
                         streams_create(call->all, name, settings, &call->one, is_new, why);
    api_quota_end(call);
    return is_good;
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
                                   api_read_object(call->asked, &settings_object, &settings, why) &&
                                   (settings || (settings = json_object())) &&
                                   create_stream(call, settings, &is_new, why) &&
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
    bool is_good = api_find_stream(call, why) &&
                   api_read_object(call->asked, &settings_object, &settings, why);
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
