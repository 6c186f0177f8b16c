/* All streams together as JSON: the list, what is wrong now, and the incidents. */
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

/* ---- What is found in all streams, ranked ---- */

typedef struct found_text {
    bool is_over;
    double rank;
    char *text;
    size_t bytes;
} found_text;

typedef struct found_list {
    found_text *list;
    size_t count, capacity;
    size_t open;    /* including those that did not fit in memory */
    size_t outside; /* of no incident */
    const incidents_query *query;
} found_list;

/* Takes the text started with output_divert. */
static void add_found(found_list *found, bool is_over, double rank)
{
    found_text added = {.is_over = is_over, .rank = rank};
    added.text = output_diverted(&added.bytes);
    if (found->count == found->capacity) {
        size_t capacity = 2 * found->capacity + 64;
        found_text *larger = realloc(found->list, capacity * sizeof *larger);
        if (!larger) {
            free(added.text);
            return;
        }
        found->list = larger;
        found->capacity = capacity;
    }
    if (added.text)
        found->list[found->count++] = added;
}

static int highest_first(const void *a, const void *b)
{
    const found_text *left = a, *right = b;
    if (left->is_over != right->is_over)
        return left->is_over - right->is_over;
    return (left->rank < right->rank) - (left->rank > right->rank);
}

static void write_found(found_list *found, size_t limit)
{
    if (found->count > 0)
        qsort(found->list, found->count, sizeof *found->list, highest_first);
    for (size_t i = 0; i < found->count; i++) {
        if (i < limit) {
            output_text(i > 0 ? ",\n" : "");
            output_write(found->list[i].text, found->list[i].bytes);
        }
        free(found->list[i].text);
    }
    free(found->list);
}

/* ---- What is wrong now ---- */

static void take_episode(void *context, const stream_episode *episode)
{
    found_list *found = context;
    found->open++;
    output_divert();
    stream_episode_write(episode);
    add_found(found, false, episode->peak_severity);
}

static void take_episodes(void *context, stream *one)
{
    stream_each_open_episode(one, take_episode, context);
}

void streams_write_now(streams *all, size_t limit)
{
    found_list found = {.list = NULL};
    streams_each(all, take_episodes, &found);
    output_print("{\"open\":%zu,\"incidents\":%zu,\"episodes\":[", found.open,
                 streams_open_incidents(all));
    write_found(&found, limit);
    output_print("],");
    write_list(all);
    output_print("}");
}

/* ---- Incidents ---- */

static void count_open(void *context, stream *one)
{
    size_t *count = context;
    *count += stream_open_incidents(one);
}

size_t streams_open_incidents(streams *all)
{
    size_t count = 0;
    streams_each(all, count_open, &count);
    return count;
}

static void take_incident(void *context, const incident_answer *answer)
{
    output_divert();
    output_write(answer->text, answer->bytes);
    add_found(context, answer->is_over, answer->rank);
}

static void take_incidents(void *context, stream *one)
{
    found_list *found = context;
    const incident_visit to = {found->query, take_incident, found};
    found->open += stream_open_incidents(one);
    found->outside += stream_episodes_of_no_incident(one);
    if (!found->query->stream || strcmp(found->query->stream, stream_name(one)) == 0)
        stream_visit_incidents(one, &to);
}

bool streams_write_incidents(streams *all, const incidents_query *query)
{
    found_list found = {.query = query};
    streams_each(all, take_incidents, &found);
    const bool is_found = found.count > 0;
    output_print("{\"open\":%zu,\"outside\":%zu,\"incidents\":[", found.open, found.outside);
    write_found(&found, query->limit);
    output_print("]}\n");
    return query->number == 0 || is_found;
}
