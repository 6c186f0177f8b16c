#include "service.h"

#include "front/text/signals.h"
#include "serve/api/events.h"
#include "serve/api/routes.h"
#include "serve/api/server.h"
#include "serve/http/certificate.h"
#include "serve/outside/outside.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

static const char default_address[] = "127.0.0.1:8571";
static const double default_max_body_bytes = 64 << 20;

/* All bodies together may hold as much as this many of the largest. */
enum { LARGEST_BODIES = 4, DEFAULT_CONNECTIONS = 2000, DEFAULT_TIMEOUT_SECONDS = 30 };

typedef struct service {
    configured both; /* the command line and the configuration */
    const serve_settings *asked;
    app served;
    listening opened;
    char url[LISTEN_ADDRESS_BYTES + 16];
    streams *kept;
    server *running;
} service;

static bool complain_about(const problem *why)
{
    complain(why->status == 400 ? EXIT_USAGE : EXIT_FAILED, "%s%s%s", why->message,
             why->remedy[0] ? "; " : "", why->remedy);
    return false;
}

/* ---- Tokens and certificate ---- */

static bool check_secrets(const service *one, problem *why)
{
    const serve_settings *asked = one->asked;
    const bool is_local = one->opened.is_loopback || one->opened.unix_path;
    if (!asked->tls_cert != !asked->tls_key)
        return problem_set(why, 400, NULL, "--tls-cert and --tls-key go together");
    return is_local || asked->token_file || asked->read_token_file ||
           problem_set(why, 400, NULL,
                       "--listen %s: other machines could read and write; make a token with: "
                       "(umask 77; openssl rand -hex 32 > token), and add --token-file token",
                       asked->listen);
}

/* Reads their files, and uses them if all are right. */
static bool load_secrets(service *one, problem *why)
{
    const serve_settings *asked = one->asked;
    certificate *loaded = NULL;
    tokens known;
    if (!check_secrets(one, why) ||
        !tokens_load(asked->token_file, asked->read_token_file, &known, why))
        return false;
    if (asked->tls_cert && !(loaded = certificate_load(asked->tls_cert, asked->tls_key, why))) {
        why->status = 503; /* the files may be right at another time */
        return false;
    }
    access_set_tokens(&one->served.access, &known);
    if (loaded)
        certificate_use(loaded);
    return true;
}

/* Clients of events connect again, with the tokens that count now. */
static void reload(service *one)
{
    problem why;
    if (load_secrets(one, &why)) {
        events_restart(one->served.watchers);
        note("reload: the tokens and the certificate were read again");
    } else {
        complain_about(&why);
        note("reload: everything stays as it was");
    }
}

/* ---- Starting ---- */

static unsigned connections_max(const serve_settings *asked)
{
    return asked->max_connections ? (unsigned)asked->max_connections : DEFAULT_CONNECTIONS;
}

/* A path of the API under another path would be found twice. */
static bool set_external(service *one)
{
    access_rules *rules = &one->served.access;
    problem why;
    if (!access_set_external(rules, one->asked->external_url, &why))
        return complain_about(&why);
    if (!*rules->base_path || !route_begins_with(rules->base_path))
        return true;
    complain(EXIT_USAGE, "--external-url: the server has a path %s of its own; choose another one",
             rules->base_path);
    return false;
}

static exit_code prepare(service *one)
{
    problem why;
    one->served.access.is_loopback = one->opened.is_loopback;
    one->served.proxies = one->asked->proxies;
    if (load_secrets(one, &why))
        return EXIT_OK;
    complain_about(&why);
    return why.status == 400 ? EXIT_USAGE : EXIT_FAILED;
}

static const char *address_of(const service *one)
{
    return one->asked->listen ? one->asked->listen : default_address;
}

