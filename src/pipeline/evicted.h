/* Models that lost their place in memory and wait on the shelf beside the state file, with
 * evicted=keep.
 *
 *     keys      "web-1"  "db"            a model each, in memory
 *     evicted   "cache" -> place 4       what the shelf has of it is a snapshot: its detector's state and its model's
 *               "web-1" -> no place      it came back
 *
 * A model that cannot be put on the shelf, or not taken back, is lost: the key starts anew, and
 * it is counted.
 */
#ifndef OIF_PIPELINE_EVICTED_H
#define OIF_PIPELINE_EVICTED_H

#include "pipeline/pipeline.h"

/* Puts the model of an entry, which is to go to another key, on the shelf. Where it is lost
 * this is OIF_OK as well; OIF_EMEMORY when there is no memory to note where it is. */
oif_status oif_evicted_put(oif_pipeline *pipeline, uint32_t entry, oif_error *error);

/* Gives a model that has seen nothing what the shelf has of a key; leaves it alone where that
 * is nothing. */
void oif_evicted_take(oif_pipeline *pipeline, const char *key, size_t key_bytes, oif_model *model);

/* Gives the pipeline the shelf of a file. is_loaded: the state in the file is this pipeline, so
 * what is not of it is of nobody; otherwise all that is on the shelf stays there until the
 * pipeline is saved. Errors as in oif_state_file_keep_evicted. */
oif_status oif_evicted_use_shelf(oif_state_file *file, oif_pipeline *pipeline, bool is_loaded,
                                 oif_error *error);

/* Which keys have which places, as a section; none with is_there = false: what is saved
 * elsewhere than beside the shelf. */
void oif_evicted_write(oif_snapshot_writer *writer, const oif_pipeline *pipeline, bool is_there);
void oif_evicted_read(oif_snapshot_reader *reader, oif_pipeline *pipeline);

/* OIF_EINVARIANT when keys have a model in memory and on the shelf, or are counted wrongly. */
oif_status oif_evicted_check(const oif_pipeline *pipeline, oif_error *error);

#endif
