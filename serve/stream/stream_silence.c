/* Silent keys: found as the times of rows advance and, while no row comes, as the wall clock
 * does. */
#include "stream_parts.h"

#include "front/session/row_session.h"

#include <math.h>

void stream_take_silence(void *context, const oif_silence *silence)
{
    stream *one = context;
    const char *name = silence->key ? silence->key : "";
    history_key *key = history_find(one->past, name, silence->key_bytes);
    if (key && !key->info.is_silent) {
        key->info.is_silent = true;
        one->past->silent_count++;
    }
    stream_tell_silence(one, name, silence->key_bytes, true, silence->since, silence->allowed);
}

size_t stream_silent_at(stream *one, double seconds)
{
    const row_session session = {.pipeline = one->pipeline,
                                 .sink = {.context = one, .silent = stream_take_silence}};
    return row_session_look(&session, seconds);
}

void stream_hear_result(stream *one, history_key *key, double seconds, const oif_result *result)
{
    if (!key->info.is_silent)
        return;
    key->info.is_silent = false;
    one->past->silent_count--;
    stream_tell_silence(one, key->info.key, key->info.key_bytes, false, seconds - result->pause,
                        result->pause);
}

/* What the clock changes is part of the state, so it goes into the journal, even if the history has
 * dropped the key. */
void stream_hear_idle(stream *one, double now)
{
    problem ignored;
    if (!one->pipeline || one->is_broken)
        return;
    const double seconds =
        silence_clock_now(&one->quiet, one->pipeline, now, now - one->counted.last_row_at);
    if (isnan(seconds))
        return;
    const journal_record record = {
        .kind = JOURNAL_CLOCK, .first_row = stream_row_count(one), .seconds = seconds};
    if (stream_silent_at(one, seconds) > 0 && !stream_keep_record(one, &record, &ignored))
        one->is_failing = true;
}
