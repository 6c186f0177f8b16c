/* Any bytes as requests to `oif serve`: a line with method and target, header lines, an empty line,
 * a body; a line "----" precedes the next request. Each gets a valid HTTP answer with, if it says
 * so, valid JSON; none is a failure of the server. */
#include "fuzz_input.h"

#include "serve/api/events.h"
#include "serve/api/routes.h"
#include "serve/stream/stream.h"
#include "serve/stream/streams.h"

#include <jansson.h>
#include <strings.h>

enum { REQUESTS_MAX = 16, BODY_BYTES_MAX = 1 << 16 };

/* No token, or one to read, or one to write, or both; each is "a-token-for-writing". */
static void set_tokens(app *one, unsigned choice)
{
    static const char text[] = "a-token-for-writing";
    tokens known = {.has_read = choice % 2 == 1, .has_write = choice >= 2};
    require(secret_hash(text, strlen(text), &known.read));
    known.write = known.read;
    access_set_tokens(&one->access, &known);
}

static app *served(void)
{
    static app one;
    streams_options options = {.max_streams = 4, .history_bytes = 1 << 16};
    streams *all = NULL;
    problem why;
    if (atomic_load(&one.all))
        return &one;
    require(streams_open(&options, &all, &why));
    one.max_body_bytes = BODY_BYTES_MAX;
    one.bodies.limit_bytes = 4 * BODY_BYTES_MAX;
    one.access.is_loopback = true;
    pthread_mutex_init(&one.access.lock, NULL);
    one.watchers = events_open(streams_feed(all));
    atomic_store(&one.all, all);
    return &one;
}

/* ---- The text as a request ---- */

/* Takes the next line off: returns it, and moves *text past it. */
static char *take_line(char **text)
{
    char *line = *text, *end = line + strcspn(line, "\n");
    *text = end + (*end == '\n');
    *end = '\0';
    line[strcspn(line, "\r")] = '\0';
    return line;
}

static void take_header(request *asked, char *line)
{
    char *value = strchr(line, ':');
    if (!value)
        return;
    *value++ = '\0';
    value += strspn(value, " ");
    for (request_header i = 0; i < HEADER_COUNT; i++)
        if (strcasecmp(line, request_header_name(i)) == 0)
            asked->headers[i] = value;
}

/* ---- What must hold of an answer ---- */

static void require_json(const reply *answer)
{
    json_error_t error;
    json_t *parsed = json_loadb(answer->body, answer->body_bytes, JSON_DECODE_ANY, &error);
    if (!parsed) {
        fprintf(stderr, "%s: %.*s\n", error.text, (int)answer->body_bytes, answer->body);
        abort();
    }
    const bool is_for_agent = json_object_get(parsed, "code") != NULL; /* Influx */
    if (answer->status >= 400 && is_for_agent)
        require(json_string_length(json_object_get(parsed, "message")) > 0);
    if (answer->status >= 400 && !is_for_agent) {
        const json_t *object = json_object_get(parsed, "error");
        require(json_integer_value(json_object_get(object, "status")) == answer->status);
        require(json_string_length(json_object_get(object, "message")) > 0);
    }
    json_decref(parsed);
}

static void require_good(const reply *answer)
{
    require(answer->status >= 200 && answer->status < 600 && answer->status != 500);
    for (size_t i = 0; i < answer->header_count; i++)
        require(!strpbrk(answer->headers[i].value, "\r\n"));
    if (answer->type && strcmp(answer->type, REPLY_JSON) == 0)
        require_json(answer);
    if (answer->status >= 400)
        require(answer->type && (strcmp(answer->type, REPLY_JSON) == 0 ||
                                 strcmp(answer->type, "application/x-protobuf") == 0));
}

static void handle(app *one, const route *found, request *asked, const char *bytes, size_t count,
                   reply *answer)
{
    body taken;
    problem why;
    bool is_good = body_begin(&taken, asked, route_body_limit(one, found), &one->bodies, &why) &&
                   body_add(&taken, bytes, count / 2, &why) &&
                   body_add(&taken, bytes + count / 2, count - count / 2, &why) &&
                   body_end(&taken, &why);
    asked->body = taken.bytes ? taken.bytes : "";
    asked->body_bytes = taken.count;
    if (is_good)
        route_handle(one, found, asked, answer);
    else
        reply_problem(answer, &why);
    body_free(&taken);
}

static void ask(app *one, char *text, size_t bytes)
{
    char *end = text + bytes, *line = take_line(&text), *target = strchr(line, ' ');
    request asked;
    reply answer = {0};
    problem why;
    if (!target)
        return;
    *target++ = '\0';
    target[strcspn(target, " ")] = '\0';
    bool is_good = request_parse(&asked, line, target, &why);
    while (text < end && *(line = take_line(&text)))
        take_header(&asked, line);
    const route *found = is_good ? route_find(one, &asked, &answer) : NULL;
    if (!is_good)
        reply_problem(&answer, &why);
    else if (found)
        handle(one, found, &asked, text, text < end ? (size_t)(end - text) : 0, &answer);
    if (!answer.events)
        require_good(&answer);
    events_client_free(answer.events);
    reply_free(&answer);
    request_free(&asked);
}

/* Removes the streams, so the next input finds none. */
static void note_name(void *context, stream *each)
{
    snprintf(context, 80, "%s", stream_name(each));
}

static void remove_streams(streams *all)
{
    char name[80];
    problem why;
    while (streams_count(all) > 0) {
        streams_each(all, note_name, name);
        require(streams_remove(all, name, &why));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char between[] = "\n----\n";
    app *one = served();
    if (size < 1 || size > BODY_BYTES_MAX)
        return 0;
    set_tokens(one, data[0] % 4);
    char *text = malloc(size + 1), *next = text;
    require(text);
    memcpy(text, data, size);
    text[size] = '\0';
    for (int i = 0; i < REQUESTS_MAX && next; i++) {
        char *end = strstr(next, between);
        size_t bytes = end ? (size_t)(end - next) : size - (size_t)(next - text);
        next[bytes] = '\0';
        ask(one, next, bytes);
        next = end ? end + sizeof between - 1 : NULL;
    }
    free(text);
    remove_streams(atomic_load(&one->all));
    return 0;
}
