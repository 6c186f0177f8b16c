/* The history of a stream in a file: in this machine's memory layout, with a checksum at the end. A
 * file of another machine or version is ignored; the stream starts a new history. */
#include "history.h"

#include <stdlib.h>
#include <string.h>

static const char file_magic[8] = "oifhist1";

enum { TEXT_BYTES_MAX = 1 << 24 };

/* ---- Bytes and their checksum ---- */

typedef struct past_file {
    FILE *file;
    uint64_t checksum;
    bool is_good;
} past_file;

static void put(past_file *to, const void *bytes, size_t count)
{
    to->checksum = byte_hash(to->checksum, bytes, count);
    to->is_good &= count == 0 || fwrite(bytes, 1, count, to->file) == count;
}

static bool get(past_file *from, void *bytes, size_t count)
{
    from->is_good = from->is_good && (count == 0 || fread(bytes, 1, count, from->file) == count);
    if (from->is_good)
        from->checksum = byte_hash(from->checksum, bytes, count);
    else
        memset(bytes, 0, count);
    return from->is_good;
}

static void put_count(past_file *to, uint64_t count)
{
    put(to, &count, sizeof count);
}

static uint64_t get_count(past_file *from)
{
    uint64_t count = 0;
    get(from, &count, sizeof count);
    return count;
}

static void put_text(past_file *to, const char *text, size_t bytes)
{
    put_count(to, bytes);
    put(to, text, bytes);
}

/* The caller frees it; NULL on failure. */
static char *get_text(past_file *from, size_t *bytes)
{
    uint64_t count = get_count(from);
    char *text = count <= TEXT_BYTES_MAX ? malloc((size_t)count + 1) : NULL;
    from->is_good &= text != NULL;
    if (!text || !get(from, text, (size_t)count)) {
        free(text);
        return NULL;
    }
    text[count] = '\0';
    *bytes = (size_t)count;
    return text;
}

/* ---- Episodes ---- */

static void put_name(past_file *to, const char *text)
{
    put_text(to, text ? text : "", text ? strlen(text) : 0);
}

/* Without its texts. Field by field into zeros: copied whole, a struct may bring stray bytes of
 * memory along in its padding, and they would get into the file. */
static void make_plain_episode(stream_episode *plain, const stream_episode *info)
{
    memset(plain, 0, sizeof *plain);
    plain->key_bytes = info->key_bytes;
    plain->has_key = info->has_key;
    plain->number = info->number;
    plain->first_row = info->first_row;
    plain->last_row = info->last_row;
    plain->began = info->began;
    plain->ended = info->ended;
    plain->last_seen = info->last_seen;
    plain->has_time = info->has_time;
    plain->is_over = info->is_over;
    plain->anomalies = info->anomalies;
    plain->rows = info->rows;
    plain->incident = info->incident;
    plain->peak_score = info->peak_score;
    plain->peak_severity = info->peak_severity;
    plain->grade = info->grade;
    plain->arrived = info->arrived;
    plain->is_ended_by_silence = info->is_ended_by_silence;
}

static void put_episode(past_file *to, const stream_episode *info)
{
    stream_episode plain;
    make_plain_episode(&plain, info);
    put_text(to, info->key, info->key_bytes);
    put(to, &plain, sizeof plain);
    put_name(to, info->column);
    put_name(to, info->reason);
}

static void get_episode(past_file *from, history *past)
{
    stream_episode info;
    size_t key_bytes = 0, bytes;
    char *name = get_text(from, &key_bytes);
    get(from, &info, sizeof info);
    char *column = get_text(from, &bytes), *reason = get_text(from, &bytes);
    history_key *key = from->is_good ? history_find(past, name, key_bytes) : NULL;
    bool is_extra = from->is_good && !key; /* its key was dropped */
    if (is_extra)
        key = history_touch(past, name, key_bytes);
    info.column = column;
    info.reason = reason;
    history_episode *episode = key && from->is_good ? history_episode_now(past, key, &info) : NULL;
    from->is_good = episode != NULL;
    if (is_extra && key && !key->open)
        history_forget(past, key);
    free(name);
    free(column);
    free(reason);
}

