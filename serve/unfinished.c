/* In place of parts of the engine that are not there yet; each gives way to the real one. */
#include "stream.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define WEAK __attribute__((weak))

WEAK bool streams_open(const streams_options *options, streams **opened, problem *why)
{
    static char nothing;
    *opened = (void *)&nothing;
    return true;
}
WEAK bool streams_close(streams *all)
{
    return true;
}
WEAK stream *streams_find(streams *all, const char *name)
{
    return NULL;
}
WEAK void stream_release(stream *one)
{
}
WEAK bool streams_create(streams *all, const char *name, json_t *settings, stream **made,
                         bool *is_new, problem *why)
{
    return false;
}
WEAK bool streams_remove(streams *all, const char *name, problem *why)
{
    return false;
}
WEAK size_t streams_count(streams *all)
{
    return 0;
}
WEAK bool streams_are_ready(streams *all, problem *why)
{
    return false;
}
WEAK feed *streams_feed(streams *all)
{
    return NULL;
}
WEAK bool stream_name_is_valid(const char *name)
{
    return false;
}
WEAK bool stream_rows(stream *one, const rows_request *request, rows_answer *answer, problem *why)
{
    return false;
}
WEAK bool stream_change(stream *one, json_t *settings, problem *why)
{
    return false;
}
WEAK bool stream_forget_key(stream *one, const char *key, size_t key_bytes, problem *why)
{
    return false;
}
WEAK void stream_write(stream *one)
{
}
WEAK void stream_write_keys(stream *one, const keys_query *query)
{
}
WEAK bool stream_write_points(stream *one, const points_query *query, problem *why)
{
    return false;
}
WEAK void stream_write_episodes(stream *one, const events_query *query)
{
}
WEAK void stream_write_alerts(stream *one, const events_query *query)
{
}
WEAK bool stream_write_row(stream *one, uint64_t row, problem *why)
{
    return false;
}
WEAK bool stream_write_explanation(stream *one, const explain_request *request, problem *why)
{
    return false;
}
WEAK void streams_write(streams *all)
{
}
WEAK void streams_write_now(streams *all)
{
}
WEAK const char *feed_word(feed_kind kind)
{
    return "";
}
WEAK bool feed_next(feed *events, uint64_t *cursor, const feed_filter *filter, feed_event *event)
{
    return false;
}
WEAK void feed_event_free(feed_event *event)
{
}
WEAK uint64_t feed_latest(feed *events)
{
    return 0;
}
WEAK void feed_on_event(feed *events, void (*on_event)(void *context), void *context)
{
}
WEAK void feed_watch_rows(feed *events, const char *name)
{
}
WEAK void feed_unwatch_rows(feed *events, const char *name)
{
}
WEAK void streams_each(streams *all, void (*visit)(void *context, stream *one), void *context)
{
}
WEAK const char *stream_name(const stream *one)
{
    return "";
}
WEAK void stream_get_figures(stream *one, stream_figures *figures)
{
}
WEAK void stream_each_key(stream *one, size_t limit,
                          void (*visit)(void *context, const stream_key *key), void *context)
{
}
WEAK void stream_each_open_episode(stream *one,
                                   void (*visit)(void *context, const stream_episode *episode),
                                   void *context)
{
}
WEAK void stream_episode_write(const stream_episode *episode)
{
}
WEAK const double stream_latency_bounds[LATENCY_BUCKETS - 1] = {0};
