#include "routes.h"

#include "api.h"

#include <stdio.h>
#include <string.h>

enum {
    SMALL_BODY_BYTES = 1 << 16,
    FORM_BODY_BYTES = 1 << 18, /* the longest key has 64 KB, and every byte may be %XX */
    ALLOW_BYTES = 64
};

#define STREAM "/api/v1/streams/NAME"

static const route routes[] = {
    {"GET", "/healthz", ACCESS_NONE, api_healthz, "", BODY_NONE},
    {"GET", "/readyz", ACCESS_NONE, api_readyz, "", BODY_NONE},
    {"GET", "/metrics", ACCESS_READ, api_metrics, "", BODY_NONE},
    {"GET", "/api/v1/openapi.json", ACCESS_NONE, api_file, "", BODY_NONE},
    {"GET", "/api/v1", ACCESS_READ, api_root, "", BODY_NONE},
    {"GET", "/api/v1/now", ACCESS_READ, api_now, "limit", BODY_NONE},
    {"GET", "/api/v1/incidents", ACCESS_READ, api_incidents, "stream id open since limit",
     BODY_NONE},
    {"GET", "/api/v1/events", ACCESS_READ, api_events, "stream key", BODY_NONE},
    {"GET", "/api/v1/streams", ACCESS_READ, api_list_streams, "", BODY_NONE},
    {"GET", STREAM, ACCESS_READ, api_get_stream, "", BODY_NONE},
    {"GET", STREAM "/ready", ACCESS_READ, api_stream_ready, "", BODY_NONE},
    {"PUT", STREAM, ACCESS_WRITE, api_put_stream, "", BODY_SMALL},
    {"PATCH", STREAM, ACCESS_WRITE, api_patch_stream, "", BODY_SMALL},
    {"DELETE", STREAM, ACCESS_WRITE, api_delete_stream, "", BODY_NONE},
    {"POST", STREAM "/rows", ACCESS_WRITE, api_post_rows,
     "writer first_row answer durable create key time format precision", BODY_ROWS},
    {"POST", STREAM "/write", ACCESS_WRITE, api_remote_write, "create key", BODY_ROWS},
    {"POST", "/write", ACCESS_WRITE, api_influx_write, "db rp precision consistency u p create key",
     BODY_ROWS},
    {"POST", "/api/v2/write", ACCESS_WRITE, api_influx_write,
     "bucket org orgID precision create key", BODY_ROWS},
    {"POST", "/query", ACCESS_WRITE, api_influx_query, "q db u p", BODY_FORM},
    {"POST", "/v1/metrics", ACCESS_WRITE, api_otlp_metrics, "stream create key", BODY_ROWS},
    {"GET", STREAM "/keys", ACCESS_READ, api_get_keys, "order find key limit offset", BODY_NONE},
    {"DELETE", STREAM "/keys", ACCESS_WRITE, api_delete_key, "key", BODY_FORM},
    {"GET", STREAM "/points", ACCESS_READ, api_get_points, "key limit since expected", BODY_NONE},
    {"POST", STREAM "/points", ACCESS_READ, api_get_points, "key limit since expected", BODY_FORM},
    {"GET", STREAM "/history", ACCESS_READ, api_get_history, "key from to span points", BODY_NONE},
    {"POST", STREAM "/history", ACCESS_READ, api_get_history, "key from to span points", BODY_FORM},
    {"GET", STREAM "/episodes", ACCESS_READ, api_get_episodes, "key open since limit", BODY_NONE},
    {"POST", STREAM "/episodes", ACCESS_READ, api_get_episodes, "key open since limit", BODY_FORM},
    {"GET", STREAM "/alerts", ACCESS_READ, api_get_alerts, "key since limit", BODY_NONE},
    {"POST", STREAM "/alerts", ACCESS_READ, api_get_alerts, "key since limit", BODY_FORM},
    {"GET", STREAM "/proposal", ACCESS_READ, api_get_proposal, "key episode", BODY_NONE},
    {"GET", "/", ACCESS_READ, api_file, "", BODY_NONE},
    {"GET", "/FILE", ACCESS_READ, api_file, "", BODY_NONE},
};

enum { ROUTE_COUNT = sizeof routes / sizeof *routes };