static exit_code open_socket(service *one)
{
    if (!set_external(one)) /* a mistake is one whether or not the port is free */
        return EXIT_USAGE;
    const exit_code code = listen_open(address_of(one), &one->opened);
    if (code != EXIT_OK)
        return code;
    snprintf(one->url, sizeof one->url, "%s://%s", one->asked->tls_cert ? "https" : "http",
             one->opened.address);
    return prepare(one);
}

static bool start_server(service *one)
{
    const serve_settings *asked = one->asked;
    server_options options = {
        .max_connections = connections_max(asked),
        .timeout_seconds =
            asked->timeout_seconds > 0 ? asked->timeout_seconds : DEFAULT_TIMEOUT_SECONDS,
        .is_encrypted = asked->tls_cert != NULL,
    };
    app *served = &one->served;
    served->max_body_bytes =
        (size_t)(asked->max_body_bytes > 0 ? asked->max_body_bytes : default_max_body_bytes);
    served->bodies.limit_bytes = LARGEST_BODIES * served->max_body_bytes;
    one->running = server_open(&options, &one->opened, served);
    one->opened.descriptor = -1; /* it is the server's, or closed */
    if (one->running)
        note("listening on %s", one->opened.unix_path ? address_of(one) : one->url);
    return one->running != NULL;
}

/* Before anything announces the server. */
static bool take_folder(service *one)
{
    const serve_settings *asked = one->asked;
    const streams_options options = {
        .folder = asked->data,
        .save_every = asked->is_save_given ? asked->save_seconds : 1,
        .max_streams = (size_t)asked->max_streams,
        .max_columns = (size_t)asked->max_columns,
        .history_bytes = (size_t)asked->history_bytes,
        .sends_incidents = one->both.config.webhook.url != NULL,
        .history_disk_bytes = asked->is_history_disk_given ? (size_t)asked->history_disk_bytes
                                                           : HISTORY_DISK_BYTES_INITIALLY,
    };
    problem why;
    return streams_prepare(&options, &one->kept, &why) || complain_about(&why);
}

/* Meanwhile, requests are answered with "loading". */
static bool load_streams(service *one)
{
    streams *all = one->kept;
    problem why;
    if (!streams_load(all, &why))
        return complain_about(&why);
    one->served.watchers = events_open(streams_feed(all));
    outside *others = outside_start(&one->both, one->url, all);
    atomic_store(&one->served.others, others);
    atomic_store(&one->served.all, all);
    if (!one->asked->data)
        note("streams are lost when the server ends; --data DIR keeps them");
    return others != NULL;
}

/* ---- Running ---- */

static void wait_for_end(service *one)
{
    struct pollfd signal = {.fd = signals_descriptor(), .events = POLLIN};
    while (!signals_stop_requested()) {
        if (poll(&signal, 1, -1) < 0 && errno != EINTR)
            return;
        signals_heed();
        if (signals_take_reload_request())
            reload(one);
    }
}

static exit_code run(service *one)
{
    signals_catch();
    signals_catch_reload();
    pthread_mutex_init(&one->served.access.lock, NULL);
    const exit_code code = open_socket(one);
    bool is_good = code == EXIT_OK && take_folder(one) && start_server(one) && load_streams(one);
    if (is_good)
        wait_for_end(one);
    listen_remove(&one->opened);
    server_close(one->running);
    outside_stop(one->served.others);
    events_close(one->served.watchers);
    if (!streams_close(one->kept))
        is_good = false;
    if (one->opened.descriptor >= 0)
        close(one->opened.descriptor);
    pthread_mutex_destroy(&one->served.access.lock);
    certificate_use(NULL);
    return is_good ? EXIT_OK : code == EXIT_OK ? EXIT_FAILED : code;
}

exit_code service_run(const run_settings *given)
{
    service one = {.opened.descriptor = -1};
    exit_code code = configured_open(given, &one.both);
    one.asked = &one.both.settings.serve;
    if (code == EXIT_OK)
        code = run(&one);
    configured_close(&one.both);
    return code;
}
