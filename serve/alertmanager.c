#include "alertmanager.h"

#include "../cli/clock.h"
#include "../cli/output.h"
#include "alert_queue.h"
#include "background.h"
#include "http_client.h"
#include "stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { EPISODES_MAX = 20000, ALERTS_PER_POST = 256, PAUSE_SECONDS_MAX = 60 };

static const double look_seconds = 0.2, list_seconds_max = 15;
static const double post_seconds_max = 10, last_post_seconds_max = 2;

struct alertmanager {
    const alertmanager_config *config;
    streams *all;
    http_client *client;
    alert_queue *queue;
    background beside;

    /* Of the thread alone. */
    uint64_t cursor;      /* in the feed */
    double list_at;       /* when open episodes are listed again */
    double not_before;    /* when to try again after a failure */
    double pause_seconds; /* until then */

    pthread_mutex_t lock; /* for what follows */
    alertmanager_figures figures;
};

/* ---- What is to be sent ---- */

static void put_episode(alertmanager *sender, const char *text, size_t bytes)
{
    json_t *episode = json_loadb(text, bytes, JSON_ALLOW_NUL, NULL);
    if (episode && !alert_queue_put(sender->queue, episode)) {
        pthread_mutex_lock(&sender->lock);
        sender->figures.dropped++;
        pthread_mutex_unlock(&sender->lock);
    }
    json_decref(episode);
}

static void take_events(alertmanager *sender)
{
    feed_event event;
    const feed_filter all = {.stream = NULL};
    while (feed_next(streams_feed(sender->all), &sender->cursor, &all, &event)) {
        if (event.kind == FEED_EPISODE)
            put_episode(sender, event.text, event.bytes);
        feed_event_free(&event);
    }
}

static void write_episode(void *context, const stream_episode *episode)
{
    (void)context;
    stream_episode_write(episode);
    output_write("\n", 1);
}

static void write_open_episodes(void *context, stream *one)
{
    stream_each_open_episode(one, write_episode, context);
}

/* Streams are held only while texts are written; they are read afterwards. */
static void list_open_episodes(alertmanager *sender)
{
    size_t bytes;
    output_divert();
    output_write("", 0);
    streams_each(sender->all, write_open_episodes, NULL);
    output_write("\n", 1); /* so there is a text even if it is empty */
    char *text = output_diverted(&bytes), *end;
    if (!text)
        return; /* no memory; again next time */
    alert_queue_begin_all(sender->queue);
    for (char *line = text; (end = memchr(line, '\n', (size_t)(text + bytes - line)));
         line = end + 1)
        if (end > line)
            put_episode(sender, line, (size_t)(end - line));
    take_events(sender); /* what began meanwhile is not over */
    alert_queue_end_all(sender->queue);
    free(text);
    double resend = sender->config->resend_seconds;
    sender->list_at = clock_seconds() + (resend < list_seconds_max ? resend : list_seconds_max);
}

/* ---- Sending ---- */

/* What is wrong with the alerts themselves is not better the next time. */
static bool is_refused(const http_answer *answer)
{
    return answer->status == 400 || answer->status == 413 || answer->status == 422;
}

static void report_failure(alertmanager *sender, const http_answer *answer)
{
    char host[HTTP_HOST_BYTES];
    http_host_text(sender->config->url, host);
    if (answer->status > 0)
        note("Alertmanager %s: answers %ld: %.200s; alerts wait and are tried again", host,
             answer->status, answer->body ? answer->body : "");
    else
        note("Alertmanager %s: %s; alerts wait and are tried again", host, answer->message);
}

static void count_post(alertmanager *sender, size_t alerts, bool is_taken,
                       const http_answer *answer)
{
    pthread_mutex_lock(&sender->lock);
    bool was_failing = sender->figures.is_failing;
    sender->figures.posts++;
    sender->figures.failures += !is_taken;
    sender->figures.alerts += is_taken ? alerts : 0;
    sender->figures.is_failing = !is_taken;
    pthread_mutex_unlock(&sender->lock);
    char host[HTTP_HOST_BYTES];
    if (!is_taken && !was_failing)
        report_failure(sender, answer);
    if (is_taken && was_failing)
        note("Alertmanager %s: takes alerts again", http_host_text(sender->config->url, host));
}