/* Capitals match any text that is not empty. */
static bool part_matches(const char *part, size_t bytes, const char *segment)
{
    if (bytes > 0 && part[0] >= 'A' && part[0] <= 'Z')
        return *segment != '\0';
    return strlen(segment) == bytes && memcmp(part, segment, bytes) == 0;
}

static bool path_matches(const char *path, const request *asked)
{
    size_t i = 0;
    for (const char *part = path + 1;; part++) {
        size_t bytes = strcspn(part, "/");
        if (i == asked->segment_count || !part_matches(part, bytes, asked->segments[i++]))
            return false;
        part += bytes;
        if (*part == '\0')
            return i == asked->segment_count;
    }
}

static bool method_matches(const route *one, const char *method)
{
    return strcmp(one->method, method) == 0 ||
           (strcmp(one->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

/* Fixed paths come before those that match any text, so the first match decides. *allow lists the
 * methods allowed there: "GET, HEAD, OPTIONS"; empty if there is no such path. */
static const route *find(const request *asked, char allow[ALLOW_BYTES])
{
    const route *found = NULL;
    const char *path = NULL;
    size_t length = 0;
    allow[0] = '\0';
    for (const route *one = routes; one < routes + ROUTE_COUNT; one++) {
        if (path ? strcmp(one->path, path) != 0 : !path_matches(one->path, asked))
            continue;
        path = one->path;
        length += (size_t)snprintf(allow + length, ALLOW_BYTES - length, "%s%s", one->method,
                                   strcmp(one->method, "GET") == 0 ? ", HEAD, " : ", ");
        if (method_matches(one, asked->method))
            found = one;
    }
    if (path)
        snprintf(allow + length, ALLOW_BYTES - length, "OPTIONS");
    return found;
}

static void refuse_method(reply *answer, const request *asked, const char *allow)
{
    if (!*allow) {
        reply_refuse(answer, 404, "The API is described at /api/v1/openapi.json.",
                     "there is nothing here");
        return;
    }
    reply_add_header(answer, "Allow", "%s", allow);
    if (strcmp(asked->method, "OPTIONS") == 0)
        reply_empty(answer, 204);
    else
        reply_refuse(answer, 405, NULL, "the method is not one of %s", allow);
}

static bool check_parameters(const route *found, const request *asked, reply *answer)
{
    problem why;
    if (request_check_parameters(asked, found->parameters, &why))
        return true;
    reply_problem(answer, &why);
    /* the query may contain something meant for a header, such as a token */
    snprintf(answer->reason, sizeof answer->reason, "a parameter is unknown, or given twice");
    return false;
}

bool route_begins_with(const char *path)
{
    const size_t bytes = 1 + strcspn(path + 1, "/");
    for (const route *one = routes; one < routes + ROUTE_COUNT; one++)
        if (bytes > 1 && strncmp(one->path, path, bytes) == 0 &&
            (one->path[bytes] == '/' || one->path[bytes] == '\0'))
            return true;
    return false;
}

const route *route_find(app *served, request *asked, reply *answer)
{
    char allow[ALLOW_BYTES];
    problem why;
    const route *found = find(asked, allow);
    if (!access_check(&served->access, asked, found ? found->access : ACCESS_NONE, &why)) {
        if (why.status == 401)
            reply_add_header(answer, "WWW-Authenticate", "Basic realm=\"oif\"");
        reply_problem(answer, &why);
        return NULL;
    }
    if (found && !check_parameters(found, asked, answer))
        return NULL;
    if (!found)
        refuse_method(answer, asked, allow);
    return found;
}

size_t route_body_limit(const app *served, const route *found)
{
    return found->body == BODY_ROWS   ? served->max_body_bytes
           : found->body == BODY_FORM ? FORM_BODY_BYTES
                                      : SMALL_BODY_BYTES;
}

/* Rows are not changes; the handler knows whether they create a stream. */
static bool is_change(const route *found)
{
    return found->access >= ACCESS_WRITE && found->body != BODY_ROWS &&
           strcmp(found->method, "GET") != 0;
}

void route_handle(app *served, const route *found, request *asked, reply *answer)
{
    problem why;
    if (found->body == BODY_FORM && !request_take_form(asked, &why))
        reply_problem(answer, &why);
    else if (found->body != BODY_FORM || check_parameters(found, asked, answer))
        api_answer(served, found->handle, is_change(found), asked, answer);
}
