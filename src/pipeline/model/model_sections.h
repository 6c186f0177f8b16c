/* A model without its key as sections of a snapshot: "STAT", the state of its detector, and "MODL",
 * the rest. */
#ifndef OIF_PIPELINE_MODEL_SECTIONS_H
#define OIF_PIPELINE_MODEL_SECTIONS_H

#include "pipeline/model/model.h"
#include "snapshot/sections.h"

/* Bytes of both sections. */
uint64_t oif_model_sections_bytes(oif_model *model);

void oif_model_sections_write(oif_section_writer *writer, oif_model *model);

/* Reads both sections; "STAT" is already open. After a failure the model may be in any state. */
void oif_model_sections_read(oif_section_reader *reader, oif_model *model);

#endif
