#include "feed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_EVENTS = 8192, RING_BYTES = 8 << 20 };

typedef struct kept_event {
    feed_kind kind;
    char stream[STREAM_NAME_BYTES];
    char *key; /* followed by the text */
    size_t key_bytes, text_bytes;
} kept_event;

/* Event n is at n % RING_EVENTS. */
struct feed {
    pthread_mutex_t lock;
    kept_event ring[RING_EVENTS];
    uint64_t oldest, latest; /* holds events from `oldest` to `latest`; none if that is less */
    size_t bytes;            /* of their texts */
    void (*on_event)(void *context);
    void *context;
};

const char *feed_word(feed_kind kind)
{
    static const char *const words[] = {"stream",  "episode",  "alert",
                                        "silence", "incident", "lost"};
    return words[kind];
}

feed *feed_new(void)
{
    feed *events = calloc(1, sizeof *events);
    if (!events)
        return NULL;
    pthread_mutex_init(&events->lock, NULL);
    events->oldest = 1;
    return events;
}

/* ---- The ring ---- */

static kept_event *event_at(feed *events, uint64_t number)
{
    return &events->ring[number % RING_EVENTS];
}

static void drop_oldest(feed *events)
{
    kept_event *event = event_at(events, events->oldest++);
    events->bytes -= event->key_bytes + event->text_bytes;
    free(event->key);
    event->key = NULL;
}

void feed_free(feed *events)
{
    if (!events)
        return;
    while (events->oldest <= events->latest)
        drop_oldest(events);
    pthread_mutex_destroy(&events->lock);
    free(events);
}

static void make_room(feed *events, size_t bytes)
{
    while (
        events->oldest <= events->latest &&
        (events->latest - events->oldest + 1 >= RING_EVENTS || events->bytes + bytes > RING_BYTES))
        drop_oldest(events);
}

uint64_t feed_add(feed *events, feed_kind kind, const char *stream, const char *key,
                  size_t key_bytes, const char *text, size_t bytes)
{
    char *copy = malloc(key_bytes + bytes + 1);
    if (!copy)
        return 0;
    if (key_bytes > 0)
        memcpy(copy, key, key_bytes);
    memcpy(copy + key_bytes, text, bytes);
    pthread_mutex_lock(&events->lock);
    make_room(events, key_bytes + bytes);
    uint64_t number = ++events->latest;
    kept_event *event = event_at(events, number);
    *event = (kept_event){.kind = kind, .key = copy, .key_bytes = key_bytes, .text_bytes = bytes};
    snprintf(event->stream, sizeof event->stream, "%s", stream);
    events->bytes += key_bytes + bytes;
    void (*on_event)(void *) = events->on_event;
    void *context = events->context;
    pthread_mutex_unlock(&events->lock);
    if (on_event)
        on_event(context);
    return number;
}

/* ---- Watchers ---- */

static bool is_wanted(const kept_event *event, const feed_filter *filter)
{
    if (filter->stream && strcmp(filter->stream, event->stream) != 0)
        return false;
    return !filter->key || event->kind == FEED_STREAM ||
           (filter->key_bytes == event->key_bytes &&
            memcmp(filter->key, event->key, event->key_bytes) == 0);
}

static bool copy_event(const kept_event *kept, uint64_t number, feed_event *event)
{
    *event = (feed_event){.number = number, .kind = kept->kind, .bytes = kept->text_bytes};
    event->text = strndup(kept->key + kept->key_bytes, kept->text_bytes);
    return event->text != NULL;
}

static bool make_lost(uint64_t after, uint64_t until, feed_event *event)
{
    enum { TEXT_BYTES = 80 };
    *event = (feed_event){.number = until, .kind = FEED_LOST, .text = malloc(TEXT_BYTES)};
    if (!event->text)
        return false;
    event->bytes = (size_t)snprintf(event->text, TEXT_BYTES,
                                    "{\"after\":%" PRIu64 ",\"until\":%" PRIu64 "}", after, until);
    return true;
}

/* Call it under the lock. A cursor behind the latest event is from an earlier run of the server. */
static bool find_next(feed *events, uint64_t *cursor, const feed_filter *filter, feed_event *event)
{
    const uint64_t after = *cursor;
    if (after > events->latest || after + 1 < events->oldest) {
        *cursor = after > events->latest ? events->latest : events->oldest - 1;
        return make_lost(after, *cursor, event);
    }
    while (*cursor < events->latest) {
        const kept_event *next = event_at(events, ++*cursor);
        if (is_wanted(next, filter) && copy_event(next, *cursor, event))
            return true;
    }
    return false;
}

bool feed_next(feed *events, uint64_t *cursor, const feed_filter *filter, feed_event *event)
{
    pthread_mutex_lock(&events->lock);
    bool is_found = find_next(events, cursor, filter, event);
    pthread_mutex_unlock(&events->lock);
    return is_found;
}

void feed_event_free(feed_event *event)
{
    free(event->text);
    event->text = NULL;
}

uint64_t feed_latest(feed *events)
{
    pthread_mutex_lock(&events->lock);
    uint64_t latest = events->latest;
    pthread_mutex_unlock(&events->lock);
    return latest;
}

void feed_on_event(feed *events, void (*on_event)(void *context), void *context)
{
    pthread_mutex_lock(&events->lock);
    events->on_event = on_event;
    events->context = context;
    pthread_mutex_unlock(&events->lock);
}
