#include "history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* gcc's analyzer reports texts as leaked if they are stored through a pointer into a list. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

enum { FIRST_POINTS = 8 };

/* ---- Lifecycle ---- */

history *history_new(size_t limit_bytes)
{
    history *past = calloc(1, sizeof *past);
    if (!past)
        return NULL;
    past->limit_bytes = limit_bytes;
    past->points_max = POINTS_MAX;
    return past;
}

static void free_episode(history_episode *episode)
{
    if (!episode)
        return;
    free((void *)(uintptr_t)episode->info.key);
    free((void *)(uintptr_t)episode->info.column);
    free((void *)(uintptr_t)episode->info.reason);
    free(episode);
}

static void free_alert(history_alert *alert)
{
    free(alert->key);
    free(alert->text);
    *alert = (history_alert){.key = NULL};
}

void history_free(history *past)
{
    if (!past)
        return;
    for (history_key *key = past->newest; key; key = key->older)
        free(key->points);
    byte_table_free(&past->keys);
    for (history_episode *episode = past->open, *older; episode; episode = older) {
        older = episode->older;
        free_episode(episode);
    }
    for (size_t i = 0; i < ENDED_MAX; i++)
        free_episode(past->ended[i]);
    for (size_t i = 0; i < ALERTS_MAX; i++)
        free_alert(&past->alerts[i]);
    free(past);
}

void history_start(history *past, size_t value_count)
{
    const size_t bytes = sizeof(history_point) + value_count * sizeof(float);
    past->value_count = value_count;
    past->point_bytes = (bytes + 7) / 8 * 8; /* points in a ring are aligned */
}

