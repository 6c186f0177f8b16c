/* Which incident each episode of a stream belongs to. */
#include "stream_parts.h"

#include <string.h>

static incident_episode describe(const stream *one, const stream_episode *info, double now)
{
    return (incident_episode){.stream = one->name,
                              .key = info->key,
                              .key_bytes = info->key_bytes,
                              .column = info->column,
                              .reason = info->reason,
                              .seconds = info->began,
                              .now = now,
                              .severity = info->peak_severity,
                              .number = info->number,
                              .event = one->incident_events,
                              .is_replayed = one->is_replaying};
}

static void join(const stream *one, history_episode *episode, double now)
{
    const incident_episode event = describe(one, &episode->info, now);
    const uint64_t number = incident_list_begin(one->incidents, &event);
    if (number > 0)
        episode->info.incident = number;
}

/* What was reported before is only compared with it. */
void stream_join_incident(stream *one, history_episode *episode, double now)
{
    one->incident_events++;
    join(one, episode, now);
}

void stream_leave_incident(stream *one, const history_episode *episode, double now)
{
    one->incident_events++;
    incident_episode event = describe(one, &episode->info, now);
    event.seconds = episode->info.is_over ? episode->info.ended : episode->info.last_seen;
    incident_list_end(one->incidents, &event);
}

/* ---- The feed ---- */

static const double no_data_severity = 3.3; /* a warning */

/* Episodes have numbers from 1, so 0 is free. */
static incident_episode describe_no_data(const stream *one, double seconds, double now)
{
    return (incident_episode){.stream = one->name,
                              .key = "",
                              .column = "silence",
                              .reason = watch_words[WATCH_NO_DATA],
                              .seconds = seconds,
                              .now = now,
                              .severity = no_data_severity,
                              .event = one->incident_events,
                              .is_replayed = one->is_replaying};
}

static void join_no_data(stream *one, double now)
{
    one->dead_incident = 0;
    const incident_episode event = describe_no_data(one, one->counted.last_row_at, now);
    one->dead_incident = incident_list_begin(one->incidents, &event);
}

void stream_join_no_data(stream *one, double now)
{
    one->incident_events++;
    join_no_data(one, now);
}

void stream_leave_no_data(stream *one, double now)
{
    one->incident_events++;
    const incident_episode event = describe_no_data(one, now, now);
    incident_list_end(one->incidents, &event);
    one->dead_incident = 0;
}

/* ---- After a start ---- */

/* These joins are not counted: a replay would not count them either. */
void stream_settle_incidents(stream *one, bool is_new, double now)
{
    stream_read_lock(one);
    for (history_episode *open = one->past->open; open; open = open->older)
        if (is_new || !incident_list_has(one->incidents, open->info.incident)) {
            open->info.incident = 0;
            join(one, open, now);
        }
    if (one->is_dead && (is_new || !incident_list_has(one->incidents, one->dead_incident)))
        join_no_data(one, now);
    stream_read_unlock(one);
}

static bool is_it(const stream_episode *info, const oif_incident_member *member)
{
    char key[OIF_INCIDENT_TEXT_BYTES];
    return info->number == member->episode &&
           incident_key(info->key, info->key_bytes, key) == member->key_bytes &&
           memcmp(key, member->key, member->key_bytes) == 0;
}

bool stream_has_member(stream *one, const oif_incident_member *member)
{
    stream_read_lock(one);
    bool is_found =
        one->is_broken || (one->is_dead && member->episode == 0 && member->key_bytes == 0);
    for (const history_episode *open = one->past->open; open && !is_found; open = open->older)
        is_found = is_it(&open->info, member);
    stream_read_unlock(one);
    return is_found;
}
