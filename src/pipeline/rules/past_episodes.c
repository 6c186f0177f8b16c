#include "pipeline/rules/past_episodes.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Memory ---- */

oif_past_episodes *oif_past_episodes_new(void)
{
    oif_past_episodes *made = oif_memory_new(sizeof *made);
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made);
    oif_lock_init(&made->lock);
    return made;
}

oif_past_episodes *oif_past_episodes_clone(const oif_past_episodes *past)
{
    oif_past_episodes *copy = oif_past_episodes_new();
    if (!copy)
        return NULL;
    copy->count = past->count;
    memcpy(copy->list, past->list, past->count * sizeof *past->list);
    return copy;
}

void oif_past_episodes_free(oif_past_episodes *past)
{
    if (past)
        oif_lock_destroy(&past->lock);
    oif_memory_free(past);
}

/* ---- Adding and finding ---- */

void oif_past_episodes_add(oif_past_episodes *past, const oif_past *episode)
{
    oif_lock_acquire(&past->lock);
    size_t at = past->count; /* a thread may be ahead of this one */
    while (at > 0 && past->list[at - 1].row > episode->row)
        at--;
    if (past->count < OIF_PAST_EPISODES_MAX) {
        memmove(past->list + at + 1, past->list + at, (past->count - at) * sizeof *past->list);
        past->list[at] = *episode;
        past->count++;
    } else if (at > 0) {
        memmove(past->list, past->list + 1, (at - 1) * sizeof *past->list);
        past->list[at - 1] = *episode;
    }
    oif_lock_release(&past->lock);
}

/* FNV-1a: snapshots have it, so it must never change. */
static uint64_t hash_of(oif_text key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < key.bytes; i++)
        hash = (hash ^ (unsigned char)key.text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void oif_past_set_key(oif_past *episode, oif_text key)
{
    episode->key_bytes = (uint32_t)key.bytes;
    episode->key_hash = hash_of(key);
    if (key.bytes > 0)
        memcpy(episode->key, key.text, oif_past_key(episode).bytes);
}

static bool is_same_key(const oif_past *a, const oif_past *b)
{
    return a->key_bytes == b->key_bytes && a->key_hash == b->key_hash &&
           memcmp(a->key, b->key, oif_past_key(a).bytes) == 0;
}

const oif_past *oif_past_episodes_find(const oif_past_episodes *past, oif_text key, uint64_t number)
{
    oif_past wanted = {.number = number};
    if (key.bytes > OIF_KEY_MAX_BYTES)
        return NULL;
    oif_past_set_key(&wanted, key);
    for (size_t i = past->count; i-- > 0;)
        if (past->list[i].number == number && is_same_key(&past->list[i], &wanted))
            return &past->list[i];
    return NULL;
}

/* ---- Names ---- */

oif_text oif_rule_column_name(const oif_rule_columns *columns, size_t learned,
                              char number[OIF_COLUMN_NUMBER_BYTES])
{
    const size_t source =
        oif_derived_source(columns->plan, learned, &(oif_derive){OIF_DERIVE_NONE});
    const char *name = oif_column_names_at(columns->names, source);
    if (!name) {
        snprintf(number, OIF_COLUMN_NUMBER_BYTES, "%zu", source + 1);
        name = number;
    }
    return (oif_text){name, strlen(name)};
}

/* ---- Snapshots ---- */

static void visit_cause(oif_alert_cause *cause, oif_state_visitor *visitor)
{
    oif_visit_u32(visitor, "column", &cause->column, 1);
    oif_visit_i32(visitor, "direction", &cause->direction, 1);
    oif_visit_f64(visitor, "share", &cause->share, 1);
    oif_visit_f64(visitor, "change", &cause->change, 1);
    oif_visit_f64(visitor, "change_share", &cause->change_share, 1);
}

static void visit_head(oif_past *episode, oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "row", &episode->row, 1);
    oif_visit_u64(visitor, "number", &episode->number, 1);
    oif_visit_u64(visitor, "first_row", &episode->first_row, 1);
    oif_visit_f64(visitor, "first_seconds", &episode->first_seconds, 1);
    oif_visit_f64(visitor, "severity", &episode->severity, 1);
    oif_visit_u64(visitor, "key_hash", &episode->key_hash, 1);
    oif_visit_u32(visitor, "key_bytes", &episode->key_bytes, 1);
    oif_visit_u32(visitor, "reason", &episode->causes.reason, 1);
    oif_visit_u32(visitor, "causes", &episode->causes.count, 1);
}

