/* The names of columns as a section of a snapshot. */
#ifndef OIF_SNAPSHOT_NAMES_SECTION_H
#define OIF_SNAPSHOT_NAMES_SECTION_H

#include "base/column_names.h"
#include "snapshot/sections.h"

/* Writes the section; nothing if `names` is NULL. */
void oif_names_section_write(oif_section_writer *writer, const oif_column_names *names);

/* The bytes that this writes. */
size_t oif_names_section_bytes(const oif_column_names *names);

/* Reads the names of `columns` columns if their section is next, else returns NULL. Then opens the
 * section `next`. */
oif_column_names *oif_names_section_read(oif_section_reader *reader, uint64_t columns,
                                         const char *next);

/* The names of the columns that are the key and the time of a pipeline: "=" and the name, or "" if
 * there is none. */
enum { OIF_ROLE_KEY, OIF_ROLE_TIME, OIF_ROLES };
#define OIF_SECTION_ROLES "ROLE"

/* Writes them; nothing if `roles` is NULL. */
void oif_roles_section_write(oif_section_writer *writer, const oif_column_names *roles);

/* Reads them from the open section. */
oif_column_names *oif_roles_section_read(oif_section_reader *reader);

#endif
