/* An exchange is a request, its body as it arrives, and its reply:
 *
 *     take_target    the request line has come      the exchange is made
 *     take_request   the headers have come          refused, or the body is awaited
 *                    a piece of the body            added, or only counted once refused
 *                    the body is complete           handled here, or by another thread if large
 *     end_exchange   the answer is sent, or the client has gone
 *
 * A few threads (loops.h) wait for all connections, so none of them may work for long. Separate
 * threads (jobs.h) handle large bodies while the connection is suspended. */
#include "server.h"

#include "api.h"
#include "events.h"
#include "front/text/clock.h"
#include "front/text/output.h"
#include "routes.h"
#include "serve/base/descriptors.h"
#include "serve/base/jobs.h"
#include "serve/base/log.h"
#include "serve/http/certificate.h"
#include "serve/http/connections.h"
#include "serve/http/loops.h"
#include "serve/http/strict_headers.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOPS = 4,
    JOB_THREADS = 2,
    HEADER_BYTES_MAX = 1 << 15, /* of the request line and all headers */
    LARGE_BODY_BYTES = 1 << 17, /* scoring one takes milliseconds */
    DISCARD_BYTES = 1 << 28,    /* of a refused body, and no longer than --timeout */
    CLOSING_SECONDS = 10
};

struct server {
    app *served;
    unsigned connections_max, timeout_seconds;
    unsigned daemons; /* started so far */
    loops *waiting;
    connections *open;
    jobs *workers;
    _Atomic unsigned exchanges;
    bool is_encrypted;
    int descriptor;
};

typedef enum exchange_stage {
    STAGE_TARGET,
    STAGE_BODY,
    STAGE_DISCARD, /* the answer is known; the rest of the body is read and dropped */
    STAGE_WORK,
    STAGE_HANDLED
} exchange_stage;

typedef struct exchange {
    server *running;
    connection *peer;
    struct MHD_Connection *wire;
    char *target; /* as received */
    request asked;
    const route *found;
    body taken;
    reply answer;
    exchange_stage stage;
    size_t discarded_bytes;
    double began; /* when the request, or what decides about it, was complete */
} exchange;

/* ---- Answers ---- */

/* A local socket is for programs of the server's owner and group. */
static bool is_from_proxy(const exchange *one)
{
    const char *peer = connection_address(one->peer);
    return strcmp(peer, "unix") == 0 || address_is_listed(peer, one->running->served->proxies);
}

