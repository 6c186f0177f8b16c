/* Which key has which model, and which was used last.
 *
 *     slots    | . | 3 | . | 0 | 1 | . | 2 | . |     open addressing: where a key's hash leads, or the next free place
 *     entries  | 0: "web-1" | 1: "db" | 2: "web-2" | 3: "cache" |
 *                  oldest  <--- older / newer --->  newest
 *
 * Entries never move, so that an entry's number names it for as long as its key is there.
 */
#ifndef OIF_PIPELINE_KEYS_H
#define OIF_PIPELINE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OIF_NO_KEY UINT32_MAX

enum { OIF_MAX_KEY_BYTES = 1 << 16 };

typedef struct oif_key_entry {
    uint64_t hash;
    char *key;
    size_t key_bytes;
    uint32_t older, newer; /* OIF_NO_KEY at the ends */
    union {
        void *value; /* the user's; or, of a key whose model is on the shelf, ... */
        struct {
            uint32_t place, checksum;
        } shelved;
    };
} oif_key_entry;

typedef struct oif_keys {
    oif_key_entry *entries;
    uint32_t *slots; /* an entry's number, or OIF_NO_KEY */
    uint32_t count, capacity, slot_count;
    uint32_t oldest, newest;
} oif_keys;

void oif_keys_init(oif_keys *keys);

/* Frees the keys; the values are the user's. */
void oif_keys_free(oif_keys *keys);

/* The entry of a key, or OIF_NO_KEY. */
uint32_t oif_keys_find(const oif_keys *keys, const char *key, size_t key_bytes);

/* Adds a key that is not there, as the newest; its value is NULL. OIF_NO_KEY when there is no
 * memory. */
uint32_t oif_keys_add(oif_keys *keys, const char *key, size_t key_bytes);

/* Gives the entry of the oldest key, with its value, to another one, which is not there: a copy
 * of it, made before because there may be no memory (NULL), and which belongs to the keys from
 * then on. */
char *oif_key_copy(const char *key, size_t key_bytes);
uint32_t oif_keys_replace_oldest(oif_keys *keys, char *copy, size_t key_bytes);

/* Makes an entry the newest. */
void oif_keys_touch(oif_keys *keys, uint32_t entry);

/* The bytes that the keys take, without their values. */
size_t oif_keys_bytes(const oif_keys *keys);

#endif