static void pause_longer(alertmanager *sender)
{
    double longer = 2 * sender->pause_seconds;
    sender->pause_seconds = longer < 1                   ? 1
                            : longer > PAUSE_SECONDS_MAX ? PAUSE_SECONDS_MAX
                                                         : longer;
    sender->not_before = clock_seconds() + sender->pause_seconds;
}

/* Returns whether more may follow at once. */
static bool post(alertmanager *sender, double timeout_seconds)
{
    size_t bytes;
    output_divert();
    double clock = clock_seconds();
    size_t count =
        alert_queue_write(sender->queue, clock, background_wall_seconds(), ALERTS_PER_POST);
    char *body = output_diverted(&bytes);
    if (count == 0 || !body) {
        free(body);
        return false;
    }
    http_answer answer;
    bool is_taken = http_client_post(sender->client, "/api/v2/alerts", "application/json", body,
                                     bytes, timeout_seconds, &answer) &&
                    answer.status / 100 == 2;
    free(body);
    if (!atomic_load(&sender->beside.is_stopped))
        count_post(sender, count, is_taken, &answer);
    if (is_taken || is_refused(&answer))
        alert_queue_sent(sender->queue, clock);
    http_answer_close(&answer);
    if (is_taken)
        sender->pause_seconds = 0;
    else
        pause_longer(sender);
    return is_taken;
}

/* ---- The thread ---- */

static void count_waiting(alertmanager *sender)
{
    pthread_mutex_lock(&sender->lock);
    sender->figures.episodes = alert_queue_count(sender->queue);
    sender->figures.waiting = alert_queue_waiting(sender->queue);
    pthread_mutex_unlock(&sender->lock);
}

static void *run(void *context)
{
    alertmanager *sender = context;
    list_open_episodes(sender);
    do {
        take_events(sender);
        if (clock_seconds() >= sender->list_at)
            list_open_episodes(sender);
        while (clock_seconds() >= sender->not_before && post(sender, post_seconds_max))
            continue;
        count_waiting(sender);
    } while (background_wait(&sender->beside, look_seconds));
    atomic_store(&sender->beside.is_stopped, false);
    take_events(sender);
    if (!sender->figures.is_failing && alert_queue_waiting(sender->queue) > 0)
        post(sender, last_post_seconds_max);
    return NULL;
}

/* ---- From the start to the end ---- */

static void close_sender(alertmanager *sender)
{
    http_client_free(sender->client);
    alert_queue_free(sender->queue);
    pthread_mutex_destroy(&sender->lock);
    free(sender);
}

bool alertmanager_start(const alertmanager_config *config, const char *page_url, streams *all,
                        alertmanager **started, problem *why)
{
    *started = NULL;
    alertmanager *sender = calloc(1, sizeof *sender);
    if (!sender)
        return problem_set(why, 500, NULL, "out of memory");
    sender->config = config;
    sender->all = all;
    sender->cursor = feed_latest(streams_feed(all));
    pthread_mutex_init(&sender->lock, NULL);
    sender->client = http_client_new(config->url, config->token_file, &sender->beside.is_stopped);
    sender->queue = alert_queue_new(&(alert_queue_options){.episodes_max = EPISODES_MAX,
                                                           .resend_seconds = config->resend_seconds,
                                                           .labels = config->labels,
                                                           .page_url = page_url});
    int failure =
        sender->client && sender->queue ? background_start(&sender->beside, run, sender) : ENOMEM;
    if (failure == 0) {
        *started = sender;
        return true;
    }
    close_sender(sender);
    return problem_set(why, 500, NULL, "Alertmanager: no thread can be started: %s",
                       strerror(failure));
}

void alertmanager_stop(alertmanager *sender)
{
    if (!sender)
        return;
    background_stop(&sender->beside);
    close_sender(sender);
}

void alertmanager_get_figures(alertmanager *sender, alertmanager_figures *figures)
{
    pthread_mutex_lock(&sender->lock);
    *figures = sender->figures;
    pthread_mutex_unlock(&sender->lock);
}
