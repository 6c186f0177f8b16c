#include "api.h"

#include "events.h"
#include "found_stream.h"
#include "front/text/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The longest lists in one answer. */
enum { LIST_MAX = 10000, POINTS_MAX = 1000000 };

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
    bool is_good = take_limit(asked, LIST_MAX, &query->limit, why) &&
                   request_count(asked, "offset", UINT64_C(1) << 40, &offset, why) &&
                   request_word(asked, "order", orders, 4, &order, why);
    query->order = (keys_order)order;
    query->offset = (size_t)offset;
    return is_good;
}

void api_get_keys(app *served, const request *asked, reply *answer)
{
    stream *one = found_stream(served, asked, answer);
    keys_query query;
    problem why;
    if (!one)
        return;
    if (read_keys_query(asked, &query, &why)) {
        reply_begin();
        stream_write_keys(one, &query);
        reply_end(answer, 200, REPLY_JSON);
    } else {
        reply_problem(answer, &why);
    }
    stream_release(one);
}

void api_delete_key(app *served, const request *asked, reply *answer)
{
    stream *one = found_stream(served, asked, answer);
    const request_parameter *key = request_find(asked, "key");
    problem why;
    if (!one)
        return;
    bool is_good =
        key || problem_set(&why, 400, "Add ?key=KEY.", "the query does not name the key");
    if (is_good && stream_forget_key(one, key->value, key->value_bytes, &why))
        reply_empty(answer, 204);
    else
        reply_problem(answer, &why);
    stream_release(one);
}

/* ---- Points, rows, episodes, alerts ---- */

void api_get_points(app *served, const request *asked, reply *answer)
{
    stream *one = found_stream(served, asked, answer);
    points_query query = {.since = NAN};
    problem why;
    if (!one)
        return;
    take_key(asked, &query.key, &query.key_bytes);
    if (take_limit(asked, POINTS_MAX, &query.limit, &why) &&
        request_time(asked, "since", &query.since, &why)) {
        reply_begin();
        bool is_good = stream_write_points(one, &query, &why);
        reply_end_or_problem(answer, is_good, &why);
    } else {
        reply_problem(answer, &why);
    }
    stream_release(one);
}

void api_get_row(app *served, const request *asked, reply *answer)
{
    stream *one = found_stream(served, asked, answer);
    uint64_t number = 0;
    problem why;
    if (!one)
        return;
    bool is_good = request_find(asked, "number") ||
                   problem_set(&why, 400, "Add ?number=N.", "the query does not name the row");
    if (is_good && request_count(asked, "number", UINT64_C(1) << 62, &number, &why)) {
        reply_begin();
        is_good = stream_write_row(one, number, &why);
        reply_end_or_problem(answer, is_good, &why);
    } else {
        reply_problem(answer, &why);
    }
    stream_release(one);
}

static void list_events(app *served, const request *asked, reply *answer,
                        void (*write)(stream *one, const events_query *query))
{
    stream *one = found_stream(served, asked, answer);
    events_query query = {.limit = 100, .since = NAN};
    problem why;
    if (!one)
        return;
    take_key(asked, &query.key, &query.key_bytes);
    if (take_limit(asked, LIST_MAX, &query.limit, &why) &&
        request_time(asked, "since", &query.since, &why) &&
        request_flag(asked, "open", &query.only_open, &why)) {
        reply_begin();
        write(one, &query);
        reply_end(answer, 200, REPLY_JSON);
    } else {
        reply_problem(answer, &why);
    }
    stream_release(one);
}

void api_get_episodes(app *served, const request *asked, reply *answer)
{
    list_events(served, asked, answer, stream_write_episodes);
}

void api_get_alerts(app *served, const request *asked, reply *answer)
{
    list_events(served, asked, answer, stream_write_alerts);
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
    bool is_good = request_text(asked, "stream", &filter->stream, why) &&
                   request_flag(asked, "rows", &filter->wants_rows, why);
    take_key(asked, &filter->key, &filter->key_bytes);
    if (is_good && filter->wants_rows && !filter->stream)
        return problem_set(why, 400, "Add stream=NAME.", "rows=true is for the rows of one stream");
    return is_good;
}

void api_events(app *served, const request *asked, reply *answer)
{
    feed_filter filter = {0};
    uint64_t after;
    problem why;
    streams *all = found_streams(served, answer);
    if (!all)
        return;
    if (!read_filter(asked, &filter, &why) || !last_event(asked, &after, &why)) {
        reply_problem(answer, &why);
        return;
    }
    stream *one = filter.stream ? streams_find(all, filter.stream) : NULL;
    if (filter.stream && !one) {
        refuse_missing_stream(&why, NULL);
        reply_problem(answer, &why);
        return;
    }
    if (one)
        stream_release(one);
    answer->events = served->watchers ? events_client_new(served->watchers, &filter, after) : NULL;
    if (answer->events) {
        answer->status = 200;
        answer->type = "text/event-stream";
    } else {
        reply_refuse(answer, 503, NULL, "out of memory");
    }
}
