#include "alertmanager.h"

#include "alert_queue.h"
#include "front/text/clock.h"
#include "front/text/durations.h"
#include "front/text/output.h"
#include "front/text/quoting.h"
#include "front/text/write_json.h"
#include "poster.h"
#include "serve/base/background.h"
#include "serve/stream/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { EPISODES_MAX = 20000, ALERTS_PER_POST = 256 };

static const double look_seconds = 0.2, list_seconds_max = 15;
static const double silence_seconds_max = 86400;
static const double post_seconds_max = 10, last_post_seconds_max = 2;

struct alertmanager {
    const alertmanager_config *config;
    streams *all;
    poster *to;
    alert_queue *queue;
    background beside;

    /* Used only by the thread. */
    uint64_t cursor; /* in the feed */
    double list_at;  /* when open episodes are listed again */

    atomic_size_t waiting; /* for other threads */
};

/* ---- What to send ---- */

/* A silence becomes an episode with another name and the number 0, which no episode has. */
static void make_episode(json_t *silence)
{
    const char *word = json_string_value(json_object_get(silence, "silence"));
    bool is_open = word && strcmp(word, "begins") == 0;
    double since = json_number_value(json_object_get(silence, "since"));
    double seconds = json_number_value(json_object_get(silence, "seconds"));
    json_object_set_new(silence, "alertname", json_string("OifSilence"));
    json_object_set_new(silence, "number", json_integer(0));
    json_object_set_new(silence, "open", json_boolean(is_open));
    json_object_set_new(silence, "began", json_real(since));
    json_object_set_new(silence, "ended", is_open ? json_null() : json_real(since + seconds));
    json_object_set_new(silence, "grade", json_string("warning"));
    json_object_set_new(silence, "reason", json_string(watch_words[WATCH_NO_DATA]));
    json_object_set_new(silence, "state", json_string(watch_words[WATCH_NO_DATA]));
}

/* The same for a stream that cannot work. */
static void make_damaged(json_t *damaged)
{
    json_object_set_new(damaged, "alertname", json_string("OifDamaged"));
    json_object_set_new(damaged, "number", json_integer(-1));
    json_object_set_new(damaged, "open", json_true());
    json_object_set_new(damaged, "grade", json_string("critical"));
    json_object_set_new(damaged, "reason", json_string(watch_words[WATCH_DAMAGED]));
    json_object_set_new(damaged, "state", json_string(watch_words[WATCH_DAMAGED]));
}

/* Adds an Episode or a silence, as in events and lists. */
static void put(alertmanager *sender, const char *text, size_t bytes)
{
    json_t *episode = json_loadb(text, bytes, JSON_ALLOW_NUL, NULL);
    if (json_object_get(episode, "silence"))
        make_episode(episode);
    else if (json_object_get(episode, "damaged"))
        make_damaged(episode);
    if (episode)
        alert_queue_put(sender->queue, episode);
    json_decref(episode);
}

static void take_events(alertmanager *sender)
{
    feed_event event;
    const feed_filter all = {.stream = NULL};
    while (feed_next(streams_feed(sender->all), &sender->cursor, &all, &event)) {
        if (event.kind == FEED_EPISODE || event.kind == FEED_SILENCE)
            put(sender, event.text, event.bytes);
        feed_event_free(&event);
    }
}

/* ---- What is open ---- */

static void write_episode(void *context, const stream_episode *episode)
{
    (void)context;
    stream_episode_write(episode);
    output_write("\n", 1);
}

/* A key that was silent for a day was probably removed; stop reporting it. */
static void write_if_silent(void *context, const stream_key *key)
{
    char moment[MOMENT_TEXT_BYTES];
    double idle_seconds = background_wall_seconds() - key->last_seen;
    if (!key->is_silent || !(idle_seconds < silence_seconds_max))
        return;
    output_print("{\"silence\":\"begins\",\"stream\":\"%s\",\"key\":",
                 *(const char *const *)context);
    quoting_write_json(key->key, key->key_bytes);
    write_json_member("since", key->last_seen);
    output_print(",\"text\":\"no row since %s\"}\n", moment_text(key->last_seen, moment));
}

