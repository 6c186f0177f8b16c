/* A heap of entries of a key map by the time at which they may be overdue, then by their keys: not
 * by their numbers, which change when a state is loaded. A pushed time may be too early by now: the
 * caller computes the true time of the first entry and, if it differs, removes the entry and pushes
 * it again. So each entry is examined once per possible pause, however often its time moves. */
#ifndef OIF_PIPELINE_SILENCE_QUEUE_H
#define OIF_PIPELINE_SILENCE_QUEUE_H

#include "pipeline/keys/keys.h"

typedef struct oif_silence_queue {
    struct oif_deadline {
        double seconds;
        uint32_t entry;
    } * heap;        /* earliest first; `capacity` elements */
    uint32_t *place; /* by entry: its index in the heap; OIF_NO_KEY: not in the heap */
    uint32_t count, capacity;
} oif_silence_queue;

void oif_silence_queue_init(oif_silence_queue *queue);
void oif_silence_queue_free(oif_silence_queue *queue);

/* Makes space for entries below `entries`. Returns false if out of memory. */
bool oif_silence_queue_enlarge(oif_silence_queue *queue, uint32_t entries);

/* Adds an entry, or moves it forward. Does nothing if it already waits for an earlier time or its
 * time is infinite. There must be space for it. */
void oif_silence_queue_push(oif_silence_queue *queue, const oif_keys *keys, uint32_t entry,
                            double seconds);

/* The earliest entry; false if the queue is empty. */
bool oif_silence_queue_first(const oif_silence_queue *queue, struct oif_deadline *first);

/* Removes an entry, if it is in the queue. Needed before its key is removed from the map. */
void oif_silence_queue_remove(oif_silence_queue *queue, const oif_keys *keys, uint32_t entry);

/* Gives the entries the numbers that oif_keys_renumber is about to give them. */
void oif_silence_queue_renumber(oif_silence_queue *queue, const oif_keys *keys);

size_t oif_silence_queue_bytes(const oif_silence_queue *queue);

#endif
