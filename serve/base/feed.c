#include "feed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_EVENTS = 8192, RING_BYTES = 8 << 20 };

typedef struct kept_event {
    uint64_t number;
    feed_kind kind;
    char stream[STREAM_NAME_BYTES];
    char *key; /* followed by the text */
    size_t key_bytes, text_bytes;
} kept_event;

/* The latest events of some kinds. Event i, from 0, is at i % RING_EVENTS. */
typedef struct event_ring {
    kept_event events[RING_EVENTS];
    uint64_t begin, end; /* holds events from `begin` to before `end` */
    uint64_t dropped;    /* number of the latest event that was dropped */
    size_t bytes;
} event_ring;

struct feed {
    pthread_mutex_t lock;
    event_ring rows, others;
    uint64_t latest; /* number */
    void (*on_event)(void *context);
    void *context;
    char (*watched)[STREAM_NAME_BYTES]; /* the stream of each watcher of rows */
    atomic_size_t watchers;             /* usually 0, read without the lock */
};

const char *feed_word(feed_kind kind)
{
    static const char *const words[] = {"stream",  "episode",  "alert", "row",
                                        "silence", "incident", "lost"};
    return words[kind];
}

feed *feed_new(void)
{
    feed *events = calloc(1, sizeof *events);
    if (!events)
        return NULL;
    pthread_mutex_init(&events->lock, NULL);
    return events;
}

/* ---- The ring ---- */

static kept_event *event_at(event_ring *ring, uint64_t index)
{
    return &ring->events[index % RING_EVENTS];
}

static void drop_oldest(event_ring *ring)
{
    kept_event *event = event_at(ring, ring->begin++);
    ring->bytes -= event->key_bytes + event->text_bytes;
    ring->dropped = event->number;
    free(event->key);
    event->key = NULL;
}

static void drop_all(event_ring *ring)
{
    while (ring->begin < ring->end)
        drop_oldest(ring);
}

void feed_free(feed *events)
{
    if (!events)
        return;
    drop_all(&events->rows);
    drop_all(&events->others);
    pthread_mutex_destroy(&events->lock);
    free(events->watched);
    free(events);
}

static void make_room(event_ring *ring, size_t bytes)
{
    while (ring->begin < ring->end &&
           (ring->end - ring->begin >= RING_EVENTS || ring->bytes + bytes > RING_BYTES))
        drop_oldest(ring);
}

/* The oldest event newer than the cursor; NULL if there is none. */
static const kept_event *find_after(event_ring *ring, uint64_t cursor)
{
    uint64_t low = ring->begin, high = ring->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (event_at(ring, middle)->number > cursor)
            high = middle;
        else
            low = middle + 1;
    }
    return low < ring->end ? event_at(ring, low) : NULL;
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
    event_ring *ring = kind == FEED_ROW ? &events->rows : &events->others;
    make_room(ring, key_bytes + bytes);
    uint64_t number = ++events->latest;
    kept_event *event = event_at(ring, ring->end++);
    *event = (kept_event){
        .number = number, .kind = kind, .key = copy, .key_bytes = key_bytes, .text_bytes = bytes};
    snprintf(event->stream, sizeof event->stream, "%s", stream);
    ring->bytes += key_bytes + bytes;
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

static bool copy_event(const kept_event *kept, feed_event *event)
{
    *event = (feed_event){.number = kept->number, .kind = kept->kind, .bytes = kept->text_bytes};
    event->text = strndup(kept->key + kept->key_bytes, kept->text_bytes);
    return event->text != NULL;
}

static const kept_event *next_kept(feed *events, uint64_t cursor, bool wants_rows)
{
    const kept_event *other = find_after(&events->others, cursor);
    const kept_event *row = wants_rows ? find_after(&events->rows, cursor) : NULL;
    return row && (!other || row->number < other->number) ? row : other;
}

/* The number of the last lost event between the cursor and the next one; the cursor itself if none
 * was lost. */
static uint64_t last_lost(const feed *events, uint64_t cursor, const kept_event *next,
                          bool wants_rows)
{
    uint64_t dropped = events->others.dropped;
    if (wants_rows && events->rows.dropped > dropped)
        dropped = events->rows.dropped;
    if (next && dropped >= next->number)
        dropped = next->number - 1;
    return dropped > cursor ? dropped : cursor;
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

/* Call it under the lock. */
static bool find_next(feed *events, uint64_t *cursor, const feed_filter *filter, feed_event *event)
{
    uint64_t after = *cursor;
    if (after > events->latest) { /* from an earlier run of the server */
        *cursor = events->latest;
        return make_lost(after, events->latest, event);
    }
    for (;;) {
        const kept_event *next = next_kept(events, *cursor, filter->wants_rows);
        after = *cursor;
        *cursor = last_lost(events, after, next, filter->wants_rows);
        if (*cursor > after)
            return make_lost(after, *cursor, event);
        *cursor = next ? next->number : events->latest;
        if (!next)
            return false;
        if (is_wanted(next, filter) && copy_event(next, event))
            return true;
    }
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

/* ---- Rows ---- */

/* The position of one of its watchers; their number if it has none. */
static size_t find_watcher(const feed *events, const char *stream)
{
    size_t at = 0;
    while (at < events->watchers && strcmp(events->watched[at], stream) != 0)
        at++;
    return at;
}

void feed_watch_rows(feed *events, const char *stream)
{
    pthread_mutex_lock(&events->lock);
    char(*larger)[STREAM_NAME_BYTES] =
        realloc(events->watched, (events->watchers + 1) * sizeof *larger);
    if (larger) {
        events->watched = larger;
        snprintf(larger[events->watchers++], sizeof *larger, "%s", stream);
    }
    pthread_mutex_unlock(&events->lock);
}

void feed_unwatch_rows(feed *events, const char *stream)
{
    pthread_mutex_lock(&events->lock);
    size_t at = find_watcher(events, stream);
    if (at < events->watchers)
        memmove(events->watched[at], events->watched[--events->watchers], STREAM_NAME_BYTES);
    pthread_mutex_unlock(&events->lock);
}

bool feed_is_watched(feed *events, const char *stream)
{
    if (events->watchers == 0)
        return false;
    pthread_mutex_lock(&events->lock);
    bool is_watched = find_watcher(events, stream) < events->watchers;
    pthread_mutex_unlock(&events->lock);
    return is_watched;
}
