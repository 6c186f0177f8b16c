/* Silent keys: found as the times of rows advance and, while no row comes, as the wall clock
 * does. And feeds that have stopped: all keys are silent, or no row came for longer than usual.
 *
 * While the server was stopped it could not receive rows, so that time is not silence. */
#include "stream_parts.h"

#include "front/session/row_session.h"

#include <math.h>

void stream_take_silence(void *context, const oif_silence *silence)
{
    stream *one = context;
    const char *name = silence->key ? silence->key : "";
    history_key *key = history_find(one->past, name, silence->key_bytes);
    const double at = one->opened_at + silence->allowed;
    if (key && one->now < at && silence_clock_is_live(&one->quiet, one->now)) {
        history_wait_silent(one->past, key, at);
        return;
    }
    if (key)
        history_set_silent(one->past, key, true);
    stream_publish_silence(one, name, silence->key_bytes, true, silence->since, silence->allowed);
}

/* Keys that the server has not heard since it was started, for longer than is allowed. */
static void end_waiting(stream *one, double now)
{
    for (history_key *key = one->past->newest; key && one->past->waiting_count > 0;
         key = key->older) {
        if (!(key->silent_at > 0) || now < key->silent_at)
            continue;
        const stream_key *info = &key->info;
        const double allowed = key->silent_at - one->opened_at;
        history_wait_silent(one->past, key, 0);
        history_set_silent(one->past, key, true);
        stream_publish_silence(one, info->key, info->key_bytes, true, info->last_seen, allowed);
    }
}

size_t stream_silent_at(stream *one, double seconds)
{
    const row_session session = {.pipeline = one->pipeline,
                                 .sink = {.context = one, .silent = stream_take_silence}};
    return row_session_look(&session, seconds);
}

void stream_note_result(stream *one, history_key *key, double seconds, const oif_result *result)
{
    if (key->silent_at > 0)
        history_wait_silent(one->past, key, 0);
    if (!key->info.is_silent)
        return;
    history_set_silent(one->past, key, false);
    stream_publish_silence(one, key->info.key, key->info.key_bytes, false, seconds - result->pause,
                           result->pause);
}

/* ---- The feed ---- */

static double idle_seconds(const stream *one, double now)
{
    return now - fmax(one->counted.last_row_at, one->opened_at);
}

/* The setting silence is the limit of each key, and so of all together. */
static double feed_limit(const stream *one, double now)
{
    double fixed = 0;
    oif_status status =
        oif_params_get(oif_pipeline_options(one->pipeline), "silence", &fixed, NULL);
    if (status == OIF_OK && fixed != 0)
        return fixed > 0 ? fixed : INFINITY;
    return arrival_gaps_limit(&one->gaps, now, silence_clock_is_live(&one->quiet, now));
}

static void tell_feed(const stream *one, bool begins, double since, double seconds)
{
    const bool has_keys = one->settings.cli.score.key != NULL;
    if (has_keys || one->past->silent_count == 0) /* else its only key was reported */
        stream_publish_silence(one, NULL, 0, begins, since, seconds);
}

void stream_feed_dies(stream *one, double now)
{
    one->is_dead = true;
    one->changes++;
    stream_join_no_data(one, now);
    tell_feed(one, true, one->counted.last_row_at, feed_limit(one, now));
}

void stream_feed_arrives(stream *one, double now)
{
    const double before = one->counted.last_row_at;
    silence_clock_arrive(&one->quiet, idle_seconds(one, now));
    arrival_gaps_add(&one->gaps, idle_seconds(one, now), now);
    one->counted.last_row_at = now;
    if (!one->is_dead)
        return;
    one->is_dead = false;
    stream_leave_no_data(one, now);
    tell_feed(one, false, before, now - before);
}

static bool is_feed_dead(const stream *one, double now)
{
    const history *past = one->past;
    return (past->keys.count > 0 && past->silent_count == past->keys.count) ||
           idle_seconds(one, now) > feed_limit(one, now);
}

static void watch_feed(stream *one, double now)
{
    problem ignored;
    if (one->is_dead || !is_feed_dead(one, now))
        return;
    const journal_record record = {
        .kind = JOURNAL_NO_DATA, .first_row = stream_row_count(one), .seconds = now};
    if (!stream_keep_record(one, &record, &ignored))
        one->is_failing = true;
    stream_feed_dies(one, now);
}

/* What the clock changes is part of the state, so it goes into the journal, even if the history has
 * dropped the key. */
static void look_for_silent_keys(stream *one, double now)
{
    problem ignored;
    const double seconds =
        silence_clock_now(&one->quiet, one->pipeline, now, idle_seconds(one, now));
    if (isnan(seconds))
        return;
    const journal_record record = {
        .kind = JOURNAL_CLOCK, .first_row = stream_row_count(one), .seconds = seconds};
    if (stream_silent_at(one, seconds) > 0 && !stream_keep_record(one, &record, &ignored))
        one->is_failing = true;
}

void stream_note_idle(stream *one, double now)
{
    if (!one->pipeline || one->is_broken)
        return;
    one->now = now;
    end_waiting(one, now);
    look_for_silent_keys(one, now);
    watch_feed(one, now);
}
