/* A map from keys to values that also keeps the order in which keys were last used.
 *
 *     slots    | . | 3 | . | 0 | 1 | . | 2 | . |     a hash table with open addressing
 *     entries  | 0: "web-1" | 1: "db" | 2: "web-2" | 3: "cache" |
 *                  oldest  <--- older / newer --->  newest
 *
 * Entries never move: an entry keeps its number as long as its key is in the map. The entry of a
 * removed key is reused by the next key that is added.
 *
 * The map knows what has changed since the last save: the caller marks changed entries, and the map
 * marks those that were added or moved. These are the last ones in the order. Removed keys are
 * remembered if the caller wants that.
 */
#ifndef OIF_PIPELINE_KEYS_H
#define OIF_PIPELINE_KEYS_H

#include "pipeline/keys/key_texts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OIF_NO_KEY UINT32_MAX

typedef struct oif_key_entry {
    uint64_t hash;
    char *key; /* NULL: the entry is free */
    uint32_t key_bytes;
    bool is_changed, is_moved; /* since oif_keys_forget_changes; moved: became the newest */
    uint32_t older, newer; /* OIF_NO_KEY at the ends; `newer` of a free entry: the next free one */
    union {                /* the caller's: a pointer or a number */
        void *value;
        uint64_t number;
    };
    void *packed;       /* the caller's too; NULL at first */
    uint64_t seen, gap; /* eviction.h; 0 at first */
} oif_key_entry;

/* Keys that were removed, in their order. Limited in bytes: if they are too many, none is known. */
typedef struct oif_removed_keys {
    struct oif_removed_key {
        char *key;
        uint32_t key_bytes;
    } * list;
    size_t count, capacity, bytes;
    bool are_known;
} oif_removed_keys;

typedef struct oif_keys {
    oif_key_entry *entries;
    uint32_t *slots; /* an entry's number, or OIF_NO_KEY */
    uint32_t count, capacity, slot_count;
    uint32_t used; /* entries from here on were never used */
    uint32_t free; /* first entry that was used and is free, or OIF_NO_KEY */
    uint32_t oldest, newest;
    oif_key_texts texts;
    size_t text_bytes; /* of the keys */
    oif_removed_keys removed;
} oif_keys;

void oif_keys_init(oif_keys *keys);

/* Frees the keys, not their values. */
void oif_keys_free(oif_keys *keys);

/* The hash of a key, as in its entry. */
uint64_t oif_key_hash(const char *key, size_t key_bytes);

/* The entry of a key, or OIF_NO_KEY. */
uint32_t oif_keys_find(const oif_keys *keys, const char *key, size_t key_bytes);

/* Adds a key that is not in the map, as the newest, with the number 0. Returns its entry, or
 * OIF_NO_KEY if out of memory. */
uint32_t oif_keys_add(oif_keys *keys, const char *key, size_t key_bytes);

/* Removes the key of an entry. The caller has freed its value, which becomes NULL. */
void oif_keys_remove(oif_keys *keys, uint32_t entry);

/* Makes an entry the newest. */
void oif_keys_touch(oif_keys *keys, uint32_t entry);

/* Numbers the entries from 0 in the order of their use, the oldest first. `*followed`, an entry or
 * OIF_NO_KEY, becomes its new number. Returns false if out of memory; then nothing has changed. */
bool oif_keys_renumber(oif_keys *keys, uint32_t *followed);

/* Marks an entry as changed. */
static inline void oif_keys_mark(oif_keys *keys, uint32_t entry)
{
    keys->entries[entry].is_changed = true;
}

/* From now on nothing has changed, and removed keys are remembered. */
void oif_keys_forget_changes(oif_keys *keys);

/* Bytes of memory of the map, without the values and the removed keys: with a limit on memory, what
 * is evicted must not depend on when the state is saved. */
size_t oif_keys_bytes(const oif_keys *keys);

#endif
