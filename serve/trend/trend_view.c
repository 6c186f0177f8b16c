/* Reading a trend_store: what there is of one key at one level. */
#include "trend_store_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trend_view {
    char *folder;
    uint64_t key;
    size_t level, columns, bucket_bytes;
    trend_segment *segments;
    size_t count;
    char *pending;
    size_t pending_bytes;
};

static bool copy_segments(trend_store *store, trend_view *view)
{
    view->segments = calloc(store->count + 1, sizeof *view->segments);
    if (!view->segments)
        return false;
    for (size_t i = 0; i < store->count; i++) {
        if (store->segments[i].level != view->level)
            continue;
        trend_segment_examine(&store->segments[i], store->folder);
        if (store->segments[i].columns > 0)
            view->segments[view->count++] = store->segments[i];
    }
    return true;
}

static bool copy_pending(const trend_store *store, trend_view *view)
{
    const pending_buckets *pending = &store->pending[view->level];
    const size_t place = offsetof(trend_bucket, key);
    view->pending = malloc(pending->used + 1);
    for (size_t at = 0; view->pending && at < pending->used; at += view->bucket_bytes) {
        uint64_t found;
        memcpy(&found, pending->bytes + at + place, sizeof found);
        if (found != view->key)
            continue;
        memcpy(view->pending + view->pending_bytes, pending->bytes + at, view->bucket_bytes);
        view->pending_bytes += view->bucket_bytes;
    }
    return view->pending != NULL;
}

trend_view *trend_store_look(trend_store *store, uint64_t key, size_t level)
{
    trend_view *view = calloc(1, sizeof *view);
    if (!view)
        return NULL;
    view->key = key;
    view->level = level;
    view->columns = store->columns;
    view->bucket_bytes = store->bucket_bytes;
    view->folder = store->folder ? strdup(store->folder) : NULL;
    if ((!store->folder || view->folder) && copy_segments(store, view) && copy_pending(store, view))
        return view;
    trend_view_free(view);
    return NULL;
}

void trend_view_free(trend_view *view)
{
    if (!view)
        return;
    free(view->segments);
    free(view->pending);
    free(view->folder);
    free(view);
}

/* What a question is about. */
typedef struct trend_question {
    uint64_t key;
    double from, to;
    trend_visitor *visit;
    void *context;
    uint64_t damaged;
} trend_question;

static void visit_buckets(trend_question *asked, const char *buckets, size_t count, size_t columns)
{
    const size_t bucket_bytes = trend_bucket_bytes(columns);
    for (size_t i = 0; i < count; i++) {
        const trend_bucket *one = (const trend_bucket *)(const void *)(buckets + i * bucket_bytes);
        if (one->key != asked->key)
            continue;
        if (one->checksum != trend_checksum(one, bucket_bytes))
            asked->damaged++;
        else if (one->time >= asked->from && one->time < asked->to)
            asked->visit(asked->context, one, columns);
    }
}

/* A piece of a segment. */
typedef struct segment_reading {
    trend_question *asked;
    size_t columns;
} segment_reading;

static void visit_piece(void *context, char *buckets, size_t count, uint64_t at)
{
    const segment_reading *reading = context;
    (void)at;
    visit_buckets(reading->asked, buckets, count, reading->columns);
}

static void read_segment(const trend_view *view, const trend_segment *one, trend_question *asked)
{
    segment_reading reading = {asked, one->columns};
    int fd = trend_segment_open(one, view->folder, O_RDONLY);
    if (fd < 0)
        return; /* it was removed meanwhile */
    if (!trend_segment_is_elsewhere(fd, asked->from, asked->to))
        trend_segment_read(one, fd, visit_piece, &reading);
    close(fd);
}

uint64_t trend_view_read(const trend_view *view, double from, double to, trend_visitor *visit,
                         void *context)
{
    trend_question asked = {view->key, from, to, visit, context, 0};
    for (size_t i = 0; i < view->count; i++)
        read_segment(view, &view->segments[i], &asked);
    visit_buckets(&asked, view->pending, view->pending_bytes / view->bucket_bytes, view->columns);
    return asked.damaged;
}