static void add_headers(struct MHD_Response *response, const reply *answer)
{
    static const char *const always[][2] = {
        {"Content-Security-Policy",
         "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    bool has_cache_rule = false;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        MHD_add_response_header(response, always[i][0], always[i][1]);
    for (size_t i = 0; i < answer->header_count; i++) {
        MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value);
        has_cache_rule |= strcmp(answer->headers[i].name, "Cache-Control") == 0;
    }
    if (!has_cache_rule)
        MHD_add_response_header(response, "Cache-Control", "no-store");
    if (answer->type)
        MHD_add_response_header(response, "Content-Type", answer->type);
}

static struct MHD_Response *make_response(exchange *one)
{
    reply *answer = &one->answer;
    if (is_from_proxy(one)) /* it could take requests of several clients for one another's */
        reply_add_header(answer, "Connection", "close");
    if (answer->events) {
        connection_enter(one->peer, PHASE_EVENTS, 0);
        struct MHD_Response *made =
            events_respond(answer->events, one->wire, one->running->waiting);
        if (made)
            answer->events = NULL; /* now owned by the response */
        return made;
    }
    connection_enter(one->peer, PHASE_ANSWER, answer->body_bytes);
    if (answer->is_static)
        return MHD_create_response_from_buffer(answer->body_bytes, answer->body,
                                               MHD_RESPMEM_PERSISTENT);
    char *body_bytes = answer->body; /* now owned by the response */
    answer->body = NULL;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(answer->body_bytes, body_bytes, free);
    if (!response)
        free(body_bytes);
    return response;
}

/* Probes ask again until the streams are loaded. */
static bool is_probed_early(const exchange *one)
{
    return one->asked.path && strcmp(one->asked.path, "/readyz") == 0 &&
           !atomic_load(&one->running->served->all);
}

static void log_refusal(const exchange *one)
{
    char status[16];
    if (one->answer.status < 400 || is_probed_early(one))
        return;
    snprintf(status, sizeof status, "%d", one->answer.status);
    log_line(one->answer.status < 500 ? "warn" : "error", "refused", "status", status, "method",
             one->asked.method, "path", one->asked.path ? one->asked.path : "", "reason",
             one->answer.reason, (char *)NULL);
}

static enum MHD_Result queue_answer(exchange *one)
{
    log_refusal(one);
    request_figures_count(&one->running->served->requests, one->answer.status,
                          clock_seconds() - one->began);
    struct MHD_Response *response = make_response(one);
    if (!response)
        return MHD_NO;
    add_headers(response, &one->answer);
    enum MHD_Result queued = MHD_queue_response(one->wire, (unsigned)one->answer.status, response);
    MHD_destroy_response(response);
    return queued;
}

/* ---- Requests ---- */

static void read_headers(exchange *one)
{
    for (request_header i = 0; i < HEADER_COUNT; i++)
        one->asked.headers[i] =
            MHD_lookup_connection_value(one->wire, MHD_HEADER_KIND, request_header_name(i));
}

/* The last address of X-Forwarded-For is what the proxy itself has seen. */
static void find_client(exchange *one)
{
    const char *list = one->asked.headers[HEADER_FORWARDED_FOR];
    snprintf(one->asked.from, sizeof one->asked.from, "%s", connection_address(one->peer));
    if (!is_from_proxy(one))
        return;
    one->asked.user = one->asked.headers[HEADER_FORWARDED_USER];
    if (!list)
        return;
    const char *last = strrchr(list, ',');
    last = last ? last + 1 : list;
    last += strspn(last, " ");
    const size_t bytes = strcspn(last, " ");
    if (bytes > 0 && bytes < sizeof one->asked.from &&
        strspn(last, "0123456789abcdefABCDEF.:") == bytes)
        snprintf(one->asked.from, sizeof one->asked.from, "%.*s", (int)bytes, last);
}

/* The page asks by relative addresses, so its own ends with a /. */
static enum MHD_Result redirect_to_page(exchange *one)
{
    reply_add_header(&one->answer, "Location", "%s/", one->running->served->access.base_path);
    reply_empty(&one->answer, 308);
    return queue_answer(one);
}

static bool waits_for_permission(const exchange *one)
{
    return MHD_lookup_connection_value(one->wire, MHD_HEADER_KIND, "Expect") != NULL;
}

/* Where the next request begins is in doubt. */
static enum MHD_Result refuse_strictly(exchange *one, const problem *why)
{
    reply_problem(&one->answer, why);
    reply_add_header(&one->answer, "Connection", "close");
    return queue_answer(one);
}

/* The headers have come. Even if the request is refused, its body is read if that does not take
 * long: most clients read the answer only after sending everything, and not at all if they cannot
 * send it. */
static enum MHD_Result take_headers(exchange *one, const char *method, const char *version)
{
    server *running = one->running;
    problem why;
    one->began = clock_seconds();
    const char *target = access_within_base(&running->served->access, one->target);
    bool is_good = request_parse(&one->asked, method, *target ? target : "/", &why);
    one->asked.is_encrypted = running->is_encrypted;
    read_headers(one);
    find_client(one);
    if (!strict_headers_check(one->wire, method, version, &why))
        return refuse_strictly(one, &why);
    if (*target == '\0')
        return redirect_to_page(one);
    if (!is_good)
        reply_problem(&one->answer, &why);
    else
        one->found = route_find(running->served, &one->asked, &one->answer);
    size_t limit = one->found ? route_body_limit(running->served, one->found) : 0;
    bool is_body_good =
        !one->found || body_begin(&one->taken, &one->asked, limit, &running->served->bodies, &why);
    if (!is_body_good)
        reply_problem(&one->answer, &why);
    const char *length = one->asked.headers[HEADER_CONTENT_LENGTH];
    size_t bytes = length ? (size_t)strtoull(length, NULL, 10) : 0;
    bool is_refused = !one->found || !is_body_good;
    one->stage = is_refused ? STAGE_DISCARD : STAGE_BODY;
    if (is_refused && (waits_for_permission(one) || bytes > DISCARD_BYTES))
        return queue_answer(one);
    connection_enter(one->peer, PHASE_BODY, is_refused ? 0 : bytes);
    return MHD_YES;
}

/* Returns false if the client sends without end. */
static bool take_piece(exchange *one, const char *bytes, size_t count)
{
    problem why;
    if (one->stage == STAGE_BODY && !body_add(&one->taken, bytes, count, &why)) {
        reply_problem(&one->answer, &why);
        body_free(&one->taken);
        one->stage = STAGE_DISCARD;
        connection_enter(one->peer, PHASE_BODY, 0);
    }
    if (one->stage == STAGE_DISCARD)
        one->discarded_bytes += count;
    return one->discarded_bytes <= DISCARD_BYTES;
}

static void handle(exchange *one)
{
    problem why;
    bool is_whole = body_end(&one->taken, &why); /* which may decompress it */
    one->asked.body = one->taken.bytes ? one->taken.bytes : "";
    one->asked.body_bytes = one->taken.count;
    if (is_whole)
        route_handle(one->running->served, one->found, &one->asked, &one->answer);
    else
        reply_problem(&one->answer, &why);
    body_free(&one->taken);
    one->stage = STAGE_HANDLED;
}

static void work(void *context)
{
    exchange *one = context;
    handle(one);
    loops_resume(one->running->waiting, one->wire);
}

static enum MHD_Result take_end(exchange *one)
{
    problem why;
    if (one->stage == STAGE_BODY && !strict_trailers_check(one->wire, &why))
        return refuse_strictly(one, &why);
    if (one->stage == STAGE_BODY) {
        one->began = clock_seconds();
        connection_enter(one->peer, PHASE_WORK, 0);
        bool is_slow = one->taken.count > LARGE_BODY_BYTES ||
                       request_find(&one->asked, "durable") != NULL ||
                       one->found->handle == api_get_history; /* reads a whole file */
        if (is_slow) {
            one->stage = STAGE_WORK;
            MHD_suspend_connection(one->wire);
            if (jobs_add(one->running->workers, work, one))
                return MHD_YES;
            loops_resume(one->running->waiting, one->wire);
        }
        handle(one);
        if (is_slow)
            return MHD_YES;
    }
    return one->stage == STAGE_WORK ? MHD_YES : queue_answer(one);
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *wire, const char *url,
                                    const char *method, const char *version, const char *bytes,
                                    size_t *count, void **state)
{
    exchange *one = *state;
    (void)context;
    (void)wire;
    (void)url;
    if (!one)
        return MHD_NO; /* out of memory */
    if (one->stage == STAGE_TARGET)
        return take_headers(one, method, version);
    if (*count > 0) {
        bool is_bounded = take_piece(one, bytes, *count);
        *count = 0;
        return is_bounded ? MHD_YES : MHD_NO;
    }
    return take_end(one);
}

/* ---- Callbacks of libmicrohttpd ---- */

static void *take_target(void *context, const char *target, struct MHD_Connection *wire)
{
    server *running = context;
    exchange *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(wire, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    one->running = running;
    one->wire = wire;
    one->peer = info ? info->socket_context : NULL;
    one->target = strdup(target);
    if (!one->target) {
        free(one);
        return NULL;
    }
    atomic_fetch_add(&running->exchanges, 1);
    connection_enter(one->peer, PHASE_HEADERS, 0);
    return one;
}

static void end_exchange(void *context, struct MHD_Connection *wire, void **state,
                         enum MHD_RequestTerminationCode code)
{
    exchange *one = *state;
    (void)context;
    (void)wire;
    if (!one)
        return;
    if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
        log_line("warn", "cut_off", "client", "was idle for too long", "path",
                 one->asked.path ? one->asked.path : "", (char *)NULL);
    connection_enter(one->peer, PHASE_IDLE, 0);
    atomic_fetch_sub(&one->running->exchanges, 1);
    reply_free(&one->answer);
    events_client_free(one->answer.events);
    body_free(&one->taken);
    request_free(&one->asked);
    free(one->target);
    free(one);
    *state = NULL;
}

static void notice_connection(void *context, struct MHD_Connection *wire, void **state,
                              enum MHD_ConnectionNotificationCode code)
{
    server *running = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        connection_free(*state);
        *state = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(wire, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int descriptor = info ? info->connect_fd : -1;
    info = MHD_get_connection_info(wire, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *state = info ? connection_new(running->open, descriptor, info->client_addr) : NULL;
}

/* request.c decodes the query, where a NUL cannot cut it short. */
static size_t keep_escapes(void *context, struct MHD_Connection *wire, char *text)
{
    (void)context;
    (void)wire;
    return strlen(text);
}

/* Its messages about clients that disconnect are not our problems. */
static void ignore_message(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

/* ---- Lifecycle ---- */

static struct MHD_Daemon *start_daemon(void *context)
{
    server *running = context;
    const unsigned number = running->daemons++, share = running->connections_max / LOOPS +
                                                        (number < running->connections_max % LOOPS);
    /* A daemon closes its socket, sometimes even if it fails to start. */
    const int own_descriptor = dup(running->descriptor);
    if (own_descriptor < 0)
        return NULL;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)certificate_retrieve},
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t) "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     (running->is_encrypted ? (unsigned)MHD_USE_TLS : 0);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, take_request, running, MHD_OPTION_EXTERNAL_LOGGER, ignore_message,
        NULL, MHD_OPTION_LISTEN_SOCKET, own_descriptor, MHD_OPTION_CONNECTION_LIMIT, share,
        MHD_OPTION_CONNECTION_TIMEOUT, running->timeout_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADER_BYTES_MAX, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK,
        take_target, running, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, end_exchange, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        notice_connection, running, MHD_OPTION_ARRAY,
        running->is_encrypted ? tls : &tls[sizeof tls / sizeof *tls - 1], MHD_OPTION_END);
}

static bool start_loops(server *running, const server_options *options)
{
    descriptors_raise_limit();
    running->connections_max = descriptors_for_connections(options->max_connections);
    running->timeout_seconds = (unsigned)options->timeout_seconds;
    running->waiting = loops_new(LOOPS);
    if (running->waiting && loops_start(running->waiting, start_daemon, running))
        return true;
    complain(EXIT_FAILED, "cannot start the server: no threads or no memory");
    loops_close(running->waiting);
    running->waiting = NULL;
    return false;
}

server *server_open(const server_options *options, const listening *opened, app *served)
{
    server *running = calloc(1, sizeof *running);
    if (!running)
        return complain(EXIT_FAILED, "out of memory"), NULL;
    running->served = served;
    running->descriptor = opened->descriptor;
    running->is_encrypted = options->is_encrypted;
    running->open = connections_open(options->timeout_seconds);
    running->workers = jobs_open(JOB_THREADS);
    if (!running->open || !running->workers)
        complain(EXIT_FAILED, "out of memory");
    else if (start_loops(running, options))
        return running;
    server_close(running);
    return NULL;
}

static void wait_for_exchanges(server *running)
{
    double end = clock_seconds() + CLOSING_SECONDS;
    struct timespec pause = {.tv_nsec = 10000000};
    while (atomic_load(&running->exchanges) > 0 && clock_seconds() < end)
        nanosleep(&pause, NULL);
}

void server_close(server *running)
{
    if (!running)
        return;
    if (running->waiting) {
        loops_accept_no_more(running->waiting);
        events_end(running->served->watchers);
        wait_for_exchanges(running);
        loops_end(running->waiting); /* from now on no job or client is added */
        jobs_close(running->workers);
        running->workers = NULL;
        events_resume_all(running->served->watchers);
        loops_close(running->waiting);
    }
    close(running->descriptor);
    jobs_close(running->workers);
    connections_close(running->open);
    free(running);
}
