/* All streams together as JSON: the list, and what is wrong now. */
#include "streams.h"

#include "front/text/output.h"

#include <stdlib.h>

/* ---- The list ---- */

static void write_next(void *context, stream *one)
{
    size_t *written = context;
    output_print((*written)++ > 0 ? "," : "");
    stream_write(one);
}

static void write_list(streams *all)
{
    size_t written = 0;
    output_print("\"streams\":[");
    streams_each(all, write_next, &written);
    output_print("]");
}

void streams_write(streams *all)
{
    output_print("{");
    write_list(all);
    output_print("}");
}

/* ---- What is wrong now ---- */

typedef struct open_episode {
    double severity;
    char *text;
    size_t bytes;
} open_episode;

typedef struct open_list {
    open_episode *episodes;
    size_t count, capacity;
    size_t open; /* including those that did not fit in memory */
} open_list;

static void take_episode(void *context, const stream_episode *episode)
{
    open_list *list = context;
    list->open++;
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 64;
        open_episode *larger = realloc(list->episodes, capacity * sizeof *larger);
        if (!larger)
            return;
        list->episodes = larger;
        list->capacity = capacity;
    }
    open_episode taken = {.severity = episode->peak_severity};
    output_divert();
    stream_episode_write(episode);
    taken.text = output_diverted(&taken.bytes);
    if (taken.text)
        list->episodes[list->count++] = taken;
}

static void take_episodes(void *context, stream *one)
{
    stream_each_open_episode(one, take_episode, context);
}

static int worst_first(const void *a, const void *b)
{
    const open_episode *left = a, *right = b;
    return (left->severity < right->severity) - (left->severity > right->severity);
}

void streams_write_now(streams *all, size_t limit)
{
    open_list list = {.episodes = NULL};
    incident_figures incidents;
    streams_each(all, take_episodes, &list);
    if (list.count > 0)
        qsort(list.episodes, list.count, sizeof *list.episodes, worst_first);
    incident_list_get_figures(streams_incidents(all), &incidents);
    output_print("{\"open\":%zu,\"incidents\":%zu,\"episodes\":[", list.open, incidents.open);
    for (size_t i = 0; i < list.count; i++) {
        if (i < limit) {
            output_print(i > 0 ? "," : "");
            output_write(list.episodes[i].text, list.episodes[i].bytes);
        }
        free(list.episodes[i].text);
    }
    free(list.episodes);
    output_print("],");
    write_list(all);
    output_print("}");
}
