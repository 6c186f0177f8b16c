/* A model without its key as sections of a snapshot: "STAT", the state of its detector, and "MODL",
 * the rest. Or as one section "PACK", which has all fields as the difference from a blank model
 * (packed_fields.h); before the first one, "BLNK" says which blank model that is. */
#ifndef OIF_PIPELINE_MODEL_SECTIONS_H
#define OIF_PIPELINE_MODEL_SECTIONS_H

#include "pipeline/model/model.h"
#include "snapshot/packed_fields.h"
#include "snapshot/sections.h"

#define OIF_SECTION_BLANK "BLNK"
#define OIF_SECTION_PACKED "PACK"

/* Fields of larger models are not packed: a reader allocates what a few packed bytes claim, so that
 * has a limit. */
enum { OIF_PACKED_MOST_FIELD_BYTES = 4 << 20 };

/* Bytes of both sections. */
uint64_t oif_model_sections_bytes(oif_model *model);

void oif_model_sections_write(oif_section_writer *writer, oif_model *model);

/* Reads both sections; "STAT" is already open. After a failure the model may be in any state. */
void oif_model_sections_read(oif_section_reader *reader, oif_model *model);

/* ---- Packed ---- */

/* What a snapshot says about the blank model: its fields, of at most OIF_PACKED_MOST_FIELD_BYTES.
 * It follows from parameters, options and columns, so it is not stored. */
typedef struct oif_blank_fields {
    uint64_t bytes;
    uint32_t checksum;
} oif_blank_fields;

typedef struct oif_model_packer {
    oif_field_packer fields;
    oif_blank_fields blank;
    unsigned char *blank_fields; /* as in memory */
    unsigned char *packed;       /* blank.bytes */
} oif_model_packer;

/* Creates what packs and unpacks models that are compared with a blank one.
 *
 * OIF_EMEMORY */
oif_status oif_model_packer_new(oif_model *blank, oif_model_packer **packer, oif_error *error);
void oif_model_packer_free(oif_model_packer *packer);

/* Bytes of the fields of a model: whether it may be packed. */
uint64_t oif_model_field_bytes(oif_model *model);

void oif_blank_section_write(oif_section_writer *writer, const oif_model_packer *packer);

/* Reads the open section. */
oif_blank_fields oif_blank_section_read(oif_section_reader *reader);

/* Writes a model as "PACK", or as "STAT" and "MODL" if that is shorter. */
void oif_packed_section_write(oif_section_writer *writer, oif_model_packer *packer,
                              oif_model *model);

/* Reads the open section "PACK" into a blank model. After a failure it may be in any state. */
void oif_packed_section_read(oif_section_reader *reader, oif_model_packer *packer,
                             oif_model *model);

#endif
