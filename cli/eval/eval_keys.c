#include "eval_keys.h"

#include <stdlib.h>

typedef struct numbered_key {
    byte_item item;
    uint32_t number;
} numbered_key;

oif_text eval_keys_text(const eval_keys *keys, uint32_t number)
{
    const byte_item *item = keys->by_number[number];
    return (oif_text){item->key, item->key_bytes};
}

void eval_keys_free(eval_keys *keys)
{
    byte_table_free(&keys->table);
    free(keys->by_number);
    *keys = (eval_keys){0};
}

static bool enlarge(eval_keys *keys)
{
    size_t capacity = 2 * keys->capacity + 16;
    const byte_item **by_number = realloc(keys->by_number, capacity * sizeof *by_number);
    if (!by_number)
        return false;
    keys->by_number = by_number;
    keys->capacity = capacity;
    return true;
}

bool eval_keys_number(eval_keys *keys, oif_text key, uint32_t *number)
{
    numbered_key *found = byte_table_find(&keys->table, key.text, key.bytes);
    if (!found) {
        size_t count = keys->table.count;
        if (count == UINT32_MAX - 1 || (count == keys->capacity && !enlarge(keys)) ||
            !(found = byte_table_add(&keys->table, key.text, key.bytes, sizeof *found)))
            return false;
        found->number = (uint32_t)count;
        keys->by_number[count] = &found->item;
    }
    *number = found->number;
    return true;
}
