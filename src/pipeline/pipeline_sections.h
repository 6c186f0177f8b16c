/* Sections shared by snapshots of pipelines (pipeline_snapshot.c), their updates
 * (pipeline_updates.c) and snapshots of single keys (key_snapshot.c). */
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

/* A section with a key. Reading opens it if another one was open last, and returns allocated
 * memory; NULL after a failure. */
#define OIF_SECTION_KEY "KEY "
void oif_key_section_write(oif_section_writer *writer, const char *tag, const char *key,
                           size_t key_bytes);
char *oif_key_section_read(oif_section_reader *reader, const char *tag, size_t *key_bytes);

/* ---- Of a pipeline or an update of it (pipeline_updates.c) ---- */

/* Whether it has keys; streams without keys have nothing to evict. */
bool oif_pipeline_has_keys(const oif_pipeline *pipeline);

/* Creates what packs the models. None if there are no keys, or the models are too large.
 *
 * OIF_EMEMORY */
oif_status oif_pipeline_packer_new(const oif_pipeline *pipeline, oif_model_packer **packer,
                                   oif_error *error);

/* The state of the budget of alerts, if the options have one. */
void oif_budget_section_write(oif_section_writer *writer, const oif_pipeline *pipeline);
oif_alert_budget oif_budget_section_read(oif_section_reader *reader, const oif_params *options);

/* What comes before the first key and model, or the blank model if there is no key. */
void oif_pipeline_head_write(oif_section_writer *writer, const oif_pipeline *pipeline,
                             const oif_model_packer *packer);

/* A key and its model. The packer may be NULL. */
void oif_keyed_model_write(oif_section_writer *writer, const oif_pipeline *pipeline,
                           oif_model_packer *packer, uint32_t entry);

/* When a key was seen. Reading also opens the section of its model, which follows. */
void oif_seen_section_write(oif_section_writer *writer, const oif_key_entry *entry);
void oif_seen_section_read(oif_section_reader *reader, uint64_t seen[2]);

/* Reads a model into an entry that has a blank one. Its first section is open. */
void oif_keyed_model_read(oif_section_reader *reader, oif_pipeline_heading *heading,
                          oif_pipeline *pipeline, uint32_t entry, const uint64_t seen[2]);

/* What follows the models, up to the end. Reading replaces what the pipeline has. */
void oif_pipeline_tail_write(oif_section_writer *writer, const oif_pipeline *pipeline);
void oif_pipeline_tail_read(oif_section_reader *reader, oif_pipeline *pipeline);

/* Pipelines that are saved as logs. */
extern const oif_stored_kind oif_pipeline_logs;

/* Lets the next save of a pipeline append to the log that it was loaded from. `before`: what the
 * file was then. */
void oif_pipeline_follow(oif_pipeline *pipeline, const oif_state_file *file,
                         const oif_stored_place *before);

/* Reads the updates of a log into the pipeline that was read from it. `bytes`: of the whole log,
 * UINT64_MAX if unknown. */
void oif_pipeline_updates_read(oif_section_reader *reader, oif_pipeline_heading *heading,
                               uint64_t bytes, oif_pipeline *pipeline);

#endif
