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
    oif_memory_free(queue->queued);
}

bool oif_silence_queue_enlarge(const oif_silence_queue *queue, uint32_t entries,
                               oif_silence_queue *larger)
{
    uint32_t capacity = queue->capacity > 0 ? queue->capacity : FIRST_CAPACITY;
    *larger = *queue;
    if (entries <= queue->capacity)
        return true;
    while (capacity < entries)
        capacity *= 2;
    deadline *heap = oif_memory_new(capacity * sizeof *heap);
    double *queued = oif_memory_new(capacity * sizeof *queued);
    if (!heap || !queued) {
        oif_memory_free(heap);
        oif_memory_free(queued);
        return false;
    }
    for (uint32_t i = queue->capacity; i < capacity; i++)
        queued[i] = INFINITY;
    if (queue->capacity > 0) {
        memcpy(heap, queue->heap, queue->count * sizeof *heap);
        memcpy(queued, queue->queued, queue->capacity * sizeof *queued);
    }
    *larger = (oif_silence_queue){heap, queued, queue->count, capacity};
    return true;
}

void oif_silence_queue_choose(oif_silence_queue *queue, oif_silence_queue *larger, bool is_larger)
{
    if (larger->heap == queue->heap)
        return;
    oif_silence_queue_free(is_larger ? queue : larger);
    if (is_larger)
        *queue = *larger;
}

/* The position of an entry in the heap, or the end. Rarely called: deadlines seldom move
 * forward. */
static uint32_t find_entry(const oif_silence_queue *queue, uint32_t entry)
{
    uint32_t at = 0;
    while (at < queue->count && queue->heap[at].entry != entry)
        at++;
    return at;
}

/* At the same time, the lower entry comes first. */
static bool is_before(const deadline *a, const deadline *b)
{
    return a->seconds < b->seconds || (a->seconds == b->seconds && a->entry < b->entry);
}

void oif_silence_queue_push(oif_silence_queue *queue, uint32_t entry, double seconds)
{
    deadline *heap = queue->heap;
    const deadline pushed = {seconds, entry};
    if (!(seconds < queue->queued[entry]))
        return;
    uint32_t at = queue->queued[entry] < INFINITY ? find_entry(queue, entry) : queue->count++;
    for (; at > 0 && is_before(&pushed, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = pushed;
    queue->queued[entry] = seconds;
}

bool oif_silence_queue_first(const oif_silence_queue *queue, struct oif_deadline *first)
{
    if (queue->count > 0)
        *first = queue->heap[0];
    return queue->count > 0;
}

void oif_silence_queue_pop(oif_silence_queue *queue)
{
    deadline *heap = queue->heap;
    queue->queued[heap[0].entry] = INFINITY;
    const deadline last = heap[--queue->count];
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < queue->count) {
        child += child + 1 < queue->count && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

size_t oif_silence_queue_bytes(const oif_silence_queue *queue)
{
    return queue->capacity * (sizeof *queue->heap + sizeof *queue->queued);
}
