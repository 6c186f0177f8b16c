#include "webhook.h"

#include <stdlib.h>
#include <string.h>

static const double post_seconds_max = 10;

struct webhook {
    notice_sender base;
    poster *to;
};

static post_result post(void *context, const incident_notice *notice, double timeout_seconds)
{
    const webhook *sender = context;
    return poster_send(sender->to, notice->text, notice->bytes, timeout_seconds);
}

static bool may_post(const void *context)
{
    const webhook *sender = context;
    return poster_may_send(sender->to);
}

static void close_sender(webhook *sender)
{
    poster_free(sender->to);
    free(sender);
}

bool webhook_start(const webhook_config *config, incident_list *incidents, webhook **started,
                   problem *why)
{
    *started = NULL;
    webhook *sender = calloc(1, sizeof *sender);
    if (!sender)
        return problem_set(why, 500, NULL, "out of memory");
    const size_t bytes = strlen(config->url);
    sender->base = (notice_sender){.name = "webhook",
                                   .incidents = incidents,
                                   .receiver = RECEIVER_WEBHOOK,
                                   .send = post,
                                   .may_send = may_post,
                                   .context = sender,
                                   .timeout_seconds = post_seconds_max};
    sender->to =
        poster_new(&(poster_options){.name = "webhook",
                                     .what = "incidents",
                                     .url = config->url,
                                     .path = bytes > 0 && config->url[bytes - 1] == '/' ? "/" : "",
                                     .token_file = config->token_file,
                                     .secret_file = config->secret_file,
                                     .beside = &sender->base.beside});
    bool is_good = sender->to || problem_set(why, 500, NULL, "out of memory");
    if (is_good && notice_sender_start(&sender->base, why)) {
        *started = sender;
        return true;
    }
    close_sender(sender);
    return false;
}

void webhook_stop(webhook *sender)
{
    if (!sender)
        return;
    notice_sender_stop(&sender->base);
    close_sender(sender);
}

void webhook_get_figures(webhook *sender, notice_figures *notices, poster_figures *posts)
{
    notice_sender_get_figures(&sender->base, notices);
    poster_get_figures(sender->to, posts);
}
