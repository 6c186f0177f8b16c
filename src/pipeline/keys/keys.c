#include "pipeline/keys/keys.h"

#include "base/memory.h"

#include <string.h>

enum { FIRST_CAPACITY = 8 };

void oif_keys_init(oif_keys *keys)
{
    *keys = (oif_keys){.free = OIF_NO_KEY, .oldest = OIF_NO_KEY, .newest = OIF_NO_KEY};
}

/* ---- Changes ---- */

static void forget_removed(oif_keys *keys)
{
    for (size_t i = 0; i < keys->removed.count; i++)
        oif_key_texts_remove(&keys->texts, keys->removed.list[i].key,
                             keys->removed.list[i].key_bytes);
    oif_memory_free(keys->removed.list);
    keys->removed = (oif_removed_keys){0};
}

static bool has_room(oif_removed_keys *removed)
{
    if (removed->count < removed->capacity)
        return true;
    const size_t capacity = removed->capacity ? 2 * removed->capacity : FIRST_CAPACITY;
    struct oif_removed_key *list = oif_memory_new(oif_size_multiply(capacity, sizeof *list));
    if (!list)
        return false;
    if (removed->count > 0)
        memcpy(list, removed->list, removed->count * sizeof *list);
    oif_memory_free(removed->list);
    removed->list = list;
    removed->capacity = capacity;
    return true;
}

/* Takes the text of a key that is removed, or frees it. */
static void remember_removed(oif_keys *keys, oif_key_entry *entry)
{
    const size_t most = keys->text_bytes / 4 + 2 * (size_t)64 * 1024; /* and one long key */
    oif_removed_keys *removed = &keys->removed;
    const size_t bytes = removed->bytes + entry->key_bytes + sizeof *removed->list;
    if (removed->are_known && bytes <= most && has_room(removed)) {
        removed->list[removed->count++] = (struct oif_removed_key){entry->key, entry->key_bytes};
        removed->bytes = bytes;
        return;
    }
    oif_key_texts_remove(&keys->texts, entry->key, entry->key_bytes);
    forget_removed(keys);
}

void oif_keys_forget_changes(oif_keys *keys)
{
    for (uint32_t i = 0; i < keys->used; i++)
        keys->entries[i].is_changed = keys->entries[i].is_moved = false;
    forget_removed(keys);
    keys->removed.are_known = true;
}

void oif_keys_free(oif_keys *keys)
{
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY; i = keys->entries[i].newer)
        oif_key_texts_remove(&keys->texts, keys->entries[i].key, keys->entries[i].key_bytes);
    forget_removed(keys);
    oif_key_texts_free(&keys->texts);
    oif_memory_free(keys->entries);
    oif_memory_free(keys->slots);
}

/* ---- Slots ---- */

