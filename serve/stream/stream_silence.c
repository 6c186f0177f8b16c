/* Silent keys: found as the times of rows advance and, while no row comes, as the wall clock does.
 * As in cli/score/silence_monitor.c, the wall clock counts only for a stream whose times are near
 * it, and pauses between bodies are not silence. */
#include "stream_parts.h"

#include <math.h>

enum { ARRIVALS_KNOWN = 4 };

static const double near_the_clock = 86400; /* seconds: the time zone may be unknown */

/* What to report at a moment. */
typedef struct silence_visit {
    stream *one;
    size_t count;
} silence_visit;

static void mark_silent(void *context, const oif_silence *silence)
{
    silence_visit *visit = context;
    stream *one = visit->one;
    visit->count++;
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
    silence_visit visit = {one, 0};
    oif_pipeline_silent(one->pipeline, seconds, mark_silent, &visit);
    return visit.count;
}

void stream_hear_row(stream *one, double seconds)
{
    if (isnan(seconds) || seconds <= one->quiet.latest)
        return;
    one->quiet.latest = seconds;
    stream_silent_at(one, seconds);
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

void stream_hear_arrival(stream *one, double now)
{
    double idle = now - one->last_row_at;
    one->quiet.arrivals++;
    if (idle > one->quiet.longest_idle)
        one->quiet.longest_idle = idle;
}

static bool is_fixed(const stream *one)
{
    double fixed = 0;
    oif_status status =
        oif_params_get(oif_pipeline_options(one->pipeline), "silence", &fixed, NULL);
    return status == OIF_OK && fixed > 0;
}

/* What the clock changes is part of the state, so it goes into the journal, even if the history has
 * dropped the key. */
void stream_hear_idle(stream *one, double now)
{
    double idle = now - one->last_row_at;
    problem ignored;
    if (!one->pipeline || one->is_broken || !(fabs(now - one->quiet.latest) < near_the_clock))
        return;
    bool has_fixed = is_fixed(one);
    if (!has_fixed && one->quiet.arrivals < ARRIVALS_KNOWN)
        return;
    if (!has_fixed)
        idle -= 2 * one->quiet.longest_idle;
    double seconds = one->quiet.latest + fmax(idle, 0);
    size_t reported = stream_silent_at(one, seconds);
    const journal_record record = {
        .kind = JOURNAL_CLOCK, .first_row = stream_row_count(one), .seconds = seconds};
    if (reported > 0 && !stream_keep_record(one, &record, &ignored))
        one->is_failing = true;
}
