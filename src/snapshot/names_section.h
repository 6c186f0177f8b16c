/* The names of columns as a section that whoever does not know it may skip. */
#ifndef OIF_SNAPSHOT_NAMES_SECTION_H
#define OIF_SNAPSHOT_NAMES_SECTION_H

#include "base/column_names.h"
#include "snapshot/sections.h"

/* Writes the section, or nothing without names; the bytes it takes, all of them. */
void oif_column_names_write(oif_snapshot_writer *writer, const oif_column_names *names);
size_t oif_column_names_section_bytes(const oif_column_names *names);

/* Opens the section `next`. Where the names of `columns` columns stand before it, returns them;
 * else NULL. */
oif_column_names *oif_column_names_read(oif_snapshot_reader *reader, uint64_t columns,
                                        const char *next);

#endif