uint64_t oif_key_hash(const char *key, size_t key_bytes)
{
    /* FNV-1a, then mixed: the low bits choose the slot */
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < key_bytes; i++)
        hash = (hash ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

/* The slot of a key, or the free slot where it would go. There always is a free one. */
static uint32_t slot_of(const oif_keys *keys, uint64_t hash, const char *key, size_t key_bytes)
{
    uint32_t mask = keys->slot_count - 1;
    for (uint32_t slot = (uint32_t)hash & mask;; slot = (slot + 1) & mask) {
        if (keys->slots[slot] == OIF_NO_KEY)
            return slot;
        const oif_key_entry *entry = &keys->entries[keys->slots[slot]];
        if (entry->hash == hash && entry->key_bytes == key_bytes &&
            (key_bytes == 0 || memcmp(entry->key, key, key_bytes) == 0))
            return slot;
    }
}

/* Frees a slot. Moves displaced entries behind it closer to the slot of their hash, so every search
 * still finds them. */
static void free_slot(oif_keys *keys, uint32_t slot)
{
    uint32_t mask = keys->slot_count - 1;
    for (uint32_t next = (slot + 1) & mask; keys->slots[next] != OIF_NO_KEY;
         next = (next + 1) & mask) {
        uint32_t home = (uint32_t)keys->entries[keys->slots[next]].hash & mask;
        if (((next - home) & mask) >= ((next - slot) & mask)) {
            keys->slots[slot] = keys->slots[next];
            slot = next;
        }
    }
    keys->slots[slot] = OIF_NO_KEY;
}

/* Doubles the entries, and the slots with them. No entry is free. */
static bool grow(oif_keys *keys)
{
    uint32_t capacity = keys->capacity ? 2 * keys->capacity : FIRST_CAPACITY;
    oif_key_entry *entries = oif_memory_new(oif_size_multiply(capacity, sizeof *entries));
    uint32_t *slots = oif_memory_new(oif_size_multiply(capacity, 2 * sizeof *slots));
    if (!entries || !slots || capacity > OIF_NO_KEY / 4) {
        oif_memory_free(entries);
        oif_memory_free(slots);
        return false;
    }
    if (keys->count > 0)
        memcpy(entries, keys->entries, keys->count * sizeof *entries);
    memset(slots, 0xFF, 2 * capacity * sizeof *slots); /* OIF_NO_KEY */
    oif_memory_free(keys->entries);
    oif_memory_free(keys->slots);
    keys->entries = entries;
    keys->slots = slots;
    keys->capacity = capacity;
    keys->slot_count = 2 * capacity;
    for (uint32_t i = 0; i < keys->count; i++)
        slots[slot_of(keys, entries[i].hash, entries[i].key, entries[i].key_bytes)] = i;
    return true;
}

/* ---- Order ---- */

static void unlink_entry(oif_keys *keys, uint32_t number)
{
    const oif_key_entry *entry = &keys->entries[number];
    *(entry->older == OIF_NO_KEY ? &keys->oldest : &keys->entries[entry->older].newer) =
        entry->newer;
    *(entry->newer == OIF_NO_KEY ? &keys->newest : &keys->entries[entry->newer].older) =
        entry->older;
}

static void link_newest(oif_keys *keys, uint32_t number)
{
    keys->entries[number].older = keys->newest;
    keys->entries[number].newer = OIF_NO_KEY;
    keys->entries[number].is_moved = true;
    *(keys->newest == OIF_NO_KEY ? &keys->oldest : &keys->entries[keys->newest].newer) = number;
    keys->newest = number;
}

void oif_keys_touch(oif_keys *keys, uint32_t entry)
{
    if (entry == keys->newest)
        return;
    unlink_entry(keys, entry);
    link_newest(keys, entry);
}

/* ---- Keys ---- */

uint32_t oif_keys_find(const oif_keys *keys, const char *key, size_t key_bytes)
{
    return keys->count ? keys->slots[slot_of(keys, oif_key_hash(key, key_bytes), key, key_bytes)]
                       : OIF_NO_KEY;
}

static void insert(oif_keys *keys, uint32_t number, char *key, size_t key_bytes)
{
    oif_key_entry *entry = &keys->entries[number];
    entry->hash = oif_key_hash(key, key_bytes);
    entry->key = key;
    entry->key_bytes = (uint32_t)key_bytes;
    entry->is_changed = true;
    keys->slots[slot_of(keys, entry->hash, key, key_bytes)] = number;
    keys->text_bytes += oif_size_align(key_bytes + 1);
    link_newest(keys, number);
}

/* A free entry, which must exist. */
static uint32_t take_entry(oif_keys *keys)
{
    uint32_t number = keys->free;
    keys->count++;
    if (number == OIF_NO_KEY)
        return keys->used++;
    keys->free = keys->entries[number].newer;
    return number;
}

uint32_t oif_keys_add(oif_keys *keys, const char *key, size_t key_bytes)
{
    char *copy = oif_key_texts_add(&keys->texts, key, key_bytes);
    if (!copy || (keys->count == keys->capacity && !grow(keys))) {
        oif_key_texts_remove(&keys->texts, copy, key_bytes);
        return OIF_NO_KEY;
    }
    uint32_t number = take_entry(keys);
    keys->entries[number] = (oif_key_entry){0};
    insert(keys, number, copy, key_bytes);
    return number;
}

void oif_keys_remove(oif_keys *keys, uint32_t number)
{
    oif_key_entry *entry = &keys->entries[number];
    free_slot(keys, slot_of(keys, entry->hash, entry->key, entry->key_bytes));
    keys->text_bytes -= oif_size_align(entry->key_bytes + 1);
    remember_removed(keys, entry);
    unlink_entry(keys, number);
    *entry = (oif_key_entry){.older = OIF_NO_KEY, .newer = keys->free};
    keys->free = number;
    keys->count--;
}

bool oif_keys_renumber(oif_keys *keys, uint32_t *followed)
{
    oif_key_entry *entries = oif_memory_new(oif_size_multiply(keys->capacity, sizeof *entries));
    uint32_t next = 0, number = OIF_NO_KEY;
    if (!entries)
        return false;
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY; i = keys->entries[i].newer, next++) {
        number = i == *followed ? next : number;
        entries[next] = keys->entries[i];
        entries[next].older = next == 0 ? OIF_NO_KEY : next - 1;
        entries[next].newer = next + 1 == keys->count ? OIF_NO_KEY : next + 1;
    }
    oif_memory_free(keys->entries);
    keys->entries = entries;
    keys->used = keys->count;
    keys->free = OIF_NO_KEY;
    keys->oldest = keys->count == 0 ? OIF_NO_KEY : 0;
    keys->newest = keys->count == 0 ? OIF_NO_KEY : keys->count - 1;
    memset(keys->slots, 0xFF, keys->slot_count * sizeof *keys->slots); /* OIF_NO_KEY */
    for (uint32_t i = 0; i < keys->count; i++)
        keys->slots[slot_of(keys, entries[i].hash, entries[i].key, entries[i].key_bytes)] = i;
    *followed = number;
    return true;
}

size_t oif_keys_bytes(const oif_keys *keys)
{
    return keys->capacity * sizeof *keys->entries + keys->slot_count * sizeof *keys->slots +
           keys->text_bytes;
}
