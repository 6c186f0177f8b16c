/* A heap of entries by the time at which they may be overdue, then by their numbers. A pushed time
 * may be too early by now: the caller computes the true time of the first entry and, if it differs,
 * pops the entry and pushes it again. So each entry is examined once per possible pause, however
 * often its time moves. */
#ifndef OIF_PIPELINE_SILENCE_QUEUE_H
#define OIF_PIPELINE_SILENCE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct oif_silence_queue {
    struct oif_deadline {
        double seconds;
        uint32_t entry;
    } * heap;       /* earliest first; `capacity` elements */
    double *queued; /* by entry: its time in the heap; +infinity: not in the heap */
    uint32_t count, capacity;
} oif_silence_queue;

void oif_silence_queue_init(oif_silence_queue *queue);
void oif_silence_queue_free(oif_silence_queue *queue);

/* Makes a queue with the same entries and space for entries below `entries`: a copy, or the same
 * queue if it is large enough. Returns false if out of memory. */
bool oif_silence_queue_enlarge(const oif_silence_queue *queue, uint32_t entries,
                               oif_silence_queue *larger);

/* Replaces the queue by the larger one, or frees the larger one, unless they are the same. */
void oif_silence_queue_choose(oif_silence_queue *queue, oif_silence_queue *larger, bool is_larger);

/* Adds an entry, or moves it forward. Does nothing if it already waits for an earlier time or its
 * time is infinite. There must be space for it. */
void oif_silence_queue_push(oif_silence_queue *queue, uint32_t entry, double seconds);

/* The earliest entry; false if the queue is empty. */
bool oif_silence_queue_first(const oif_silence_queue *queue, struct oif_deadline *first);

/* Removes the earliest entry of a queue that is not empty. */
void oif_silence_queue_pop(oif_silence_queue *queue);

size_t oif_silence_queue_bytes(const oif_silence_queue *queue);

#endif
