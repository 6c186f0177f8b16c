/* What a stream is, and what a key is: one word each, decided here for the page, the API, the
 * metrics and Alertmanager alike. The worst of several is the word:
 *
 *     quiet < learning < recovering < no data < alert < damaged
 *
 * A stream is in an alert if one of its keys is. It is learning while most of its keys are, and it
 * has no data if all keys are silent, or one that was heard within a day: a key that was silent for
 * longer is probably gone. */
#include "stream_parts.h"

#include <inttypes.h>
#include <math.h>

const char *const watch_words[WATCH_STATES] = {"quiet",   "learning", "recovering",
                                               "no data", "alert",    "damaged"};

static const double gone_seconds = 86400;

/* ---- Learning ---- */

/* Seconds from row to row of a key, by its latest rows; NaN: their times do not say. */
static double pace_of(const stream *one, const history_key *key)
{
    enum { ROWS_MAX = 64 };
    const uint32_t count = key->points.count, rows = count < ROWS_MAX ? count : ROWS_MAX;
    if (rows < 2)
        return NAN;
    const double first = history_point_at(one->past, key, count - rows)->time,
                 last = history_point_at(one->past, key, count - 1)->time;
    return (last - first) / (rows - 1);
}

/* A key that learns, among the latest: its pace stands for that of the others. NULL: none is
 * near. */
static const history_key *find_learning(const stream *one)
{
    enum { LOOKED_AT = 64 };
    const history_key *key = one->past->newest;
    for (int i = 0; key && key->info.is_ready && i < LOOKED_AT; i++)
        key = key->older;
    return key && !key->info.is_ready ? key : NULL;
}

/* Rows that were loaded from a file have no pace by the clock. */
static void fill_learning(const stream *one, const history_key *key, double now,
                          stream_state *state)
{
    const double needed = OIF_FIRST_ROWS + 1; /* the first that can be an anomaly */
    const double pace = key && silence_clock_is_live(&one->quiet, now) ? pace_of(one, key) : NAN;
    state->needed_rows = fmax(needed, state->learned_rows + 1);
    state->seconds_left = pace > 0 ? (state->needed_rows - state->learned_rows) * pace : NAN;
}

/* ---- Episodes ---- */

static bool is_recovering(const history_key *key)
{
    return 2 * key->info.calm_rows >= OIF_CALM_ROWS;
}

static void take_episode(stream_state *state, const stream_episode *info, bool recovers)
{
    const watch_state what = recovers ? WATCH_RECOVERING : WATCH_ALERT;
    state->keys++;
    state->what = what > state->what ? what : state->what;
    state->since = fmin(state->since, info->began); /* NaN counts as the later one */
    state->grade = info->grade > state->grade ? info->grade : state->grade;
    state->severity = fmax(state->severity, info->peak_severity);
}

bool stream_is_recovering(const stream *one, const history_episode *open)
{
    const history_key *key = history_find(one->past, open->info.key, open->info.key_bytes);
    return key && key->open == open && is_recovering(key);
}

static void look_for_episodes(const stream *one, stream_state *state)
{
    for (const history_episode *open = one->past->open; open; open = open->older)
        take_episode(state, &open->info, stream_is_recovering(one, open));
}

/* ---- No data ---- */

static bool is_gone(const history_key *key, double now)
{
    return !(now - key->info.last_seen < gone_seconds);
}

/* The keys that are silent and not gone, and since when the first of them is. */
static size_t count_silent(const stream *one, double now, double *since)
{
    size_t silent = 0;
    for (const history_key *key = one->past->newest; key; key = key->older)
        if (key->info.is_silent && !is_gone(key, now)) {
            silent++;
            *since = fmin(*since, key->info.last_seen);
        }
    return silent;
}

static void look_for_silence(const stream *one, double now, stream_state *state)
{
    double since = NAN;
    if (!one->is_dead && one->past->silent_count == 0)
        return;
    const size_t silent = one->is_dead ? one->past->keys.count : count_silent(one, now, &since);
    if (silent == 0)
        return;
    state->what = WATCH_NO_DATA;
    state->keys = silent;
    state->since = one->is_dead ? one->counted.last_row_at : since;
}

/* ---- The state ---- */

static stream_state start_state(void)
{
    return (stream_state){.since = NAN,
                          .severity = NAN,
                          .learned_rows = NAN,
                          .needed_rows = NAN,
                          .seconds_left = NAN};
}

/* With open episodes, their grade and severity stay, whatever the word is. */
stream_state stream_state_of(const stream *one, double now)
{
    const history *past = one->past;
    stream_state state = start_state();
    if (one->error[0] != '\0') {
        state.what = WATCH_DAMAGED;
        return state;
    }
    if (!one->pipeline) {
        state.what = WATCH_NO_DATA;
        return state;
    }
    look_for_episodes(one, &state);
    if (state.what < WATCH_NO_DATA)
        look_for_silence(one, now, &state);
    if (state.what == WATCH_QUIET && 2 * past->learning_count > past->keys.count) {
        state.what = WATCH_LEARNING;
        state.keys = past->learning_count;
        state.learned_rows = (double)past->learning_rows / (double)past->learning_count;
        fill_learning(one, find_learning(one), now, &state);
    }
    return state;
}

stream_state stream_key_state(const stream *one, const history_key *key, double now)
{
    stream_state state = start_state();
    if (key->open)
        take_episode(&state, &key->open->info, is_recovering(key));
    state.keys = 1;
    if (state.what < WATCH_NO_DATA && (key->info.is_silent || one->is_dead)) {
        state.what = WATCH_NO_DATA;
        state.since = key->info.last_seen;
    }
    if (state.what == WATCH_QUIET && !key->info.is_ready) {
        state.what = WATCH_LEARNING;
        state.learned_rows = (double)key->info.rows;
        fill_learning(one, key, now, &state);
    }
    return state;
}

/* ---- JSON ---- */

static void write_learning(const stream_state *state)
{
    output_print(",\"learning\":{\"rows\":%.0f", floor(state->learned_rows));
    write_json_member("of", state->needed_rows);
    write_json_member("seconds_left", round(state->seconds_left));
    output_print("}");
}

void stream_write_state(const stream_state *state)
{
    write_json_string("state", watch_words[state->what]);
    write_json_member("state_since", state->since);
    write_json_text("state_grade", grade_word(state->grade));
    write_json_member("state_severity", rounded_severity(state->severity));
    output_print(",\"state_keys\":%zu", state->keys);
    if (state->what == WATCH_LEARNING)
        write_learning(state);
    else
        output_print(",\"learning\":null");
}
