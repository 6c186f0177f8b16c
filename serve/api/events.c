#include "events.h"

#include "front/text/clock.h"
#include "front/text/output.h"
#include "serve/base/background.h"

#include <inttypes.h>
#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 1 << 14,
    PULSE_SECONDS = 15 /* a comment shows proxies and clients that the connection is alive */
};

struct events_client {
    events *all;
    events_client *before, *after; /* while it waits */
    struct MHD_Connection *connection;
    loops *loops; /* which wait for it */
    feed_filter filter;
    char *stream, *key;
    uint64_t cursor;
    unsigned round; /* of `events` when it began */
    char *text;     /* being sent, from `sent` on */
    size_t bytes, sent;
    double sent_at;
};

struct events {
    feed *source;
    pthread_mutex_t lock; /* of the waiting clients */
    background waker;
    events_client *waiting;
    _Atomic uint64_t news; /* events so far; a client that has seen all of them may wait */
    bool has_news;
    _Atomic bool is_ending;
    _Atomic unsigned round; /* clients of an earlier one end */
};

/* ---- Waiting ---- */

static void add_waiting(events *all, events_client *client)
{
    client->before = NULL;
    client->after = all->waiting;
    if (all->waiting)
        all->waiting->before = client;
    all->waiting = client;
}

static void remove_waiting(events *all, events_client *client)
{
    if (client->before)
        client->before->after = client->after;
    else
        all->waiting = client->after;
    if (client->after)
        client->after->before = client->before;
}

static void resume_clients(events *all, double sent_before)
{
    for (events_client *client = all->waiting, *next; client; client = next) {
        next = client->after;
        if (client->sent_at > sent_before)
            continue;
        remove_waiting(all, client);
        loops_resume(client->loops, client->connection);
    }
}

static void *wake_clients(void *context)
{
    events *all = context;
    while (background_wait(&all->waker, 1)) {
        pthread_mutex_lock(&all->lock);
        double now = clock_seconds();
        resume_clients(all,
                       all->has_news || atomic_load(&all->is_ending) ? now : now - PULSE_SECONDS);
        all->has_news = false;
        pthread_mutex_unlock(&all->lock);
    }
    return NULL;
}

static void notice_news(void *context)
{
    events *all = context;
    atomic_fetch_add(&all->news, 1);
    pthread_mutex_lock(&all->lock);
    all->has_news = true;
    pthread_mutex_unlock(&all->lock);
    background_wake(&all->waker);
}

events *events_open(feed *source)
{
    events *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->source = source;
    pthread_mutex_init(&all->lock, NULL);
    if (background_start(&all->waker, wake_clients, all) != 0) {
        pthread_mutex_destroy(&all->lock);
        free(all);
        return NULL;
    }
    feed_on_event(source, notice_news, all);
    return all;
}

void events_end(events *all)
{
    if (!all)
        return;
    atomic_store(&all->is_ending, true);
    notice_news(all);
}

void events_restart(events *all)
{
    if (!all)
        return;
    atomic_fetch_add(&all->round, 1);
    notice_news(all);
}

void events_resume_all(events *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    resume_clients(all, INFINITY);
    pthread_mutex_unlock(&all->lock);
}

void events_close(events *all)
{
    if (!all)
        return;
    feed_on_event(all->source, NULL, NULL);
    background_stop(&all->waker);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* ---- Clients ---- */

events_client *events_client_new(events *all, const feed_filter *filter, uint64_t after)
{
    events_client *client = calloc(1, sizeof *client);
    uint64_t latest = feed_latest(all->source);
    if (!client)
        return NULL;
    client->all = all;
    client->filter = *filter;
    client->cursor = after == UINT64_MAX ? latest : after;
    client->round = atomic_load(&all->round);
    client->stream = filter->stream ? strdup(filter->stream) : NULL;
    client->key = filter->key ? malloc(filter->key_bytes + 1) : NULL;
    if ((filter->stream && !client->stream) || (filter->key && !client->key)) {
        events_client_free(client);
        return NULL;
    }
    if (client->key)
        memcpy(client->key, filter->key, filter->key_bytes);
    client->filter.stream = client->stream;
    client->filter.key = client->key;
    return client;
}

void events_client_free(events_client *client)
{
    if (!client)
        return;
    free(client->stream);
    free(client->key);
    free(client->text);
    free(client);
}

static void free_client(void *context)
{
    events_client_free(context);
}

/* ---- Sending ---- */

static void keep_text(events_client *client)
{
    free(client->text);
    client->text = output_diverted(&client->bytes);
    client->sent = 0;
    if (client->text)
        client->sent_at = clock_seconds();
    else
        client->bytes = 0;
}

/* Takes up to a block of events; false if there is none. Takes none if out of memory. */
static bool take_events(events_client *client)
{
    const uint64_t before = client->cursor;
    feed_event event;
    size_t bytes = 0;
    output_divert();
    while (bytes < BLOCK_BYTES &&
           feed_next(client->all->source, &client->cursor, &client->filter, &event)) {
        output_print("id: %" PRIu64 "\nevent: %s\ndata: ", event.number, feed_word(event.kind));
        output_write(event.text, event.bytes);
        output_write("\n\n", 2);
        bytes += event.bytes + 1;
        feed_event_free(&event);
    }
    keep_text(client);
    if (bytes > 0 && client->bytes == 0)
        client->cursor = before;
    return client->bytes > 0;
}

static void take_comment(events_client *client, const char *comment)
{
    output_divert();
    output_print(": %s\n\n", comment);
    keep_text(client);
}

static bool must_end(const events_client *client)
{
    return atomic_load(&client->all->is_ending) ||
           atomic_load(&client->all->round) != client->round;
}

/* Suspends the client, unless there are more than `seen` news. */
static bool wait_for_news(events_client *client, uint64_t seen)
{
    events *all = client->all;
    pthread_mutex_lock(&all->lock);
    bool may_wait = atomic_load(&all->news) == seen && !must_end(client);
    if (may_wait) {
        add_waiting(all, client);
        MHD_suspend_connection(client->connection);
    }
    pthread_mutex_unlock(&all->lock);
    return may_wait;
}

static ssize_t send_some(events_client *client, char *room, size_t room_bytes)
{
    size_t left = client->bytes - client->sent, count = left < room_bytes ? left : room_bytes;
    memcpy(room, client->text + client->sent, count);
    client->sent += count;
    return (ssize_t)count;
}

/* libmicrohttpd calls this whenever the last block was sent. */
static ssize_t read_events(void *context, uint64_t position, char *room, size_t room_bytes)
{
    events_client *client = context;
    if (position == 0 && client->bytes == 0)
        take_comment(client, "events follow");
    while (client->sent == client->bytes) {
        uint64_t seen = atomic_load(&client->all->news);
        if (must_end(client))
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (take_events(client))
            break;
        if (clock_seconds() - client->sent_at >= PULSE_SECONDS)
            take_comment(client, "still here");
        else if (wait_for_news(client, seen))
            return 0;
    }
    return send_some(client, room, room_bytes);
}

struct MHD_Response *events_respond(events_client *client, struct MHD_Connection *connection,
                                    loops *all)
{
    client->connection = connection;
    client->loops = all;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_events, client,
                                             free_client);
}
