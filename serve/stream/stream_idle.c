/* Episodes whose source has stopped: they end without waiting for their rows. That concerns the
 * history, not the pipeline, and goes into the journal. */
#include "stream_parts.h"

#include <math.h>

/* Ends an episode before its rows do, for its incident, too. */
static void shut(stream *one, history_episode *episode, double now)
{
    history_shut(one->past, episode);
    stream_leave_incident(one, episode, now);
    one->changes++;
}

static void end_idle(stream *one, history_episode *episode, double now)
{
    problem ignored;
    const journal_record record = {.kind = JOURNAL_END,
                                   .first_row = stream_row_count(one),
                                   .skip = episode->info.number,
                                   .seconds = now,
                                   .payload = episode->info.key,
                                   .bytes = episode->info.key_bytes};
    if (!stream_keep_record(one, &record, &ignored))
        one->is_failing = true;
    shut(one, episode, now);
    stream_publish_episode(one, episode);
}

/* While the server was stopped it could not receive rows, so that time does not count. */
void stream_end_idle_episodes(stream *one, double now)
{
    const double longest = one->settings.end_after_seconds;
    if (!one->pipeline || one->is_broken)
        return;
    for (history_episode *episode = one->past->open, *older; episode; episode = older) {
        older = episode->older;
        if (now - fmax(episode->info.arrived, one->opened_at) >= longest)
            end_idle(one, episode, now);
    }
}

void stream_replay_end(stream *one, const journal_record *record)
{
    const history_key *key = history_find(one->past, record->payload, record->bytes);
    if (!key || !key->open || key->open->info.number != record->skip)
        return;
    shut(one, key->open, record->seconds);
}
