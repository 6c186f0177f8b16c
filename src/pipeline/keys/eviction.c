#include "pipeline/keys/eviction.h"

enum {
    LOOKED_AT = 16, /* candidates: the least recently seen entries */
    SEVERAL = 3,    /* usual gaps after which a key is overdue */
    SELDOM = 32,    /* one new key in this many may replace a key seen only once */
    MANY = 64       /* rounds of all keys after which such a key is replaced in any case */
};

/* A pseudorandom number, the same in every run. */
static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 31) * UINT64_C(0x7fb5d329728ea185);
    number = (number ^ number >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return number ^ number >> 33;
}

/* The rows after which a key is overdue. Keys that report in rounds have keys->count rows between
 * two of their own. */
static uint64_t patience(const oif_keys *keys, const oif_key_entry *entry)
{
    uint64_t turn = keys->count;
    return entry->gap > 0 ? SEVERAL * entry->gap + turn : 2 * turn;
}

static uint64_t age(const oif_key_entry *entry, uint64_t row)
{
    return row > entry->seen ? row - entry->seen : 0;
}

uint32_t oif_eviction_choose(const oif_keys *keys, uint64_t row, uint32_t spared)
{
    uint32_t chosen = OIF_NO_KEY, looked_at = 0;
    double most = -1;
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY && looked_at < LOOKED_AT;
         i = keys->entries[i].newer, looked_at++) {
        const oif_key_entry *entry = &keys->entries[i];
        double late = (double)age(entry, row) / (double)patience(keys, entry);
        if (i != spared && late > most) {
            most = late;
            chosen = i;
        }
    }
    return chosen;
}

bool oif_eviction_is_overdue(const oif_keys *keys, uint64_t row, uint32_t number)
{
    const oif_key_entry *entry = &keys->entries[number];
    const uint64_t rows = age(entry, row), many_turns = (uint64_t)MANY * keys->count;
    return rows > patience(keys, entry) &&
           (entry->gap > 0 || rows > many_turns || mix(row) % SELDOM == 0);
}

uint32_t oif_eviction_draw(const oif_keys *keys, uint64_t row, uint32_t spared)
{
    if (keys->count < 2)
        return OIF_NO_KEY;
    uint32_t drawn = (uint32_t)(mix(row) % keys->used);
    while (!keys->entries[drawn].key || drawn == spared)
        drawn = drawn + 1 < keys->used ? drawn + 1 : 0;
    return drawn;
}