static const history_episode *oldest_open(const history *past)
{
    const history_episode *episode = past->open;
    while (episode && episode->older)
        episode = episode->older;
    return episode;
}

static void put_episodes(past_file *to, const history *past)
{
    put_count(to, past->ended_count + past->open_count);
    for (size_t i = past->ended_count; i > 0; i--)
        put_episode(to, &history_ended_at(past, i - 1)->info);
    for (const history_episode *open = oldest_open(past); open; open = open->newer)
        put_episode(to, &open->info);
}

/* ---- Keys ---- */

/* Like make_plain_episode. */
static void make_plain_key(stream_key *plain, const stream_key *info)
{
    memset(plain, 0, sizeof *plain);
    plain->key_bytes = info->key_bytes;
    plain->rows = info->rows;
    plain->last_seen = info->last_seen;
    plain->score = info->score;
    plain->threshold = info->threshold;
    plain->severity = info->severity;
    plain->grade = info->grade;
    plain->episode = info->episode;
    plain->is_silent = info->is_silent;
    plain->is_ready = info->is_ready;
    plain->calm_rows = info->calm_rows;
}

static void put_ring(past_file *to, const history_ring *ring, size_t item_bytes)
{
    put_count(to, ring->count);
    for (uint32_t i = 0; i < ring->count; i++)
        put(to, history_ring_at(ring, item_bytes, i), item_bytes);
}

static void put_key(past_file *to, const history *past, const history_key *key)
{
    stream_key plain;
    make_plain_key(&plain, &key->info);
    put_text(to, key->info.key, key->info.key_bytes);
    put(to, &plain, sizeof plain);
    put_count(to, key->shut);
    put_ring(to, &key->points, past->point_bytes);
    put_ring(to, &key->bands, past->band_bytes);
    put_text(to, (const char *)key->bucket,
             key->bucket ? trend_bucket_bytes(past->value_count) : 0);
}

static void get_ring(past_file *from, history *past, history_key *key,
                     void *(*new_item)(history *past, history_key *key), size_t item_bytes)
{
    uint64_t count = get_count(from);
    for (uint64_t i = 0; i < count && from->is_good; i++) {
        void *item = new_item(past, key);
        from->is_good = item && get(from, item, item_bytes);
    }
}

static void get_bucket(past_file *from, history *past, history_key *key)
{
    size_t bytes = 0;
    char *kept = get_text(from, &bytes);
    trend_bucket *open =
        kept && bytes == trend_bucket_bytes(past->value_count) ? history_bucket(past, key) : NULL;
    if (open)
        memcpy(open, kept, bytes);
    free(kept);
}

static void take_key_info(history *past, history_key *key, const stream_key *info)
{
    key->info = *info;
    key->info.is_silent = false;
    history_set_silent(past, key, info->is_silent);
    past->learning_count -= info->is_ready; /* a new key counts as learning */
    past->learning_rows += info->is_ready ? 0 : info->rows;
}

static void get_key(past_file *from, history *past)
{
    stream_key info;
    size_t bytes = 0;
    char *name = get_text(from, &bytes);
    get(from, &info, sizeof info);
    history_key *key = from->is_good ? history_touch(past, name, bytes) : NULL;
    free(name);
    from->is_good = key != NULL;
    if (!key)
        return;
    info.key = key->info.key;
    info.key_bytes = key->info.key_bytes;
    info.reason = "";
    info.episode = 0;
    take_key_info(past, key, &info);
    key->shut = get_count(from);
    get_ring(from, past, key, history_new_point, past->point_bytes);
    get_ring(from, past, key, history_new_band, past->band_bytes);
    get_bucket(from, past, key);
}

