#include "history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* gcc's analyzer reports texts as leaked if they are stored through a pointer into a list. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

enum { FIRST_POINTS = 2, FIRST_BANDS = 1, POINTS_PER_BAND = 4 };

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

/* What a key takes without the blocks that it points to. */
static size_t bytes_of_key(const history_key *key)
{
    return byte_table_item_bytes(key->info.key_bytes, sizeof *key);
}

static void free_rings(history *past, history_key *key)
{
    history_ring_free(&key->points, &past->pool, past->point_bytes);
    history_ring_free(&key->bands, &past->pool, past->band_bytes);
}

/* Of a key that is in no list any more. */
static void free_key(history *past, history_key *key)
{
    block_pool_free(&past->pool, key->bucket, trend_bucket_bytes(past->value_count));
    free_rings(past, key);
    byte_table_take(&past->keys, key);
    block_pool_free(&past->pool, key, bytes_of_key(key));
}

void history_free(history *past)
{
    if (!past)
        return;
    for (history_key *key = past->newest, *older; key; key = older) {
        older = key->older;
        free_key(past, key);
    }
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
    past->band_bytes = sizeof(history_band) + 2 * value_count * sizeof(float);
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

static size_t bytes_of_rings(const history *past, const history_key *key)
{
    return history_ring_bytes(&key->points, past->point_bytes) +
           history_ring_bytes(&key->bands, past->band_bytes);
}

static history_key *new_key(history *past, const char *name, size_t bytes)
{
    const size_t item_bytes = byte_table_item_bytes(bytes, sizeof(history_key));
    history_key *key = block_pool_new(&past->pool, item_bytes);
    if (!key)
        return NULL;
    memset(key, 0, item_bytes);
    if (byte_table_put(&past->keys, name, bytes, key, sizeof *key))
        return key;
    block_pool_free(&past->pool, key, item_bytes);
    return NULL;
}

static history_key *add_key(history *past, const char *name, size_t bytes)
{
    history_key *key = new_key(past, name, bytes);
    if (!key)
        return NULL;
    key->info = (stream_key){.key = key->item.key,
                             .key_bytes = bytes,
                             .last_seen = NAN,
                             .score = NAN,
                             .threshold = NAN,
                             .reason = ""};
    past->bytes += block_pool_room(bytes_of_key(key));
    past->learning_count++;
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

/* ---- What a key is ---- */

static void leave_learning(history *past, history_key *key)
{
    if (key->info.is_ready)
        return;
    key->info.is_ready = true;
    past->learning_count--;
    past->learning_rows -= key->info.rows;
}

void history_count_row(history *past, history_key *key, bool is_ready, bool is_anomaly)
{
    stream_key *info = &key->info;
    if (is_ready)
        leave_learning(past, key);
    else if (info->is_ready) { /* a new model, or another threshold */
        info->is_ready = false;
        past->learning_count++;
        past->learning_rows += info->rows;
    }
    info->rows++;
    past->learning_rows += !info->is_ready;
    info->calm_rows = is_anomaly                     ? 0
                      : info->calm_rows < UINT16_MAX ? (uint16_t)(info->calm_rows + 1)
                                                     : UINT16_MAX;
}

void history_wait_silent(history *past, history_key *key, double at)
{
    past->waiting_count += (at > 0) - (size_t)(key->silent_at > 0);
    key->silent_at = at;
}

void history_set_silent(history *past, history_key *key, bool is_silent)
{
    past->silent_count += is_silent - (size_t)key->info.is_silent;
    key->info.is_silent = is_silent;
}

/* ---- The open bucket ---- */

uint64_t history_hash(const char *key, size_t bytes)
{
    const uint64_t hash = byte_hash(BYTE_HASH_START, key, bytes);
    return hash != 0 ? hash : 1;
}

static size_t bytes_of_bucket(const history *past, const history_key *key)
{
    return key->bucket ? block_pool_room(trend_bucket_bytes(past->value_count)) : 0;
}

trend_bucket *history_bucket(history *past, history_key *key)
{
    if (key->bucket)
        return key->bucket;
    key->bucket = block_pool_new(&past->pool, trend_bucket_bytes(past->value_count));
    past->bytes += bytes_of_bucket(past, key);
    if (key->bucket)
        trend_bucket_clear(key->bucket, history_hash(key->info.key, key->info.key_bytes),
                           past->value_count);
    return key->bucket;
}

void history_forget(history *past, history_key *key)
{
    if (past->on_drop)
        past->on_drop(past->drop_context, key);
    unlink_key(past, key);
    if (key->open)
        history_end(past, key);
    history_wait_silent(past, key, 0);
    history_set_silent(past, key, false);
    leave_learning(past, key);
    past->bytes -=
        block_pool_room(bytes_of_key(key)) + bytes_of_rings(past, key) + bytes_of_bucket(past, key);
    free_key(past, key);
}

/* ---- Rings ---- */

static bool resize(history *past, history_ring *ring, size_t item_bytes, uint32_t capacity)
{
    const size_t before = history_ring_bytes(ring, item_bytes);
    if (!history_ring_resize(ring, &past->pool, item_bytes, capacity))
        return false;
    past->bytes += history_ring_bytes(ring, item_bytes) - before;
    return true;
}

/* Items of a ring with one for `per_item` points. */
static uint32_t most_items(const history *past, uint32_t per_item)
{
    return past->points_max > per_item ? past->points_max / per_item : 1;
}

static void cut_rings(history *past, history_key *key)
{
    if (key->points.capacity > past->points_max)
        resize(past, &key->points, past->point_bytes, past->points_max);
    const uint32_t most = most_items(past, POINTS_PER_BAND);
    if (key->bands.capacity > most)
        resize(past, &key->bands, past->band_bytes, most);
}

/* Frees memory for that many more bytes. The key `kept` is never dropped. */
static void make_room(history *past, size_t bytes, const history_key *kept)
{
    while (past->bytes + bytes > past->limit_bytes && past->points_max > POINTS_MIN) {
        past->points_max /= 2;
        for (history_key *key = past->newest; key; key = key->older)
            cut_rings(past, key);
    }
    for (history_key *key = past->oldest, *newer; key && past->bytes + bytes > past->limit_bytes;
         key = newer) {
        newer = key->newer;
        if (key != kept && !key->open)
            history_forget(past, key);
    }
}

/* To the double, at most to one item for `per_item` points. */
static void grow(history *past, const history_key *key, history_ring *ring, size_t item_bytes,
                 uint32_t first, uint32_t per_item)
{
    uint32_t capacity = ring->capacity > 0 ? 2 * ring->capacity : first;
    size_t more = block_pool_room(capacity * item_bytes) - history_ring_bytes(ring, item_bytes);
    if (past->bytes + more > past->limit_bytes)
        make_room(past, more, key);
    if (capacity > most_items(past, per_item))
        capacity = most_items(past, per_item);
    if (capacity > ring->capacity)
        resize(past, ring, item_bytes, capacity);
}

/* ---- Points ---- */

const history_point *history_point_at(const history *past, const history_key *key, uint32_t index)
{
    return history_ring_at(&key->points, past->point_bytes, index);
}

const float *history_values(const history_point *point)
{
    return (const float *)(const void *)(point + 1);
}

void *history_new_point(history *past, history_key *key)
{
    history_ring *points = &key->points;
    if (points->count == points->capacity && points->capacity < past->points_max)
        grow(past, key, points, past->point_bytes, FIRST_POINTS, 1);
    return history_ring_add(points, past->point_bytes);
}

const history_point *history_add_point(history *past, history_key *key, const history_point *point,
                                       const double *values)
{
    char *to = history_new_point(past, key);
    if (!to)
        return NULL;
    memcpy(to, point, sizeof *point);
    float *numbers = (float *)(void *)(to + sizeof *point);
    for (size_t i = 0; i < past->value_count; i++)
        numbers[i] = (float)values[i];
    if (past->value_count % 2)
        numbers[past->value_count] = 0; /* points go whole into the file */
    return (const history_point *)(const void *)to;
}

/* ---- Bands ---- */

static const history_band *band_at(const history *past, const history_key *key, uint32_t index)
{
    return history_ring_at(&key->bands, past->band_bytes, index);
}

void *history_new_band(history *past, history_key *key)
{
    history_ring *bands = &key->bands;
    if (bands->count == bands->capacity && bands->capacity < most_items(past, POINTS_PER_BAND))
        grow(past, key, bands, past->band_bytes, FIRST_BANDS, POINTS_PER_BAND);
    return history_ring_add(bands, past->band_bytes);
}

void history_add_band(history *past, history_key *key, uint64_t row, const float *ends)
{
    const size_t bytes = past->band_bytes - sizeof(history_band);
    const uint32_t count = key->bands.count;
    if (count > 0 && memcmp(band_at(past, key, count - 1) + 1, ends, bytes) == 0)
        return;
    history_band *to = history_new_band(past, key);
    if (!to)
        return;
    to->row = row;
    memcpy(to + 1, ends, bytes);
}

const float *history_band_of(const history *past, const history_key *key, uint64_t row)
{
    uint32_t low = 0, high = key->bands.count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (band_at(past, key, middle)->row <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? (const float *)(const void *)(band_at(past, key, low - 1) + 1) : NULL;
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
void history_end(history *past, history_key *key)
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
        history_end(past, key);
    if (!key->open && !begin_episode(past, key))
        return NULL;
    history_episode *episode = key->open;
    const stream_episode before = episode->info;
    episode->info = *info;
    episode->info.key = before.key;
    episode->info.key_bytes = before.key_bytes;
    episode->info.column = before.column;
    episode->info.reason = before.reason;
    if (before.number != 0) {
        episode->info.first_row = before.first_row;
        episode->info.incident = before.incident;
    }
    if (before.number != 0 && !info->has_time)
        episode->info.began = before.began;
    key->info.episode = info->number;
    replace_text(&episode->info.column, info->column);
    replace_text(&episode->info.reason, info->reason);
    key->info.reason = episode->info.reason ? episode->info.reason : "";
    if (info->is_over)
        history_end(past, key);
    return episode;
}

/* ---- Episodes that ended by silence ---- */

static bool is_episode(const history_episode *episode, const char *key, size_t key_bytes,
                       uint64_t number)
{
    return episode->info.number == number && episode->info.key_bytes == key_bytes &&
           memcmp(episode->info.key, key, key_bytes) == 0;
}

history_episode *history_find_episode(const history *past, const char *key, size_t key_bytes,
                                      uint64_t number)
{
    const history_key *known = history_find(past, key, key_bytes);
    if (known && known->open && known->open->info.number == number)
        return known->open;
    for (size_t i = past->ended_count; i-- > 0;) {
        history_episode *ended = past->ended[(past->ended_start + i) % ENDED_MAX];
        if (is_episode(ended, key, key_bytes, number))
            return ended;
    }
    return NULL;
}

void history_shut(history *past, history_episode *episode)
{
    history_key *key = history_find(past, episode->info.key, episode->info.key_bytes);
    if (!key || key->open != episode)
        return; /* its rows have ended it */
    episode->info.is_ended_by_silence = true;
    key->shut = episode->info.number;
    history_end(past, key);
}

/* Takes an episode out of the ring of ended ones. */
static void take_ended(history *past, const history_episode *episode)
{
    size_t i = 0;
    while (past->ended[(past->ended_start + i) % ENDED_MAX] != episode)
        i++;
    for (; i + 1 < past->ended_count; i++)
        past->ended[(past->ended_start + i) % ENDED_MAX] =
            past->ended[(past->ended_start + i + 1) % ENDED_MAX];
    past->ended[(past->ended_start + i) % ENDED_MAX] = NULL;
    past->ended_count--;
}

bool history_row_opens(history *past, history_key *key, uint64_t number, const oif_result *result)
{
    if (key->shut == number && result->episode != OIF_EPISODE_BEGINS) {
        if (!result->anomaly)
            return false;
        history_episode *ended =
            history_find_episode(past, key->info.key, key->info.key_bytes, number);
        if (ended && ended->info.is_ended_by_silence) {
            take_ended(past, ended);
            key->open = ended;
            link_open(past, ended);
        }
    }
    key->shut = 0;
    return true;
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