static char *copy_text(const char *text, size_t bytes)
{
    char *copy = malloc(bytes + 1);
    if (!copy)
        return NULL;
    if (bytes > 0)
        memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

/* ---- Keys ---- */

history_key *history_find(const history *past, const char *key, size_t bytes)
{
    return byte_table_find(&past->keys, key, bytes);
}

static void link_newest(history *past, history_key *key)
{
    key->newer = NULL;
    key->older = past->newest;
    if (past->newest)
        past->newest->newer = key;
    else
        past->oldest = key;
    past->newest = key;
}

static void unlink_key(history *past, history_key *key)
{
    *(key->newer ? &key->newer->older : &past->newest) = key->older;
    *(key->older ? &key->older->newer : &past->oldest) = key->newer;
}

static size_t bytes_of_key(const history_key *key)
{
    return sizeof *key + key->info.key_bytes + 1;
}

static history_key *add_key(history *past, const char *name, size_t bytes)
{
    history_key *key = byte_table_add(&past->keys, name, bytes, sizeof *key);
    if (!key)
        return NULL;
    key->info = (stream_key){.key = key->item.key,
                             .key_bytes = bytes,
                             .last_seen = NAN,
                             .score = NAN,
                             .threshold = NAN,
                             .reason = ""};
    past->bytes += bytes_of_key(key);
    link_newest(past, key);
    return key;
}

history_key *history_touch(history *past, const char *name, size_t bytes)
{
    history_key *key = history_find(past, name, bytes);
    if (!key)
        return add_key(past, name, bytes);
    if (key->newer) {
        unlink_key(past, key);
        link_newest(past, key);
    }
    return key;
}

static void end_episode(history *past, history_key *key);

void history_forget(history *past, history_key *key)
{
    unlink_key(past, key);
    if (key->open)
        end_episode(past, key);
    past->silent_count -= key->info.is_silent;
    past->bytes -= bytes_of_key(key) + key->capacity * past->point_bytes;
    free(key->points);
    byte_table_remove(&past->keys, key);
}

/* ---- Points ---- */

const history_point *history_point_at(const history *past, const history_key *key, uint32_t index)
{
    size_t place = (key->start + index) % key->capacity;
    return (const void *)(key->points + place * past->point_bytes);
}

const float *history_values(const history_point *point)
{
    return (const float *)(const void *)(point + 1);
}

/* Resizes a ring, keeping the latest points. */
static bool resize(history *past, history_key *key, uint32_t capacity)
{
    char *points = malloc(capacity * past->point_bytes);
    uint32_t kept = key->count < capacity ? key->count : capacity;
    if (!points)
        return false;
    for (uint32_t i = 0; i < kept; i++)
        memcpy(points + i * past->point_bytes, history_point_at(past, key, key->count - kept + i),
               past->point_bytes);
    past->bytes -= key->capacity * past->point_bytes;
    past->bytes += capacity * past->point_bytes;
    key->capacity = capacity;
    key->count = kept;
    key->start = 0;
    free(key->points);
    key->points = points;
    return true;
}

/* Frees memory for that many more bytes. The key `kept` is never dropped. */
static void make_room(history *past, size_t bytes, const history_key *kept)
{
    while (past->bytes + bytes > past->limit_bytes && past->points_max > POINTS_MIN) {
        past->points_max /= 2;
        for (history_key *key = past->newest; key; key = key->older)
            if (key->capacity > past->points_max)
                resize(past, key, past->points_max);
    }
    for (history_key *key = past->oldest, *newer; key && past->bytes + bytes > past->limit_bytes;
         key = newer) {
        newer = key->newer;
        if (key != kept && !key->open)
            history_forget(past, key);
    }
}

static void grow(history *past, history_key *key)
{
    uint32_t capacity = key->capacity > 0 ? 2 * key->capacity : FIRST_POINTS;
    size_t more = (capacity - key->capacity) * past->point_bytes;
    if (past->bytes + more > past->limit_bytes)
        make_room(past, more, key);
    if (capacity > past->points_max)
        capacity = past->points_max;
    if (capacity > key->capacity)
        resize(past, key, capacity);
}

void *history_new_point(history *past, history_key *key)
{
    if (key->count == key->capacity && key->capacity < past->points_max)
        grow(past, key);
    if (key->capacity == 0)
        return NULL;
    uint32_t at = (key->start + key->count) % key->capacity;
    if (key->count == key->capacity)
        key->start = (key->start + 1) % key->capacity;
    else
        key->count++;
    return key->points + at * past->point_bytes;
}

void history_add_point(history *past, history_key *key, const history_point *point,
                       const double *values)
{
    char *to = history_new_point(past, key);
    if (!to)
        return;
    memcpy(to, point, sizeof *point);
    float *numbers = (float *)(void *)(to + sizeof *point);
    for (size_t i = 0; i < past->value_count; i++)
        numbers[i] = (float)values[i];
    if (past->value_count % 2)
        numbers[past->value_count] = 0; /* points go whole into the file */
}

/* ---- Episodes ---- */

static void link_open(history *past, history_episode *episode)
{
    episode->newer = NULL;
    episode->older = past->open;
    if (past->open)
        past->open->newer = episode;
    past->open = episode;
    past->open_count++;
}

static history_episode *begin_episode(history *past, history_key *key)
{
    history_episode *episode = calloc(1, sizeof *episode);
    char *copy = copy_text(key->info.key, key->info.key_bytes);
    if (!episode || !copy) {
        free(episode);
        free(copy);
        return NULL;
    }
    episode->info.key = copy;
    episode->info.key_bytes = key->info.key_bytes;
    key->open = episode;
    link_open(past, episode);
    return episode;
}

/* Drops the oldest ended episode if necessary. */
static void end_episode(history *past, history_key *key)
{
    history_episode *episode = key->open;
    *(episode->newer ? &episode->newer->older : &past->open) = episode->older;
    if (episode->older)
        episode->older->newer = episode->newer;
    past->open_count--;
    key->open = NULL;
    key->info.episode = 0;
    key->info.reason = "";
    if (!episode->info.is_over) {
        episode->info.is_over = true;
        episode->info.ended = episode->info.last_seen;
    }
    size_t at = (past->ended_start + past->ended_count) % ENDED_MAX;
    if (past->ended_count == ENDED_MAX)
        past->ended_start = (past->ended_start + 1) % ENDED_MAX;
    else
        past->ended_count++;
    free_episode(past->ended[at]);
    past->ended[at] = episode;
}

static void replace_text(const char **text, const char *by)
{
    if (!by || (*text && strcmp(*text, by) == 0))
        return;
    char *copy = copy_text(by, strlen(by));
    if (!copy)
        return;
    free((void *)(uintptr_t)*text);
    *text = copy;
}

history_episode *history_episode_now(history *past, history_key *key, const stream_episode *info)
{
    if (key->open && key->open->info.number != info->number)
        end_episode(past, key);
    if (!key->open && !begin_episode(past, key))
        return NULL;
    history_episode *episode = key->open;
    const stream_episode before = episode->info;
    episode->info = *info;
    episode->info.key = before.key;
    episode->info.key_bytes = before.key_bytes;
    episode->info.column = before.column;
    episode->info.reason = before.reason;
    if (before.number != 0)
        episode->info.first_row = before.first_row;
    if (before.number != 0 && !info->has_time)
        episode->info.began = before.began;
    key->info.episode = info->number;
    replace_text(&episode->info.column, info->column);
    replace_text(&episode->info.reason, info->reason);
    key->info.reason = episode->info.reason ? episode->info.reason : "";
    if (info->is_over)
        end_episode(past, key);
    return episode;
}

const history_episode *history_ended_at(const history *past, size_t index)
{
    return past->ended[(past->ended_start + past->ended_count - 1 - index) % ENDED_MAX];
}

/* ---- Alerts ---- */

void history_add_alert(history *past, uint64_t row, double time, const char *key, size_t key_bytes,
                       char *text, size_t bytes)
{
    char *copy = copy_text(key, key_bytes);
    if (!copy || !text) {
        free(copy);
        free(text);
        return;
    }
    history_alert *alert = &past->alerts[(past->alert_start + past->alert_count) % ALERTS_MAX];
    if (past->alert_count == ALERTS_MAX)
        past->alert_start = (past->alert_start + 1) % ALERTS_MAX;
    else
        past->alert_count++;
    free_alert(alert);
    *alert = (history_alert){row, time, copy, key_bytes, text, bytes};
}

const history_alert *history_alert_at(const history *past, size_t index)
{
    return &past->alerts[(past->alert_start + past->alert_count - 1 - index) % ALERTS_MAX];
}
