/* Bytes that a program attaches to a pipeline, so one file is all of its state. */
#ifndef OIF_PIPELINE_ATTACHMENT_H
#define OIF_PIPELINE_ATTACHMENT_H

#include "snapshot/sections.h"

typedef struct oif_attachment {
    void *bytes; /* NULL: none */
    size_t count;
} oif_attachment;

/* Replaces the bytes by a copy of others.
 *
 * OIF_EVALUE    too many
 * OIF_EMEMORY   nothing has changed */
oif_status oif_attachment_set(oif_attachment *attached, const void *bytes, size_t count,
                              oif_error *error);
void oif_attachment_free(oif_attachment *attached);

/* The section ATCH of a snapshot, which may be skipped. Nothing is written without bytes. Reading
 * expects it open. */
#define OIF_SECTION_ATTACHED "ATCH"
void oif_attachment_write(oif_section_writer *writer, const oif_attachment *attached);
void oif_attachment_read(oif_section_reader *reader, oif_attachment *attached);

#endif
