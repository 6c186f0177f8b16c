#include "pipeline/attachment.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

oif_status oif_attachment_set(oif_attachment *attached, const void *bytes, size_t count,
                              oif_error *error)
{
    if (count > OIF_ATTACHMENT_MAX_BYTES)
        return oif_fail(error, OIF_EVALUE, "%zu bytes are too many to attach; the most are %d",
                        count, OIF_ATTACHMENT_MAX_BYTES);
    void *copy = count > 0 ? oif_memory_new(count) : NULL;
    if (count > 0 && !copy)
        return oif_fail(error, OIF_EMEMORY, "no memory to attach %zu bytes", count);
    if (count > 0)
        memcpy(copy, bytes, count);
    oif_attachment_free(attached);
    *attached = (oif_attachment){copy, count};
    return OIF_OK;
}

void oif_attachment_free(oif_attachment *attached)
{
    oif_memory_free(attached->bytes);
    *attached = (oif_attachment){0};
}

void oif_attachment_write(oif_section_writer *writer, const oif_attachment *attached)
{
    if (attached->count == 0)
        return;
    oif_section_writer_begin(writer, OIF_SECTION_ATTACHED, attached->count);
    oif_visit_u8(&writer->visitor, "attached", attached->bytes, attached->count);
    oif_section_writer_end(writer);
}

/* The length may be damaged, so it is checked before memory is allocated. */
void oif_attachment_read(oif_section_reader *reader, oif_attachment *attached)
{
    if (reader->left == 0 || reader->left > OIF_ATTACHMENT_MAX_BYTES)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "%llu bytes cannot be attached",
                                (unsigned long long)reader->left);
    if (reader->status != OIF_OK)
        return;
    const size_t count = (size_t)reader->left;
    void *bytes = oif_memory_new(count);
    if (!bytes)
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for %zu attached bytes", count);
    else
        oif_section_reader_take(reader, bytes, count);
    *attached = (oif_attachment){bytes, bytes ? count : 0};
}
