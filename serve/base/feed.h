/* Recent events for watchers: JSON texts in a ring, each with a number. A watcher asks for the
 * events after the last number it has seen. Events that have left the ring by then are lost, and
 * the watcher is informed. Rows are no events: the answer to their post has them. */
#ifndef OIF_SERVE_FEED_H
#define OIF_SERVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum feed_kind {
    FEED_STREAM,   /* {"name","rows","saved"}: new rows, at most once per second */
    FEED_EPISODE,  /* an Episode: it began, got worse or ended */
    FEED_ALERT,    /* an Alert */
    FEED_SILENCE,  /* {"stream","key","silence":"begins"|"ends","since","seconds","text"} */
    FEED_INCIDENT, /* a brief record of an incident: it begins, grows or ends */
    FEED_LOST      /* {"after","until"}: events with these numbers are lost */
} feed_kind;

/* "stream", "episode", "alert", "silence", "incident", "lost": the name of an event. */
const char *feed_word(feed_kind kind);

/* Of a stream name, including the NUL. */
enum { STREAM_NAME_BYTES = 65 };

typedef struct feed feed;

/* NULL: out of memory. */
feed *feed_new(void);
void feed_free(feed *events);

/* Copies the text. Returns its number, from 1; 0 if out of memory. */
uint64_t feed_add(feed *events, feed_kind kind, const char *stream, const char *key,
                  size_t key_bytes, const char *text, size_t bytes);

/* Which events a watcher wants. */
typedef struct feed_filter {
    const char *stream; /* NULL: all */
    const char *key;    /* NULL: all */
    size_t key_bytes;
} feed_filter;

/* One event; free it with feed_event_free. */
typedef struct feed_event {
    uint64_t number;
    feed_kind kind;
    char *text; /* one line of JSON */
    size_t bytes;
} feed_event;

/* The next event after *cursor; false if there is none yet. *cursor becomes the number up to which
 * all events were examined, so it also moves past unwanted events. If events in between have left
 * the ring, or the cursor is from another run of the server, the next event is FEED_LOST. */
bool feed_next(feed *events, uint64_t *cursor, const feed_filter *filter, feed_event *event);
void feed_event_free(feed_event *event);

/* The number of the latest event; 0: none. A new watcher starts here. */
uint64_t feed_latest(feed *events);

/* Calls `on_event` after events were added, on the thread that added them. It must be quick, and
 * must not call the feed or a stream. One callback; NULL: none. */
void feed_on_event(feed *events, void (*on_event)(void *context), void *context);

#endif