static void get_keys(past_file *from, history *past)
{
    uint64_t count = get_count(from), value_count = get_count(from);
    if (value_count > OIF_COLUMNS_MAX)
        from->is_good = false;
    if (!from->is_good)
        return;
    history_start(past, (size_t)value_count);
    for (uint64_t i = 0; i < count && from->is_good; i++)
        get_key(from, past);
}

/* ---- Alerts ---- */

static void get_alert(past_file *from, history *past)
{
    uint64_t row = get_count(from);
    double time;
    size_t key_bytes = 0, bytes = 0;
    get(from, &time, sizeof time);
    char *key = get_text(from, &key_bytes), *text = get_text(from, &bytes);
    if (from->is_good)
        history_add_alert(past, row, time, key, key_bytes, text, bytes);
    else
        free(text);
    free(key);
}

static void put_alert(past_file *to, const history_alert *alert)
{
    put_count(to, alert->row);
    put(to, &alert->time, sizeof alert->time);
    put_text(to, alert->key, alert->key_bytes);
    put_text(to, alert->text, alert->bytes);
}

/* ---- All of it ---- */

bool history_save(const history *past, FILE *file, const history_extra *extra)
{
    past_file to = {.file = file, .checksum = 1, .is_good = true};
    put(&to, file_magic, sizeof file_magic);
    put_count(&to, extra->rows);
    put_text(&to, extra->bytes, extra->count);
    put_count(&to, past->keys.count);
    put_count(&to, past->value_count);
    for (const history_key *key = past->oldest; key; key = key->newer)
        put_key(&to, past, key);
    put_episodes(&to, past);
    put_count(&to, past->alert_count);
    for (size_t i = past->alert_count; i > 0; i--)
        put_alert(&to, history_alert_at(past, i - 1));
    put(&to, past->graded, sizeof past->graded);
    put_count(&to, past->episodes);
    uint64_t checksum = to.checksum;
    put(&to, &checksum, sizeof checksum);
    return to.is_good && fflush(file) == 0;
}

static bool get_start(past_file *from, history_extra *extra)
{
    char magic[sizeof file_magic];
    get(from, magic, sizeof magic);
    if (memcmp(magic, file_magic, sizeof magic) != 0 || get_count(from) != extra->rows)
        return false;
    extra->bytes = get_text(from, &extra->count);
    return extra->bytes != NULL;
}

/* Before anything of the file is used: whether its checksum is right. */
static bool is_whole(FILE *file)
{
    enum { PIECE = 1 << 16 };
    past_file from = {.file = file, .checksum = 1, .is_good = true};
    uint64_t checksum = 0;
    if (fseek(file, 0, SEEK_END) != 0)
        return false;
    long left = ftell(file) - (long)sizeof checksum;
    unsigned char *piece = left > 0 ? malloc(PIECE) : NULL;
    from.is_good = piece && fseek(file, 0, SEEK_SET) == 0;
    while (from.is_good && left > 0) {
        size_t count = left < PIECE ? (size_t)left : PIECE;
        get(&from, piece, count);
        left -= (long)count;
    }
    free(piece);
    uint64_t made = from.checksum;
    return from.is_good && get(&from, &checksum, sizeof checksum) && checksum == made &&
           fseek(file, 0, SEEK_SET) == 0;
}

static bool get_all(past_file *from, history *past)
{
    get_keys(from, past);
    uint64_t count = from->is_good ? get_count(from) : 0;
    for (uint64_t i = 0; i < count && from->is_good; i++)
        get_episode(from, past);
    count = from->is_good ? get_count(from) : 0;
    for (uint64_t i = 0; i < count && from->is_good; i++)
        get_alert(from, past);
    get(from, past->graded, sizeof past->graded);
    past->episodes = get_count(from);
    return from->is_good;
}

bool history_load(history *past, FILE *file, history_extra *extra)
{
    past_file from = {.file = file, .checksum = 1, .is_good = true};
    extra->bytes = NULL;
    if (is_whole(file) && get_start(&from, extra) && get_all(&from, past))
        return true;
    free(extra->bytes);
    extra->bytes = NULL;
    return false;
}
