#include "state_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 4, HEAD_BYTES = NAME_BYTES + 8 };

void state_put_number(unsigned char to[8], uint64_t number)
{
    for (size_t i = 0; i < 8; i++)
        to[i] = (unsigned char)(number >> (8 * i));
}

uint64_t state_get_number(const unsigned char from[8])
{
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number |= (uint64_t)from[i] << (8 * i);
    return number;
}

const void *state_part_find(const oif_pipeline *pipeline, const char *name, size_t *count)
{
    size_t left;
    const unsigned char *at = oif_pipeline_attachment(pipeline, &left);
    *count = 0;
    while (left >= HEAD_BYTES) {
        const uint64_t bytes = state_get_number(at + NAME_BYTES);
        if (bytes > left - HEAD_BYTES)
            return NULL;
        if (memcmp(at, name, NAME_BYTES) == 0) {
            *count = (size_t)bytes;
            return at + HEAD_BYTES;
        }
        at += HEAD_BYTES + bytes;
        left -= HEAD_BYTES + (size_t)bytes;
    }
    return NULL;
}

oif_status state_parts_attach(oif_pipeline *pipeline, const state_part *parts, size_t part_count,
                              oif_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < part_count; i++)
        bytes += parts[i].count > 0 ? HEAD_BYTES + parts[i].count : 0;
    unsigned char *all = malloc(bytes + 1), *to = all;
    if (!all) {
        snprintf(error->message, sizeof error->message, "no memory to save %zu bytes", bytes);
        return OIF_EMEMORY;
    }
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].count == 0)
            continue;
        memcpy(to, parts[i].name, NAME_BYTES);
        state_put_number(to + NAME_BYTES, parts[i].count);
        memcpy(to + HEAD_BYTES, parts[i].bytes, parts[i].count);
        to += HEAD_BYTES + parts[i].count;
    }
    oif_status status = oif_pipeline_attach(pipeline, all, bytes, error);
    free(all);
    return status;
}
