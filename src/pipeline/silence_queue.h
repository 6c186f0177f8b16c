/* Entries in the order of the times at which they may be overdue: a heap. A time that was pushed
 * may be too early by now: the caller that pops an entry computes its true time, and pushes it
 * again. So each entry is looked at once per pause that it may make, however often its time
 * moves. */
#ifndef OIF_PIPELINE_SILENCE_QUEUE_H
#define OIF_PIPELINE_SILENCE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct oif_silence_queue {
    struct oif_deadline {
        double seconds;
        uint32_t entry;
    } * heap;       /* the earliest first; room for `capacity` */
    double *queued; /* by entry: its time in the heap; +infinity: it is not there */
    uint32_t count, capacity;
} oif_silence_queue;

void oif_silence_queue_init(oif_silence_queue *queue);
void oif_silence_queue_free(oif_silence_queue *queue);

/* Makes a queue with the same entries and room for those below `entries`: a copy, or the same one
 * if it has that room. False when there is no memory. */
bool oif_silence_queue_enlarge(const oif_silence_queue *queue, uint32_t entries,
                               oif_silence_queue *larger);

/* Replaces the queue by the larger one, or frees that one, unless they are the same. */
void oif_silence_queue_choose(oif_silence_queue *queue, oif_silence_queue *larger, bool is_larger);

/* Adds an entry, or moves it forward, unless it waits for an earlier time already or its time is
 * infinite. There must be room for it. */
void oif_silence_queue_push(oif_silence_queue *queue, uint32_t entry, double seconds);

/* Removes the earliest entry if its time is before `seconds`; returns whether it is. */
bool oif_silence_queue_pop(oif_silence_queue *queue, double seconds, uint32_t *entry);

size_t oif_silence_queue_bytes(const oif_silence_queue *queue);

#endif
