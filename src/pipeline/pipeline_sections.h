/* Sections shared by snapshots of pipelines (pipeline_snapshot.c) and of single keys
 * (key_snapshot.c). */
#ifndef OIF_PIPELINE_PIPELINE_SECTIONS_H
#define OIF_PIPELINE_PIPELINE_SECTIONS_H

#include "pipeline/model/model_sections.h"
#include "pipeline/pipeline.h"
#include "snapshot/sections.h"

typedef struct oif_pipeline_counts {
    uint64_t keys, rows, evictions;
} oif_pipeline_counts;

/* The content of the sections before the first model. */
typedef struct oif_pipeline_heading {
    oif_params options, params;
    uint64_t columns, dimension;
    oif_pipeline_counts counts;
    uint64_t derivations;
    oif_derived_plan derived; /* empty once moved to the pipeline */
    oif_column_names *names;  /* NULL once moved to the pipeline */
    oif_alert_budget budget;
    oif_blank_fields blank;   /* none: models are not packed */
    oif_model_packer *packer; /* NULL until the pipeline exists, or likewise */
} oif_pipeline_heading;

/* Writes the sections from `tag`, which has the options, to DERI. */
void oif_pipeline_heading_write(oif_section_writer *writer, const char *tag,
                                const oif_pipeline *pipeline, const oif_pipeline_counts *counts);

/* Reads them into a zeroed heading. */
void oif_pipeline_heading_read(oif_section_reader *reader, const char *tag,
                               oif_pipeline_heading *heading);
void oif_pipeline_heading_free(oif_pipeline_heading *heading);

/* The section with a key. Reading returns allocated memory; NULL after a failure. */
void oif_key_section_write(oif_section_writer *writer, const char *key, size_t key_bytes);
char *oif_key_section_read(oif_section_reader *reader, size_t *key_bytes);

#endif
