#include "snapshot/names_section.h"

static const char names_tag[] = "NAME";

static void write_names(oif_section_writer *writer, const char *tag, const oif_column_names *names)
{
    if (!names)
        return;
    oif_section_writer_begin(writer, tag, names->text_bytes);
    oif_visit_u8(&writer->visitor, "names", (uint8_t *)oif_column_names_text(names),
                 names->text_bytes);
    oif_section_writer_end(writer);
}

void oif_names_section_write(oif_section_writer *writer, const oif_column_names *names)
{
    write_names(writer, names_tag, names);
}

void oif_roles_section_write(oif_section_writer *writer, const oif_column_names *roles)
{
    write_names(writer, OIF_SECTION_ROLES, roles);
}

size_t oif_names_section_bytes(const oif_column_names *names)
{
    return names ? OIF_SECTION_BYTES + names->text_bytes : 0;
}

/* Reads the open section. Rejects an implausible length before it allocates memory. */
static oif_column_names *read_names(oif_section_reader *reader, uint64_t columns)
{
    if (reader->left > OIF_COLUMN_NAMES_MAX_BYTES || reader->left < columns) {
        oif_section_reader_fail(reader, OIF_ECORRUPT,
                                "%llu bytes cannot be the names of %llu columns",
                                (unsigned long long)reader->left, (unsigned long long)columns);
        return NULL;
    }
    oif_column_names *names = oif_column_names_room((size_t)columns, (size_t)reader->left);
    if (!names) {
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for the names of %llu columns",
                                (unsigned long long)columns);
        return NULL;
    }
    oif_section_reader_take(reader, oif_column_names_text(names), names->text_bytes);
    if (reader->status == OIF_OK && !oif_column_names_find(names))
        oif_section_reader_fail(reader, OIF_ECORRUPT, "these are not the names of %llu columns",
                                (unsigned long long)columns);
    if (reader->status == OIF_OK)
        return names;
    oif_column_names_free(names);
    return NULL;
}

oif_column_names *oif_names_section_read(oif_section_reader *reader, uint64_t columns,
                                         const char *next)
{
    oif_column_names *names = NULL;
    if (oif_section_reader_expect_either(reader, names_tag, next)) {
        names = read_names(reader, columns);
        oif_section_reader_expect(reader, next);
    }
    return names;
}

oif_column_names *oif_roles_section_read(oif_section_reader *reader)
{
    return read_names(reader, OIF_ROLES);
}