/* One alert for a feed that has stopped, instead of one for each of its keys. */
static void write_dead_feed(const char *name, const stream_figures *figures)
{
    char moment[MOMENT_TEXT_BYTES];
    output_print("{\"silence\":\"begins\",\"stream\":\"%s\",\"key\":null", name);
    write_json_member("since", figures->last_row_at);
    output_print(",\"text\":\"no row since %s\"}\n", moment_text(figures->last_row_at, moment));
}

static void write_damaged(const char *name, const char *error)
{
    output_print("{\"damaged\":true,\"stream\":\"%s\"", name);
    write_json_string("text", error);
    output_print("}\n");
}

static void write_what_is_open(void *context, stream *one)
{
    stream_figures figures;
    char error[PROBLEM_MESSAGE_BYTES];
    stream_get_figures(one, &figures);
    if (figures.episodes_open > 0)
        stream_each_open_episode(one, write_episode, context);
    const char *name = stream_name(one);
    if (figures.is_dead)
        write_dead_feed(name, &figures);
    else if (figures.silent_keys > 0)
        stream_each_key(one, SIZE_MAX, write_if_silent, &name);
    if (figures.has_error)
        write_damaged(name, stream_get_error(one, error));
}

/* Streams are locked only while texts are written; the texts are parsed afterwards. */
static void list_what_is_open(alertmanager *sender)
{
    size_t bytes;
    output_divert();
    streams_each(sender->all, write_what_is_open, NULL);
    output_write("\n", 1); /* so there is a text even if nothing is open */
    char *text = output_diverted(&bytes), *end;
    if (!text)
        return; /* out of memory; try again next time */
    alert_queue_begin_all(sender->queue);
    for (char *line = text; (end = memchr(line, '\n', (size_t)(text + bytes - line)));
         line = end + 1)
        if (end > line)
            put(sender, line, (size_t)(end - line));
    take_events(sender); /* episodes that began meanwhile are not over */
    alert_queue_end_all(sender->queue);
    free(text);
    double resend = sender->config->resend_seconds;
    sender->list_at = clock_seconds() + (resend < list_seconds_max ? resend : list_seconds_max);
}

/* ---- Sending ---- */

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
    const post_result result = poster_send(sender->to, body, bytes, timeout_seconds);
    free(body);
    if (result != POST_FAILED)
        alert_queue_sent(sender->queue, clock);
    return result == POST_TAKEN;
}

/* ---- The thread ---- */

static void *run(void *context)
{
    alertmanager *sender = context;
    list_what_is_open(sender);
    do {
        take_events(sender);
        if (clock_seconds() >= sender->list_at)
            list_what_is_open(sender);
        while (poster_may_send(sender->to) && post(sender, post_seconds_max))
            continue;
        atomic_store(&sender->waiting, alert_queue_waiting(sender->queue));
    } while (background_wait(&sender->beside, look_seconds));
    atomic_store(&sender->beside.is_stopped, false);
    take_events(sender);
    if (!poster_is_failing(sender->to) && alert_queue_waiting(sender->queue) > 0)
        post(sender, last_post_seconds_max);
    return NULL;
}

/* ---- Lifecycle ---- */

static void close_sender(alertmanager *sender)
{
    poster_free(sender->to);
    alert_queue_free(sender->queue);
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
    sender->to = poster_new(&(poster_options){.name = "Alertmanager",
                                              .what = "alerts",
                                              .url = config->url,
                                              .path = "/api/v2/alerts",
                                              .token_file = config->token_file,
                                              .beside = &sender->beside});
    sender->queue = alert_queue_new(&(alert_queue_options){.episodes_max = EPISODES_MAX,
                                                           .resend_seconds = config->resend_seconds,
                                                           .labels = config->labels,
                                                           .min_grade = config->min_grade,
                                                           .page_url = page_url});
    int failure =
        sender->to && sender->queue ? background_start(&sender->beside, run, sender) : ENOMEM;
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

size_t alertmanager_waiting(const alertmanager *sender)
{
    return atomic_load(&sender->waiting);
}

bool alertmanager_is_failing(const alertmanager *sender)
{
    return poster_is_failing(sender->to);
}
