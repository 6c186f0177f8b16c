#include "pipeline/keys/silence_queue.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

typedef struct oif_deadline deadline;

void oif_silence_queue_init(oif_silence_queue *queue)
{
    *queue = (oif_silence_queue){0};
}

void oif_silence_queue_free(oif_silence_queue *queue)
{
    oif_memory_free(queue->heap);
    oif_memory_free(queue->place);
}

bool oif_silence_queue_enlarge(oif_silence_queue *queue, uint32_t entries)
{
    uint32_t capacity = queue->capacity > 0 ? queue->capacity : FIRST_CAPACITY;
    if (entries <= queue->capacity)
        return true;
    while (capacity < entries)
        capacity *= 2;
    deadline *heap = oif_memory_new(capacity * sizeof *heap);
    uint32_t *place = oif_memory_new(capacity * sizeof *place);
    if (!heap || !place) {
        oif_memory_free(heap);
        oif_memory_free(place);
        return false;
    }
    memset(place, 0xFF, capacity * sizeof *place); /* OIF_NO_KEY */
    if (queue->capacity > 0) {
        memcpy(heap, queue->heap, queue->count * sizeof *heap);
        memcpy(place, queue->place, queue->capacity * sizeof *place);
    }
    oif_silence_queue_free(queue);
    *queue = (oif_silence_queue){heap, place, queue->count, capacity};
    return true;
}

/* At the same time, the key that comes first in the order of bytes. */
static bool is_before(const oif_keys *keys, const deadline *a, const deadline *b)
{
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds;
    const oif_key_entry *one = &keys->entries[a->entry], *other = &keys->entries[b->entry];
    const uint32_t bytes = one->key_bytes < other->key_bytes ? one->key_bytes : other->key_bytes;
    const int order = memcmp(one->key, other->key, bytes);
    return order < 0 || (order == 0 && one->key_bytes < other->key_bytes);
}

static void set(oif_silence_queue *queue, uint32_t at, const deadline *moved)
{
    queue->heap[at] = *moved;
    queue->place[moved->entry] = at;
}

/* Puts an element at the free index `at`, or above it. */
static void rise(oif_silence_queue *queue, const oif_keys *keys, uint32_t at, deadline moved)
{
    for (; at > 0 && is_before(keys, &moved, &queue->heap[(at - 1) / 2]); at = (at - 1) / 2)
        set(queue, at, &queue->heap[(at - 1) / 2]);
    set(queue, at, &moved);
}

/* Puts an element at the free index `at`, or below it. */
static void sink(oif_silence_queue *queue, const oif_keys *keys, uint32_t at, deadline moved)
{
    const deadline *heap = queue->heap;
    uint32_t child;
    while ((child = 2 * at + 1) < queue->count) {
        child += child + 1 < queue->count && is_before(keys, &heap[child + 1], &heap[child]);
        if (!is_before(keys, &heap[child], &moved))
            break;
        set(queue, at, &heap[child]);
        at = child;
    }
    set(queue, at, &moved);
}

void oif_silence_queue_push(oif_silence_queue *queue, const oif_keys *keys, uint32_t entry,
                            double seconds)
{
    const uint32_t place = queue->place[entry];
    if (!(seconds < (place == OIF_NO_KEY ? INFINITY : queue->heap[place].seconds)))
        return;
    rise(queue, keys, place == OIF_NO_KEY ? queue->count++ : place, (deadline){seconds, entry});
}

bool oif_silence_queue_first(const oif_silence_queue *queue, struct oif_deadline *first)
{
    if (queue->count > 0)
        *first = queue->heap[0];
    return queue->count > 0;
}

void oif_silence_queue_remove(oif_silence_queue *queue, const oif_keys *keys, uint32_t entry)
{
    const uint32_t at = entry < queue->capacity ? queue->place[entry] : OIF_NO_KEY;
    if (at == OIF_NO_KEY)
        return;
    queue->place[entry] = OIF_NO_KEY;
    const deadline last = queue->heap[--queue->count];
    if (last.entry == entry)
        return;
    if (at > 0 && is_before(keys, &last, &queue->heap[(at - 1) / 2]))
        rise(queue, keys, at, last);
    else
        sink(queue, keys, at, last);
}

void oif_silence_queue_renumber(oif_silence_queue *queue, const oif_keys *keys)
{
    uint32_t number = 0;
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY; i = keys->entries[i].newer, number++)
        if (queue->place[i] != OIF_NO_KEY)
            queue->heap[queue->place[i]].entry = number;
    memset(queue->place, 0xFF, queue->capacity * sizeof *queue->place); /* OIF_NO_KEY */
    for (uint32_t at = 0; at < queue->count; at++)
        queue->place[queue->heap[at].entry] = at;
}

size_t oif_silence_queue_bytes(const oif_silence_queue *queue)
{
    return queue->capacity * (sizeof *queue->heap + sizeof *queue->place);
}
