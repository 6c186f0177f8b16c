#include "webhook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* With pauses of up to a minute, that is an hour and a half. */
enum { ATTEMPTS_MAX = 100 };

static const double look_seconds = 0.2, post_seconds_max = 10, last_seconds_max = 2;

struct webhook {
    streams *all;
    poster *to;
    background beside;
    char stream[STREAM_NAME_BYTES]; /* of the record that was tried last */
    uint64_t number;
    unsigned attempts;
};

/* ---- Sending ---- */

/* Returns whether more may follow at once. */
static bool send_next(webhook *sender, double timeout_seconds)
{
    incident_notice notice;
    if (!streams_next_notice(sender->all, &notice))
        return false;
    if (strcmp(notice.stream, sender->stream) != 0 || notice.number != sender->number)
        sender->attempts = 0;
    snprintf(sender->stream, sizeof sender->stream, "%s", notice.stream);
    sender->number = notice.number;
    sender->attempts++;
    const post_result result = poster_send(sender->to, notice.text, notice.bytes, timeout_seconds);
    const bool is_given_up = result == POST_REFUSED || sender->attempts >= ATTEMPTS_MAX;
    if (result == POST_TAKEN || is_given_up)
        streams_notice_done(sender->all, &notice);
    free(notice.text);
    return result == POST_TAKEN;
}

static void *run(void *context)
{
    webhook *sender = context;
    do {
        while (poster_may_send(sender->to) && !atomic_load(&sender->beside.is_stopped) &&
               send_next(sender, post_seconds_max))
            continue;
    } while (background_wait(&sender->beside, look_seconds));
    atomic_store(&sender->beside.is_stopped, false);
    if (!poster_is_failing(sender->to))
        send_next(sender, last_seconds_max);
    return NULL;
}

/* ---- Lifecycle ---- */

static void close_sender(webhook *sender)
{
    poster_free(sender->to);
    free(sender);
}

bool webhook_start(const webhook_config *config, streams *all, webhook **started, problem *why)
{
    *started = NULL;
    webhook *sender = calloc(1, sizeof *sender);
    if (!sender)
        return problem_set(why, 500, NULL, "out of memory");
    const size_t bytes = strlen(config->url);
    sender->all = all;
    sender->to =
        poster_new(&(poster_options){.name = "webhook",
                                     .what = "incidents",
                                     .url = config->url,
                                     .path = bytes > 0 && config->url[bytes - 1] == '/' ? "/" : "",
                                     .token_file = config->token_file,
                                     .secret_file = config->secret_file,
                                     .beside = &sender->beside});
    const int failure = sender->to ? background_start(&sender->beside, run, sender) : ENOMEM;
    if (failure == 0) {
        *started = sender;
        return true;
    }
    close_sender(sender);
    return problem_set(why, 500, NULL, "webhook: no thread can be started: %s", strerror(failure));
}

void webhook_stop(webhook *sender)
{
    if (!sender)
        return;
    background_stop(&sender->beside);
    close_sender(sender);
}

size_t webhook_waiting(webhook *sender)
{
    return streams_count_notices(sender->all);
}

bool webhook_is_failing(const webhook *sender)
{
    return poster_is_failing(sender->to);
}
