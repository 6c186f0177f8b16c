#include "eval_keys.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_AT_FIRST = 64 };

oif_text eval_keys_text(const eval_keys *keys, uint32_t number)
{
    size_t start = number > 0 ? keys->ends[number - 1] : 0;
    return (oif_text){keys->bytes + start, keys->ends[number] - start};
}

void eval_keys_free(eval_keys *keys)
{
    free(keys->bytes);
    free(keys->ends);
    free(keys->slots);
    *keys = (eval_keys){0};
}

/* FNV-1a. */
static uint64_t hash_of(oif_text key)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < key.bytes; i++)
        hash = (hash ^ (unsigned char)key.text[i]) * 1099511628211u;
    return hash ^ hash >> 32;
}

/* The slot of a key, or the empty one where it belongs. */
static uint32_t *find_slot(const eval_keys *keys, oif_text key)
{
    size_t mask = keys->slot_count - 1, at = hash_of(key) & mask;
    for (; keys->slots[at] != 0; at = (at + 1) & mask) {
        oif_text known = eval_keys_text(keys, keys->slots[at] - 1);
        if (known.bytes == key.bytes && memcmp(known.text, key.text, key.bytes) == 0)
            break;
    }
    return &keys->slots[at];
}

/* At least half of the slots stay empty, so searches are short. */
static bool enlarge_slots(eval_keys *keys)
{
    size_t slot_count = keys->slot_count > 0 ? 2 * keys->slot_count : SLOTS_AT_FIRST;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    free(keys->slots);
    keys->slots = slots;
    keys->slot_count = slot_count;
    for (size_t i = 0; i < keys->count; i++)
        *find_slot(keys, eval_keys_text(keys, (uint32_t)i)) = (uint32_t)i + 1;
    return true;
}

static bool enlarge_bytes(eval_keys *keys, size_t more)
{
    size_t needed = keys->byte_count + more;
    if (needed > keys->byte_capacity || !keys->bytes) {
        char *bytes = realloc(keys->bytes, 2 * needed + 1);
        if (!bytes)
            return false;
        keys->bytes = bytes;
        keys->byte_capacity = 2 * needed + 1;
    }
    if (keys->count == keys->capacity) {
        size_t capacity = 2 * keys->capacity + 16;
        size_t *ends = realloc(keys->ends, capacity * sizeof *ends);
        if (!ends)
            return false;
        keys->ends = ends;
        keys->capacity = capacity;
    }
    return true;
}

bool eval_keys_number(eval_keys *keys, oif_text key, uint32_t *number)
{
    if (2 * (keys->count + 1) > keys->slot_count && !enlarge_slots(keys))
        return false;
    uint32_t *slot = find_slot(keys, key);
    if (*slot == 0) {
        if (keys->count == UINT32_MAX - 1 || !enlarge_bytes(keys, key.bytes))
            return false;
        if (key.bytes > 0)
            memcpy(keys->bytes + keys->byte_count, key.text, key.bytes);
        keys->byte_count += key.bytes;
        keys->ends[keys->count++] = keys->byte_count;
        *slot = (uint32_t)keys->count;
    }
    *number = *slot - 1;
    return true;
}
