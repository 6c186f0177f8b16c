/* Room for the models of many keys: how much memory they may use by default, and what is
 * reported when it is not enough. It is always reported, because a key without a model is not
 * watched.
 */
#ifndef OIF_FRONT_KEY_ROOM_H
#define OIF_FRONT_KEY_ROOM_H

#include "oif.h"

#include <stdbool.h>

typedef struct key_room {
    bool is_wanted;                           /* rows have keys, and what is evicted is not kept */
    double limit;                             /* bytes that models may take */
    bool is_usual;                            /* the default: half of the memory that there is */
    uint64_t evictions, unmodelled, restarts; /* before this run, or reported already */
    bool is_full_reported, is_restart_reported;
} key_room;

/* The memory of the machine, or what its limits leave to this process, in bytes; 0 if unknown. */
double key_room_memory(void);

/* Half of it is the limit of a pipeline whose options have none. */
void key_room_limit(oif_pipeline *pipeline);

key_room key_room_start(const oif_pipeline *pipeline, bool has_keys);

/* For --verbose: how much memory the models may take. */
void key_room_say_limit(const key_room *room);

/* Whether there is something to report after a row. */
static inline bool key_room_is_short(const key_room *room, const oif_pipeline *pipeline,
                                     const oif_result *result)
{
    return room->is_wanted &&
           ((result->has_no_model && !room->is_full_reported) ||
            (!room->is_restart_reported && oif_pipeline_restarts(pipeline) > room->restarts));
}

/* Reports it, once: a key of a row that has no model, or that has lost it. */
void key_room_report(key_room *room, const oif_pipeline *pipeline, const oif_result *result,
                     const char *key, size_t key_bytes);

/* At the end: how many keys were evicted, and how many rows had no model, if any. */
void key_room_summary(const key_room *room, const oif_pipeline *pipeline);

#endif
