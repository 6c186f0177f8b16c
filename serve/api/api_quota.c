#include "api_quota.h"

#include "serve/stream/stream_settings.h"

#include <stdio.h>
#include <string.h>

static const char max_keys[] = "max-keys";

static bool has_quota(const token *who)
{
    return who && (who->most.streams > 0 || who->most.keys > 0);
}

size_t api_quota_columns(const api_call *call)
{
    return call->who ? call->who->most.columns : 0;
}

static bool refuse(const token *who, const char *what, size_t most, problem *why)
{
    return problem_set(why, 403, "Remove a stream, or ask an administrator for a larger quota.",
                       "the quota of the token \"%s\" is %zu %s, and this would exceed it",
                       who->name, most, what);
}

typedef struct key_count {
    const char *except; /* the stream that is asked for */
    size_t keys;
} key_count;

static void count_keys(void *context, stream *one)
{
    key_count *count = context;
    json_t *settings = stream_copy_settings(one);
    if (strcmp(stream_name(one), count->except) != 0)
        count->keys += stream_settings_keys_max(settings);
    json_decref(settings);
}

static bool names_keys(const json_t *settings)
{
    return json_object_get(settings, max_keys) || json_object_get(settings, "max_keys");
}

/* A stream that exists keeps what it got, so the same request is answered in the same way. */
static void keep_keys(stream *one, json_t *settings)
{
    json_t *kept = stream_copy_settings(one);
    json_t *keys = json_object_get(kept, max_keys);
    if (keys && !names_keys(settings))
        json_object_set(settings, max_keys, keys);
    json_decref(kept);
}

static bool check_keys(const api_call *call, const char *name, json_t *settings, problem *why)
{
    const size_t most = call->who->most.keys;
    key_count others = {.except = name};
    if (most == 0)
        return true;
    streams_each_visible(call->all, call->who->streams, count_keys, &others);
    const size_t left = others.keys < most ? most - others.keys : 0;
    size_t asked = stream_settings_keys_max(settings);
    if (asked > left && left > 0 && asked > 1 && !names_keys(settings)) {
        asked = left;
        json_object_set_new(settings, max_keys, json_integer((json_int_t)left));
    }
    return asked <= left || refuse(call->who, "keys", most, why);
}

bool api_quota_begin(const api_call *call, const char *name, json_t *settings, problem *why)
{
    const token *who = call->who;
    if (!has_quota(who))
        return true;
    pthread_mutex_lock(&call->served->creating);
    stream *one = streams_find(call->all, name);
    if (one) {
        keep_keys(one, settings);
        stream_release(one);
        return true;
    }
    if (who->most.streams > 0 &&
        streams_count_visible(call->all, who->streams) >= who->most.streams)
        return refuse(who, "streams", who->most.streams, why);
    return check_keys(call, name, settings, why);
}

void api_quota_end(const api_call *call)
{
    if (has_quota(call->who))
        pthread_mutex_unlock(&call->served->creating);
}
