#include "byte_table.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

uint64_t byte_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint32_t hash_of(const char *key, size_t key_bytes)
{
    const uint64_t hash = byte_hash(BYTE_HASH_START, key, key_bytes);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool has_key(const byte_item *item, const char *key, size_t key_bytes, uint32_t hash)
{
    return item->hash == hash && item->key_bytes == key_bytes &&
           (key_bytes == 0 || memcmp(item->key, key, key_bytes) == 0);
}

void *byte_table_find(const byte_table *table, const char *key, size_t key_bytes)
{
    if (table->count == 0)
        return NULL;
    const uint32_t hash = hash_of(key, key_bytes);
    const size_t mask = table->slot_count - 1;
    size_t at = hash & mask;
    while (table->slots[at] && !has_key(table->slots[at], key, key_bytes, hash))
        at = (at + 1) & mask;
    return table->slots[at];
}

static void put(byte_item **slots, size_t slot_count, byte_item *item)
{
    size_t at = item->hash & (slot_count - 1);
    while (slots[at])
        at = (at + 1) & (slot_count - 1);
    slots[at] = item;
}

/* If there is no memory for more slots, the table becomes fuller, up to one empty slot: searches
 * end there. */
bool byte_table_make_room(byte_table *table)
{
    if (2 * (table->count + 1) <= table->slot_count)
        return true;
    const size_t slot_count = table->slot_count > 0 ? 2 * table->slot_count : FIRST_SLOTS;
    byte_item **slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return table->count + 1 < table->slot_count;
    for (size_t i = 0; i < table->slot_count; i++)
        if (table->slots[i])
            put(slots, slot_count, table->slots[i]);
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return true;
}

size_t byte_table_item_bytes(size_t key_bytes, size_t item_bytes)
{
    return item_bytes + key_bytes + 1;
}

bool byte_table_put(byte_table *table, const char *key, size_t key_bytes, void *item,
                    size_t item_bytes)
{
    if (key_bytes > UINT32_MAX || !byte_table_make_room(table))
        return false;
    char *copy = (char *)item + item_bytes;
    if (key_bytes > 0)
        memcpy(copy, key, key_bytes);
    *(byte_item *)item = (byte_item){copy, (uint32_t)key_bytes, hash_of(key, key_bytes)};
    put(table->slots, table->slot_count, item);
    table->count++;
    return true;
}

void *byte_table_add(byte_table *table, const char *key, size_t key_bytes, size_t item_bytes)
{
    void *item = calloc(1, byte_table_item_bytes(key_bytes, item_bytes));
    if (item && byte_table_put(table, key, key_bytes, item, item_bytes))
        return item;
    free(item);
    return NULL;
}

/* Items behind the removed one move closer to the slot of their hash, so searches still find
 * them. */
void byte_table_take(byte_table *table, const void *item)
{
    const size_t mask = table->slot_count - 1;
    size_t empty = ((const byte_item *)item)->hash & mask;
    while (table->slots[empty] != item)
        empty = (empty + 1) & mask;
    for (size_t next = (empty + 1) & mask; table->slots[next]; next = (next + 1) & mask) {
        const size_t home = table->slots[next]->hash & mask;
        if (((next - home) & mask) >= ((next - empty) & mask)) {
            table->slots[empty] = table->slots[next];
            empty = next;
        }
    }
    table->slots[empty] = NULL;
    table->count--;
}

void byte_table_remove(byte_table *table, void *item)
{
    byte_table_take(table, item);
    free(item);
}

void byte_table_free(byte_table *table)
{
    for (size_t i = 0; i < table->slot_count; i++)
        free(table->slots[i]);
    free(table->slots);
    *table = (byte_table){0};
}
