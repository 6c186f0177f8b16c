#include "seen_rows.h"

#include "state_parts.h"

#include <math.h>
#include <string.h>

/* Fewer rows than these may be the same ones by chance. */
enum { ROWS_TO_BE_SURE = 8 };

/* ---- The last rows ---- */

/* By words: a stream with a state must not become slower by this. */
static uint64_t hash_line(const char *text, size_t bytes)
{
    uint64_t hash = BYTE_HASH_START ^ bytes, word;
    for (; bytes >= sizeof word; text += sizeof word, bytes -= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return byte_hash(hash, text, bytes);
}

static size_t slot_of(uint64_t row)
{
    return (size_t)(row % LAST_ROWS);
}

static void add_row(last_rows *last, uint64_t hash, double seconds)
{
    last->hashes[slot_of(last->count)] = hash;
    last->seconds[slot_of(last->count)] = seconds;
    last->count++;
}

static size_t kept_of(const last_rows *last)
{
    return last->count < LAST_ROWS ? (size_t)last->count : LAST_ROWS;
}

/* The hash `back` rows before the last one. */
static uint64_t hash_back(const last_rows *last, size_t back)
{
    return last->hashes[slot_of(last->count - 1 - back)];
}

/* ---- In the state ---- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double value_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void seen_rows_load(seen_rows *seen, const oif_pipeline *pipeline)
{
    size_t bytes;
    const unsigned char *part = state_part_find(pipeline, SEEN_PART, &bytes);
    const size_t count = part && bytes <= SEEN_PART_BYTES ? bytes / 16 : 0;
    seen->rows = oif_pipeline_rows(pipeline);
    seen->last = (last_rows){.count = 0};
    for (size_t i = 0; i < count && count <= seen->rows; i++)
        add_row(&seen->last, state_get_number(part + 16 * i),
                value_of(state_get_number(part + 16 * i + 8)));
    seen->known = seen->last;
}

size_t seen_rows_write(const seen_rows *seen, uint64_t rows, unsigned char part[SEEN_PART_BYTES])
{
    const last_rows *last = &seen->last;
    const uint64_t added = last->count - seen->known.count, processed = rows - seen->rows;
    const size_t ahead = added > processed ? (size_t)(added - processed) : 0;
    const size_t kept = kept_of(last) > ahead ? kept_of(last) - ahead : 0;
    for (size_t i = 0; i < kept; i++) {
        const size_t slot = slot_of(last->count - ahead - kept + i);
        state_put_number(part + 16 * i, last->hashes[slot]);
        state_put_number(part + 16 * i + 8, bits_of(last->seconds[slot]));
    }
    return 16 * kept;
}

/* ---- The place where new rows begin ---- */

/* Whether the last rows are the same as those `shift` rows before them. */
static bool repeat_after(const last_rows *known, size_t shift)
{
    size_t i = 0, compared = kept_of(known) - shift;
    while (i < compared && hash_back(known, i) == hash_back(known, i + shift))
        i++;
    return i == compared;
}

/* Whether the last rows show a place: constants and short periods do not. */
static bool are_distinct(const last_rows *known)
{
    const size_t kept = kept_of(known), least = kept > ROWS_TO_BE_SURE ? ROWS_TO_BE_SURE : 1;
    bool is_repeated = false;
    for (size_t shift = 1; shift + least <= kept && !is_repeated; shift++)
        is_repeated = repeat_after(known, shift);
    return kept > 0 && !is_repeated;
}

/* Whether the input ends, so far, as the state does. */
static bool is_at_place(const seen_rows *seen)
{
    const size_t kept = kept_of(&seen->known), read = kept_of(&seen->read);
    const size_t compared = kept < read ? kept : read;
    if (kept == 0 || (!seen->is_distinct && seen->read.count != seen->rows))
        return false;
    if (compared < kept && compared < ROWS_TO_BE_SURE && !seen->has_times)
        return false;
    for (size_t i = 0; i < compared; i++)
        if (hash_back(&seen->known, i) != hash_back(&seen->read, i))
            return false;
    return true;
}

/* ---- Times ---- */

typedef struct key_time {
    byte_item item;
    double last; /* NaN: no row had a time */
} key_time;

bool seen_rows_start(seen_rows *seen, const oif_pipeline *pipeline, bool has_times)
{
    oif_key_info info;
    size_t position = 0;
    double latest = NAN;
    seen->phase = SEEN_SKIPS;
    seen->is_distinct = are_distinct(&seen->known);
    while (has_times && oif_pipeline_next_key(pipeline, &position, &info)) {
        key_time *key =
            byte_table_add(&seen->keys, info.key ? info.key : "", info.key_bytes, sizeof *key);
        if (!key)
            return false;
        key->last = info.is_evicted ? NAN : info.last_seconds;
        if (!(latest >= key->last))
            latest = key->last;
    }
    seen->has_times = has_times && !isnan(latest);
    seen->latest = latest;
    return true;
}

void seen_rows_close(seen_rows *seen)
{
    byte_table_free(&seen->keys);
}

/* Whether a row with the last time of its key is one of the last rows. Where these do not reach
 * back to that time, it is. */
static bool is_among_last(const seen_rows *seen, uint64_t hash, double seconds)
{
    double earliest = INFINITY;
    for (size_t i = 0; i < kept_of(&seen->known); i++) {
        if (seen->known.hashes[i] == hash)
            return true;
        if (seen->known.seconds[i] < earliest)
            earliest = seen->known.seconds[i];
    }
    return !(earliest < seconds);
}

/* Whether the time alone shows that a row is new. An evicted key has no time in memory. */
static bool is_newer(const seen_rows *seen, const session_row *row, uint64_t hash)
{
    const key_time *key =
        byte_table_find(&seen->keys, row->key.bytes > 0 ? row->key.text : "", row->key.bytes);
    if (!seen->has_times || isnan(row->seconds))
        return false;
    if (!key)
        return true;
    const double last = isnan(key->last) ? seen->latest : key->last;
    return row->seconds > last ||
           (row->seconds == last && !is_among_last(seen, hash, row->seconds));
}

/* ---- Rows ---- */

static bool is_seen(seen_rows *seen, const session_row *row, uint64_t hash)
{
    if (seen->phase == SEEN_NONE)
        return false;
    add_row(&seen->read, hash, row->seconds);
    if (is_at_place(seen)) {
        seen->phase = SEEN_NONE; /* from the next row on */
        return true;
    }
    if (is_newer(seen, row, hash))
        return false;
    const bool may_be_new = !seen->has_times && seen->read.count > seen->rows;
    if (may_be_new)
        seen->phase = kept_of(&seen->known) > 0 ? SEEN_LOST : SEEN_NONE;
    return !may_be_new || seen->phase == SEEN_LOST;
}

bool seen_rows_skip(seen_rows *seen, const session_row *row)
{
    const uint64_t hash = hash_line(row->record->text, row->record->text_bytes);
    const bool is_skipped = is_seen(seen, row, hash);
    if (is_skipped)
        seen->skipped++;
    else
        add_row(&seen->last, hash, row->seconds);
    return is_skipped;
}

bool seen_rows_are_lost(const seen_rows *seen)
{
    return seen->phase == SEEN_LOST || (seen->phase == SEEN_SKIPS && !seen->has_times);
}
