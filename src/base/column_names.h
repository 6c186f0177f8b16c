/* The names of columns, in one block of memory.
 *
 *     | count | text_bytes | where each name starts in the text | l o a d \0 m e m o r y \0 |
 */
#ifndef OIF_BASE_COLUMN_NAMES_H
#define OIF_BASE_COLUMN_NAMES_H

#include "oif.h"

typedef struct oif_column_names {
    size_t count;
    size_t text_bytes;
    size_t starts[]; /* the text follows */
} oif_column_names;

static inline char *oif_column_names_text(const oif_column_names *names)
{
    return (char *)(names->starts + names->count);
}

/* Copies `count` names. OIF_EVALUE if they are too long, OIF_EMEMORY. */
oif_status oif_column_names_new(const char *const *texts, size_t count, oif_column_names **names,
                                oif_error *error);
void oif_column_names_free(oif_column_names *names);

/* A copy; NULL for NULL. */
oif_status oif_column_names_clone(const oif_column_names *names, oif_column_names **copy,
                                  oif_error *error);

/* `room` allocates names whose text the caller then writes; NULL if out of memory. `find` then
 * locates the names; false if the text is not `count` names, each terminated by a NUL. */
oif_column_names *oif_column_names_room(size_t count, size_t text_bytes);
bool oif_column_names_find(oif_column_names *names);

/* The name at `index`; NULL without names and past the last one. The bytes of all names. */
const char *oif_column_names_at(const oif_column_names *names, size_t index);
size_t oif_column_names_memory_bytes(const oif_column_names *names);

#endif