/* After the head, which has both counts. */
static void visit_rest(oif_past *episode, oif_state_visitor *visitor)
{
    for (uint32_t i = 0; i < episode->causes.count; i++)
        visit_cause(&episode->causes.list[i], visitor);
    oif_visit_u8(visitor, "key", (uint8_t *)episode->key, oif_past_key(episode).bytes);
}

static void visit_all(const oif_past_episodes *past, oif_state_visitor *visitor)
{
    for (size_t i = 0; i < past->count; i++) {
        oif_past episode = past->list[i];
        visit_head(&episode, visitor);
        visit_rest(&episode, visitor);
    }
}

void oif_past_episodes_write(oif_section_writer *writer, const oif_past_episodes *past)
{
    oif_byte_counter counter = oif_byte_counter_new();
    if (!past)
        return;
    visit_all(past, &counter.visitor);
    oif_section_writer_begin(writer, OIF_SECTION_PAST, counter.bytes);
    visit_all(past, &writer->visitor);
    oif_section_writer_end(writer);
}

static bool check_head(const oif_past *episode, uint64_t after, uint64_t rows)
{
    const double seconds = episode->first_seconds;
    return episode->row > after && episode->row <= rows && episode->number > 0 &&
           episode->first_row > 0 && (seconds != seconds || fabs(seconds) <= DBL_MAX) &&
           episode->severity == episode->severity && episode->key_bytes <= OIF_KEY_MAX_BYTES &&
           episode->causes.reason < OIF_REASONS && episode->causes.count <= OIF_ALERT_CAUSES_MAX;
}

static bool check_causes(const oif_alert_causes *causes, size_t learned_columns)
{
    for (uint32_t i = 0; i < causes->count; i++) {
        const oif_alert_cause *cause = &causes->list[i];
        if (cause->column >= learned_columns || cause->direction < -1 || cause->direction > 1 ||
            !(cause->share >= 0 && cause->share <= 1) || cause->change < 0 ||
            cause->change_share < 0)
            return false;
    }
    return true;
}

/* A key that is kept whole has the hash that it should have. */
static bool check_key(const oif_past *episode)
{
    return episode->key_bytes > OIF_PAST_KEY_BYTES ||
           episode->key_hash == hash_of(oif_past_key(episode));
}

static void read_one(oif_section_reader *reader, oif_past_episodes *past, uint64_t rows,
                     size_t learned_columns)
{
    static const char odd[] = "a past episode is invalid";
    oif_past *episode = &past->list[past->count];
    const uint64_t after = past->count > 0 ? episode[-1].row : 0;
    visit_head(episode, &reader->visitor);
    if (reader->status == OIF_OK && !check_head(episode, after, rows))
        oif_section_reader_fail(reader, OIF_ECORRUPT, "%s", odd);
    if (reader->status != OIF_OK)
        return;
    visit_rest(episode, &reader->visitor);
    if (reader->status == OIF_OK &&
        !(check_causes(&episode->causes, learned_columns) && check_key(episode)))
        oif_section_reader_fail(reader, OIF_ECORRUPT, "%s", odd);
    past->count++;
}

oif_past_episodes *oif_past_episodes_read(oif_section_reader *reader, uint64_t rows,
                                          size_t learned_columns)
{
    oif_past_episodes *made = oif_past_episodes_new();
    if (!made)
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for past episodes");
    while (made && reader->status == OIF_OK && reader->left > 0) {
        if (made->count == OIF_PAST_EPISODES_MAX)
            oif_section_reader_fail(reader, OIF_ECORRUPT, "there are too many past episodes");
        else
            read_one(reader, made, rows, learned_columns);
    }
    oif_section_reader_end(reader);
    if (reader->status == OIF_OK)
        return made;
    oif_past_episodes_free(made);
    return NULL;
}
