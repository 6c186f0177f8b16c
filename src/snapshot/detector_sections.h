/* Sections that describe detectors, in snapshots of detectors and pipelines. */
#ifndef OIF_SNAPSHOT_DETECTOR_SECTIONS_H
#define OIF_SNAPSHOT_DETECTOR_SECTIONS_H

#include "snapshot/sections.h"

#define OIF_SECTION_DETECTOR "DETE"
#define OIF_SECTION_STATE "STAT"

/* ---- Parameters ---- */

/* Writes a section with parameters and one more number: the dimension of a detector, or the columns
 * of a pipeline. Returns the bytes of the payload. Writes nothing if the writer is NULL. */
size_t oif_params_section_write(oif_section_writer *writer, const char *tag,
                                const oif_params *params, uint64_t number);

/* Sets all parameters of the kind with that name to their initial values, like oif_params_init. */
typedef oif_status (*oif_params_init_function)(oif_params *params, const char *name,
                                               oif_error *error);

/* Opens and reads such a section. */
void oif_params_section_read(oif_section_reader *reader, const char *tag,
                             oif_params_init_function init, oif_params *params, uint64_t *number);

/* ---- State ---- */

/* Writes the section with the state of one detector, or of several that judge together. */
void oif_state_section_write(oif_section_writer *writer, oif_detector *const detectors[],
                             size_t count);

/* Bytes of its payload. */
uint64_t oif_state_section_bytes(oif_detector *const detectors[], size_t count);

/* Fails if `state_bytes` are too few for the state of detectors with these parameters. Called
 * before the detectors are created, so a damaged snapshot cannot demand much memory. */
void oif_state_section_bound(oif_section_reader *reader, uint64_t state_bytes,
                             const oif_params params[], size_t count, size_t dimension);

/* Reads the open section into detectors with the same parameters. After a failure, the detectors
 * may only be freed. */
void oif_state_section_read(oif_section_reader *reader, oif_detector *const detectors[],
                            size_t count);

#endif
