/* Episodes that do not wait for their rows: a person looks after one and may close it, and one
 * whose source has stopped ends. Both concern the history, not the pipeline, and go into the
 * journal. */
#include "stream_parts.h"

#include "serve/base/background.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Acknowledging ---- */

/* The payload: by, NUL, note, NUL, key. The caller frees it; NULL: out of memory. */
static char *make_payload(const acknowledgement *said, size_t *bytes)
{
    const size_t by_bytes = strlen(said->by) + 1, note_bytes = strlen(said->note) + 1;
    *bytes = by_bytes + note_bytes + said->of.key_bytes;
    char *payload = malloc(*bytes);
    if (!payload)
        return NULL;
    memcpy(payload, said->by, by_bytes);
    memcpy(payload + by_bytes, said->note, note_bytes);
    if (said->of.key_bytes > 0)
        memcpy(payload + by_bytes + note_bytes, said->of.key, said->of.key_bytes);
    return payload;
}

static bool keep_acknowledgement(stream *one, const acknowledgement *said, double now, problem *why)
{
    journal_record record = {.kind = JOURNAL_ACKNOWLEDGE,
                             .format = said->closes,
                             .first_row = stream_row_count(one),
                             .skip = said->of.number,
                             .seconds = now};
    char *payload = make_payload(said, &record.bytes);
    record.payload = payload;
    bool is_kept = payload ? stream_keep_record(one, &record, why)
                           : problem_set(why, 503, NULL, "out of memory");
    free(payload);
    return is_kept;
}

static history_episode *find_episode(const stream *one, const episode_name *name)
{
    return history_find_episode(one->past, name->key ? name->key : "", name->key_bytes,
                                name->number);
}

/* Ends an episode before its rows do, for its incident, too. */
static void shut(stream *one, history_episode *episode, episode_end by, double now)
{
    history_shut(one->past, episode, by);
    stream_leave_incident(one, episode, now);
    one->changes++;
}

static bool apply(stream *one, history_episode *episode, const acknowledgement *said, double at)
{
    if (!history_acknowledge(one->past, episode, said->by, said->note, at))
        return false;
    if (said->closes)
        shut(one, episode, ENDED_BY_PERSON, at);
    one->changes++;
    return true;
}

/* Call it under the lock. */
static bool acknowledge(stream *one, const acknowledgement *said, problem *why)
{
    const double now = background_wall_seconds();
    if (!stream_check_usable(one, why))
        return false;
    history_episode *episode = find_episode(one, &said->of);
    if (!episode)
        return problem_set(why, 404, "GET .../episodes lists those that are remembered.",
                           "there is no episode %llu of this key",
                           (unsigned long long)said->of.number);
    if (!keep_acknowledgement(one, said, now, why))
        return false;
    if (!apply(one, episode, said, now)) {
        if (one->folder)
            journal_undo(&one->log);
        return problem_set(why, 503, NULL, "out of memory");
    }
    stream_write_episode(one, episode);
    output_write("\n", 1);
    stream_tell_episode(one, episode);
    return true;
}

bool stream_acknowledge(stream *one, const acknowledgement *said, problem *why)
{
    stream_begin_change(one);
    bool is_good = acknowledge(one, said, why);
    stream_end_change(one);
    if (is_good)
        stream_sync(one);
    return is_good;
}

void stream_replay_acknowledgement(stream *one, const journal_record *record)
{
    const char *by = record->payload, *end = by + record->bytes,
               *by_end = memchr(by, '\0', record->bytes), *text = by_end ? by_end + 1 : end,
               *text_end = memchr(text, '\0', (size_t)(end - text));
    if (!text_end)
        return;
    const acknowledgement said = {.of = {text_end + 1, (size_t)(end - text_end) - 1, record->skip},
                                  .by = by,
                                  .note = text,
                                  .closes = record->format != 0};
    history_episode *episode = find_episode(one, &said.of);
    if (episode)
        apply(one, episode, &said, record->seconds);
}

/* ---- Stopped sources ---- */

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
    shut(one, episode, ENDED_BY_SILENCE, now);
    stream_tell_episode(one, episode);
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
    shut(one, key->open, ENDED_BY_SILENCE, record->seconds);
}
