/* What the tool keeps in a state beside the pipeline, as the bytes attached to it (section ATCH of
 * docs/snapshot-format.md): parts, each with a name of four letters.
 *
 *     | name, 4 bytes | length, u64 | its bytes |  ...
 */
#ifndef OIF_CLI_STATE_PARTS_H
#define OIF_CLI_STATE_PARTS_H

#include "oif.h"

typedef struct state_part {
    const char *name; /* four letters */
    const void *bytes;
    size_t count;
} state_part;

/* Finds a part. The bytes are valid until others are attached; NULL: there is none. */
const void *state_part_find(const oif_pipeline *pipeline, const char *name, size_t *count);

/* Attaches these parts in place of all others; those without bytes are left out. */
oif_status state_parts_attach(oif_pipeline *pipeline, const state_part *parts, size_t part_count,
                              oif_error *error);

/* Numbers in parts have their lowest byte first. */
void state_put_number(unsigned char to[8], uint64_t number);
uint64_t state_get_number(const unsigned char from[8]);

#endif
