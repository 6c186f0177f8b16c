/* The program oif-serve: streams, HTTP and background threads, until a signal stops it. `oif serve`
 * checks its options, prints its help and then becomes this program, as "oif serve OPTION...". */
#include "front/options/command.h"
#include "front/text/signals.h"
#include "serve/api/events.h"
#include "serve/api/server.h"
#include "serve/base/log.h"
#include "serve/outside/outside.h"
#include "serve/stream/streams.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_address[] = "127.0.0.1:8571";
static const double default_max_body_bytes = 64 << 20;

/* All bodies together may hold as much as this many of the largest. */
enum { LARGEST_BODIES = 4, DEFAULT_CONNECTIONS = 2000, DEFAULT_TIMEOUT_SECONDS = 30 };

typedef struct service {
    configured both; /* the command line and the file */
    const serve_settings *asked;
    app served;
    listening opened;
    char url[LISTEN_ADDRESS_BYTES + 16];
    streams *kept;
    server *running;
} service;

/* ---- Starting ---- */

static exit_code load_tokens(service *one)
{
    const serve_settings *asked = one->asked;
    access_rules *rules = &one->served.access;
    exit_code code = asked->token_file ? access_load(rules, asked->token_file, true) : EXIT_OK;
    if (code == EXIT_OK && asked->read_token_file)
        code = access_load(rules, asked->read_token_file, false);
    return code;
}

static exit_code check_options(const service *one)
{
    const serve_settings *asked = one->asked;
    if (!asked->tls_cert != !asked->tls_key)
        return complain(EXIT_USAGE, "--tls-cert and --tls-key go together");
    if (one->opened.is_loopback || one->served.access.token_count > 0)
        return EXIT_OK;
    return complain(EXIT_USAGE,
                    "--listen %s: other machines could read and write; make a token with: openssl "
                    "rand -hex 32 > token, and add --token-file token",
                    asked->listen);
}

static exit_code open_socket(service *one)
{
    const char *address = one->asked->listen ? one->asked->listen : default_address;
    exit_code code = listen_open(address, &one->opened);
    if (code != EXIT_OK)
        return code;
    snprintf(one->url, sizeof one->url, "%s://%s", one->asked->tls_cert ? "https" : "http",
             one->opened.address);
    one->served.access.is_loopback = one->opened.is_loopback;
    code = load_tokens(one);
    if (code == EXIT_OK)
        code = check_options(one);
    if (code != EXIT_OK)
        close(one->opened.descriptor);
    return code;
}

static bool start_server(service *one)
{
    const serve_settings *asked = one->asked;
    server_options options = {
        .max_connections =
            asked->max_connections ? (unsigned)asked->max_connections : DEFAULT_CONNECTIONS,
        .timeout_seconds =
            asked->timeout_seconds > 0 ? asked->timeout_seconds : DEFAULT_TIMEOUT_SECONDS,
        .tls_cert = asked->tls_cert,
        .tls_key = asked->tls_key,
    };
    app *served = &one->served;
    served->max_body_bytes =
        (size_t)(asked->max_body_bytes > 0 ? asked->max_body_bytes : default_max_body_bytes);
    served->bodies.limit_bytes = LARGEST_BODIES * served->max_body_bytes;
    one->running = server_open(&options, &one->opened, served);
    if (one->running)
        note("listening on %s", one->url);
    return one->running != NULL;
}

static bool complain_about(const problem *why)
{
    complain(EXIT_FAILED, "%s%s%s", why->message, why->remedy[0] ? "; " : "", why->remedy);
    return false;
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
        note("nothing is kept when the server ends; --data DIR keeps the streams");
    return others != NULL;
}

/* ---- Running ---- */

static void wait_for_end(void)
{
    struct pollfd signal = {.fd = signals_descriptor(), .events = POLLIN};
    while (!signals_stop_requested()) {
        if (poll(&signal, 1, -1) < 0 && errno != EINTR)
            return;
        signals_heed();
    }
}

static exit_code run(service *one)
{
    signals_catch();
    exit_code code = open_socket(one);
    if (code != EXIT_OK)
        return code;
    if (!take_folder(one)) {
        close(one->opened.descriptor);
        return EXIT_FAILED;
    }
    if (!start_server(one)) {
        streams_close(one->kept);
        return EXIT_FAILED;
    }
    bool is_loaded = load_streams(one);
    if (is_loaded)
        wait_for_end();
    server_close(one->running);
    outside_stop(atomic_load(&one->served.others));
    events_close(one->served.watchers);
    bool is_saved = streams_close(one->kept);
    memset(&one->served.access, 0, sizeof one->served.access);
    return is_loaded && is_saved ? EXIT_OK : EXIT_FAILED;
}

static exit_code serve(const cli_settings *settings)
{
    service one = {.asked = NULL};
    exit_code code = configured_open(settings, &one.both);
    one.asked = &one.both.settings.serve;
    if (code == EXIT_OK)
        code = run(&one);
    configured_close(&one.both);
    return code;
}

int main(int argc, char **argv)
{
    output_start();
    exit_code code = argc > 1 && strcmp(argv[1], "serve") == 0
                         ? command_run(&serve_command, serve, argv + 2)
                         : complain(EXIT_USAGE, "this is the server of oif: start it by oif serve");
    code = output_finish(code);
    signals_pass_on();
    return (int)code;
}
