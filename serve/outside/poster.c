#include "poster.h"

#include "front/text/clock.h"
#include "front/text/cut.h"
#include "front/text/output.h"
#include "serve/http/http_client.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const double pause_seconds_max = 60;

struct poster {
    poster_options options;
    http_client *client;
    double pause_seconds; /* after failures: 1 s, 2 s, 4 s, ... up to a minute */
    double not_before;    /* by clock_seconds() */
    atomic_bool is_failing;
};

poster *poster_new(const poster_options *options)
{
    poster *to = calloc(1, sizeof *to);
    if (!to)
        return NULL;
    to->options = *options;
    to->client = http_client_new(options->url, options->token_file, &options->beside->is_stopped);
    if (to->client && http_client_sign_with(to->client, options->secret_file))
        return to;
    poster_free(to);
    return NULL;
}

void poster_free(poster *to)
{
    if (!to)
        return;
    http_client_free(to->client);
    free(to);
}

static void report_failure(const poster *to, const http_answer *answer)
{
    const poster_options *options = &to->options;
    char host[HTTP_HOST_BYTES];
    http_host_text(options->url, host);
    const char *body = answer->body ? answer->body : "";
    if (answer->status > 0)
        note("%s %s: answers %ld: %.*s; %s wait and are tried again", options->name, host,
             answer->status, (int)cut_bytes(body, strlen(body), 200), body, options->what);
    else
        note("%s %s: %s; %s wait and are tried again", options->name, host, answer->message,
             options->what);
}

static void report(poster *to, bool is_taken, const http_answer *answer)
{
    const bool was_failing = atomic_exchange(&to->is_failing, !is_taken);
    char host[HTTP_HOST_BYTES];
    if (!is_taken && !was_failing)
        report_failure(to, answer);
    if (is_taken && was_failing)
        note("%s %s: takes %s again", to->options.name, http_host_text(to->options.url, host),
             to->options.what);
}

static bool is_refused(const http_answer *answer)
{
    return answer->status == 400 || answer->status == 413 || answer->status == 422;
}

post_result poster_send(poster *to, const char *body, size_t bytes, double timeout_seconds)
{
    http_answer answer;
    bool is_taken = http_client_post(to->client, to->options.path, "application/json", body, bytes,
                                     timeout_seconds, &answer) &&
                    answer.status / 100 == 2;
    if (!atomic_load(&to->options.beside->is_stopped))
        report(to, is_taken, &answer);
    const post_result result = is_taken              ? POST_TAKEN
                               : is_refused(&answer) ? POST_REFUSED
                                                     : POST_FAILED;
    http_answer_close(&answer);
    to->pause_seconds = is_taken ? 0 : fmin(fmax(1, 2 * to->pause_seconds), pause_seconds_max);
    to->not_before = clock_seconds() + to->pause_seconds;
    return result;
}

bool poster_may_send(const poster *to)
{
    return clock_seconds() >= to->not_before;
}

bool poster_is_failing(const poster *to)
{
    return atomic_load(&to->is_failing);
}
