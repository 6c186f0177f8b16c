#include "feed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_EVENTS = 8192, RING_BYTES = 8 << 20, STREAM_NAME_BYTES = 65 };

typedef struct kept_event {
    feed_kind kind;
    char stream[STREAM_NAME_BYTES];
    char *key; /* followed by the text */
    size_t key_bytes, text_bytes;
} kept_event;

typedef struct row_watch {
    char stream[STREAM_NAME_BYTES];
    size_t watchers;
} row_watch;

struct feed {
    pthread_mutex_t lock;
    kept_event events[RING_EVENTS]; /* event n is at n % RING_EVENTS */
    uint64_t oldest, latest;        /* numbers; oldest > latest: there is none */
    size_t bytes;
    void (*on_event)(void *context);
    void *context;
    row_watch *watches;
    size_t watch_count;
    atomic_size_t watchers; /* of all streams: usually 0, which is seen without the lock */
};

const char *feed_word(feed_kind kind)
{
    static const char *const words[] = {"stream", "episode", "alert", "row", "silence"};
    return words[kind];
}

feed *feed_new(void)
{
    feed *events = calloc(1, sizeof *events);
    if (!events)
        return NULL;
    events->oldest = 1;
    pthread_mutex_init(&events->lock, NULL);
    return events;
}

/* ---- The ring ---- */

static kept_event *event_at(feed *events, uint64_t number)
{
    return &events->events[number % RING_EVENTS];
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
    free(events->watches);
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
    if (event->kind == FEED_ROW && !filter->wants_rows)
        return false;
    if (filter->stream && strcmp(filter->stream, event->stream) != 0)
        return false;
    return !filter->key || event->kind == FEED_STREAM ||
           (filter->key_bytes == event->key_bytes &&
            memcmp(filter->key, event->key, event->key_bytes) == 0);
}

static bool copy_event(const kept_event *kept, uint64_t number, feed_event *event)
{
    *event = (feed_event){.number = number, .kind = kept->kind, .bytes = kept->text_bytes};
    event->text = malloc(kept->text_bytes + 1);
    if (!event->text)
        return false;
    memcpy(event->text, kept->key + kept->key_bytes, kept->text_bytes);
    event->text[kept->text_bytes] = '\0';
    return true;
}

bool feed_next(feed *events, uint64_t *cursor, const feed_filter *filter, feed_event *event)
{
    bool is_found = false;
    pthread_mutex_lock(&events->lock);
    if (*cursor > events->latest) /* of another run of the server */
        *cursor = events->latest;
    if (*cursor + 1 < events->oldest)
        *cursor = events->oldest - 1;
    while (!is_found && *cursor < events->latest) {
        const kept_event *kept = event_at(events, ++*cursor);
        is_found = is_wanted(kept, filter) && copy_event(kept, *cursor, event);
    }
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

/* ---- Rows ---- */

static row_watch *find_watch(feed *events, const char *stream)
{
    for (size_t i = 0; i < events->watch_count; i++)
        if (strcmp(events->watches[i].stream, stream) == 0)
            return &events->watches[i];
    return NULL;
}

static row_watch *add_watch(feed *events, const char *stream)
{
    row_watch *larger =
        realloc(events->watches, (events->watch_count + 1) * sizeof *events->watches);
    if (!larger)
        return NULL;
    events->watches = larger;
    row_watch *watch = &larger[events->watch_count++];
    *watch = (row_watch){.watchers = 0};
    snprintf(watch->stream, sizeof watch->stream, "%s", stream);
    return watch;
}

void feed_watch_rows(feed *events, const char *stream)
{
    pthread_mutex_lock(&events->lock);
    row_watch *watch = find_watch(events, stream);
    if (!watch)
        watch = add_watch(events, stream);
    if (watch) {
        watch->watchers++;
        events->watchers++;
    }
    pthread_mutex_unlock(&events->lock);
}

void feed_unwatch_rows(feed *events, const char *stream)
{
    pthread_mutex_lock(&events->lock);
    row_watch *watch = find_watch(events, stream);
    if (watch) {
        events->watchers--;
        if (--watch->watchers == 0)
            *watch = events->watches[--events->watch_count];
    }
    pthread_mutex_unlock(&events->lock);
}

bool feed_is_watched(feed *events, const char *stream)
{
    if (events->watchers == 0)
        return false;
    pthread_mutex_lock(&events->lock);
    bool is_watched = find_watch(events, stream) != NULL;
    pthread_mutex_unlock(&events->lock);
    return is_watched;
}
