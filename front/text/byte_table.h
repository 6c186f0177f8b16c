/* A hash table of items that are found by a key of any bytes: open addressing, at most half full.
 *
 *     slots   | . | * | . | . | * | . |
 *                   |           |
 *                   v           v
 *             item, values, key     allocated by the table, never moved
 *
 * An item is a struct whose first member is a byte_item. Slots are in the order of the hashes,
 * which depends only on the keys and the order in which they were added. */
#ifndef OIF_FRONT_BYTE_TABLE_H
#define OIF_FRONT_BYTE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a of more bytes; the first call starts from BYTE_HASH_START. */
#define BYTE_HASH_START UINT64_C(14695981039346656037)
uint64_t byte_hash(uint64_t hash, const void *bytes, size_t count);

typedef struct byte_item {
    const char *key; /* a copy, NUL-terminated */
    uint32_t key_bytes, hash;
} byte_item;

/* All zero is empty. */
typedef struct byte_table {
    byte_item **slots; /* NULL: an empty slot */
    size_t slot_count, count;
} byte_table;

/* NULL: there is none. */
void *byte_table_find(const byte_table *table, const char *key, size_t key_bytes);

/* Makes room for one more item, as byte_table_add does; slots may change. False: out of memory. */
bool byte_table_make_room(byte_table *table);

/* A new item of `item_bytes` bytes, zero after its byte_item, for a key that is not in the table;
 * NULL: out of memory. */
void *byte_table_add(byte_table *table, const char *key, size_t key_bytes, size_t item_bytes);

/* Removes an item and frees it. */
void byte_table_remove(byte_table *table, void *item);

/* For items in memory of the owner's: what such an item takes; adding one that is zero so far; and
 * removing it without freeing it. False: out of memory. */
size_t byte_table_item_bytes(size_t key_bytes, size_t item_bytes);
bool byte_table_put(byte_table *table, const char *key, size_t key_bytes, void *item,
                    size_t item_bytes);
void byte_table_take(byte_table *table, const void *item);

/* Frees all items. The table is then empty. */
void byte_table_free(byte_table *table);

#endif
