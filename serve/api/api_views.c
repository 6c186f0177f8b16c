#include "api.h"

#include "events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The longest lists in one answer. */
enum { LIST_MAX = 10000, POINTS_MAX = 1000000, HISTORY_POINTS = 500, HISTORY_POINTS_MAX = 5000 };
enum { DAY_SECONDS = 86400, HISTORY_SPAN_MAX = 1000000000 };

static void take_key(const request *asked, const char **key, size_t *bytes)
{
    const request_parameter *given = request_find(asked, "key");
    *key = given ? given->value : NULL;
    *bytes = given ? given->value_bytes : 0;
}

static bool take_limit(const request *asked, uint64_t most, size_t *limit, problem *why)
{
    uint64_t value = *limit;
    bool is_good = request_count(asked, "limit", most, &value, why);
    *limit = (size_t)value;
    return is_good;
}

/* ---- Keys ---- */

static bool read_keys_query(const request *asked, keys_query *query, problem *why)
{
    static const char *const orders[] = {"severity", "score", "recent", "name"};
    const request_parameter *find = request_find(asked, "find");
    size_t order = KEYS_BY_SEVERITY;
    uint64_t offset = 0;
    *query = (keys_query){.limit = 100};
    if (find) {
        query->find = find->value;
        query->find_bytes = find->value_bytes;
    }
    take_key(asked, &query->key, &query->key_bytes);
    bool is_good = take_limit(asked, LIST_MAX, &query->limit, why) &&
                   request_count(asked, "offset", UINT64_C(1) << 40, &offset, why) &&
                   request_word(asked, "order", orders, 4, &order, why);
    query->order = (keys_order)order;
    query->offset = (size_t)offset;
    return is_good;
}

bool api_get_keys(api_call *call, problem *why)
{
    keys_query query;
    if (!api_find_stream(call, why) || !read_keys_query(call->asked, &query, why))
        return false;
    stream_write_keys(call->one, &query);
    return true;
}

bool api_delete_key(api_call *call, problem *why)
{
    const request_parameter *key = request_find(call->asked, "key");
    if (!api_find_stream(call, why))
        return false;
    if (!key)
        return problem_set(why, 400, "Add ?key=KEY.", "the query does not name the key");
    if (!stream_forget_key(call->one, key->value, key->value_bytes, why))
        return false;
    reply_empty(call->answer, 204);
    return true;
}

/* ---- Points, rows, episodes, alerts ---- */

bool api_get_points(api_call *call, problem *why)
{
    points_query query = {.since = NAN};
    take_key(call->asked, &query.key, &query.key_bytes);
    return api_find_stream(call, why) && take_limit(call->asked, POINTS_MAX, &query.limit, why) &&
           request_time(call->asked, "since", &query.since, why) &&
           request_flag(call->asked, "expected", &query.wants_expected, why) &&
           stream_write_points(call->one, &query, why);
}

bool api_get_history(api_call *call, problem *why)
{
    history_query query = {.from = NAN, .to = NAN};
    uint64_t points = HISTORY_POINTS, span = DAY_SECONDS;
    take_key(call->asked, &query.key, &query.key_bytes);
    if (!api_find_stream(call, why) || !request_time(call->asked, "from", &query.from, why) ||
        !request_time(call->asked, "to", &query.to, why) ||
        !request_count(call->asked, "span", HISTORY_SPAN_MAX, &span, why) ||
        !request_count(call->asked, "points", HISTORY_POINTS_MAX, &points, why))
        return false;
    query.points = points > 0 ? (size_t)points : 1;
    query.span = span > 0 ? (double)span : 1;
    return stream_write_history(call->one, &query, why);
}

static bool list_events(api_call *call, void (*write)(stream *one, const events_query *query),
                        problem *why)
{
    events_query query = {.limit = 100, .since = NAN};
    take_key(call->asked, &query.key, &query.key_bytes);
    if (!api_find_stream(call, why) || !take_limit(call->asked, LIST_MAX, &query.limit, why) ||
        !request_time(call->asked, "since", &query.since, why) ||
        !request_flag(call->asked, "open", &query.only_open, why))
        return false;
    write(call->one, &query);
    return true;
}

bool api_get_episodes(api_call *call, problem *why)
{
    return list_events(call, stream_write_episodes, why);
}

bool api_get_alerts(api_call *call, problem *why)
{
    return list_events(call, stream_write_alerts, why);
}

/* A rule from one of the past episodes, for the setting "mute". */
bool api_get_proposal(api_call *call, problem *why)
{
    const uint64_t most = UINT64_C(1) << 53;
    episode_name name = {.number = 0};
    take_key(call->asked, &name.key, &name.key_bytes);
    return api_find_stream(call, why) &&
           request_count(call->asked, "episode", most, &name.number, why) &&
           stream_write_proposal(call->one, &name, why);
}

/* ---- Incidents ---- */

bool api_incidents(api_call *call, problem *why)
{
    const request *asked = call->asked;
    incidents_query query = {.since = NAN, .limit = 100};
    if (!api_find_streams(call, why) || !take_limit(asked, LIST_MAX, &query.limit, why) ||
        !request_text(asked, "stream", &query.stream, why) ||
        !request_count(asked, "id", UINT64_C(1) << 53, &query.number, why) ||
        !request_time(asked, "since", &query.since, why) ||
        !request_flag(asked, "open", &query.only_open, why))
        return false;
    return streams_write_incidents(call->all, &query) ||
           problem_set(why, 404, NULL, "there is no such incident, or it is too old");
}

/* ---- Live ---- */

/* When they reconnect, browsers send the number of the last event they have seen. */
static bool last_event(const request *asked, uint64_t *after, problem *why)
{
    const char *text = asked->headers[HEADER_LAST_EVENT_ID];
    char *end;
    *after = UINT64_MAX;
    if (!text || !*text)
        return true;
    *after = strtoull(text, &end, 10);
    return (*end == '\0' && *text >= '0' && *text <= '9') ||
           problem_set(why, 400, NULL, "Last-Event-ID is not a number");
}

static bool read_filter(const request *asked, feed_filter *filter, problem *why)
{
    take_key(asked, &filter->key, &filter->key_bytes);
    return request_text(asked, "stream", &filter->stream, why);
}

bool api_events(api_call *call, problem *why)
{
    feed_filter filter = {.stream = NULL};
    uint64_t after;
    events *watchers = call->served->watchers;
    if (!api_find_streams(call, why) || !read_filter(call->asked, &filter, why) ||
        !last_event(call->asked, &after, why))
        return false;
    if (filter.stream && !(call->one = streams_find(call->all, filter.stream)))
        return problem_set(why, 404, NULL, "there is no stream of this name");
    call->answer->events = watchers ? events_client_new(watchers, &filter, after) : NULL;
    if (!call->answer->events)
        return problem_set(why, 503, NULL, "out of memory");
    call->answer->status = 200;
    call->answer->type = "text/event-stream";
    return true;
}
